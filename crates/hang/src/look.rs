//! A look at a process of this host, by its area of the trace.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use catena_trace::{Numbers, Phase, View};

use crate::calls::function_name;
use crate::rank::{Rank, State, Thread};
use crate::waits_for::{Member, WaitsFor};

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
            last: Vec::new(),
            waits: notices.next().and_then(|(_, bytes)| match bytes {
                Some(bytes) => {
                    let waits = WaitsFor::read(bytes).ok()?;
                    let by_others = if waits.by_others > 0 { who.ranks } else { 0 };
                    Some(WaitsFor { by_others, ..waits })
                }
                // It waits, and has had no turn to say for what: the next look may tell.
                None => {
                    let now = catena_trace::monotonic_ns();
                    Some(WaitsFor {
                        since: now,
                        told: now,
                        ..WaitsFor::default()
                    })
                }
            }),
            may_be_over: false,
            quiet_since: None,
        });
    }
    // In those that only one thread at a time uses, no other one can end its wait.
    let waiting: Vec<u32> = threads
        .iter()
        .filter_map(|it| it.waits.as_ref().map(|_| it.thread))
        .collect();
    let at = catena_trace::monotonic_ns();
    // Where one thread at a time uses MPI and that waits, nobody else matters.
    let is_asked = view.is_threaded() || threads.iter().any(|it| it.waits.is_none());
    let others = match pid.filter(|_| !waiting.is_empty() && is_asked) {
        Some(pid) => {
            let asleep = Asleep::of(pid, view.signal()?);
            let since = threads
                .iter()
                .filter_map(|it| Some(it.waits.as_ref()?.since));
            let since = since.min().unwrap_or(at);
            for thread in threads.iter_mut().filter(|it| it.waits.is_none()) {
                asleep.join(thread, (since, at));
            }
            let others: Vec<u32> = waiting.iter().copied().chain(view.helpers()).collect();
            view.is_threaded() && !asleep.are_all_but(&others)
        }
        None => false,
    };
    if !waiting.is_empty() {
        // What a rank does is what the first of its threads that waits does.
        threads.sort_by_key(|it| it.waits.as_ref().is_none_or(|waits| waits.needs.is_empty()));
    }
    let others = others || view.is_in_program();
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

/// The threads of a process of this host that sleep until another one of them does something, for
/// as long as it takes.
struct Asleep {
    /// All threads; none if they are not known.
    all: Vec<u32>,
    /// Those that sleep, all at the same moment, or one of two that wake each other in turn would
    /// always be found asleep; and how often each has run.
    asleep: Vec<(u32, u64)>,
}

impl Asleep {
    /// The threads of a process that sleep; it is asked where they are by the signal `own`.
    fn of(pid: u32, own: u32) -> Asleep {
        let number = |task: fs::DirEntry| task.file_name().to_str()?.parse().ok();
        let tasks = fs::read_dir(format!("/proc/{pid}/task"));
        let tasks = tasks.into_iter().flatten().flatten();
        // Threads tell of themselves by the numbers that they have in their own namespace.
        let is_apart = Numbers::of(pid).is_some_and(|it| it.own != it.here);
        let named = |tid: u32| match is_apart {
            true => Some((Numbers::of_thread(pid, tid)?, tid)),
            false => Some((tid, tid)),
        };
        let is_own = |tid: &u32| is_the_librarys(pid, *tid);
        let tids = tasks.filter_map(number).filter(|tid| !is_own(tid));
        let tids: BTreeMap<u32, u32> = tids.filter_map(named).collect();
        let all: Vec<u32> = tids.keys().copied().collect();
        let read = |thread: u32, what: &str| {
            let tid = tids.get(&thread)?;
            fs::read_to_string(format!("/proc/{pid}/task/{tid}/{what}")).ok()
        };
        let ran = |thread: u32| -> Option<u64> {
            read(thread, "schedstat")?
                .split_whitespace()
                .nth(2)?
                .parse()
                .ok()
        };
        // What a thread sleeps for may be done by a handler.
        if has_handlers(pid, own) {
            let asleep = Vec::new();
            return Asleep { all, asleep };
        }
        let before: Vec<_> = all.iter().map(|&thread| (thread, ran(thread))).collect();
        let sleeps =
            |thread: u32| read(thread, "syscall").is_some_and(|call| sleeps_for_ever(&call, &all));
        let seen: Vec<_> = before
            .into_iter()
            .filter(|(thread, _)| sleeps(*thread))
            .collect();
        let stays = |(thread, before): (u32, Option<u64>)| {
            let before = before.filter(|_| ran(thread) == before)?;
            Some((thread, before))
        };
        let asleep = seen.into_iter().filter_map(stays).collect();
        Asleep { all, asleep }
    }

    /// A thread that has called MPI and sleeps, as the first one that waits for the end of another
    /// one, waits with those of its process that wait in MPI: by itself that never ends. Two looks
    /// tell whether it has run in between, by its calls.
    fn join(&self, thread: &mut Thread, (since, at): (u64, u64)) {
        if let Some((_, ran)) = self.asleep.iter().find(|(it, _)| *it == thread.thread) {
            thread.calls = thread.calls.wrapping_add(ran << 32);
            thread.waits = Some(WaitsFor {
                since,
                told: at,
                any: true,
                ..WaitsFor::default()
            });
        }
    }

    /// Whether all threads sleep but these.
    fn are_all_but(&self, others: &[u32]) -> bool {
        let sleeps = |thread: &u32| self.asleep.iter().any(|(it, _)| it == thread);
        let is_still = |it: &u32| others.contains(it) || sleeps(it);
        !self.all.is_empty() && self.all.iter().all(is_still)
    }
}

/// Whether a thread is one of the library's own, which does nothing but for what comes from others.
fn is_the_librarys(pid: u32, tid: u32) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm"));
    name.is_ok_and(|name| name.starts_with("catena-"))
}

/// Whether a process handles signals by which it goes on, although all of its threads sleep: those
/// of timers, of others who have it do something, and of what it waits for elsewhere; but for the
/// one `own` by which it is asked where it is.
fn has_handlers(pid: u32, own: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    handles(&status, own)
}

/// Whether the text of its status says so.
fn handles(status: &str, own: u32) -> bool {
    const NAMED: [i32; 8] = [
        libc::SIGALRM,
        libc::SIGVTALRM,
        libc::SIGPROF,
        libc::SIGIO,
        libc::SIGURG,
        libc::SIGCHLD,
        libc::SIGUSR1,
        libc::SIGUSR2,
    ];
    /// The first one that programs may use; two before it are of the C library.
    const REAL_TIME: u32 = 34;
    let mut lines = status.lines();
    let caught = lines.find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|it| u64::from_str_radix(it.trim(), 16).ok());
    let named = NAMED.iter().map(|&signal| signal as u32);
    let mut all = named.chain(REAL_TIME..=64).filter(|&it| it != own);
    all.any(|signal| caught.unwrap_or(0) >> (signal - 1) & 1 == 1)
}

/// Whether a thread, whose system call the kernel shows so, waits until another one of the
/// `threads` of its process does something: on a futex of the process alone, or for the end of one
/// of them (`pthread_join`), without a limit of time.
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
    fn what_a_handler_may_do_ends_a_sleep() {
        let status = |caught: u64| format!("Name:\tx\nSigBlk:\t0\nSigCgt:\t{caught:016x}\n");
        let bit = |signal: i32| 1_u64 << (signal - 1);
        let urgent = libc::SIGURG as u32;
        assert!(handles(&status(bit(libc::SIGALRM)), urgent));
        assert!(handles(&status(bit(40)), urgent));
        assert!(
            handles(&status(bit(libc::SIGURG)), 0),
            "it is the program's"
        );
        assert!(!handles(&status(bit(libc::SIGURG)), urgent));
        let others = [libc::SIGSEGV, libc::SIGINT, libc::SIGTERM, 32, 33];
        let others = others.iter().fold(0, |all, &it| all | bit(it));
        assert!(!handles(&status(others), urgent));
        assert!(!handles("", urgent));
    }

    #[test]
    fn the_state_of_a_process_is_the_kernels() {
        assert_eq!(state_of(std::process::id()), State::Running);
        assert_eq!(state_of(u32::MAX), State::Ended);
    }
}
