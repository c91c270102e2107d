//! A look at a process of this host, by its area of the trace.

use std::fs;
use std::io;

use catena_trace::{Phase, View};

use crate::calls::function_name;
use crate::rank::{Rank, State, Thread};
use crate::waits_for::{Member, WaitsFor};

/// How old what a thread has told of its wait may be: it tells ten times a second. One that has not
/// for longer is in a handler of a signal, is starved or kept from running, and may do anything.
const FRESH: u64 = 1_500_000_000;

/// What is seen of a process, whose number on this host is `pid`; `None` if that has ended.
///
/// # Errors
/// If its area cannot be read.
pub fn look(view: &View<'_>, host: &str, pid: Option<u32>) -> io::Result<Rank> {
    let who = view.who();
    let state = match (pid, view.phase()) {
        (None, _) => State::Ended,
        (Some(_), Phase::Left) => State::Left,
        (Some(_), Phase::Before) => State::Before,
        (Some(pid), Phase::Running) => state_of(pid),
    };
    let notices = match state {
        State::Running => view.notices()?,
        _ => Vec::new(),
    };
    let mut threads = Vec::new();
    for thread in view.threads(1)? {
        let last = thread.entries.last();
        let function = last.and_then(|it| function_name(it.function));
        // Where one thread at a time uses MPI all share one ring, whichever waits.
        let is_its = |of: u32| of == thread.thread || !view.is_threaded();
        let mut notices = notices.iter().filter(|(of, _)| is_its(*of));
        threads.push(Thread {
            thread: thread.thread,
            calls: thread.calls,
            call: function.map_or(String::new(), str::to_string),
            place: String::new(),
            waits: notices
                .next()
                .and_then(|(_, bytes)| WaitsFor::read(bytes).ok()),
        });
    }
    // In those that only one thread at a time uses, no other one can end its wait.
    let waiting = threads.iter().filter(|it| it.waits.is_some()).count();
    let others = match pid {
        Some(pid) if view.is_threaded() && waiting > 0 => threads_of(pid) > waiting,
        _ => false,
    };
    let at = catena_trace::monotonic_ns();
    let is_old = |thread: &Thread| {
        let told = thread.waits.as_ref().map(|it| it.told);
        told.is_some_and(|told| at.saturating_sub(told) > FRESH)
    };
    let others = others || view.is_in_program() || threads.iter().any(is_old);
    Ok(Rank {
        at,
        others,
        member: Member {
            job: who.job,
            rank: who.rank,
        },
        host: host.to_string(),
        pid: pid.unwrap_or(who.pid),
        state,
        threads,
    })
}

/// How many threads a process of this host has; many if that is not known.
fn threads_of(pid: u32) -> usize {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    tasks.map_or(usize::MAX, Iterator::count)
}

/// How a process of this host stands, as the kernel says.
pub fn state_of(pid: u32) -> State {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return State::Ended;
    };
    // Behind the name, which may have anything in it.
    let state = stat
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.split_whitespace().next());
    match state {
        Some("T" | "t") => State::Stopped,
        Some("Z" | "X") | None => State::Ended,
        Some(_) => State::Running,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_process_is_the_kernels() {
        assert_eq!(state_of(std::process::id()), State::Running);
        assert_eq!(state_of(u32::MAX), State::Ended);
    }
}
