//! What hooks are promised: they are called while they have work, never while they are called, and
//! their descriptors end a sleep.

use std::cell::{Cell, RefCell};
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use catena_abi::consts;
use catena_core::hooks::Hook;
use catena_core::{Process, enter, init};
use catena_objects::error::Result;

/// Counts its calls, and calls back the library.
#[derive(Debug, Default)]
struct Counting {
    rounds: Cell<u32>,
    looks: Cell<u32>,
    finalized: Cell<u32>,
    ended: Cell<u32>,
}

impl Hook<Process> for Counting {
    fn progress(&self, process: &Process) -> bool {
        self.rounds.set(self.rounds.get() + 1);
        // As a callback of the program might.
        process.progress();
        false
    }

    fn before_sleep(&self, _: &Process) -> bool {
        self.looks.set(self.looks.get() + 1);
        false
    }

    fn finalize(&self, process: &Process) -> Result<()> {
        process.world_model().expect("it still stands");
        self.finalized.set(self.finalized.get() + 1);
        Ok(())
    }

    fn end(&self, _: &Process) {
        assert_eq!(self.finalized.get(), 1);
        self.ended.set(self.ended.get() + 1);
    }
}

/// Waits for bytes in a pipe.
#[derive(Debug, Default)]
struct Piped {
    reader: RefCell<Option<PipeReader>>,
    sleeps: RefCell<Option<Sender<()>>>,
    bytes: Cell<u64>,
}

impl Piped {
    fn open(&self) -> PipeWriter {
        let (reader, writer) = pipe().expect("a pipe");
        *self.reader.borrow_mut() = Some(reader);
        writer
    }

    /// Whether there is a byte.
    fn can_read(&self) -> bool {
        let sleeper = catena_fabric::Sleeper::new(self.descriptor());
        sleeper.sleep(std::time::Duration::ZERO)
    }
}

impl Hook<Process> for Piped {
    fn progress(&self, _: &Process) -> bool {
        let has = self.can_read();
        if let (true, Some(reader)) = (has, &mut *self.reader.borrow_mut()) {
            reader.read_exact(&mut [0]).expect("a byte");
            self.bytes.set(self.bytes.get() + 1);
        }
        has
    }

    fn before_sleep(&self, _: &Process) -> bool {
        if let Some(sleeps) = &*self.sleeps.borrow() {
            sleeps.send(()).expect("somebody listens");
        }
        false
    }

    fn descriptor(&self) -> Option<RawFd> {
        self.reader.borrow().as_ref().map(PipeReader::as_raw_fd)
    }
}

/// Sleeps until another thread writes, which does so when this one says that it sleeps.
fn sleep_on_a_pipe(process: &Process) {
    let piped = process.hook::<Piped>();
    let mut writer = piped.open();
    let (tell, told) = channel();
    *piped.sleeps.borrow_mut() = Some(tell);
    piped.add_work(1);
    let (before, woken) = (piped.bytes.get(), process.waits.woken.get());
    let other = thread::spawn(move || {
        told.recv().expect("it comes to sleeping");
        writer.write_all(b"x").expect("room for a byte");
        // Until the hook says no more.
        told.into_iter().count()
    });
    process.block(
        |_, _| {},
        |process| process.hook::<Piped>().bytes.get() > before,
    );
    piped.remove_work(1);
    *piped.sleeps.borrow_mut() = None;
    other.join().expect("it wrote");
    assert!(
        process.waits.woken.get() > woken,
        "the descriptor ended the sleep"
    );
}

#[test]
fn hooks_are_called_while_they_have_work() {
    init::init(consts::THREAD_SINGLE).expect("a process is a job of its own");
    let process = enter().expect("it was brought up");
    let counting = process.hook::<Counting>();
    process.progress();
    assert_eq!(counting.rounds.get(), 0, "it has nothing to do");

    counting.add_work(2);
    process.progress();
    assert_eq!(counting.rounds.get(), 1, "once, and not from within");
    counting.remove_work(1);
    process.progress();
    assert_eq!((counting.rounds.get(), counting.work()), (2, 1));
    let inner = counting.alone(|counting| {
        process.progress();
        counting.rounds.get()
    });
    assert_eq!(inner, Some(2), "it was left alone");

    sleep_on_a_pipe(&process);
    assert!(counting.looks.get() > 0, "it was asked before the sleep");
    counting.remove_work(1);
    let rounds = counting.rounds.get();
    process.progress();
    assert_eq!(counting.rounds.get(), rounds, "it is idle again");
    // Another time, when the socket for it is there.
    sleep_on_a_pipe(&process);

    drop(process);
    assert_eq!(init::finalize(|error| panic!("{error}"), None), 0);
    let process = catena_core::observe().expect("the state stays");
    let counting = process.hook::<Counting>();
    assert_eq!((counting.finalized.get(), counting.ended.get()), (1, 1));
}
