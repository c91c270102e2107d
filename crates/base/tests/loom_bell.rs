//! Model of falling asleep while work arrives. A missed wake-up shows as a
//! sleep without end, which the model reports.
#![cfg(loom)]

use std::time::Duration;

use catena_base::sync::{AtomicU32, Ordering::Acquire, Ordering::Release};
use catena_base::{Barrier, Doorbell, Waker, waker};
use loom::sync::Arc;

struct Shared {
    bell: Doorbell,
    work: AtomicU32,
}

fn model(senders: u32, preemptions: Option<usize>, by_socket: bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        let shared = Arc::new(Shared {
            bell: Doorbell::new(),
            work: AtomicU32::new(0),
        });
        let threads: Vec<_> = (0..senders)
            .map(|_| {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    shared.work.fetch_add(1, Release);
                    shared.bell.ring();
                })
            })
            .collect();
        let mut seen = 0;
        while seen < senders {
            let (bell, barrier) = (&shared.bell, Barrier::Membarrier);
            let ready = || shared.work.load(Acquire) != seen;
            if by_socket {
                waker::model::silence();
                let wait = |_| waker::model::wait();
                bell.sleep_on(
                    Waker { number: 0, key: 7 },
                    barrier,
                    Duration::MAX,
                    ready,
                    wait,
                );
            } else {
                bell.sleep(barrier, Duration::MAX, ready);
            }
            seen = shared.work.load(Acquire);
        }
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn one_sender_is_never_missed() {
    model(1, None, false);
    model(1, None, true);
}

#[test]
fn two_senders_are_never_missed() {
    model(2, Some(2), false);
    model(2, Some(2), true);
}
