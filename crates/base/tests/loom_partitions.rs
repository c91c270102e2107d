//! Model of partitions that threads say are ready: each is taken exactly once, by one that sees its
//! bytes, whether the place for it is there when it is ready or comes later.
#![cfg(loom)]

use catena_base::partitions::{Callers, Partitions};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

struct Message {
    partitions: Partitions,
    bytes: [UnsafeCell<u32>; 2],
    /// Whether the receiver has room.
    is_open: AtomicU32,
    left: AtomicU32,
}

// SAFETY: a partition is written before it is ready and read by who has taken it, which the model
// checks.
unsafe impl Send for Message {}
// SAFETY: as above.
unsafe impl Sync for Message {}

impl Message {
    fn new(is_open: bool) -> Arc<Message> {
        Arc::new(Message {
            partitions: Partitions::new(2),
            bytes: [UnsafeCell::new(0), UnsafeCell::new(0)],
            is_open: AtomicU32::new(is_open.into()),
            left: AtomicU32::new(0),
        })
    }

    fn leave(&self, partition: usize) {
        if self.partitions.take(partition, Callers::Many) {
            // SAFETY: the partition is this thread's; loom reports it if that is not enough.
            self.bytes[partition].with(|it| assert_eq!(unsafe { *it }, 7));
            self.left.fetch_add(1, Relaxed);
        }
    }

    fn ready(&self, partition: usize) {
        // SAFETY: the partition is this thread's until it is ready.
        self.bytes[partition].with_mut(|it| unsafe { *it = 7 });
        self.partitions
            .set_ready(partition, Callers::Many)
            .expect("once");
        if self.is_open.load(Acquire) != 0 {
            self.leave(partition);
        }
    }

    /// What progress does while a partition may have been left behind.
    fn carry_on(&self) {
        if self.is_open.load(Acquire) != 0 {
            (0..self.partitions.len()).for_each(|partition| self.leave(partition));
        }
    }
}

fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

#[test]
fn a_thread_and_progress_take_each_partition_once() {
    check(|| {
        let message = Message::new(true);
        let (first, second) = (message.clone(), message.clone());
        let first = loom::thread::spawn(move || first.ready(0));
        let second = loom::thread::spawn(move || second.ready(1));
        message.carry_on();
        first.join().unwrap();
        second.join().unwrap();
        assert_eq!(message.left.load(Relaxed), 2);
    });
}

#[test]
fn room_that_comes_late_meets_each_partition_once() {
    check(|| {
        let message = Message::new(false);
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
