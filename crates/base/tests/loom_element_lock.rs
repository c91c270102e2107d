//! Model of the lock under which elements are accumulated: it excludes, and nobody waits for a word
//! that does not change any more.
#![cfg(loom)]

use catena_base::ElementLock;
use loom::cell::UnsafeCell;
use loom::sync::Arc;

struct Element {
    lock: ElementLock,
    value: UnsafeCell<u32>,
}

// SAFETY: the value is touched under the lock only, which the model checks.
unsafe impl Send for Element {}
// SAFETY: as above.
unsafe impl Sync for Element {}

fn accumulate(element: &Element, me: u32, times: u32) {
    for _ in 0..times {
        let held = element.lock.hold(me);
        // SAFETY: the caller holds the lock; loom reports it if that is not enough.
        element.value.with_mut(|value| unsafe { *value += 1 });
        assert_eq!(element.lock.holder(), Some(me));
        drop(held);
    }
}

fn model(times: &'static [u32], preemptions: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let element = Arc::new(Element {
            lock: ElementLock::default(),
            value: UnsafeCell::new(0),
        });
        let threads: Vec<_> = (1..times.len())
            .map(|me| {
                let element = element.clone();
                loom::thread::spawn(move || accumulate(&element, me as u32, times[me]))
            })
            .collect();
        accumulate(&element, 0, times[0]);
        for thread in threads {
            thread.join().unwrap();
        }
        // SAFETY: the other threads have ended.
        element
            .value
            .with(|value| assert_eq!(unsafe { *value }, times.iter().sum::<u32>()));
    });
}

#[test]
fn two_origins() {
    model(&[2, 2], 4);
}

#[test]
fn three_origins() {
    model(&[1, 1, 1], 3);
}
