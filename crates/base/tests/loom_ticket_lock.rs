//! Model of the lock of `MPI_Win_lock`: an exclusive holder is alone, shared ones see what it did,
//! and whoever sleeps is woken, though only those are rung whose turn it is, and others may pass
//! them.
#![cfg(loom)]

use catena_base::ticket_lock::{Admission, Mode, TicketLock};
use loom::cell::UnsafeCell;
use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use loom::sync::atomic::{AtomicU16, AtomicU32};
use loom::sync::{Arc, Condvar, Mutex};

/// Where a member sleeps.
#[derive(Default)]
struct Member {
    /// That of the ticket with which it waits, or 0.
    tag: AtomicU16,
    bell: Mutex<()>,
    rung: Condvar,
}

/// A target: its lock, the memory, and the members.
struct Target {
    lock: TicketLock,
    memory: UnsafeCell<u32>,
    inside: AtomicU32,
    members: Vec<Member>,
}

// SAFETY: the memory is touched under the lock only, which the model checks.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

impl Target {
    /// What whoever changed the lock does.
    fn ring(&self) {
        if !self.lock.has_waiters() {
            return;
        }
        for member in &self.members {
            let tag = member.tag.load(Acquire);
            if tag != 0 && self.lock.is_next(tag) {
                let _bell = member.bell.lock().unwrap();
                member.rung.notify_all();
            }
        }
    }

    fn enter(&self, mode: Mode, admission: Admission, me: u32) {
        if let Err(ticket) = self.lock.enter(mode, admission, me) {
            let mine = &self.members[me as usize];
            mine.tag.store(ticket.tag(), Relaxed);
            self.lock.wait();
            let mut bell = mine.bell.lock().unwrap();
            while !self.lock.try_enter(ticket, me) {
                bell = mine.rung.wait(bell).unwrap();
            }
            drop(bell);
            self.lock.wait_no_more();
            mine.tag.store(0, Relaxed);
        }
        if mode == Mode::Shared {
            self.ring();
        }
    }

    fn leave(&self, mode: Mode) {
        self.lock.leave(mode);
        self.ring();
    }

    fn write(&self, admission: Admission, me: u32) {
        self.enter(Mode::Exclusive, admission, me);
        assert_eq!(self.inside.fetch_add(1, AcqRel), 0, "alone");
        assert_eq!(self.lock.holder(), Some(me));
        // SAFETY: the holder is alone; loom reports it if it is not.
        self.memory.with_mut(|it| unsafe { *it += 1 });
        self.inside.fetch_sub(1, AcqRel);
        self.leave(Mode::Exclusive);
    }

    fn read(&self, me: u32) {
        self.enter(Mode::Shared, Admission::Queue, me);
        // SAFETY: nobody writes; loom reports it if somebody does.
        self.memory.with(|it| unsafe { assert!(*it <= 3) });
        self.leave(Mode::Shared);
    }
}

/// What a member does.
#[derive(Clone, Copy)]
enum Step {
    Read,
    Write,
    /// Passes the queue if it may.
    Rush,
}
use Step::{Read, Rush, Write};

/// Each thread carries out its deeds.
fn model(deeds: &'static [&'static [Step]], preemptions: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let target = Arc::new(Target {
            lock: TicketLock::default(),
            memory: UnsafeCell::new(0),
            inside: AtomicU32::new(0),
            members: deeds.iter().map(|_| Member::default()).collect(),
        });
        let act = |target: &Target, me: usize| {
            for deed in deeds[me] {
                match deed {
                    Read => target.read(me as u32),
                    Write => target.write(Admission::Queue, me as u32),
                    Rush => target.write(Admission::Pass, me as u32),
                }
            }
        };
        let threads: Vec<_> = (1..deeds.len())
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
    model(&[&[Write], &[Write]], 4);
}

#[test]
fn a_writer_between_readers() {
    model(&[&[Read], &[Write], &[Read]], 2);
}

#[test]
fn a_writer_that_is_passed() {
    model(&[&[Rush, Rush], &[Write]], 3);
}

#[test]
fn a_reader_that_is_passed() {
    model(&[&[Rush, Rush], &[Read]], 3);
}

#[test]
fn one_who_passes_those_who_take_turns() {
    model(&[&[Rush], &[Write], &[Rush]], 2);
}
