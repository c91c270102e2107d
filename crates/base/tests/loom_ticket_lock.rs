//! Model of the lock of `MPI_Win_lock`: an exclusive holder is alone, shared ones see what it did, and
//! whoever sleeps is woken.
#![cfg(loom)]

use catena_base::ticket_lock::{Mode, TicketLock};
use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicU32;
use loom::sync::atomic::Ordering::{AcqRel, Acquire};
use loom::sync::{Arc, Condvar, Mutex};

/// A target: its lock, the memory, and where each member sleeps.
struct Target {
    lock: TicketLock,
    memory: UnsafeCell<u32>,
    inside: AtomicU32,
    bell: Mutex<()>,
    rung: Condvar,
}

// SAFETY: the memory is touched under the lock only, which the model checks.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

impl Target {
    /// What whoever changed the lock does.
    fn ring(&self) {
        if self.lock.has_waiters() {
            let _bell = self.bell.lock().unwrap();
            self.rung.notify_all();
        }
    }

    fn enter(&self, mode: Mode, me: u32) {
        if let Err(ticket) = self.lock.enter(mode, me) {
            self.lock.wait();
            let mut bell = self.bell.lock().unwrap();
            while !self.lock.is_served(ticket) {
                bell = self.rung.wait(bell).unwrap();
            }
            drop(bell);
            assert!(self.lock.try_enter(ticket, me));
            self.lock.wait_no_more();
        }
        if mode == Mode::Shared {
            self.ring();
        }
    }

    fn leave(&self, mode: Mode) {
        self.lock.leave(mode);
        self.ring();
    }

    fn write(&self, me: u32) {
        self.enter(Mode::Exclusive, me);
        assert_eq!(self.inside.fetch_add(1, AcqRel), 0, "alone");
        assert_eq!(self.lock.holder(), Some(me));
        // SAFETY: the holder is alone; loom reports it if it is not.
        self.memory.with_mut(|it| unsafe { *it += 1 });
        self.inside.fetch_sub(1, AcqRel);
        self.leave(Mode::Exclusive);
    }

    fn read(&self, me: u32) {
        self.enter(Mode::Shared, me);
        // SAFETY: nobody writes; loom reports it if somebody does.
        self.memory.with(|it| unsafe { assert!(*it <= 2) });
        self.leave(Mode::Shared);
    }
}

fn model(modes: &'static [Mode], preemptions: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let target = Arc::new(Target {
            lock: TicketLock::default(),
            memory: UnsafeCell::new(0),
            inside: AtomicU32::new(0),
            bell: Mutex::new(()),
            rung: Condvar::new(),
        });
        let act = |target: &Target, me: usize| match modes[me] {
            Mode::Exclusive => target.write(me as u32),
            Mode::Shared => target.read(me as u32),
        };
        let threads: Vec<_> = (1..modes.len())
            .map(|me| {
                let target = target.clone();
                loom::thread::spawn(move || act(&target, me))
            })
            .collect();
        act(&target, 0);
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(target.lock.is_free() && !target.lock.has_waiters());
        assert_eq!(target.inside.load(Acquire), 0);
    });
}

#[test]
fn two_writers() {
    model(&[Mode::Exclusive, Mode::Exclusive], 4);
}

#[test]
fn a_writer_between_readers() {
    model(&[Mode::Shared, Mode::Exclusive, Mode::Shared], 2);
}
