//! The provider in a real libfabric, which loads it from its file. Two endpoints of one process,
//! and one of another process that is killed.
//!
//! Each test starts this program again, as libfabric reads its environment once, in a process of
//! its own whose only test is `inside`. `LINKX_LIBFABRIC` names other libfabrics than the system's,
//! with `:` between them.
#![allow(
    dead_code,
    reason = "the tables of libfabric hold more than the tests call"
)]
#![allow(missing_docs, reason = "tests")]

mod edges;
mod inside;
#[allow(unused_imports, reason = "the tests use less of it than the provider")]
#[path = "../../src/sys/mod.rs"]
mod sys;
mod threads;
mod waits;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use sys::*;

/// The ways between the two endpoints.
const LINKS: [&str; 3] = ["shm", "tcp", "shm+tcp"];
/// An operation is to end within this time on any machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder in which the provider has the name that libfabric looks for; what is made there goes
/// with the folder of the build.
fn folder(of: &str) -> PathBuf {
    let program = std::env::current_exe().expect("a program");
    let profile = program.ancestors().nth(2).expect("a folder");
    let built = profile.join("deps/liblinkx_fi.so");
    let name = format!("{of}-{}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    let link = folder.join("liblinkx-fi.so");
    if !link.exists() {
        std::os::unix::fs::symlink(built, link).expect("a link");
    }
    folder
}

fn libraries() -> Vec<String> {
    let named = std::env::var("LINKX_LIBFABRIC").unwrap_or_default();
    let named = named
        .split(':')
        .filter(|it| !it.is_empty())
        .map(str::to_owned);
    std::iter::once("libfabric.so.1".to_owned())
        .chain(named)
        .collect()
}

/// Runs `inside` for a test over a link, in each libfabric that there is.
fn run(test: &str, link: &str) {
    let folder = folder(&format!("{test}-{link}"));
    run_in(&folder, test, link, |_| {});
    let _ = std::fs::remove_dir_all(folder);
}

/// As [`run`], in that folder, with an environment that is changed.
fn run_in(folder: &Path, test: &str, link: &str, change: impl Fn(&mut Command)) {
    let mut ran = 0;
    for library in libraries() {
        let name = CString::new(library.clone()).expect("a name");
        // SAFETY: a library with no constructors that matter here.
        if unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) }.is_null() {
            continue;
        }
        ran += 1;
        let mut command = command(test, link, &library, folder);
        change(&mut command);
        let status = command.status().expect("this program");
        if status.code() == Some(LACKING) {
            return catena_testing::skip("hosts", &"no namespaces for several hosts");
        }
        assert!(
            status.success(),
            "{test} over {link} in {library}: {status}"
        );
    }
    if ran == 0 {
        catena_testing::skip("libfabric", &"libfabric.so.1 is not installed");
    }
}

fn command(test: &str, link: &str, library: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a program"));
    command.args([
        "--exact",
        "inside",
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ]);
    command
        .env("LINKX_TEST", test)
        .env("LINKX_LIBRARY", library);
    command
        .env("FI_PROVIDER_PATH", folder)
        .env("FI_LINKX_LINKS", link);
    command.env("FI_PROVIDER", "linkx");
    command
}

/// As [`run`], and the program says that it keeps its calls apart. Whatever may be lent is.
fn run_apart(test: &str) {
    let folder = folder(&format!("{test}-apart"));
    run_in(&folder, test, "shm+tcp", |command| {
        command.env("LINKX_APART", "1");
        command.env("CATENA_SHM_SINGLE_COPY", "always");
    });
    let _ = std::fs::remove_dir_all(folder);
}

/// How `scripts/hosts` ends where the system makes no hosts.
const LACKING: i32 = 77;

/// Runs a command through `scripts/hosts`: on the first of several hosts, or on the one named.
fn through_hosts(command: &mut Command, place: &str) {
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/hosts");
    let mut all = Command::new(hosts);
    all.arg(place)
        .arg(command.get_program())
        .args(command.get_args());
    let set = command
        .get_envs()
        .filter_map(|(name, to)| Some((name, to?)));
    all.envs(set);
    *command = all;
}

/// A process on another host is killed, and another host's network ends.
#[test]
fn hosts_that_are_gone() {
    let folder = folder("gone");
    for end in ["killed", "cut"] {
        run_in(&folder, "a_host_that_is_gone", "shm+tcp", |command| {
            command.env("LINKX_END", end).env("LINKX_HOST", "h1");
            command.env("CATENA_TCP_TIMEOUT", "2s");
            through_hosts(command, "2");
        });
    }
    let _ = std::fs::remove_dir_all(folder);
}

/// Beside a provider that has a network with a card: that has a link, which shows the card, too.
/// Where the environment hides that provider, a link to its network is not offered, and the log
/// tells why.
#[test]
fn links_that_are_found() {
    let folder = folder("found");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/provider/card.c");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]);
    cc.arg(folder.join("libcard-fi.so")).arg(source);
    assert!(cc.status().expect("a compiler").success());
    for (links, expected) in [
        (None, "shm+card:card0 card0|shm+tcp "),
        (Some("shm | shm+ofi:card"), "shm |shm+ofi:card card0"),
    ] {
        run_in(&folder, "links_that_are_found", "", |command| {
            command
                .env_remove("FI_PROVIDER")
                .env_remove("FI_LINKX_LINKS");
            command.envs(links.map(|it| ("FI_LINKX_LINKS", it)));
            command.env("LINKX_EXPECTED", expected);
        });
    }
    let said = folder.join("said");
    run_in(
        &folder,
        "links_that_are_found",
        "shm+ofi:card|shm+tcp",
        |command| {
            let file = std::fs::File::create(&said).expect("a file");
            command.stderr(file).env("FI_LOG_LEVEL", "warn");
            command.env("LINKX_EXPECTED", "shm+tcp ");
        },
    );
    if let Ok(said) = std::fs::read_to_string(&said) {
        let remedy = "FI_PROVIDER=linkx hides it: set FI_PROVIDER=linkx,card";
        assert!(said.contains(remedy), "{said}");
    }
    let _ = std::fs::remove_dir_all(folder);
}

macro_rules! tests {
    ($($module:ident: $($name:ident)*;)*) => {
        $($(
            #[test]
            fn $name() {
                for link in LINKS {
                    run(stringify!($name), link);
                }
                let shares = stringify!($module) == "threads"
                    && stringify!($name) != "threads_have_endpoints";
                if !shares {
                    run_apart(stringify!($name));
                }
            }
        )*)*

        #[test]
        #[ignore = "a part of the others"]
        fn inside() {
            let test = std::env::var("LINKX_TEST").expect("started by a test");
            match &*test {
                $($(stringify!($name) => self::$module::$name(),)*)*
                "peer" => self::inside::peer(),
                "sender" => self::inside::sender(),
                "a_host_that_is_gone" => self::edges::a_host_that_is_gone(),
                "links_that_are_found" => self::inside::links_that_are_found(),
                other => panic!("no test {other}"),
            }
        }
    };
}

tests! {
    inside:
    offers
    tagged_messages
    remote_cq_data
    plain_messages
    buffers_for_many_messages
    buffers_that_are_filled_in_turn
    peeks_and_claims
    receives_taken_back
    remote_memory
    atomics
    selective_completion_and_counters
    many_receives_and_messages
    a_sender_that_leaves_at_once
    addresses_that_are_removed
    addresses_that_come_back
    strangers_that_call;
    edges:
    a_peer_that_is_killed
    memory_of_one_that_is_gone
    an_endpoint_that_closes
    one_thread_closes_ends_of_two_domains
    a_region_that_closes
    many_that_come_and_go
    messages_of_one_that_has_left
    regions_of_several_runs
    receives_of_one_context
    messages_that_are_little_too_long
    a_call_for_progress_alone
    defaults_of_an_endpoint
    flags_that_are_not_there
    input_that_makes_no_sense
    hints_that_cannot_be_met
    a_queue_that_leaves_its_set;
    threads:
    threads_share_an_endpoint
    threads_have_endpoints
    writes_and_atomics_of_threads;
    waits:
    descriptors_to_wait_on
    memory_that_is_served_by_itself
    poll_sets
    events_of_insertions
    user_ids
    many_domains
    long_queues_cost_nothing;
}

type DupInfo = unsafe extern "C" fn(*const Info) -> *mut Info;
type OpenFabric = unsafe extern "C" fn(*mut FabricAttr, *mut *mut FidFabric, *mut c_void) -> c_int;
type GetInfo = unsafe extern "C" fn(
    u32,
    *const c_char,
    *const c_char,
    u64,
    *const Info,
    *mut *mut Info,
) -> c_int;

/// The functions of libfabric.
struct Fabric {
    version: u32,
    getinfo: GetInfo,
    dupinfo: DupInfo,
    fabric: OpenFabric,
}

impl Fabric {
    fn open() -> Fabric {
        let name = std::env::var("LINKX_LIBRARY").expect("started by a test");
        let name = CString::new(name).expect("a name");
        // SAFETY: the functions have these types.
        unsafe {
            let handle = libc::dlopen(name.as_ptr(), libc::RTLD_NOW);
            assert!(!handle.is_null(), "{name:?}");
            let symbol = |name: &CStr| {
                let at = libc::dlsym(handle, name.as_ptr());
                assert!(!at.is_null(), "{name:?}");
                at
            };
            let version: unsafe extern "C" fn() -> u32 = std::mem::transmute(symbol(c"fi_version"));
            Fabric {
                version: version(),
                getinfo: std::mem::transmute::<*mut c_void, GetInfo>(symbol(c"fi_getinfo")),
                dupinfo: std::mem::transmute::<*mut c_void, DupInfo>(symbol(c"fi_dupinfo")),
                fabric: std::mem::transmute::<*mut c_void, OpenFabric>(symbol(c"fi_fabric")),
            }
        }
    }

    /// Offers for hints that `change` makes; an error number.
    fn offers(&self, flags: u64, change: impl FnOnce(&mut Info)) -> Result<*mut Info, c_int> {
        // SAFETY: libfabric's own structures.
        unsafe {
            let hints = (self.dupinfo)(null());
            (*(*hints).fabric_attr).prov_name = libc::strdup(c"linkx".as_ptr());
            (*hints).mode = !0;
            change(&mut *hints);
            let mut info = null_mut();
            match (self.getinfo)(self.version, null(), null(), flags, hints, &mut info) {
                0 => Ok(info),
                error => Err(error),
            }
        }
    }
}

/// An endpoint with what it needs.
struct Side {
    ep: *mut FidEp,
    cq: *mut FidCq,
    av: *mut FidAv,
    domain: *mut FidDomain,
    fabric: *mut FidFabric,
    address: [u8; 64],
}

/// A completion.
type Told = (CqEntry, Addr);

/// How an endpoint is made.
#[derive(Default)]
struct How {
    is_selective: bool,
    counters: Vec<(*mut *mut FidCntr, u64)>,
    /// With a descriptor to wait on.
    waits: bool,
    /// Progress is automatic.
    is_auto: bool,
    /// With user ids of addresses.
    has_ids: bool,
}

impl Side {
    fn open(how: &How) -> Side {
        let fabric = Fabric::open();
        let info = fabric.offers(0, |_| {}).expect("an offer");
        // SAFETY: as the manual pages say; likewise in all of the tests.
        unsafe {
            let (mut fab, mut domain, mut cq) = (null_mut(), null_mut(), null_mut());
            let (mut av, mut ep) = (null_mut(), null_mut());
            let ok = |status: c_int| assert_eq!(status, 0);
            if how.is_auto {
                (*(*info).domain_attr).data_progress = num::PROGRESS_AUTO;
            }
            if std::env::var_os("LINKX_APART").is_some() {
                (*(*info).domain_attr).threading = num::THREAD_DOMAIN;
            }
            ok((fabric.fabric)((*info).fabric_attr, &mut fab, null_mut()));
            ok(((*(*fab).ops).domain)(fab, info, &mut domain, null_mut()));
            let ops = &*(*domain).ops;
            let mut attr: CqAttr = std::mem::zeroed();
            attr.format = num::CQ_TAGGED;
            attr.wait_obj = match how.waits {
                true => num::WAIT_FD,
                false => num::WAIT_NONE,
            };
            ok((ops.cq_open)(domain, &mut attr, &mut cq, null_mut()));
            let mut attr: AvAttr = std::mem::zeroed();
            if how.has_ids {
                attr.flags = flag::AV_USER_ID;
            }
            ok((ops.av_open)(domain, &mut attr, &mut av, null_mut()));
            ok((ops.endpoint)(domain, info, &mut ep, null_mut()));
            let bind = |to: *mut Fid, flags| {
                ok(((*(*ep).fid.ops).bind)(ep.cast(), to, flags));
            };
            let selective = match how.is_selective {
                true => flag::SELECTIVE_COMPLETION,
                false => 0,
            };
            bind(cq.cast(), flag::SEND | flag::RECV | selective);
            bind(av.cast(), 0);
            for (to, flags) in &how.counters {
                ok((ops.cntr_open)(domain, null_mut(), *to, null_mut()));
                bind((**to).cast(), *flags);
            }
            ok(((*(*ep).fid.ops).control)(
                ep.cast(),
                num::ENABLE,
                null_mut(),
            ));
            let (mut address, mut len) = ([0; 64], 64);
            ok(((*(*ep).cm).getname)(
                ep.cast(),
                address.as_mut_ptr().cast(),
                &mut len,
            ));
            assert_eq!(len, 64);
            let fabric = fab;
            Side {
                ep,
                cq,
                av,
                domain,
                fabric,
                address,
            }
        }
    }

    fn insert(&self, address: &[u8; 64]) -> (c_int, Addr) {
        let mut addr = 0;
        // SAFETY: as above.
        let done = unsafe {
            let at = address.as_ptr().cast();
            ((*(*self.av).ops).insert)(self.av, at, 1, &mut addr, 0, null_mut())
        };
        (done, addr)
    }

    /// A completion, if there is one; its error, if it is one.
    fn poll(&self) -> Option<Result<Told, CqErrEntry>> {
        // SAFETY: as above.
        unsafe {
            let (mut entry, mut source) = (std::mem::zeroed::<CqEntry>(), 0);
            let ops = &*(*self.cq).ops;
            let to = (&raw mut entry).cast();
            match (ops.readfrom)(self.cq, to, 1, &mut source) {
                1 => Some(Ok((entry, source))),
                it if it == err::AGAIN as isize => None,
                it if it == err::AVAIL as isize => {
                    let mut error = std::mem::zeroed::<CqErrEntry>();
                    assert_eq!((ops.readerr)(self.cq, &mut error, 0), 1);
                    Some(Err(error))
                }
                other => panic!("{other}"),
            }
        }
    }

    /// The next completion, while this side alone makes progress.
    fn wait(&self, otherwise: &str) -> Result<Told, CqErrEntry> {
        let began = Instant::now();
        loop {
            if let Some(told) = self.poll() {
                return told;
            }
            assert!(began.elapsed() < PATIENCE, "{otherwise}");
        }
    }

    fn tagged(&self) -> &TaggedOps {
        // SAFETY: as above.
        unsafe { &*(*self.ep).tagged }
    }

    fn msg(&self) -> &MsgOps {
        // SAFETY: as above.
        unsafe { &*(*self.ep).msg }
    }

    fn trecv(&self, to: &mut [u8], from: Addr, (tag, ignore): (u64, u64), context: usize) {
        let (at, len) = (to.as_mut_ptr().cast(), to.len());
        let context = context as *mut c_void;
        // SAFETY: as above.
        let done = unsafe {
            (self.tagged().recv)(self.ep, at, len, null_mut(), from, tag, ignore, context)
        };
        assert_eq!(done, 0);
    }

    fn trecv_at(&self, at: *mut c_void, len: usize, tag: u64) {
        let (from, none) = (num::ADDR_NONE, null_mut());
        // SAFETY: as above.
        let done =
            unsafe { (self.tagged().recv)(self.ep, at, len, null_mut(), from, tag, 0, none) };
        assert_eq!(done, 0);
    }

    fn tsend(&self, bytes: &[u8], to: Addr, tag: u64, context: usize) {
        let (at, len) = (bytes.as_ptr().cast(), bytes.len());
        let context = context as *mut c_void;
        // SAFETY: as above.
        let done = unsafe { (self.tagged().send)(self.ep, at, len, null_mut(), to, tag, context) };
        assert_eq!(done, 0);
    }

    fn tinject(&self, bytes: &[u8], to: Addr, tag: u64) {
        let (at, len) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: as above.
        let done = unsafe { (self.tagged().inject)(self.ep, at, len, to, tag) };
        assert_eq!(done, 0);
    }

    fn close(self) {
        // SAFETY: as above; nothing is used afterwards.
        unsafe {
            for fid in [
                self.ep.cast::<Fid>(),
                self.cq.cast(),
                self.av.cast(),
                self.domain.cast(),
                self.fabric.cast(),
            ] {
                assert_eq!(((*(*fid).ops).close)(fid), 0);
            }
        }
    }
}

/// Two endpoints that know each other, each by one address, and themselves by another.
struct Pair {
    sides: [Side; 2],
    there: [Addr; 2],
}

impl Pair {
    fn open() -> Pair {
        Pair::of([Side::open(&How::default()), Side::open(&How::default())])
    }

    fn of(sides: [Side; 2]) -> Pair {
        let [one, two] = [sides[0].address, sides[1].address];
        let there = [sides[0].insert(&two), sides[1].insert(&one)].map(|(done, addr)| {
            assert_eq!(done, 1);
            addr
        });
        Pair { sides, there }
    }

    /// The next completion of one side, while both make progress.
    fn next(&self, of: usize) -> Result<Told, CqErrEntry> {
        let began = Instant::now();
        loop {
            if let Some(told) = self.sides[of].poll() {
                return told;
            }
            // What the other one has stays there.
            // SAFETY: as above.
            unsafe {
                let other = &self.sides[1 - of];
                ((*(*other.cq).ops).read)(other.cq, null_mut(), 0);
            }
            assert!(began.elapsed() < PATIENCE, "no completion");
        }
    }

    fn good(&self, of: usize) -> Told {
        match self.next(of) {
            Ok(told) => told,
            Err(error) => panic!("error {}", error.err),
        }
    }

    fn bad(&self, of: usize) -> CqErrEntry {
        match self.next(of) {
            Ok(told) => panic!("a completion with flags {:#x}", told.0.flags),
            Err(error) => error,
        }
    }

    fn close(self) {
        self.sides.into_iter().for_each(Side::close);
    }
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + (at >> 8)) as u8).collect()
}
