//! Model of the lock: it excludes, and nobody sleeps for ever.
#![cfg(loom)]

use catena_base::Lock;
use loom::cell::UnsafeCell;
use loom::sync::Arc;

struct Counter {
    lock: Lock,
    count: UnsafeCell<u32>,
}

// SAFETY: the count is touched under the lock only, which the model checks.
unsafe impl Send for Counter {}
// SAFETY: as above.
unsafe impl Sync for Counter {}

impl Counter {
    fn count(&self) {
        // SAFETY: the caller holds the lock; loom reports it if that is not enough.
        self.count.with_mut(|count| unsafe { *count += 1 });
    }

    fn hold(&self, turns: u32, courteous: bool) {
        for _ in 0..turns {
            self.lock.acquire();
            self.count();
            if courteous {
                self.lock.give_way();
                self.count();
            }
            self.lock.release();
        }
    }
}

/// Every thread takes the lock so often.
fn model(turns: &'static [u32], courteous: bool, preemptions: Option<usize>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        let counter = Arc::new(Counter {
            lock: Lock::default(),
            count: UnsafeCell::new(0),
        });
        let threads: Vec<_> = turns[1..]
            .iter()
            .map(|&turns| {
                let counter = counter.clone();
                loom::thread::spawn(move || counter.hold(turns, false))
            })
            .collect();
        counter.hold(turns[0], courteous);
        for thread in threads {
            thread.join().unwrap();
        }
        let held = turns.iter().sum::<u32>() + if courteous { turns[0] } else { 0 };
        // SAFETY: the other threads have ended.
        counter
            .count
            .with(|count| assert_eq!(unsafe { *count }, held));
    });
}

#[test]
fn two_threads() {
    model(&[2, 2], false, Some(4));
}

#[test]
fn three_threads_and_a_hungry_one() {
    model(&[2, 1, 1], false, Some(3));
}

#[test]
fn one_gives_way() {
    model(&[1, 1, 1], true, Some(3));
}
