//! Model of the lock of two classes: they are never inside together, whoever is inside sees what
//! those of the other class did, and whoever sleeps is woken.
#![cfg(loom)]

use catena_base::class_lock::{Class, ClassLock, Queue};
use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicU32;
use loom::sync::atomic::Ordering::{Acquire, Relaxed};
use loom::sync::{Arc, Condvar, Mutex};

struct Window {
    lock: ClassLock,
    /// Written by the class `Exclusive` (one member of it at a time here), read by the other one.
    memory: UnsafeCell<u32>,
    inside: [AtomicU32; 2],
    bell: Mutex<()>,
    rung: Condvar,
}

// SAFETY: the memory is touched inside the lock only, which the model checks.
unsafe impl Send for Window {}
// SAFETY: as above.
unsafe impl Sync for Window {}

impl Window {
    fn ring(&self) {
        let _bell = self.bell.lock().unwrap();
        self.rung.notify_all();
    }

    fn enter(&self, class: Class, queue: Queue) {
        if self.lock.try_enter(class, queue) {
            return;
        }
        let waiting = self.lock.wait(class, queue);
        let mut bell = self.bell.lock().unwrap();
        while !self.lock.try_turn(waiting) {
            bell = self.rung.wait(bell).unwrap();
        }
        drop(bell);
        if self.lock.has_waiters() {
            self.ring();
        }
    }

    fn act(&self, class: Class, queue: Queue) {
        self.enter(class, queue);
        let other = 1 - class as usize;
        self.inside[class as usize].fetch_add(1, Relaxed);
        assert_eq!(
            self.inside[other].load(Relaxed),
            0,
            "none of the other class"
        );
        match class {
            // SAFETY: no other one of this class in the model; loom reports it if there is one.
            Class::Exclusive => self.memory.with_mut(|it| unsafe { *it += 1 }),
            // SAFETY: nobody writes; loom reports it if somebody does.
            Class::All => self.memory.with(|it| unsafe { assert!(*it <= 1) }),
        }
        self.inside[class as usize].fetch_sub(1, Relaxed);
        if self.lock.leave(class) {
            self.ring();
        }
    }
}

const ALL: (Class, Queue) = (Class::All, Queue::Behind);

fn model(members: &'static [(Class, Queue)], preemptions: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let window = Arc::new(Window {
            lock: ClassLock::default(),
            memory: UnsafeCell::new(0),
            inside: [AtomicU32::new(0), AtomicU32::new(0)],
            bell: Mutex::new(()),
            rung: Condvar::new(),
        });
        let threads: Vec<_> = members[1..]
            .iter()
            .map(|&(class, queue)| {
                let window = window.clone();
                loom::thread::spawn(move || window.act(class, queue))
            })
            .collect();
        window.act(members[0].0, members[0].1);
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(!window.lock.has_waiters());
        for class in [Class::Exclusive, Class::All] {
            assert_eq!(window.lock.inside(class), 0);
            assert_eq!(window.inside[class as usize].load(Acquire), 0);
        }
    });
}

#[test]
fn one_of_each_class() {
    model(&[(Class::Exclusive, Queue::Behind), ALL], 4);
}

#[test]
fn two_of_a_class_around_the_other() {
    model(&[ALL, (Class::Exclusive, Queue::Behind), ALL], 2);
}

#[test]
fn one_beside_the_queue() {
    model(&[ALL, (Class::Exclusive, Queue::Beside), ALL], 2);
}
