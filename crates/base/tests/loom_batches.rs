//! Model of parts that threads say are ready: each batch is taken exactly once, by one that sees all of
//! its parts, whether the place for it is there when the last part is ready or comes later.
#![cfg(loom)]

use catena_base::batches::{Batches, Callers};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

struct Message {
    batches: Batches,
    parts: Vec<UnsafeCell<u32>>,
    /// Whether the receiver has room.
    is_open: AtomicU32,
    left: AtomicU32,
}

// SAFETY: a part is written before it is ready and read by who has taken its batch, which the model checks.
unsafe impl Send for Message {}
// SAFETY: as above.
unsafe impl Sync for Message {}

impl Message {
    fn new(parts: u32, each: u32, is_open: bool) -> Arc<Message> {
        Arc::new(Message {
            batches: Batches::new(parts, each),
            parts: (0..parts).map(|_| UnsafeCell::new(0)).collect(),
            is_open: AtomicU32::new(is_open.into()),
            left: AtomicU32::new(0),
        })
    }

    fn leave(&self, batch: usize) {
        if self.batches.take(batch, Callers::Many) {
            let (first, many) = self.batches.parts_of(batch);
            for part in &self.parts[first as usize..(first + many) as usize] {
                // SAFETY: the batch is this thread's; loom reports it if that is not enough.
                part.with(|part| assert_eq!(unsafe { *part }, 7));
            }
            self.left.fetch_add(many, Relaxed);
        }
    }

    fn ready(&self, part: u32) {
        // SAFETY: the part is this thread's until it is ready.
        self.parts[part as usize].with_mut(|part| unsafe { *part = 7 });
        let complete = self.batches.set_ready(part, Callers::Many).expect("once");
        if let Some(batch) = complete
            && self.is_open.load(Acquire) != 0
        {
            self.leave(batch);
        }
    }

    /// What progress does while a batch may have been left behind.
    fn carry_on(&self) {
        if self.is_open.load(Acquire) != 0 {
            (0..self.batches.len()).for_each(|batch| self.leave(batch));
        }
    }
}

fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

#[test]
fn the_thread_that_completes_a_batch_sees_all_of_it() {
    check(|| {
        let message = Message::new(2, 2, true);
        let other = message.clone();
        let thread = loom::thread::spawn(move || other.ready(1));
        message.ready(0);
        thread.join().unwrap();
        assert_eq!(message.left.load(Relaxed), 2);
    });
}

#[test]
fn room_that_comes_late_meets_each_batch_once() {
    check(|| {
        let message = Message::new(2, 1, false);
        let (sender, receiver) = (message.clone(), message.clone());
        let sender = loom::thread::spawn(move || {
            sender.ready(0);
            sender.ready(1);
        });
        let receiver = loom::thread::spawn(move || receiver.is_open.store(1, Release));
        message.carry_on();
        sender.join().unwrap();
        receiver.join().unwrap();
        // Progress looks until all have left.
        message.carry_on();
        assert_eq!(message.left.load(Relaxed), 2);
    });
}
