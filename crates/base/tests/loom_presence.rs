//! Model of a program that comes and goes, of the thread that acts for it, and of others that send
//! it something. A call that is missed shows as a sleep without end, which the model reports; two
//! who are inside at once as an access to the same cell.
#![cfg(loom)]

use catena_base::sync::{AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use catena_base::{Barrier, Presence};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread::yield_now;

struct Shared {
    presence: Presence,
    /// 1 while the thread has the library.
    lock: AtomicU32,
    /// What others have sent.
    sent: AtomicU32,
    /// How much of it was acted on: the state of the library.
    done: UnsafeCell<u32>,
}

// SAFETY: `done` is what the model watches.
unsafe impl Sync for Shared {}

impl Shared {
    fn act(&self) -> u32 {
        let sent = self.sent.load(Acquire);
        // SAFETY: the model sees whether another one does the same at once.
        self.done.with_mut(|done| unsafe { *done = sent });
        sent
    }

    fn enter(&self) {
        self.presence.enter();
        while self.lock.load(Acquire) != 0 {
            yield_now();
        }
    }

    fn leave(&self) {
        if self.presence.leave() {
            self.presence.wake();
        }
    }

    /// One round of the thread, without its sleep: on how much it has acted.
    fn round(&self) -> u32 {
        self.lock.store(1, Relaxed);
        Barrier::heavy_for_own();
        if self.presence.is_away() {
            self.presence.rearm();
            let acted = self.act();
            self.lock.store(0, Release);
            acted
        } else {
            self.lock.store(0, Release);
            self.presence.leave_word();
            0
        }
    }
}

/// `others` send one thing each while the program enters and leaves once more, and looks at nothing
/// in there.
fn model(others: u32, preemptions: Option<usize>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        let shared = Arc::new(Shared {
            presence: Presence::default(),
            lock: AtomicU32::new(0),
            sent: AtomicU32::new(0),
            done: UnsafeCell::new(0),
        });
        shared.presence.begin();
        let senders: Vec<_> = (0..others)
            .map(|_| {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    shared.sent.fetch_add(1, Release);
                    shared.presence.call();
                })
            })
            .collect();
        let thread = {
            let shared = shared.clone();
            loom::thread::spawn(move || {
                loop {
                    let calls = shared.presence.calls();
                    if shared.round() == others {
                        return;
                    }
                    shared.presence.sleep(calls, None);
                }
            })
        };
        shared.leave();
        shared.enter();
        // SAFETY: the model sees whether the thread does the same at once.
        shared.done.with(|done| unsafe { *done });
        shared.leave();
        for sender in senders {
            sender.join().unwrap();
        }
        thread.join().unwrap();
    });
}

#[test]
fn what_one_sends_is_acted_on() {
    model(1, Some(3));
}

#[test]
fn what_two_send_is_acted_on() {
    model(2, Some(2));
}
