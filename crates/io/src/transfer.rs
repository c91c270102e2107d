//! One transfer between memory and a file: independent of all others, by whichever thread carries
//! it out.
//!
//! | step                          | where                                                     |
//! |-------------------------------|-----------------------------------------------------------|
//! | made, and converted if it writes | the thread that calls MPI                              |
//! | [`run`](Transfer::run)        | any thread; it needs no state of the library             |
//! | [`finish`](Transfer::finish)  | a thread that calls MPI; what was read is converted      |

use std::io;
use std::sync::Arc;

use catena_abi::Status;
use catena_base::{PayloadRoom, PeerBytes, clock};
use catena_core::Process;
use catena_core::buffer::{RecvBuf, SendBuf};
use catena_core::request::Done;
use catena_fabric::Payload;
use catena_link::{Sink, Source};
use catena_objects::error::{Error, Result};

use crate::common::Span;
use crate::counters::{FileCounters, Which};
use crate::datarep::{self, Elements};
use crate::driver::{Carrier, Direction, Driver, Part, move_run};
use crate::failure::of_transfer;
use crate::lock::RangeLock;
use crate::place::{FilePosition, Placed};
use crate::view::{Run, View};

/// Bytes that are packed or unpacked at a time.
pub(crate) const STAGE: u64 = 1 << 20;
/// A read fetches a run and the gap before it with those in front of them if both have at most this
/// many bytes together: to read and to copy them is cheaper than another system call.
const NEAR: u64 = 8 << 10;

/// A write stores pieces through a map of the file if one of them and the gap behind it have at
/// most this many bytes together: to map a page costs as much as some system calls.
const CLOSE: u64 = 1 << 10;
/// A write of fewer pieces than this goes piece by piece: to make a map and to end it costs about
/// as much as this number of system calls.
const MANY: u64 = 32;
/// Bytes that are written piece by piece where somebody has cut the file before they could be
/// stored; the others try again.
const AFTER_CUT: u64 = 256;

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
            let room = unsafe { PayloadRoom::new(out.as_mut_ptr(), out.len()) };
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
    /// By which pointer that was found.
    pub(crate) place: FilePosition,
    /// Bytes that the call has moved before.
    pub(crate) before: u64,
    /// Bytes of the stream that were moved.
    pub done: u64,
    /// What went wrong then.
    pub failure: Option<io::Error>,
    /// A window of the file with short pieces has at most this many bytes: a read fetches it, gaps
    /// and all; a write maps it. 0 if neither is wanted.
    pub window: u64,
    /// Keeps others away from the bytes, in atomic mode.
    pub(crate) lock: Option<RangeLock>,
    convert: Option<ToConvert>,
    /// Bytes of memory that it is about.
    whole: u64,
    counters: Arc<FileCounters>,
    /// The file is busy as long as this lives.
    _busy: Arc<()>,
}

// SAFETY: the program lends its memory until the request is complete, whichever thread uses it;
// types are never changed, and everything else is the transfer's own.
unsafe impl Send for Transfer {}

/// What a transfer is made of, besides its memory.
#[derive(Debug)]
pub(crate) struct Parts {
    pub driver: Arc<dyn Driver>,
    pub name: Arc<str>,
    pub view: Arc<View>,
    pub window: u64,
    pub counters: Arc<FileCounters>,
    pub busy: Arc<()>,
}

impl Transfer {
    /// A transfer of elements, which take `len` bytes in the file. What is written is converted
    /// here.
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
        let whole = count.saturating_mul(ty.size());
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
                let mut bytes = datarep::zeroed(len)?;
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
            from: 0,
            before: 0,
            place: FilePosition::At(0),
            done: 0,
            failure: None,
            window: parts.window,
            lock: None,
            convert,
            whole,
            counters: parts.counters,
            _busy: parts.busy,
        })
    }

    /// Puts it at its place.
    pub(crate) fn put_at(&mut self, placed: Placed) {
        (self.place, self.from) = (placed.place, placed.from);
    }

    /// Its place.
    pub(crate) fn placed(&self) -> Placed {
        Placed {
            place: self.place,
            from: self.from,
            len: self.len(),
            in_memory: self.whole,
        }
    }

    /// Bytes of the stream that it is about.
    pub fn len(&self) -> u64 {
        self.memory.len()
    }

    /// Whether it has nothing to move.
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty()
    }

    /// The bytes of the file from its first to its last one; it is not empty.
    pub(crate) fn span(&self) -> Span {
        self.placed().span(&self.view, self.memory.direction())
    }

    /// Whether it moves short pieces that are near each other by windows of the file, so that they
    /// need not be looked at one by one.
    pub fn takes_windows(&self) -> bool {
        let (view, spread) = (&self.view, self.view.spread());
        let near = match self.memory.direction() {
            Direction::Read => NEAR,
            Direction::Write => CLOSE,
        };
        let is_near = (1..=near).contains(&(spread.run + spread.gap));
        self.window != 0 && view.is_ordered() && is_near && (self.is_read() || self.may_store())
    }

    fn is_read(&self) -> bool {
        self.memory.direction() == Direction::Read
    }

    /// Whether its pieces are worth a map of the file, and there is one.
    fn may_store(&self) -> bool {
        self.len() >= MANY * self.view.spread().run && self.driver.maps()
    }

    /// Moves the bytes, and keeps how it went. Cost: a system call for each run of the file, or for
    /// each group of runs that lie close together where they are read; a few for each window of the
    /// file that pieces are stored in.
    pub fn run(&mut self) {
        let lock = self.lock.take();
        let held = lock.as_ref().map(RangeLock::hold);
        let begin = clock::ticks();
        let view = self.view.clone();
        let (from, len) = (self.from, self.len());
        let mut pass = Pass::new(self);
        match pass.transfer.takes_windows() {
            true => pass.by_windows(&view),
            false => view.windows(from, len, |runs, bytes| pass.window(runs, bytes)),
        }
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
            None => (self.placed().to_memory(self.done), None),
        };
        let mut status = Status::empty();
        status.set_bytes(bytes);
        Done {
            status,
            error: self.error().or(wrong),
        }
    }

    /// The error of what went wrong.
    pub fn error(&self) -> Option<Error> {
        let failure = self.failure.as_ref()?;
        let direction = self.memory.direction();
        let done = self.before + self.done;
        Some(of_transfer(&self.name, direction, failure, done))
    }
}

/// What counts the bytes that go this way.
#[inline]
pub(crate) fn moved(direction: Direction) -> Which {
    match direction {
        Direction::Read => |it| &it.read,
        Direction::Write => |it| &it.written,
    }
}

/// Counts what was moved by so many calls since `begin`, in ticks of the clock.
pub(crate) fn count(
    counters: &FileCounters,
    direction: Direction,
    bytes: u64,
    (calls, begin): (u64, u64),
) {
    counters.add(moved(direction), bytes);
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
    carrier: Option<Carrier>,
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
            carrier: None,
            done: 0,
            calls: 0,
            failure: None,
        }
    }

    /// Whether gaps may be fetched.
    fn fetches_gaps(&self) -> bool {
        self.transfer.window != 0 && self.transfer.is_read()
    }

    /// Where in the stream the next byte is.
    fn next(&self) -> u64 {
        self.transfer.from + self.done
    }

    /// Moves the bytes by windows of the file, one after the other.
    fn by_windows(&mut self, view: &View) {
        let most = match self.base {
            Some(_) => u64::MAX,
            None => STAGE,
        };
        loop {
            let (from, left) = (self.next(), self.transfer.len() - self.done);
            if left == 0 {
                return;
            }
            let at = view.offset(from);
            let limit = at.saturating_add(self.transfer.window);
            let bytes = view.before(from, left.min(most), limit);
            let len = view.offset(from + bytes - 1) + 1 - at;
            let window = Run { at, len };
            let direction = self.transfer.memory.direction();
            let moved = self.with_memory(bytes, |pass, base| match direction {
                _ if len == bytes => pass.run(window, base),
                Direction::Read => {
                    pass.fetch(window, bytes, base, |end| view.before(from, bytes, end))
                }
                Direction::Write => pass.store(window, bytes, base),
            });
            let is_over = match direction {
                Direction::Read => moved != bytes,
                // A map may take some of them, and the next one the others.
                Direction::Write => moved == 0 || self.failure.is_some(),
            };
            if is_over {
                return;
            }
        }
    }

    /// Moves the next bytes of the stream, which lie in these runs; whether there may be more.
    fn window(&mut self, runs: &[Run], bytes: u64) -> bool {
        if self.base.is_some() || bytes <= STAGE {
            return self.with_memory(bytes, |pass, base| pass.runs(runs, base)) == bytes;
        }
        // One long run.
        runs.iter().all(|run| {
            let pieces = (0..run.len).step_by(STAGE as usize);
            pieces.into_iter().all(|at| {
                let len = (run.len - at).min(STAGE);
                let at = run.at + at;
                self.with_memory(len, |pass, base| pass.run(Run { at, len }, base)) == len
            })
        })
    }

    /// Has `work` move the next bytes to or from memory where they follow each other, and counts
    /// how many it has moved.
    fn with_memory(&mut self, bytes: u64, work: impl FnOnce(&mut Self, *mut u8) -> u64) -> u64 {
        let at = self.done;
        let moved = match self.base {
            Some(base) => work(self, base.wrapping_add(at as usize)),
            None => {
                let mut stage = std::mem::take(&mut self.stage);
                stage.resize(bytes as usize, 0);
                self.transfer.memory.pack(at, &mut stage);
                let moved = work(self, stage.as_mut_ptr());
                let memory = &mut self.transfer.memory;
                memory.unpack(at, &stage[..moved as usize]);
                self.stage = stage;
                moved
            }
        };
        self.done = at + moved;
        moved
    }

    /// Moves runs from or to memory at `base`; how many bytes before the end of the file or a
    /// failure.
    fn runs(&mut self, runs: &[Run], base: *mut u8) -> u64 {
        let begin = self.done;
        let mut rest = runs;
        while let Some(first) = rest.first() {
            let (group, others) = rest.split_at(self.group(rest));
            let len: u64 = group.iter().map(|run| run.len).sum();
            let base = base.wrapping_add((self.done - begin) as usize);
            let moved = match group {
                [run] => self.run(*run, base),
                _ => {
                    let ends = group.iter().map(|run| run.at + run.len);
                    let whole = Run {
                        at: first.at,
                        len: ends.fold(first.at, u64::max) - first.at,
                    };
                    self.fetch(whole, len, base, |end| in_front(group, end))
                }
            };
            self.done += moved;
            if moved != len {
                break;
            }
            rest = others;
        }
        self.done - begin
    }

    /// How many of the next runs one system call fetches.
    fn group(&self, runs: &[Run]) -> usize {
        let (begin, mut end) = (runs[0].at, runs[0].at + runs[0].len);
        if !self.fetches_gaps() || end - begin > NEAR {
            return 1;
        }
        let more = runs[1..].iter().take_while(|run| {
            let last = run.at + run.len;
            let is_near = run.at >= begin && last <= end.saturating_add(NEAR);
            end = end.max(last);
            is_near && end - begin <= self.transfer.window
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

    /// Reads a window of the file, and takes the next `bytes` of the stream out of it to `base`;
    /// `before` says how many of them lie in front of an offset, where the file ends.
    fn fetch(
        &mut self,
        window: Run,
        bytes: u64,
        base: *mut u8,
        before: impl FnOnce(u64) -> u64,
    ) -> u64 {
        let mut fetched = std::mem::take(&mut self.fetched);
        fetched.resize(window.len as usize, 0);
        let there = self.run(window, fetched.as_mut_ptr());
        let mut taken = match there == window.len {
            true => bytes,
            false => before(window.at + there),
        };
        let view = self.transfer.view.clone();
        let room = Part {
            base,
            len: taken as usize,
        };
        // SAFETY: the bytes that are taken were read, and the memory has room for them.
        unsafe { view.gather(self.next(), (fetched.as_ptr(), window.at), room) };
        self.fetched = fetched;
        self.transfer
            .counters
            .add(|it| &it.gaps, there.saturating_sub(taken));
        if self.failure.take().is_some() {
            // It may be that only what lies between the pieces cannot be read.
            taken = self.one_by_one(&view, taken, bytes, base);
        }
        taken
    }

    /// Stores the next `bytes` of the stream, from `base`, in a window of the file; how many, at
    /// least one without a failure.
    fn store(&mut self, window: Run, bytes: u64, base: *mut u8) -> u64 {
        let view = self.transfer.view.clone();
        let Some(mapped) = self.transfer.driver.map(window.at, window.len) else {
            return self.one_by_one(&view, 0, bytes, base);
        };
        self.calls += 1;
        let (from, carrier) = (self.next(), &mut self.carrier);
        let (mut stored, mut most) = (0, AFTER_CUT);
        view.windows(from, bytes, |runs, len| {
            let pieces = runs.iter().map(|run| (run.at - window.at, run.len));
            let at = base.wrapping_add(stored as usize);
            // SAFETY: the memory has these bytes of the stream one after the other.
            let now = unsafe { mapped.store(carrier, at, pieces) };
            if now.is_none() {
                most = bytes;
            }
            stored += now.unwrap_or(0);
            now == Some(len)
        });
        drop(mapped);
        match stored == bytes {
            true => bytes,
            // Somebody has cut the file meanwhile, or there is no way to store.
            false => self.one_by_one(&view, stored, bytes.min(stored + most), base),
        }
    }

    /// Moves those of the next `bytes` of the stream, at `base` in memory, that come behind the
    /// first `done`, run by run; how many have been moved in the end.
    fn one_by_one(&mut self, view: &View, mut done: u64, bytes: u64, base: *mut u8) -> u64 {
        view.windows(self.next() + done, bytes - done, |runs, _| {
            runs.iter().all(|run| {
                let moved = self.run(*run, base.wrapping_add(done as usize));
                done += moved;
                moved == run.len
            })
        });
        done
    }
}

/// The bytes of runs, in their order, before the first that does not lie in front of an offset.
fn in_front(runs: &[Run], end: u64) -> u64 {
    let mut bytes = 0;
    for run in runs {
        let there = end.saturating_sub(run.at).min(run.len);
        bytes += there;
        if there != run.len {
            break;
        }
    }
    bytes
}
