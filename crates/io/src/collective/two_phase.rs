//! Collective buffering: members exchange bytes in memory, and *aggregators* go to the file with long runs.
//!
//! The file is taken in rounds. In each, every aggregator has a window on it, one behind the other, so each
//! reads or writes blocks in turn (MPI-5, chapter 14.2.8: `cb_block_size`). A round begins where the first
//! byte is that some member has not moved yet: long gaps cost nothing.
//!
//! | what is written                     | what is read                             |
//! |-------------------------------------|------------------------------------------|
//! | members copy into the windows       | aggregators read their windows           |
//! | *barrier*                           | *barrier*                                |
//! | aggregators write what was put there, | members take out what is theirs, while |
//! | while members go on with the other set | aggregators read the next windows     |
//!
//! There is one barrier for a round, as the two sets of windows are used in turn. Bytes go from the member's
//! memory to the window, and nowhere else. What lies between the bytes of the members is not written.

use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use catena_core::Process;
use catena_core::files::{self, FILES};
use catena_core::request::Done;
use catena_objects::error::{Error, Kind, Result};

use crate::agree;
use crate::collective::buffers::{Buffers, SETS, mark, next_run, unite};
use crate::collective::choice::Plan;
use crate::collective::pieces::{Cursor, Walk, before};
use crate::driver::{Direction, Driver, Part, move_run};
use crate::file::File;
use crate::transfer::Transfer;

/// Nothing more to move.
const END: u64 = u64::MAX;

/// Moves the bytes of all members; how it went for this one. Collective.
pub(crate) fn run(process: &Process, file: &File, mut transfer: Transfer, plan: Plan) -> Done {
    let moved = prepare(process, file, plan).and_then(|buffers| {
        let mut rounds = Rounds::new(process, file, &transfer, buffers, plan);
        let (done, code) = match transfer.memory.direction() {
            Direction::Write => rounds.write(&mut transfer)?,
            Direction::Read => rounds.read(&mut transfer)?,
        };
        Ok((done, code))
    });
    match moved {
        Ok((done, code)) => {
            transfer.done = done;
            let failed = code != 0 && done != transfer.len();
            transfer.failure = failed.then(|| io::Error::from_raw_os_error(code as i32));
            transfer.finish(process)
        }
        Err(error) => {
            let status = transfer.finish(process).status;
            Done {
                status,
                error: Some(error),
            }
        }
    }
}

/// The buffers, which the lowest member takes from the node's memory where there are none that fit.
fn prepare(process: &Process, file: &File, plan: Plan) -> Result<Buffers> {
    let old = file.buffers.get();
    if let Some(buffers) = old.filter(|it| it.shape == plan.shape) {
        return Ok(buffers);
    }
    // All members have agreed on the plan, so none uses them any more.
    file.buffers.set(None);
    if let Some(old) = old {
        old.close(process);
    }
    let is_lowest = file.comm.rank == 0;
    let own = match is_lowest {
        true => Buffers::take(process, plan.shape).ok_or_else(no_memory),
        false => Ok(0),
    };
    let offset = *own.as_ref().unwrap_or(&0);
    let (_, rows) = agree::agree(process, &file.comm, own, [offset])?;
    let buffers = Buffers::at(process, plan.shape, rows[0][0], is_lowest);
    let buffers = agree::all_well(process, &file.comm, buffers.ok_or_else(no_memory))?;
    file.buffers.set(Some(buffers));
    Ok(buffers)
}

#[cold]
fn no_memory() -> Error {
    let text = "there is no shared memory for collective buffers: set cb_buffer_size lower, or \
                collective_buffering to false";
    Error::new(Kind::NoMem, text)
}

/// A collective call under way.
struct Rounds<'r> {
    process: &'r Process,
    file: &'r File,
    driver: &'r dyn Driver,
    buffers: Buffers,
    plan: Plan,
    me: usize,
    cursor: Cursor,
}

impl<'r> Rounds<'r> {
    fn new(
        process: &'r Process,
        file: &'r File,
        transfer: &Transfer,
        buffers: Buffers,
        plan: Plan,
    ) -> Self {
        Rounds {
            process,
            file,
            driver: &*file.driver,
            buffers,
            plan,
            me: file.comm.rank as usize,
            cursor: Cursor::new(transfer.view.clone(), transfer.from, transfer.len()),
        }
    }

    fn is_aggregator(&self) -> bool {
        self.me < self.plan.shape.aggregators
    }

    /// Where the windows of a round begin in which the first byte is at `offset`.
    fn base(&self, offset: u64) -> u64 {
        offset - offset % self.plan.unit
    }

    /// The offset behind the windows of a round.
    fn limit(&self, base: u64) -> u64 {
        base.saturating_add(self.plan.shape.span() as u64)
    }

    /// All members have arrived.
    fn meet(&self) -> Result<()> {
        self.process.barrier(&self.file.comm)
    }

    /// The lowest offset at which a member goes on.
    fn next(&self, set: usize) -> u64 {
        let slots = (0..self.plan.shape.members).map(|it| self.buffers.slot(it));
        slots
            .map(|slot| slot.next[set].load(Relaxed))
            .min()
            .unwrap_or(END)
    }

    /// The first window that an aggregator could not move to its end: how far it came, and the error or 0.
    fn stopped(&self, set: usize) -> Option<(u64, u64)> {
        let slots = (0..self.plan.shape.aggregators).map(|it| self.buffers.slot(it));
        let ends = slots.map(|it| (it.until[set].load(Relaxed), it.code[set].load(Relaxed)));
        ends.filter(|(until, _)| *until != END).min()
    }

    /// How far this aggregator came with its window.
    fn tell(&self, set: usize, stopped: Option<(u64, u64)>) {
        let slot = self.buffers.slot(self.me);
        let (until, code) = stopped.unwrap_or((END, 0));
        slot.until[set].store(until, Relaxed);
        slot.code[set].store(code, Relaxed);
    }

    /// Writes all members' bytes; how many of this one's were written, and the error or 0.
    fn write(&mut self, transfer: &mut Transfer) -> Result<(u64, u64)> {
        let mut stopped = None;
        let mut walk = Walk::new(&mut transfer.memory);
        let mut base = self.base(self.plan.begin);
        for round in 0.. {
            let set = round % SETS;
            self.scatter(&mut walk, base, set);
            self.meet()?;
            if round != 0 {
                stopped = self.stopped((round - 1) % SETS);
                if stopped.is_some() {
                    break;
                }
            }
            if self.is_aggregator() {
                self.put(base, set);
            }
            let next = self.next(set);
            if next == END {
                self.meet()?;
                stopped = self.stopped(set);
                break;
            }
            base = self.base(next);
        }
        let len = transfer.len();
        Ok(match stopped {
            None => (len, 0),
            Some((until, code)) => (before(&transfer.view, transfer.from, len, until), code),
        })
    }

    /// Puts this member's bytes of a round into the windows.
    fn scatter(&mut self, walk: &mut Walk<'_>, base: u64, set: usize) {
        let shape = self.plan.shape;
        let (windows, mask) = (self.buffers.windows(set), self.buffers.mask(set, self.me));
        let limit = self.limit(base);
        let first = self.cursor.offset();
        let mut end = base;
        if first.is_some_and(|first| first < limit) {
            // SAFETY: the mask is this member's.
            unsafe { mask.write_bytes(0, shape.span() / 64) };
        }
        loop {
            let from = self.cursor.taken();
            let Some(run) = self.cursor.take(limit) else {
                break;
            };
            let at = (run.at - base) as usize;
            // SAFETY: the run lies in the windows, and in the mask; the program does not let members write
            // the same byte, and if it does, one of them is there. The walk goes on where it was.
            unsafe {
                walk.give(from, windows.wrapping_add(at), run.len as usize);
                mark(mask, at, run.len as usize);
            }
            end = run.at + run.len;
        }
        let used = match first {
            Some(first) if end > base => {
                let window = shape.window as u64;
                let (low, high) = ((first - base) / window, (end - 1 - base) / window);
                (u64::MAX << low) & (u64::MAX >> (63 - high))
            }
            _ => 0,
        };
        let slot = self.buffers.slot(self.me);
        slot.used[set].store(used, Relaxed);
        let next = self.cursor.offset().unwrap_or(END);
        slot.next[set].store(next, Relaxed);
    }

    /// Writes what members have put into this aggregator's window.
    fn put(&mut self, base: u64, set: usize) {
        let begin = Instant::now();
        let shape = self.plan.shape;
        let skipped = self.me * shape.window;
        let (words, first) = (shape.window / 64, skipped / 64);
        let mine = self.buffers.mask(set, self.me).wrapping_add(first);
        let uses = |member: usize| {
            let used = self.buffers.slot(member).used[set].load(Relaxed);
            used >> self.me & 1 != 0
        };
        if !uses(self.me) {
            // SAFETY: the mask is this member's.
            unsafe { mine.write_bytes(0, words) };
        }
        for member in (0..shape.members).filter(|it| *it != self.me && uses(*it)) {
            let other = self.buffers.mask(set, member).wrapping_add(first);
            // SAFETY: its member has met this one since it wrote there, and will again before it does; nobody
            // else looks at these words of the own mask.
            unsafe { unite(mine, other, words) };
        }
        let (base, window) = (
            base + skipped as u64,
            self.buffers.windows(set).wrapping_add(skipped),
        );
        let (mut at, mut calls, mut bytes, mut stopped) = (0, 0, 0, None);
        // SAFETY: nobody else writes these words.
        while let Some((from, to)) = unsafe { next_run(mine, words, at) } {
            let run = Part {
                base: window.wrapping_add(from),
                len: to - from,
            };
            let mut done = 0;
            calls += 1;
            let place = base + from as u64;
            // SAFETY: the window has these bytes, and no member changes them in this round.
            let moved = unsafe { move_run(self.driver, Direction::Write, run, place, &mut done) };
            bytes += done;
            if let Err(error) = moved {
                stopped = Some((place + done, code(&error)));
                break;
            }
            at = to;
        }
        self.tell(set, stopped);
        files::add(&FILES.written, bytes);
        files::add(&FILES.calls, calls);
        files::add(&FILES.time, begin.elapsed().as_nanos() as u64);
    }

    /// Reads all members' bytes; how many of this one's there were, and the error or 0.
    fn read(&mut self, transfer: &mut Transfer) -> Result<(u64, u64)> {
        let mut walk = Walk::new(&mut transfer.memory);
        let mut base = self.base(self.plan.begin);
        let mut set = 0;
        let mut result = 0;
        self.fetch(base, set);
        self.meet()?;
        loop {
            let other = (set + 1) % SETS;
            let follows = self.limit(base);
            self.fetch(follows, other);
            let stopped = self.stopped(set);
            self.gather(&mut walk, base, set, stopped.map(|(until, _)| until));
            if let Some((_, code)) = stopped {
                // Nobody takes anything from the rounds behind it.
                result = code;
                break;
            }
            self.meet()?;
            let next = self.next(set);
            if next == END {
                break;
            }
            set = other;
            if (follows..self.limit(follows)).contains(&next) {
                base = follows;
            } else {
                base = self.base(next);
                self.fetch(base, set);
                self.meet()?;
            }
        }
        walk.finish();
        Ok((self.cursor.taken(), result))
    }

    /// Reads this aggregator's window, if it is one.
    fn fetch(&mut self, base: u64, set: usize) {
        if !self.is_aggregator() {
            return;
        }
        let begin = Instant::now();
        let window = self.plan.shape.window;
        let skipped = self.me * window;
        let from = base.saturating_add(skipped as u64);
        let len = self.plan.end.saturating_sub(from).min(window as u64);
        let run = Part {
            base: self.buffers.windows(set).wrapping_add(skipped),
            len: len as usize,
        };
        let mut done = 0;
        let moved = match len {
            0 => Ok(()),
            // SAFETY: the window has room, and no member uses it before all have met.
            _ => unsafe { move_run(self.driver, Direction::Read, run, from, &mut done) },
        };
        let stopped = match moved {
            Ok(()) if done == len => None,
            Ok(()) => Some((from + done, 0)),
            Err(error) => Some((from + done, code(&error))),
        };
        self.tell(set, stopped);
        files::add(&FILES.calls, u64::from(len != 0));
        files::add(&FILES.time, begin.elapsed().as_nanos() as u64);
    }

    /// Takes this member's bytes of a round out of the windows, up to where the file ends.
    fn gather(&mut self, walk: &mut Walk<'_>, base: u64, set: usize, until: Option<u64>) {
        let windows = self.buffers.windows(set);
        let limit = self.limit(base).min(until.unwrap_or(END));
        let old = self.cursor.taken();
        loop {
            let from = self.cursor.taken();
            let Some(run) = self.cursor.take(limit) else {
                break;
            };
            let at = (run.at - base) as usize;
            // SAFETY: the run lies in the windows, which nobody writes in this round. The walk goes on where
            // it was.
            unsafe { walk.store(from, windows.wrapping_add(at), run.len as usize) };
        }
        let next = self.cursor.offset().unwrap_or(END);
        self.buffers.slot(self.me).next[set].store(next, Relaxed);
        files::add(&FILES.read, self.cursor.taken() - old);
    }
}

/// The code of the system for an error.
fn code(error: &io::Error) -> u64 {
    error.raw_os_error().unwrap_or(libc::EIO) as u64
}
