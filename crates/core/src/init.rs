//! Start and end of the world model (MPI-5, chapter 11.2).

use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};

use catena_abi::consts;

use catena_datatype::Datatype;
use catena_fabric::Peer;
use catena_link::Endpoint;
use catena_shm::Shm;

use crate::coll::Counts;
use crate::comm::{Cids, Comm, Heritage, JOB, Letters};
use crate::error::{Error, Kind, Result};
use crate::events::{self, Noted};
use crate::fail;
use crate::group::Group;
use crate::info::Info;
use crate::routes::Routes;
use crate::wait::Waits;
use crate::world::{self, World, enter};

const BEFORE: u8 = 0;
const STARTING: u8 = 1;
const RUNNING: u8 = 2;
const FINALIZED: u8 = 3;

static PHASE: AtomicU8 = AtomicU8::new(BEFORE);

/// `MPI_Initialized`: true from the end of `MPI_Init` on, for ever.
pub fn is_initialized() -> bool {
    PHASE.load(Acquire) >= RUNNING
}

/// Whether `MPI_Init` is under way.
pub fn is_starting() -> bool {
    PHASE.load(Acquire) == STARTING
}

/// `MPI_Finalized`.
pub fn is_finalized() -> bool {
    PHASE.load(Acquire) == FINALIZED
}

/// `MPI_Init_thread`; returns the thread level that is granted.
///
/// # Errors
/// `Other` if it was called before, or the process cannot be wired up: the
/// text says what failed and what to do.
pub fn init(required: i32) -> Result<i32> {
    if PHASE
        .compare_exchange(BEFORE, STARTING, AcqRel, Acquire)
        .is_err()
    {
        fail!(
            Other,
            "MPI_Init or MPI_Init_thread was called before: a process calls one of them \
            once"
        );
    }
    match wire_up(required) {
        Ok(level) => {
            PHASE.store(RUNNING, Release);
            Ok(level)
        }
        Err(e) => {
            PHASE.store(BEFORE, Release);
            Err(e)
        }
    }
}

fn wire_up(required: i32) -> Result<i32> {
    let level = granted(required);
    let other = |e: &dyn std::fmt::Display| Error::new(Kind::Other, e.to_string());
    let mut boot = catena_boot::open().map_err(|e| other(&e))?;
    let segment = boot.take_segment();
    let job = boot.job();
    let me = Peer(job.rank);
    crate::settings::warn_unknown(job.rank);

    let local: Vec<Peer> = job.local.iter().map(|&r| Peer(r)).collect();
    let shm = match segment {
        Some(fd) if local.len() > 1 => {
            let at = local.iter().position(|&p| p == me).unwrap_or(0) as u32;
            Some(Shm::attach(fd, at, &local, job.local_cpus).map_err(|e| other(&e))?)
        }
        _ => None,
    };
    // SAFETY: the transport lives in the world, which is never dropped.
    let bell = shm.as_ref().map(|shm| unsafe { shm.bell(me) });
    let everyone: Vec<Peer> = (0..job.size).map(Peer).collect();
    let oversubscribed = local.len() > job.local_cpus.max(1) as usize;
    let routes = Routes::new(me, everyone.len(), &local, shm);
    let mut link = Endpoint::new(routes);

    let objects = world::tables();
    let mut cids = Cids::new();
    let mut predefined = |handle: catena_abi::Comm, name: &str, members: &[Peer]| {
        let lease = cids.take(|_| true).expect("the first ones");
        let cid = lease.cid();
        let heritage = Heritage::new(
            objects
                .errhandler(crate::errhandler::initial())
                .expect("predefined"),
        );
        let comm = Comm::new(lease, Group::new(members, me), None, heritage);
        // Everybody numbers these two alike, so nothing has to be told.
        let lanes = members.iter().map(|&p| (p, cid)).collect();
        link.open(cid, comm.rank, lanes);
        comm.handle.set(handle);
        name.clone_into(&mut comm.name.borrow_mut());
        comm
    };
    let everybody = predefined(consts::COMM_WORLD, "MPI_COMM_WORLD", &everyone);
    assert_eq!(everybody.cid, JOB);
    let own = predefined(consts::COMM_SELF, "MPI_COMM_SELF", &[me]);
    let handles = HashMap::from([
        (everybody.cid.0, consts::COMM_WORLD),
        (own.cid.0, consts::COMM_SELF),
    ]);
    let world = Box::new(World {
        objects,
        units: units(),
        me,
        world: everybody,
        own,
        level,
        threads: false,
        waits: Waits::default(),
        colls: Counts::default(),
        noted: Noted::default(),
        main_thread: std::thread::current().id(),
        boot: RefCell::new(boot),
        buffer: RefCell::default(),
        cids: RefCell::new(cids),
        letters: Letters::default(),
        handles_by_cid: RefCell::new(handles),
        active: RefCell::default(),
        idle_runs: RefCell::default(),
        running: Cell::new(usize::from(events::any())),
        advancing: Cell::new(false),
        boards: RefCell::default(),
        retired: RefCell::default(),
        link: UnsafeCell::new(link),
        oversubscribed,
        bell,
    });
    world.watch();
    world::start(world);
    Ok(level)
}

/// See [`World::units`].
fn units() -> [u8; 256] {
    std::array::from_fn(|low| {
        let ty = Datatype::predefined(0x200 | low as u16).filter(|ty| ty.is_contiguous());
        ty.map_or(0, |ty| u8::try_from(ty.size()).unwrap_or(0))
    })
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

/// `MPI_Finalize`: collective over the world.
///
/// # Errors
/// `Other` if the library does not run; what a delete callback of an attribute
/// on `MPI_COMM_SELF` returns.
pub fn finalize() -> Result<()> {
    let world = enter()?;
    // First of all (MPI-5, 11.2.4), while everything still works.
    world.own.attrs.delete_all(consts::COMM_SELF.0)?;
    world.flush_process_buffer();
    let buffered: Vec<_> = world.objects.comms.all();
    for (_, comm) in buffered {
        world.flush_buffer(&comm)?;
    }
    // Nobody leaves while somebody may still need its memory or its progress.
    world.barrier(&world.world)?;
    world.block(|w| w.link().is_idle());
    world.tell();
    let result = world.boot.borrow_mut().finalize();
    PHASE.store(FINALIZED, Release);
    world::stop();
    drop(world);
    result.map_err(|e| Error::new(Kind::Other, e.to_string()))
}

/// `MPI_Abort`: ends the job; does not return.
pub fn abort(code: i32, message: &str) -> ! {
    if let Ok(world) = enter()
        && let Ok(mut boot) = world.boot.try_borrow_mut()
    {
        boot.abort(code, message);
    } else {
        eprintln!("catena: {message}");
    }
    // Like a process that failed, whatever the code is.
    let status = if code & 0xff == 0 { 1 } else { code & 0xff };
    // SAFETY: ends the process without running its exit handlers, which may
    // wait for what will never come.
    unsafe { libc::_exit(status) }
}

/// `MPI_INFO_ENV` (MPI-5, 11.2.2): what is known of how the program was
/// started.
pub fn info_env() -> Arc<Info> {
    static ENV: OnceLock<Vec<(String, String)>> = OnceLock::new();
    let pairs = ENV.get_or_init(|| {
        let mut args = std::env::args();
        let mut pairs = Vec::new();
        if let Some(command) = args.next() {
            pairs.push(("command".to_owned(), clip(command)));
        }
        pairs.push(("argv".to_owned(), clip(args.collect::<Vec<_>>().join(" "))));
        if let Ok(world) = enter() {
            let boot = world.boot.borrow();
            pairs.push(("maxprocs".to_owned(), boot.job().size.to_string()));
        }
        if let Ok(dir) = std::env::current_dir() {
            pairs.push(("wdir".to_owned(), clip(dir.to_string_lossy().into_owned())));
        }
        pairs.push(("arch".to_owned(), std::env::consts::ARCH.to_owned()));
        pairs.push(("thread_level".to_owned(), "MPI_THREAD_MULTIPLE".to_owned()));
        pairs
    });

    Info::from_pairs(pairs.clone())
}

/// Shortens a string to what an info value may have.
pub fn clip(mut s: String) -> String {
    let mut end = s.len().min(crate::info::MAX_VALUE);
    while !s.is_char_boundary(end) {
        end -= 1;
    }
    s.truncate(end);
    s
}
