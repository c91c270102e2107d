//! The beginning and the end of MPI in a process, and what is found there.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

use catena_abi::{Comm, Session, consts};

use crate::call::{Args, Class, number};
use crate::guard::Inside;
use crate::site::Site;
use crate::tell::{self, Finding, Kind};
use crate::{differ, guard, mpi, objects, own, requests, threads};

/// Zero where MPI is not there, or what there is of it.
static PHASE: AtomicU8 = AtomicU8::new(0);

/// Between `MPI_Init` and `MPI_Finalize`.
const WORLD: u8 = 1;
/// There are sessions, and nothing else.
const SESSIONS: u8 = 2;
/// After `MPI_Finalize`.
const ENDED: u8 = 3;

/// Whether MPI may be asked something.
pub fn is_going_on() -> bool {
    [WORLD, SESSIONS].contains(&PHASE.load(Relaxed))
}

/// Whether there is `MPI_COMM_WORLD`.
pub fn is_in_world() -> bool {
    PHASE.load(Relaxed) == WORLD
}

/// What is left of these classes, and of requests.
fn left(of: impl Fn(Class) -> bool) -> Vec<Finding> {
    let mut left = requests::left();
    left.extend(objects::left(of));
    left
}

/// Has what is left be found at the end of the process: sessions may come again, and some objects
/// may be given back later than MPI ends.
fn look_at_exit() {
    static OWN: AtomicU32 = AtomicU32::new(0);
    extern "C" fn look() {
        let _inside = Inside::enter();
        // A copy of the process that `fork` has made has its objects, but not the duty.
        let is_own = OWN.load(Relaxed) == std::process::id();
        if is_own && [0, ENDED].contains(&PHASE.load(Relaxed)) {
            tell::tell(left(|_| true));
        }
    }
    if OWN.swap(std::process::id(), Relaxed) == 0 {
        // SAFETY: a function that may be called at any time.
        unsafe { libc::atexit(look) };
    }
}

/// Before a call that may begin MPI.
pub fn begin(args: &Args) {
    let begins = [number::Init, number::Init_thread, number::Session_init];
    if begins.contains(&args.number) {
        differ::begin();
        guard::begin();
    }
}

/// After a call that has succeeded.
pub fn after(args: &Args) -> Vec<Finding> {
    match args.number {
        number::Init | number::Init_thread => {
            PHASE.store(WORLD, Relaxed);
            let mut level = consts::THREAD_SINGLE;
            mpi::Query_thread(&mut level);
            threads::begin(level);
            tell::set_rank(mpi::rank(consts::COMM_WORLD));
            Vec::new()
        }
        number::Session_init => {
            _ = PHASE.compare_exchange(0, SESSIONS, Relaxed, Relaxed);
            look_at_exit();
            // SAFETY: the call has succeeded, so the handle is there.
            if let Some(session) = unsafe { args.at::<Session>(2) } {
                threads::session(session);
            }
            Vec::new()
        }
        number::Finalize => {
            PHASE.store(ENDED, Relaxed);
            // Sessions may go on after the world model.
            match objects::has(Class::Session) {
                true => Vec::new(),
                false => {
                    look_at_exit();
                    left(|class| !objects::outlives(class))
                }
            }
        }
        number::Session_finalize
            if PHASE.load(Relaxed) == SESSIONS && !objects::has(Class::Session) =>
        {
            // Another one may follow, and use what is there.
            PHASE.store(0, Relaxed);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// The library tells, while MPI ends, of a message that was never received.
// SAFETY: no other library has names that begin with catena_.
#[unsafe(no_mangle)]
extern "C" fn catena_check_unmatched(comm: Comm, source: c_int, tag: c_int, bytes: u64) {
    let _inside = Inside::enter();
    if own::is_own(comm) {
        return;
    }
    let on = match comm {
        consts::COMM_WORLD => "MPI_COMM_WORLD",
        consts::COMM_SELF => "MPI_COMM_SELF",
        _ => "a communicator",
    };
    let text = format!(
        "a message of {bytes} bytes from rank {source} with tag {tag} on {on} was never received"
    );
    let finding = Finding::error(Kind::Unmatched, Site::in_full("MPI_Finalize"), text);
    let finding = match objects::made(Class::Comm, comm.0) {
        Some(made) => finding.besides("the communicator was made by", &made),
        None => finding,
    };
    finding
        .remedy(
            "receive each message that is sent, as by MPI_Recv, with its tag and on its \
             communicator",
        )
        .tell();
}
