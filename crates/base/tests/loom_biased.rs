//! Model of a lock that its usual side takes without a locked operation.
#![cfg(loom)]

use catena_base::{Barrier, Biased};
use loom::cell::UnsafeCell;
use loom::sync::Arc;

#[derive(Default)]
struct Shared {
    lock: Biased,
    count: UnsafeCell<u32>,
}

impl Shared {
    /// Counts, under the lock.
    fn count(&self) {
        // SAFETY: whoever has the lock has it alone, which loom checks.
        self.count.with_mut(|it| unsafe { *it += 1 });
    }
}

fn model(visits: u32, calls: u32, preemptions: Option<usize>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        let shared = Arc::new(Shared::default());
        let visitor = {
            let shared = shared.clone();
            loom::thread::spawn(move || {
                for _ in 0..visits {
                    shared.lock.visit(Barrier::Membarrier);
                    shared.count();
                    shared.lock.end_visit();
                }
            })
        };
        for _ in 0..calls {
            shared.lock.enter();
            shared.count();
            shared.lock.leave();
        }
        visitor.join().unwrap();
        shared.lock.enter();
        // SAFETY: as above.
        let count = shared.count.with(|it| unsafe { *it });
        assert_eq!(count, visits + calls);
    });
}

#[test]
fn each_side_is_alone() {
    model(1, 2, None);
    model(2, 2, Some(3));
}
