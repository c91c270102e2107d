//! Waiting for something to happen.

use catena_base::wait::{Idle, Waiter};

use crate::host::Host;
use crate::lock::here;
use crate::watch::block_beside_others;

/// Progresses until `done` says so. With several threads others may ask it, too, while this one
/// sleeps.
#[inline]
pub fn block<P: Host>(process: &P, mut done: impl FnMut(&P) -> bool) {
    let threads = process.threads();
    if threads.are_many() {
        return block_beside_others(process, &mut done);
    }
    let mut waiter = Waiter::new(threads.is_crowded());
    let mut looks = 0;
    loop {
        let moved = process.progress();
        if done(process) {
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
                if idle_slow(process, idle, waiter.sleepy_since(), &mut done) {
                    break;
                }
            }
        }
    }
    process.waits().looked(looks);
}

/// As [`block`], but no other thread asks `done`, which may call functions of the program: these may
/// wait for a lock of the program's that the other thread holds. Whenever others would have asked, this one wakes
/// and does so itself.
pub fn block_alone<P: Host>(process: &P, mut done: impl FnMut(&P) -> bool) {
    if !process.threads().are_many() {
        return block(process, done);
    }
    let (me, mut is_done) = (here(), false);
    while !is_done {
        block_beside_others(process, &mut |process| {
            is_done |= me == here() && done(process);
            is_done || me != here()
        });
    }
}

/// Idles; true if `done` was asked in the meantime and said so.
#[cold]
#[inline(never)]
fn idle_slow<P: Host>(
    process: &P,
    idle: Idle,
    since: u64,
    done: &mut impl FnMut(&P) -> bool,
) -> bool {
    let mut finished = false;
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
            finished = done(process);
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
