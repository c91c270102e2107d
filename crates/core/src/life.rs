//! The life of the library in a process. The world model and every session are
//! its *users*. The first user brings it up; when the last one leaves, it
//! rests: the launcher is told, but memory, rings and what others may have sent
//! already stay, and the next user goes on with them at once.
//!
//! The library runs without its lock while nobody was granted
//! `MPI_THREAD_MULTIPLE`. Then it belongs to one thread, its *owner*, or, under
//! `MPI_THREAD_SERIALIZED`, to whoever calls it. Users come and go under the
//! lock in any case.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread::{self, ThreadId};

use catena_abi::consts;
use catena_datatype::Datatype;
use catena_fabric::{Peer, Place};
use catena_link::Endpoint;
use catena_memory as memory;
use catena_net::{Chain, Networks, PeerTable, Routes};
use catena_process::{Scoped, Threads, Waits};
use catena_shm::Shm;

use crate::coll::{Collectives, Counts};
use crate::comm::{Cids, Comm, ControlMessages, Heritage, JOB};
use crate::exchange::{SharedBoot, ThroughLauncher};
use crate::hooks::Hooks;
use crate::process::{self, Process};
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;
use catena_objects::group::Group;

/// How many users there are. Written under the lock.
static USERS: AtomicU32 = AtomicU32::new(0);
static STARTING: AtomicBool = AtomicBool::new(false);

/// Whether the library is being brought up.
pub fn is_starting() -> bool {
    STARTING.load(Relaxed)
}

/// Who may call the library while it takes no lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// This thread only.
    Thread(ThreadId),
    /// Whoever does, one at a time: the program sees to it.
    InTurn,
}

impl Owner {
    fn new(level: i32) -> Self {
        if level == consts::THREAD_SERIALIZED {
            Owner::InTurn
        } else {
            Owner::Thread(thread::current().id())
        }
    }
}

/// Every level is supported; values in between count as the next lower one.
pub fn granted(required: i32) -> i32 {
    match required {
        consts::THREAD_MULTIPLE.. => consts::THREAD_MULTIPLE,
        consts::THREAD_SERIALIZED.. => consts::THREAD_SERIALIZED,
        consts::THREAD_FUNNELED.. => consts::THREAD_FUNNELED,
        _ => consts::THREAD_SINGLE,
    }
}

/// Counts a user in that needs this thread level, or any; returns what it is
/// granted, at least that.
///
/// # Errors
/// `Other` if the process cannot be wired up, or another thread uses the
/// library without the lock: the text says what to do.
pub(crate) fn join(level: Option<i32>) -> Result<i32> {
    let _held = process::hold();
    let users = USERS.load(Relaxed);
    let asked = level.unwrap_or(consts::THREAD_SINGLE);
    match process::state() {
        Some(process) if users > 0 => admit(process, asked)?,
        Some(process) => {
            process.boot.borrow_mut().resume().map_err(|e| other(&e))?;
            wake(process, asked);
        }
        None => {
            STARTING.store(true, Relaxed);
            let made = wire_up();
            STARTING.store(false, Relaxed);
            wake(process::keep(made?), asked);
        }
    }
    USERS.store(users + 1, Relaxed);
    Ok(if process::is_locked() {
        consts::THREAD_MULTIPLE
    } else {
        asked
    })
}

/// The first user of now.
fn wake(process: &'static Process, level: i32) {
    process.owner.set(Owner::new(level));
    process::run(process, level == consts::THREAD_MULTIPLE);
}

/// One more user.
fn admit(process: &'static Process, level: i32) -> Result<()> {
    if process::is_locked() {
        return Ok(());
    }
    let me = thread::current().id();
    if matches!(process.owner.get(), Owner::Thread(owner) if owner != me) {
        fail!(
            Other,
            "another thread of this process uses MPI and was not granted MPI_THREAD_MULTIPLE, so \
            this one cannot: ask for that level where MPI is first initialised (MPI_Init_thread, \
            or the info key thread_level of MPI_Session_init)"
        );
    }
    match level {
        // Nobody else is inside.
        consts::THREAD_MULTIPLE => process::run(process, true),
        consts::THREAD_SERIALIZED => process.owner.set(Owner::InTurn),
        _ => {}
    }
    Ok(())
}

/// Counts a user out, `end` if it is the world model; with the last one the
/// library rests.
///
/// # Errors
/// `Other` if the launcher is gone.
pub(crate) fn leave(process: &Process, end: bool) -> Result<()> {
    let _held = process::hold();
    let users = USERS.load(Relaxed) - 1;
    USERS.store(users, Relaxed);
    if users > 0 {
        return Ok(());
    }
    process.tell();
    process.end_hooks();
    let mut boot = process.boot.borrow_mut();
    let result = if end { boot.end() } else { boot.finalize() };
    drop(boot);
    process::rest();
    result.map_err(|e| other(&e))
}

impl Process {
    /// Waits until no process needs another over the network: what they wait
    /// for may leave this one only while it polls. Collective over the job.
    ///
    /// # Errors
    /// `Other` if the launcher is gone.
    pub(crate) fn part(&self) -> Result<()> {
        let mut parted = Ok(true);
        self.block(|process| {
            parted =
                process.link(|link| link.net().networks_mut().map_or(Ok(true), Networks::part));
            !matches!(parted, Ok(false))
        });
        parted.map(drop).map_err(|e| other(&e))
    }
}

impl Process {
    /// Waits until all processes of the job that have not died do, too.
    ///
    /// # Errors
    /// `Other` if the launcher is gone.
    pub(crate) fn fence(&self) -> Result<()> {
        let begun = self.boot.borrow_mut().begin_fence();
        begun.map_err(|e| other(&e))?;
        let mut over = Ok(false);
        self.block(|process| {
            over = process.boot.borrow_mut().fence_done();
            !matches!(over, Ok(false))
        });
        over.map(drop).map_err(|e| other(&e))
    }
}

fn other(e: &dyn std::fmt::Display) -> Error {
    Error::new(Kind::Other, e.to_string())
}

/// Connects to the launcher and opens the transports: one question and one
/// answer, without waiting for other ranks.
fn wire_up() -> Result<Box<Process>> {
    let mut boot = catena_boot::open().map_err(|e| other(&e))?;
    let job = boot.job().clone();
    let me = Peer(job.rank);
    crate::settings::warn_unknown(job.rank);
    let chain = Chain::from_settings().map_err(|e| other(&e))?;

    let local: Vec<Peer> = job.local.iter().map(|&r| Peer(r)).collect();
    let segment = match chain.shm && local.len() > 1 {
        true => boot.take_segment().map_err(|e| other(&e))?,
        false => None,
    };
    let shm = match segment {
        Some(fd) => {
            catena_shm::admit(boot.ancestor());
            let at = local.iter().position(|&p| p == me).unwrap_or(0) as u32;
            Some(Shm::attach(fd, at, &local, job.local_cpus).map_err(|e| other(&e))?)
        }
        None => None,
    };
    // SAFETY: the transport lives in the world, which is never dropped.
    let bell = shm.as_ref().map(|shm| unsafe { shm.bell(me) });
    let boot: SharedBoot = Rc::new(RefCell::new(boot));
    let place = Place {
        me,
        processes: job.size,
        job: job.job_id,
    };
    let exchange = Box::new(ThroughLauncher(Rc::clone(&boot)));
    let networks = Networks::open(&chain, place, &local, job.secret.as_ref(), exchange);
    let networks = networks.map_err(|e| other(&e))?;
    let everyone: Vec<Peer> = (0..job.size).map(Peer).collect();
    let oversubscribed = local.len() > job.local_cpus.max(1) as usize;
    let cores = job.local_cpus / local.len().max(1) as u32;
    let peers = PeerTable::new(job.job_id, job.node_of.clone());
    let routes = Routes::new(me, peers, &local, shm, networks);
    let mut link = Endpoint::new(routes);

    let objects = process::tables();
    let mut cids = Cids::new();
    let mut predefined = |handle: catena_abi::Comm, name: &str, members: &[Peer]| {
        let lease = cids.take(|_| true).expect("the first ones");
        let cid = lease.cid();
        let heritage = Heritage::new(
            objects
                .errhandlers
                .find(catena_objects::errhandler::initial())
                .expect("predefined"),
        );
        let comm = Comm::new(lease, Group::new(members, me), None, heritage);
        // Everybody numbers these two alike, so nothing has to be told.
        let peers = members.iter().map(|&p| (p, cid)).collect();
        link.open(cid, comm.rank, peers);
        comm.handle.set(handle);
        *comm.name.borrow_mut() = name.into();
        comm
    };
    let everybody = predefined(consts::COMM_WORLD, "MPI_COMM_WORLD", &everyone);
    assert_eq!(everybody.cid, JOB);
    let own = predefined(consts::COMM_SELF, "MPI_COMM_SELF", &[me]);
    let handles = HashMap::from([
        (everybody.cid.0, consts::COMM_WORLD),
        (own.cid.0, consts::COMM_SELF),
    ]);
    let process = Box::new(Process {
        objects,
        units: units(),
        me,
        world: everybody,
        own,
        world_model: Cell::default(),
        recent: Cell::new(process::NOBODY),
        owner: Cell::new(Owner::InTurn),
        threads: Threads::new(cores, oversubscribed),
        waits: Waits::default(),
        colls: Counts::default(),
        boot,
        buffer: RefCell::default(),
        cids: RefCell::new(cids),
        control: ControlMessages::default(),
        handles_by_cid: RefCell::new(handles),
        wake_socket: OnceCell::new(),
        hooks: Hooks::default(),
        // SAFETY: the closures that `Process::link` is given do not lend it again, as it demands.
        link: unsafe { Scoped::new(link) },
        oversubscribed,
        bell: Cell::new(bell),
        parent: Cell::new(consts::COMM_NULL),
        other_jobs: Default::default(),
    });
    // Collectives first: they are asked for most.
    process.hook::<Collectives>();
    process.watch();
    Ok(process)
}

/// See [`Process::units`].
fn units() -> [u8; 256] {
    if !memory::is_host_only() {
        return [0; 256];
    }
    std::array::from_fn(|low| {
        let ty = Datatype::predefined(0x200 | low as u16).filter(|ty| ty.is_contiguous());
        ty.map_or(0, |ty| u8::try_from(ty.size()).unwrap_or(0))
    })
}
