//! Waiting for something to happen.

use catena_base::wait::{Idle, Waiter};
use catena_hang::WaitsFor;

use crate::host::Host;
use crate::lock::here;
use crate::told::{ProcessSays, Wait, WaitOf, WaitReport};
use crate::watch::block_beside_others;

/// Progresses until `is_done` says so. With several threads others may ask it, too, while this one
/// sleeps. If the wait lasts, `describe` adds what it is for, for those who look at a job that
/// hangs: see [`Wait::describe`].
#[inline]
pub fn block<P: Host>(
    process: &P,
    describe: impl Fn(&P, &mut WaitsFor),
    is_done: impl FnMut(&P) -> bool,
) {
    block_on(process, &mut WaitOf { is_done, describe });
}

/// As [`block`], for a wait that is a value.
#[inline]
pub fn block_on<P: Host>(process: &P, wait: &mut impl Wait<P>) {
    let threads = process.threads();
    if threads.are_many() {
        return block_beside_others(process, wait);
    }
    let mut waiter = Waiter::new(threads.is_crowded());
    let mut looks = 0;
    let mut told = WaitReport::default();
    loop {
        let moved = process.progress();
        if wait.is_done(process) {
            break;
        }
        if moved {
            waiter.reset();
            continue;
        }
        looks += 1;
        match waiter.idle() {
            Idle::Spin => {}
            idle => {
                let since = waiter.sleepy_since();
                if idle_slow(process, idle, since, wait, &mut told) {
                    break;
                }
            }
        }
    }
    process.waits().looked(looks);
}

/// As [`block_on`], but no other thread asks whether the wait is over, which may call functions of
/// the program: these may wait for a lock of the program's that the other thread holds. Whenever
/// others would have asked, this one wakes and does so itself.
pub fn block_alone<P: Host>(process: &P, wait: &mut impl Wait<P>) {
    let mut alone = Alone {
        wait,
        me: here(),
        is_over: false,
    };
    if !process.threads().are_many() {
        return block_on(process, &mut alone);
    }
    while !alone.is_over {
        block_beside_others(process, &mut alone);
    }
}

/// A wait that only its own thread asks.
struct Alone<'w, W> {
    wait: &'w mut W,
    me: usize,
    is_over: bool,
}

impl<P, W: Wait<P>> Wait<P> for Alone<'_, W> {
    fn is_done(&mut self, process: &P) -> bool {
        let is_mine = self.me == here();
        self.is_over |= is_mine && self.wait.is_done(process);
        self.is_over || !is_mine
    }

    fn describe(&self, process: &P, waits: &mut WaitsFor) {
        self.wait.describe(process, waits);
        // While it is told, a function of the program may have begun to run.
        waits.needs.iter_mut().for_each(|need| need.open = true);
    }
}

/// Idles; true if the wait was found to be over in the meantime.
#[cold]
#[inline(never)]
fn idle_slow<P: Host>(
    process: &P,
    idle: Idle,
    since: u64,
    wait: &mut impl Wait<P>,
    told: &mut WaitReport,
) -> bool {
    let mut finished = false;
    let is_due = match idle {
        Idle::Yield => told.is_due_in_pause(),
        _ => told.is_due(),
    };
    if is_due {
        let says = ProcessSays {
            sent: process.sent(),
            has_waited: &|waits| process.has_waited(waits),
        };
        told.tell(process, (catena_trace::thread(), true), wait, says);
    }
    if told.are_counts_due() {
        process.tell_counts();
    }
    if idle == Idle::Yield {
        process.waits().yielded();
        process.after_pause();
    } else {
        process.before_sleeping();
    }
    idle.act(|limit| {
        // What is waited for may lie where nobody rings for it.
        let mut ready = || {
            let moved = process.look_before_sleep();
            finished = wait.is_done(process);
            finished || moved
        };
        let mut nap = |limit| {
            std::thread::park_timeout(limit);
            false
        };
        let slept = process.sleep(limit, since, &mut ready, &mut nap);
        process.slept(slept);
    });
    finished
}
