//! The beginning and the end of MPI in a process.

use std::ffi::c_int;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use catena_abi::consts;
use catena_base::clock::ticks;
use catena_profile::layout::state;
use catena_tool::call::number;
use catena_tool::mpi;

use crate::phase::{has_world, is_going_on, set_going_on, set_rank, set_world};
use crate::shape::Shape;
use crate::thread::Thread;
use crate::words::Words;
use crate::{counters, groups, phase};

/// Sessions that are open.
static SESSIONS: AtomicU32 = AtomicU32::new(0);

/// Whether a function begins or ends MPI.
#[inline]
pub fn is_of_life(function: u16) -> bool {
    matches!(
        function,
        number::Init
            | number::Init_thread
            | number::Session_init
            | number::Finalize
            | number::Session_finalize
    )
}

/// A call of a function that begins or ends MPI.
pub fn around(function: u16, top: usize, words: &Words, call: impl FnOnce() -> c_int) -> c_int {
    let from = ticks();
    let ends = match function {
        number::Finalize => true,
        number::Session_finalize => !has_world() && SESSIONS.load(Relaxed) == 1,
        _ => false,
    };
    let mut thread = is_going_on().then(|| Thread::current(top)).flatten();
    if ends && let Some(thread) = thread.as_deref_mut() {
        let front = thread.front();
        front.open = 0;
        front.end = from;
        front.last = from;
        front.state = state::FINALIZED;
    }
    if ends && phase::is_explained() {
        let counted = counters::end();
        if let Some(thread) = thread.as_deref_mut() {
            thread.write_counters(&counted);
        }
    }
    if ends {
        // Functions of the program that MPI calls at its end are not counted.
        set_going_on(false);
    }
    if function == number::Session_finalize {
        // SAFETY: the program calls with the address of its session.
        groups::leave_session(unsafe { words.at(0) }.unwrap_or(0));
    }
    let code = call();
    let took = ticks() - from;
    match function {
        _ if code != 0 => set_going_on(is_going_on() || ends),
        number::Init | number::Init_thread => {
            set_world(true);
            let ranks = mpi::members(consts::COMM_WORLD) as u32;
            set_rank(mpi::rank(consts::COMM_WORLD), ranks);
            begin(function, (from, took));
        }
        number::Session_init => {
            SESSIONS.fetch_add(1, Relaxed);
            // SAFETY: the library has written the session there.
            groups::ask_session(unsafe { words.at(2) }.unwrap_or(0));
            if !is_going_on() {
                begin_without_world(function, (from, took));
            }
        }
        number::Finalize => {
            set_world(false);
            end(thread, function, (from, took));
        }
        _ => {
            let before = SESSIONS.fetch_sub(1, Relaxed);
            if ends && before == 1 {
                end(thread, function, (from, took));
            }
        }
    }
    code
}

fn begin(function: u16, (from, took): (u64, u64)) {
    static FORKED: Once = Once::new();
    // SAFETY: a function that may be called in a child.
    FORKED.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(forked));
    });
    catena_trace::find_python();
    if phase::is_explained() {
        counters::begin();
    }
    set_going_on(true);
    if let Some(thread) = Thread::current(0) {
        let front = thread.front();
        front.init += took;
        front.state = state::RUNNING;
        // What sessions have counted before goes on.
        if front.begin == 0 {
            front.begin = ticks();
        }
        front.end = 0;
        front.last = ticks();
        write(thread, function, (from, took));
    }
}

/// Writes a call of a function that begins or ends MPI, if calls are written one by one.
fn write(thread: &mut Thread, function: u16, time: (u64, u64)) {
    if let Some(stream) = thread.stream.as_deref_mut() {
        stream.write(None, Shape::of(function).what, time, None);
    }
}

/// Programs that have sessions alone know their number from the launcher.
fn begin_without_world(function: u16, time: (u64, u64)) {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    if let Some(rank) = number("CATENA_RANK") {
        set_rank(rank as i32, number("CATENA_SIZE").unwrap_or(rank + 1));
    }
    begin(function, time);
}

fn end(thread: Option<&mut Thread>, function: u16, time: (u64, u64)) {
    if let Some(thread) = thread {
        thread.front().finalize += time.1;
        write(thread, function, time);
    }
}

/// In a process that was forked nothing is counted: it has the memory of its parent.
extern "C" fn forked() {
    set_going_on(false);
    Thread::forget();
}
