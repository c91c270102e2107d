//! The server of a node: what processes of other libraries, such as Open MPI,
//! ask for their place in a job, and meet through.
//!
//! A process has one server. Its upcalls come on the library's thread, which
//! must not be kept waiting: who has to ask somebody keeps the [`Reply`].

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::ptr;

use crate::infos::{Infos, c_string};
use crate::library::{Library, Status};
use crate::types::{Info, OPERATION_SUCCEEDED, OpCallback, Proc, RawStatus, SUCCESS, keys};
use crate::upcalls::{self, HOST, Host, Module, Upcall};

type Init = unsafe extern "C" fn(*const Module, *const Info, usize) -> RawStatus;
type Finalize = unsafe extern "C" fn() -> RawStatus;
type Regex = unsafe extern "C" fn(*const c_char, *mut *mut c_char) -> RawStatus;
type RegisterNspace = unsafe extern "C" fn(
    *const c_char,
    i32,
    *const Info,
    usize,
    Option<OpCallback>,
    *mut c_void,
) -> RawStatus;
type RegisterClient = unsafe extern "C" fn(
    *const Proc,
    u32,
    u32,
    *mut c_void,
    Option<OpCallback>,
    *mut c_void,
) -> RawStatus;
type SetupFork = unsafe extern "C" fn(*const Proc, *mut *mut *mut c_char) -> RawStatus;
type Fetched = unsafe extern "C" fn(RawStatus, *mut c_char, usize, *mut c_void);
type Fetch = unsafe extern "C" fn(*const Proc, Fetched, *mut c_void) -> RawStatus;

/// What a server is told of a job.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Its name; not longer than 255 bytes.
    pub name: String,
    /// How many processes it could have.
    pub universe_size: u32,
    /// Names of its nodes; each has at least one rank.
    pub hosts: Vec<String>,
    /// Node of each rank.
    pub node_of: Vec<u32>,
    /// Program of each rank, ascending.
    pub app_of: Vec<u32>,
    /// Process sets by name, with their ranks.
    pub psets: Vec<(String, Vec<u32>)>,
    /// This node.
    pub node: u32,
    /// Whether this node has more ranks than cores, so that who waits should yield.
    pub oversubscribed: bool,
    /// What each rank of this node is bound to, as `0-3,8`; empty if it is not.
    pub cpus: Vec<String>,
}

/// The server.
#[derive(Debug)]
pub struct Server {
    name: CString,
    setup_fork: SetupFork,
    fetch: Fetch,
    finalize: Finalize,
    library: Library,
}

impl Server {
    /// Opens the server of this process for `job`, whose files are in
    /// `directory`. What its processes do is told to `tell`.
    ///
    /// # Errors
    /// If there is a server already, or the library cannot start one or does not
    /// take the job.
    ///
    /// # Panics
    /// If the job contradicts itself.
    pub fn open(
        library: Library,
        job: &Job,
        directory: &Path,
        tell: impl Fn(Upcall) + Send + Sync + 'static,
    ) -> Result<Server, Status> {
        let missing = |cause| Status {
            of: "libpmix",
            cause,
        };
        // SAFETY: the types above are those of the PMIx standard.
        let (init, nspace, client): (Init, RegisterNspace, RegisterClient) = unsafe {
            (
                library.function(c"PMIx_server_init").map_err(missing)?,
                library
                    .function(c"PMIx_server_register_nspace")
                    .map_err(missing)?,
                library
                    .function(c"PMIx_server_register_client")
                    .map_err(missing)?,
            )
        };
        let name = c_string(&job.name);
        // SAFETY: as above.
        let server = unsafe {
            Server {
                name: name.clone(),
                setup_fork: library
                    .function(c"PMIx_server_setup_fork")
                    .map_err(missing)?,
                fetch: library
                    .function(c"PMIx_server_dmodex_request")
                    .map_err(missing)?,
                finalize: library.function(c"PMIx_server_finalize").map_err(missing)?,
                library,
            }
        };
        let host = Host {
            tell: Box::new(tell),
            name,
            psets: job.psets.clone(),
        };
        if HOST.set(host).is_err() {
            return Err(missing("this process has a server already".to_string()));
        }
        let mut about = Infos::default();
        about.text(c"pmix.srv.nspace", &format!("{}-server", job.name));
        about.rank(c"pmix.srv.rank", job.node);
        let directory = directory.to_string_lossy();
        about.text(c"pmix.srvr.tmpdir", &directory);
        about.text(c"pmix.sys.tmpdir", &directory);
        about.text(c"pmix.hname", &job.hosts[job.node as usize]);
        let about = about.as_slice();
        // SAFETY: the module lives as long as the process, and the arguments as
        // long as the call.
        let status = unsafe { init(&upcalls::MODULE, about.as_ptr(), about.len()) };
        server.check("PMIx_server_init", status)?;

        let local = job.local();
        let facts = server.describe(job, &directory)?;
        let (count, facts) = (local.len() as i32, facts.as_slice());
        // SAFETY: without a callback the call waits until it has read all.
        let status = unsafe {
            nspace(
                server.name.as_ptr(),
                count,
                facts.as_ptr(),
                facts.len(),
                None,
                ptr::null_mut(),
            )
        };
        server.check("PMIx_server_register_nspace", status)?;
        // SAFETY: plain calls.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        for &rank in &local {
            let proc = Proc::new(&server.name, rank);
            // SAFETY: as above; the ranks have no object.
            let status =
                unsafe { client(&proc, user, group, ptr::null_mut(), None, ptr::null_mut()) };
            server.check("PMIx_server_register_client", status)?;
        }
        Ok(server)
    }

    fn check(&self, of: &'static str, status: RawStatus) -> Result<(), Status> {
        match status {
            SUCCESS | OPERATION_SUCCEEDED => Ok(()),
            status => Err(self.library.status(of, status)),
        }
    }

    /// What the processes may ask about the job and its ranks.
    fn describe(&self, job: &Job, directory: &str) -> Result<Infos, Status> {
        let size = job.node_of.len() as u32;
        let local = job.local();
        let ranks_on = |node: u32| {
            let ranks = (0..size).filter(|&rank| job.node_of[rank as usize] == node);
            ranks.map(|rank| rank.to_string()).collect::<Vec<_>>()
        };
        let nodes = 0..job.hosts.len() as u32;
        let procs: Vec<String> = nodes.map(|node| ranks_on(node).join(",")).collect();
        let apps = job.app_of.last().map_or(0, |app| app + 1);

        let mut facts = Infos::default();
        facts.text(c"pmix.jobid", &job.name);
        facts.u32(keys::JOB_SIZE, size);
        facts.u32(c"pmix.max.size", size);
        facts.u32(keys::UNIVERSE_SIZE, job.universe_size);
        facts.u32(c"pmix.job.napps", apps);
        facts.u32(c"pmix.num.nodes", job.hosts.len() as u32);
        let nodes = self.short(c"PMIx_generate_regex", &job.hosts.join(","))?;
        let procs = self.short(c"PMIx_generate_ppn", &procs.join(";"))?;
        // SAFETY: they are never freed, as there is one job in this process.
        unsafe {
            facts.regex(c"pmix.nmap", nodes);
            facts.regex(c"pmix.pmap", procs);
        }
        // For those that ask for nodes of others as PMI-2 does; version 4 knows no
        // numbers of them.
        let runs = job.node_of.chunk_by(|a, b| a == b);
        let runs = runs.map(|run| format!(",({},1,{})", run[0], run.len()));
        let runs = runs.collect::<String>();
        facts.text(keys::MAPPING, &format!("(vector{runs})"));
        facts.u32(c"pmix.local.size", local.len() as u32);
        facts.u32(c"pmix.node.size", local.len() as u32);
        facts.text(c"pmix.lpeers", &ranks_on(job.node).join(","));
        facts.rank(c"pmix.lldr", local.first().copied().unwrap_or(0));
        if job.oversubscribed {
            facts.yes(c"pmix.ndosub");
        }
        facts.text(c"pmix.tmpdir", directory);
        facts.text(c"pmix.nsdir", directory);
        facts.yes(c"pmix.tdir.rmclean");
        facts.text(keys::MANAGER, "catena");
        facts.text(keys::MANAGER_VERSION, env!("CARGO_PKG_VERSION"));
        let mut seats = vec![0; job.hosts.len()];
        for rank in 0..size {
            let (node, app) = (job.node_of[rank as usize], job.app_of[rank as usize]);
            let first = job.app_of.partition_point(|&other| other < app) as u32;
            let seat = &mut seats[node as usize];
            let mut of = Infos::default();
            of.rank(c"pmix.rank", rank);
            of.u32(keys::APP_NUMBER, app);
            of.rank(c"pmix.aldr", first);
            of.rank(c"pmix.apprank", rank - first);
            of.rank(c"pmix.grank", rank);
            of.u16(c"pmix.lrank", *seat);
            of.u16(c"pmix.nrank", *seat);
            of.u32(keys::NODE_ID, node);
            of.text(c"pmix.hname", &job.hosts[node as usize]);
            of.u32(c"pmix.reinc", 0);
            let cpus = job
                .cpus
                .get(usize::from(*seat))
                .filter(|_| node == job.node);
            if let Some(cpus) = cpus.filter(|cpus| !cpus.is_empty()) {
                of.text(c"pmix.cpuset", &format!("hwloc:{cpus}"));
            }
            *seat += 1;
            facts.infos(c"pmix.pdata", of);
        }
        Ok(facts)
    }

    /// A list in the library's short form, which the caller owns.
    fn short(&self, name: &'static CStr, list: &str) -> Result<*mut c_char, Status> {
        // SAFETY: the type is that of both functions of this kind.
        let generate: Regex = unsafe { self.library.function(name) }.map_err(|cause| Status {
            of: "libpmix",
            cause,
        })?;
        let list = c_string(list);
        let mut regex = ptr::null_mut();
        // SAFETY: the list is a text, and `regex` is writable.
        let status = unsafe { generate(list.as_ptr(), &mut regex) };
        self.check("PMIx_generate_regex", status)?;
        Ok(regex)
    }

    /// Variables that `rank`, of this node, is to be started with, as `NAME=value`.
    ///
    /// # Errors
    /// If the library fails.
    pub fn environment(&self, rank: u32) -> Result<Vec<CString>, Status> {
        let proc = Proc::new(&self.name, rank);
        let mut vars: *mut *mut c_char = ptr::null_mut();
        // SAFETY: the library makes the list, which ends with a null.
        let status = unsafe { (self.setup_fork)(&proc, &mut vars) };
        self.check("PMIx_server_setup_fork", status)?;
        let mut strings = Vec::new();
        // SAFETY: as above; list and texts come from C's allocator.
        unsafe {
            let mut at = vars;
            while !at.is_null() && !(*at).is_null() {
                strings.push(CStr::from_ptr(*at).to_owned());
                libc::free((*at).cast());
                at = at.add(1);
            }
            libc::free(vars.cast());
        }
        Ok(strings)
    }

    /// Has what `rank`, of this node, has put told to `then` once it has
    /// committed it; nothing if it never will.
    pub fn fetch(&self, rank: u32, then: impl FnOnce(Option<Vec<u8>>) + Send + 'static) {
        let proc = Proc::new(&self.name, rank);
        let then: Then = Box::new(then);
        let then = Box::into_raw(Box::new(then));
        // SAFETY: `fetched` gets what it expects, once.
        unsafe {
            if (self.fetch)(&proc, fetched, then.cast()) != SUCCESS {
                fetched(crate::types::ERROR, ptr::null_mut(), 0, then.cast());
            }
        }
    }

    /// Ends the server, and does what its processes wanted done at their end.
    pub fn close(self) {
        // SAFETY: no arguments.
        unsafe { (self.finalize)() };
    }
}

type Then = Box<dyn FnOnce(Option<Vec<u8>>) + Send>;

/// Called with what was fetched.
///
/// # Safety
/// `then` is a `Box<Then>` that nobody else has, and `data` has `size` bytes.
unsafe extern "C" fn fetched(status: RawStatus, data: *mut c_char, size: usize, then: *mut c_void) {
    // SAFETY: as promised.
    unsafe {
        let then = Box::from_raw(then.cast::<Then>());
        then((status == SUCCESS).then(|| upcalls::bytes(data, size)));
    }
}

impl Job {
    /// The ranks of this node.
    fn local(&self) -> Vec<u32> {
        let ranks = (0..).zip(&self.node_of);
        ranks
            .filter_map(|(rank, &node)| (node == self.node).then_some(rank))
            .collect()
    }
}
