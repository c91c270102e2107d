//! Model of a program that comes and goes, of the thread that acts for it, and of others that send
//! it something. A call that is missed shows as a sleep without end, which the model reports; two
//! who are inside at once as an access to the same cell.
#![cfg(loom)]

use catena_base::sync::{AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use catena_base::{Barrier, Left, Presence, Sleep};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread::yield_now;

/// Naps in a row before the thread waits for the program.
const NAPS: u32 = 2;

struct Shared {
    presence: Presence,
    /// 1 while the thread has the library.
    lock: AtomicU32,
    /// What others have sent.
    sent: AtomicU32,
    /// How much of it was acted on: the state of the library.
    done: UnsafeCell<u32>,
    /// 1 once the program has acted on all of it itself.
    over: AtomicU32,
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

    fn await_thread(&self) {
        while self.lock.load(Acquire) != 0 {
            yield_now();
        }
    }

    fn enter(&self) {
        self.presence.enter();
        self.await_thread();
    }

    /// Leaves, when it has acted on what it was called for of that much.
    fn leave(&self, others: u32) {
        if self.presence.leave_quietly() {
            return;
        }
        self.await_thread();
        if self.presence.take_word() && self.act() == others {
            self.over.store(1, Release);
            self.presence.rouse();
        }
        match self.presence.leave() {
            Left::Quietly => {}
            Left::Told => self.presence.rouse(),
            Left::Called => self.presence.wake(),
        }
    }

    /// One round of the thread, without its sleep: on how much it has acted, if the program is
    /// away.
    fn round(&self) -> Option<u32> {
        self.lock.store(1, Relaxed);
        Barrier::heavy_for_own();
        let acted = self.presence.is_away().then(|| {
            self.presence.rearm();
            self.act()
        });
        self.lock.store(0, Release);
        acted
    }

    /// The thread, until somebody has acted on that much.
    fn serve(&self, upto: u32) {
        let (mut naps, mut seen) = (0, 0);
        loop {
            let calls = self.presence.calls();
            if self.over.load(Acquire) != 0 {
                return;
            }
            let was_called = std::mem::replace(&mut seen, calls) != calls;
            let is_due = was_called || self.presence.is_called();
            match is_due.then(|| self.round()).flatten() {
                Some(acted) if acted == upto => return,
                Some(_) => {
                    naps = 0;
                    self.presence.sleep(Sleep::Calls, calls, None);
                }
                None => {
                    if was_called {
                        self.presence.leave_word();
                    }
                    naps += 1;
                    if self.presence.mark() || naps < NAPS {
                        yield_now();
                    } else {
                        self.presence.sleep(Sleep::Program, calls, None);
                        naps = 0;
                    }
                }
            }
        }
    }
}

/// `others` send one thing each while the program enters and leaves once more, and looks at nothing
/// in there.
fn model(others: u32, softly: bool, preemptions: Option<usize>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        let shared = Arc::new(Shared {
            presence: Presence::default(),
            lock: AtomicU32::new(0),
            sent: AtomicU32::new(0),
            done: UnsafeCell::new(0),
            over: AtomicU32::new(0),
        });
        shared.presence.begin();
        let senders: Vec<_> = (0..others)
            .map(|_| {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    shared.sent.fetch_add(1, Release);
                    match softly {
                        true => shared.presence.call_softly(),
                        false => shared.presence.call(),
                    }
                })
            })
            .collect();
        let thread = {
            let shared = shared.clone();
            loom::thread::spawn(move || shared.serve(others))
        };
        shared.leave(others);
        shared.enter();
        // SAFETY: the model sees whether the thread does the same at once.
        shared.done.with(|done| unsafe { *done });
        shared.leave(others);
        for sender in senders {
            sender.join().unwrap();
        }
        thread.join().unwrap();
    });
}

#[test]
fn what_one_sends_is_acted_on() {
    model(1, false, Some(3));
    model(1, true, Some(3));
}

#[test]
fn what_two_send_is_acted_on() {
    model(2, false, Some(2));
    model(2, true, Some(2));
}
