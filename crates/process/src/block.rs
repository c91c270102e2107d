//! Waiting for something to happen.

use catena_base::wait::{Idle, Waiter};
use catena_hang::WaitsFor;

use crate::host::Host;
use crate::lock::here;
use crate::told::{Told, Wait, WaitOf};
use crate::watch::block_beside_others;

/// Progresses until `is_done` says so. With several threads others may ask it, too, while this one
/// sleeps. If the wait lasts, `describe` adds what it is for, for those who look at a job that hangs: see
/// [`Wait::describe`].
#[inline]
pub fn block<P: Host>(
    process: &P,
    describe: impl Fn(&P, &mut WaitsFor),
    is_done: impl FnMut(&P) -> bool,
) {
    let threads = process.threads();
    let mut wait = WaitOf { is_done, describe };
    if threads.are_many() {
        return block_beside_others(process, &mut wait);
    }
    let mut waiter = Waiter::new(threads.is_crowded());
    let mut looks = 0;
    let mut told = Told::default();
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
                if idle_slow(process, idle, since, &mut wait, &mut told) {
                    break;
                }
            }
        }
    }
    process.waits().looked(looks);
}

/// As [`block`], but no other thread asks `is_done`, which may call functions of the program: these may
/// wait for a lock of the program's that the other thread holds. Whenever others would have asked, this one wakes
/// and does so itself.
pub fn block_alone<P: Host>(
    process: &P,
    describe: impl Fn(&P, &mut WaitsFor),
    mut is_done: impl FnMut(&P) -> bool,
) {
    if !process.threads().are_many() {
        return block(process, describe, is_done);
    }
    let (me, mut is_over) = (here(), false);
    while !is_over {
        let mut wait = WaitOf {
            is_done: |process: &P| {
                is_over |= me == here() && is_done(process);
                is_over || me != here()
            },
            describe: &describe,
        };
        block_beside_others(process, &mut wait);
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
    told: &mut Told,
) -> bool {
    let mut finished = false;
    if idle == Idle::Yield {
        process.waits().yielded();
        process.after_pause();
    } else {
        told.tell(process, (catena_trace::thread(), true), since, wait);
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
