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
    let waiting: Vec<u32> = threads
        .iter()
        .filter_map(|it| it.waits.as_ref().map(|_| it.thread))
        .collect();
    if let Some(pid) = pid.filter(|_| !waiting.is_empty()) {
        // The first thread, say, which waits for the end of one that waits.
        let all = tasks(pid).unwrap_or_default();
        threads.retain(|it| it.waits.is_some() || !sleeps(pid, it.thread, &all));
    }
    let others = match pid {
        Some(pid) if view.is_threaded() && !waiting.is_empty() => may_run_others(pid, &waiting),
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

/// Whether a process of this host has threads besides those that wait in MPI that may run, now or later. Those do not that
/// sleep until another thread of the process wakes them, or ends, for as long as it takes.
fn may_run_others(pid: u32, waiting: &[u32]) -> bool {
    let Some(all) = tasks(pid) else {
        return true;
    };
    !all.iter()
        .all(|thread| waiting.contains(thread) || sleeps(pid, *thread, &all))
}

/// The threads of a process of this host.
fn tasks(pid: u32) -> Option<Vec<u32>> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let number = |task: fs::DirEntry| task.file_name().to_str()?.parse().ok();
    Some(tasks.flatten().filter_map(number).collect())
}

/// See [`sleeps_for_ever`].
fn sleeps(pid: u32, thread: u32, all: &[u32]) -> bool {
    let call = fs::read_to_string(format!("/proc/{pid}/task/{thread}/syscall"));
    call.is_ok_and(|call| sleeps_for_ever(&call, all))
}

/// Whether a thread, whose system call the kernel shows so, waits until another one of the `threads` of its process does
/// something: on a futex of the process alone, or for the end of one of them (`pthread_join`), without a limit of time.
fn sleeps_for_ever(call: &str, threads: &[u32]) -> bool {
    const FUTEX: u64 = libc::SYS_futex as u64;
    let mut words = call.split_whitespace();
    let number = words.next().and_then(|it| it.parse().ok());
    let word = |it: &str| u64::from_str_radix(it.trim_start_matches("0x"), 16).ok();
    let words: Vec<_> = words.map_while(word).collect();
    let (Some(FUTEX), [_, operation, value, limit, ..]) = (number, &words[..]) else {
        return false;
    };
    let waits = matches!(
        (*operation & 0x7f) as i32,
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET
    );
    let is_own = *operation & libc::FUTEX_PRIVATE_FLAG as u64 != 0;
    let is_join = threads.contains(&(*value as u32));
    waits && *limit == 0 && (is_own || is_join)
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
    fn a_thread_sleeps_for_ever_if_only_another_one_can_wake_it() {
        let futex = libc::SYS_futex;
        for (call, is) in [
            (
                format!("{futex} 0x7f00 0x80 0x2 0x0 0x0 0x0 0x7ffe 0x7f01"),
                true,
            ),
            (
                format!("{futex} 0x7f00 0x189 0x0 0x0 0x0 0xffffffff 0x7ffe 0x7f01"),
                true,
            ),
            (
                format!("{futex} 0x7f00 0x109 0x2a 0x0 0x0 0xffffffff 0x7ffe 0x7f01"),
                true,
            ),
            (
                format!("{futex} 0x7f00 0x109 0x2b 0x0 0x0 0xffffffff 0x7ffe 0x7f01"),
                false,
            ),
            (
                format!("{futex} 0x7f00 0x80 0x2 0x7ffd 0x0 0x0 0x7ffe 0x7f01"),
                false,
            ),
            ("running".to_string(), false),
            (
                format!(
                    "{} 0x3 0x7f00 0x10 0x0 0x0 0x0 0x7ffe 0x7f01",
                    libc::SYS_read
                ),
                false,
            ),
        ] {
            assert_eq!(sleeps_for_ever(&call, &[42]), is, "{call}");
        }
    }

    #[test]
    fn the_state_of_a_process_is_the_kernels() {
        assert_eq!(state_of(std::process::id()), State::Running);
        assert_eq!(state_of(u32::MAX), State::Ended);
    }
}
