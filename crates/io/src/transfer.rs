//! One transfer between memory and a file: independent of all others, by whichever thread carries it out.
//!
//! | step                          | where                                                     |
//! |-------------------------------|-----------------------------------------------------------|
//! | made, and converted if it writes | the thread that calls MPI                              |
//! | [`run`](Transfer::run)        | any thread; it needs no state of the library             |
//! | [`finish`](Transfer::finish)  | a thread that calls MPI; what was read is converted      |

use std::io;
use std::sync::Arc;

use catena_abi::Status;
use catena_base::{PeerBytes, Room, clock};
use catena_core::Process;
use catena_core::buffer::{RecvBuf, SendBuf};
use catena_core::files::{FileCounters, Which};
use catena_core::request::Done;
use catena_fabric::Payload;
use catena_link::{Sink, Source};
use catena_objects::error::{Error, Result};

use crate::datarep::{self, Elements};
use crate::driver::{Direction, Driver, Part, move_run};
use crate::failure::of_transfer;
use crate::lock::RangeLock;
use crate::view::{Run, View};

/// Bytes that are packed or unpacked at a time.
const STAGE: u64 = 1 << 20;
/// A read fetches a gap of at most this many bytes: that is cheaper than another system call.
const GAP: u64 = 8 << 10;

/// The memory of a transfer, as a row of packed bytes.
#[derive(Debug)]
pub enum Memory {
    /// It is written to the file.
    Source(SendBuf),
    /// It is read from the file.
    Sink(RecvBuf),
}

impl Memory {
    /// Its bytes.
    pub fn len(&self) -> u64 {
        match self {
            Memory::Source(source) => source.len(),
            Memory::Sink(sink) => sink.capacity(),
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Which way its bytes go.
    pub fn direction(&self) -> Direction {
        match self {
            Memory::Source(_) => Direction::Write,
            Memory::Sink(_) => Direction::Read,
        }
    }

    /// Where it lies, if it is one run of host memory.
    pub fn contiguous(&mut self) -> Option<*mut u8> {
        match self {
            Memory::Source(source) => source.contiguous().map(<*const u8>::cast_mut),
            Memory::Sink(sink) => sink.contiguous(),
        }
    }

    /// Copies bytes `[from, from + out.len())` of what is written.
    pub fn pack(&self, from: u64, out: &mut [u8]) {
        if let Memory::Source(source) = self
            && !out.is_empty()
        {
            // SAFETY: the slice is that long.
            let room = unsafe { Room::new(out.as_mut_ptr(), out.len()) };
            source.part(from, out.len()).write(room);
        }
    }

    /// Stores bytes that were read.
    pub fn unpack(&mut self, from: u64, bytes: &[u8]) {
        if let Memory::Sink(sink) = self {
            sink.place(from, PeerBytes::from(bytes));
        }
    }
}

/// What is left to do when the bytes of a file are there.
#[derive(Debug)]
struct ToConvert {
    to: Elements,
    bytes: Vec<u8>,
}

/// A transfer between memory and bytes of a view.
#[derive(Debug)]
pub struct Transfer {
    /// What moves bytes.
    pub driver: Arc<dyn Driver>,
    /// The name of the file, for errors.
    pub name: Arc<str>,
    /// Which bytes of the file.
    pub view: Arc<View>,
    /// The memory.
    pub memory: Memory,
    /// Where in the stream of the view it begins.
    pub from: u64,
    /// Bytes of the stream that were moved.
    pub done: u64,
    /// What went wrong then.
    pub failure: Option<io::Error>,
    /// A read may fetch gaps, this many bytes at once; 0 for never.
    pub sieve: u64,
    /// Keeps others away from the bytes, in atomic mode.
    pub(crate) lock: Option<RangeLock>,
    convert: Option<ToConvert>,
    counters: Arc<FileCounters>,
    /// The file is busy as long as this lives.
    _busy: Arc<()>,
}

// SAFETY: the program lends its memory until the request is complete, whichever thread uses it; types are
// never changed, and everything else is the transfer's own.
unsafe impl Send for Transfer {}

/// What a transfer is made of, besides its memory.
#[derive(Debug)]
pub(crate) struct Parts {
    pub driver: Arc<dyn Driver>,
    pub name: Arc<str>,
    pub view: Arc<View>,
    pub from: u64,
    pub sieve: u64,
    pub counters: Arc<FileCounters>,
    pub busy: Arc<()>,
}

impl Transfer {
    /// A transfer of elements, which take `len` bytes in the file. What is written is converted here.
    ///
    /// # Errors
    /// `Conversion`, `NoMem`, what functions of the program return.
    pub(crate) fn new(
        process: &Process,
        direction: Direction,
        elements: Elements,
        len: u64,
        parts: Parts,
    ) -> Result<Self> {
        let (count, ty) = (elements.count, &elements.ty);
        let datarep = &parts.view.datarep;
        let mut convert = None;
        let memory = match (direction, datarep.is_native()) {
            (Direction::Write, true) => Memory::Source(SendBuf::new(elements.base, count, ty)),
            (Direction::Read, true) => Memory::Sink(RecvBuf::new(elements.base, count, ty)),
            (Direction::Write, false) => {
                let bytes = datarep::to_file(datarep, &process.objects.types, &elements, len)?;
                Memory::Source(SendBuf::Owned(bytes.into()))
            }
            (Direction::Read, false) => {
                let mut bytes = vec![0; len as usize];
                let memory = Memory::Sink(RecvBuf::Bytes(bytes.as_mut_ptr(), len));
                convert = Some(ToConvert {
                    to: elements,
                    bytes,
                });
                memory
            }
        };
        Ok(Transfer {
            driver: parts.driver,
            name: parts.name,
            view: parts.view,
            memory,
            from: parts.from,
            done: 0,
            failure: None,
            sieve: parts.sieve,
            lock: None,
            convert,
            counters: parts.counters,
            _busy: parts.busy,
        })
    }

    /// Bytes of the stream that it is about.
    pub fn len(&self) -> u64 {
        self.memory.len()
    }

    /// Whether it has nothing to move.
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty()
    }

    /// Moves the bytes, and keeps how it went. Cost: a system call for each run of the file that is written,
    /// or for each group of runs that lie close together where they are read.
    pub fn run(&mut self) {
        let lock = self.lock.take();
        let held = lock.as_ref().map(RangeLock::hold);
        let begin = clock::ticks();
        let view = self.view.clone();
        let (from, len) = (self.from, self.len());
        let mut pass = Pass::new(self);
        view.windows(from, len, |runs, bytes| pass.window(runs, bytes));
        let (done, failure, calls) = (pass.done, pass.failure.take(), pass.calls);
        drop(held);
        drop(lock);
        count(
            &self.counters,
            self.memory.direction(),
            done,
            (calls, begin),
        );
        (self.done, self.failure) = (done, failure);
    }

    /// How it went: the status counts bytes in memory.
    pub fn finish(mut self, process: &Process) -> Done {
        let converted = self.convert.take().map(|ToConvert { to, mut bytes }| {
            let len = bytes.len() as u64;
            let there = &mut bytes[..self.done as usize];
            let types = &process.objects.types;
            datarep::from_file(&self.view.datarep, types, &to, (there, len))
        });
        let (bytes, wrong) = match converted {
            Some(Ok(bytes)) => (bytes, None),
            Some(Err(error)) => (0, Some(error)),
            None => (self.in_memory(), None),
        };
        let mut status = Status::empty();
        status.set_bytes(bytes);
        Done {
            status,
            error: self.error().or(wrong),
        }
    }

    /// Bytes of memory that were moved.
    fn in_memory(&self) -> u64 {
        let (done, view) = (self.done, &self.view);
        match view.datarep.is_native() {
            true => done,
            // What was written was whole etypes.
            false => done / view.unit() * view.etype.size(),
        }
    }

    /// The error of what went wrong.
    pub fn error(&self) -> Option<Error> {
        let failure = self.failure.as_ref()?;
        let direction = self.memory.direction();
        Some(of_transfer(&self.name, direction, failure, self.done))
    }
}

/// Counts what was moved by so many calls since `begin`, in ticks of the clock.
pub(crate) fn count(
    counters: &FileCounters,
    direction: Direction,
    bytes: u64,
    (calls, begin): (u64, u64),
) {
    let moved: Which = match direction {
        Direction::Read => |it| &it.read,
        Direction::Write => |it| &it.written,
    };
    counters.add(moved, bytes);
    counters.add(|it| &it.calls, calls);
    counters.add(|it| &it.time, clock::ticks().wrapping_sub(begin));
}

/// A transfer under way.
struct Pass<'t> {
    transfer: &'t mut Transfer,
    /// Where all of the memory lies, if it is one run.
    base: Option<*mut u8>,
    stage: Vec<u8>,
    fetched: Vec<u8>,
    done: u64,
    calls: u64,
    failure: Option<io::Error>,
}

impl<'t> Pass<'t> {
    fn new(transfer: &'t mut Transfer) -> Self {
        let base = transfer.memory.contiguous();
        Pass {
            transfer,
            base,
            stage: Vec::new(),
            fetched: Vec::new(),
            done: 0,
            calls: 0,
            failure: None,
        }
    }

    /// Moves the next bytes of the stream, which lie in these runs; whether there may be more.
    fn window(&mut self, runs: &[Run], bytes: u64) -> bool {
        if let Some(base) = self.base {
            let base = base.wrapping_add(self.done as usize);
            return self.runs(runs, base) == bytes;
        }
        if bytes <= STAGE {
            return self.staged(runs, bytes);
        }
        // One long run.
        runs.iter().all(|run| {
            let pieces = (0..run.len).step_by(STAGE as usize);
            pieces.into_iter().all(|at| {
                let len = (run.len - at).min(STAGE);
                let at = run.at + at;
                self.staged(&[Run { at, len }], len)
            })
        })
    }

    /// Moves runs by way of memory where their bytes follow each other; whether there may be more.
    fn staged(&mut self, runs: &[Run], bytes: u64) -> bool {
        let mut stage = std::mem::take(&mut self.stage);
        stage.resize(bytes as usize, 0);
        let at = self.done;
        let memory = &mut self.transfer.memory;
        memory.pack(at, &mut stage);
        let moved = self.runs(runs, stage.as_mut_ptr());
        let memory = &mut self.transfer.memory;
        memory.unpack(at, &stage[..moved as usize]);
        self.stage = stage;
        moved == bytes
    }

    /// Moves runs from or to memory at `base`; how many bytes before the end of the file or a failure.
    fn runs(&mut self, runs: &[Run], base: *mut u8) -> u64 {
        let mut at = 0;
        let mut rest = runs;
        while let Some(first) = rest.first() {
            let group = self.group(rest);
            let len: u64 = rest[..group].iter().map(|run| run.len).sum();
            let base = base.wrapping_add(at as usize);
            let moved = match group {
                1 => self.run(*first, base),
                _ => self.fetch(&rest[..group], base),
            };
            at += moved;
            self.done += moved;
            if moved != len {
                break;
            }
            rest = &rest[group..];
        }
        at
    }

    /// How many of the next runs one system call fetches.
    fn group(&self, runs: &[Run]) -> usize {
        let sieve = self.transfer.sieve;
        if sieve == 0 || self.transfer.memory.direction() == Direction::Write {
            return 1;
        }
        let begin = runs[0].at;
        let mut end = begin + runs[0].len;
        let more = runs[1..].iter().take_while(|run| {
            let is_near = run.at >= begin && run.at <= end.saturating_add(GAP);
            end = end.max(run.at + run.len);
            is_near && end - begin <= sieve
        });
        1 + more.count()
    }

    /// Moves one run.
    fn run(&mut self, run: Run, base: *mut u8) -> u64 {
        let part = Part {
            base,
            len: run.len as usize,
        };
        let (driver, direction) = (&*self.transfer.driver, self.transfer.memory.direction());
        let mut done = 0;
        self.calls += 1;
        // SAFETY: the program lends its memory, and the stage is as long as its runs.
        let result = unsafe { move_run(driver, direction, part, run.at, &mut done) };
        self.failure = result.err();
        done
    }

    /// Reads what lies between the first and the last run, and takes the runs.
    fn fetch(&mut self, runs: &[Run], base: *mut u8) -> u64 {
        let begin = runs[0].at;
        let end = runs
            .iter()
            .map(|run| run.at + run.len)
            .max()
            .unwrap_or(begin);
        let mut fetched = std::mem::take(&mut self.fetched);
        fetched.resize((end - begin) as usize, 0);
        let whole = Run {
            at: begin,
            len: end - begin,
        };
        let there = self.run(whole, fetched.as_mut_ptr());
        let mut taken = 0;
        for run in runs {
            let from = run.at - begin;
            let len = there.saturating_sub(from).min(run.len);
            let bytes = &fetched[from as usize..][..len as usize];
            // SAFETY: the memory has room for all runs, one after the other.
            unsafe {
                base.add(taken as usize)
                    .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            }
            taken += len;
            if len != run.len {
                break;
            }
        }
        self.fetched = fetched;
        let gaps = there.saturating_sub(taken);
        self.transfer.counters.add(|it| &it.gaps, gaps);
        taken
    }
}
