//! Which threads may call MPI.
//!
//! The level of `MPI_Init_thread` is that of the objects that come from `MPI_COMM_WORLD`; a session
//! has one of its own. As it is not known which objects come from which session, any thread may
//! call that a session allows to.

use std::cell::Cell;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering::Relaxed};

use catena_abi::{Session, consts};

use crate::call::{BY_ANY_THREAD, number};
use crate::site::Site;
use crate::tell::{Finding, Kind};
use crate::{mpi, spawned};

/// The level that `MPI_Init_thread` has provided; the highest one where nothing is known.
static LEVEL: AtomicI32 = AtomicI32::new(consts::THREAD_MULTIPLE);

/// The highest level that sessions have.
static OF_SESSIONS: AtomicI32 = AtomicI32::new(consts::THREAD_SINGLE);

/// The thread that has initialized MPI; zero before.
static MAIN: AtomicUsize = AtomicUsize::new(0);

/// How many threads are in calls.
static CALLING: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// How many calls this thread is in: one within a callback of another.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// What tells this thread apart from others that live.
fn own() -> usize {
    DEPTH.with(|it| std::ptr::from_ref(it).addr())
}

/// Whether this thread is in a call of MPI.
pub fn is_calling() -> bool {
    DEPTH.get() > 0
}

/// Whether this thread is in a call within another one, so that a function has made it which MPI
/// has called.
pub fn is_in_callback() -> bool {
    DEPTH.get() > 1
}

/// Notes the level that this thread was provided with.
pub fn begin(level: i32) {
    MAIN.store(own(), Relaxed);
    LEVEL.store(level, Relaxed);
}

/// Notes that this thread has made a session.
pub fn session(made: Session) {
    let is_other = MAIN.load(Relaxed) != own();
    let level = match mpi::thread_level(made).as_deref() {
        // That thread is the one that may call then.
        _ if is_other => consts::THREAD_MULTIPLE,
        Some("MPI_THREAD_SINGLE") => consts::THREAD_SINGLE,
        Some("MPI_THREAD_FUNNELED") => consts::THREAD_FUNNELED,
        Some("MPI_THREAD_SERIALIZED") => consts::THREAD_SERIALIZED,
        _ => consts::THREAD_MULTIPLE,
    };
    OF_SESSIONS.fetch_max(level, Relaxed);
}

fn level() -> i32 {
    LEVEL.load(Relaxed).max(OF_SESSIONS.load(Relaxed))
}

/// Whether several threads may call at the same time.
pub fn are_many() -> bool {
    level() == consts::THREAD_MULTIPLE
}

fn is_always_allowed(number: u16) -> bool {
    BY_ANY_THREAD[usize::from(number)]
}

/// A call that is under way; it is over when this is dropped.
#[derive(Debug)]
pub struct Calling {
    /// Whether it is among the calls that are counted.
    is_counted: bool,
}

impl Calling {
    /// Notes that this thread calls MPI; what is wrong with that.
    #[inline]
    pub fn enter(number: u16, site: impl Fn() -> Site) -> (Calling, Option<Finding>) {
        let depth = DEPTH.get();
        DEPTH.set(depth + 1);
        let is_counted = depth == 0 && !is_always_allowed(number);
        let calling = Calling { is_counted };
        if !is_counted {
            return (calling, None);
        }
        let others = CALLING.fetch_add(1, Relaxed);
        let main = MAIN.load(Relaxed);
        if main == 0 {
            return (calling, None);
        }
        let level = level();
        let finding = match level {
            _ if number == number::Finalize => end(main, others, &site),
            consts::THREAD_MULTIPLE => None,
            _ if level < consts::THREAD_SERIALIZED && main != own() => {
                Some(other_thread(level, site()))
            }
            _ if others > 0 => Some(at_once(level, site())),
            consts::THREAD_SINGLE if spawned::is_alive() => Some(not_alone(site())),
            _ => None,
        };
        (calling, finding)
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if self.is_counted {
            CALLING.fetch_sub(1, Relaxed);
        }
    }
}

/// What is wrong with the end of MPI, as far as threads go.
fn end(main: usize, others: u32, site: &impl Fn() -> Site) -> Option<Finding> {
    if others > 0 {
        let finding = Finding::error(
            Kind::Order,
            site(),
            "another thread is in a call of MPI".into(),
        );
        return Some(
            finding.remedy("let all threads be done with MPI before MPI_Finalize is called"),
        );
    }
    if main != own() {
        let text = "another thread calls it than the one that has initialized MPI";
        let finding = Finding::error(Kind::Thread, site(), text.into());
        return Some(finding.remedy(
            "call MPI_Finalize in the thread that has called MPI_Init or MPI_Init_thread",
        ));
    }
    None
}

fn not_alone(site: Site) -> Finding {
    let text = "the program has other threads, but the thread level is MPI_THREAD_SINGLE";
    Finding::warning(Kind::Thread, site, text.into()).remedy(
        "call MPI_Init_thread with MPI_THREAD_FUNNELED at least, instead of MPI_Init, and look at \
         what it provides",
    )
}

fn name(level: i32) -> &'static str {
    match level {
        consts::THREAD_SINGLE => "MPI_THREAD_SINGLE",
        consts::THREAD_FUNNELED => "MPI_THREAD_FUNNELED",
        _ => "MPI_THREAD_SERIALIZED",
    }
}

fn other_thread(level: i32, site: Site) -> Finding {
    let text = format!(
        "another thread calls than the one that has initialized MPI, but the thread level is {}",
        name(level)
    );
    Finding::error(Kind::Thread, site, text).remedy(
        "ask MPI_Init_thread for MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE, and look at what it \
         provides",
    )
}

fn at_once(level: i32, site: Site) -> Finding {
    let text = format!(
        "two threads call at the same time, but the thread level is {}",
        name(level)
    );
    Finding::error(Kind::Thread, site, text).remedy(
        "ask MPI_Init_thread for MPI_THREAD_MULTIPLE, and look at what it provides, or let threads \
         call in turn",
    )
}
