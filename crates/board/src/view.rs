//! A board in shared memory as one member sees it during one operation.
//!
//! Members may write it at any time, so it is read with atomics and raw copies
//! only. What is read out of their buffers is only copied; what is written into
//! them goes where they say, through the kernel.

use std::io;
use std::ptr;
use std::sync::atomic::{Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use catena_base::{clock, copy};
use catena_objects::op::Reducer;
use catena_objects::room::{AllocResult, NoRoom, Scratch};
use catena_schedule::{Buf, Order, Region};
use catena_shm::Neighbour;

use crate::area::PAYLOAD;
use crate::board::{Board, LongOp, get_and_combine};
use crate::copies;
use crate::lacks::add_lack;
use crate::limits::LINE;
use crate::lines::COUNTED;
use crate::meta::Meta;
use crate::payload::{IN_LONG, Payload, PayloadPlace};
use crate::seat::Seat;
use crate::settings::COLL_WEIGH;
use crate::trouble::{Refused, Trouble};

/// Bytes that are read from a peer before they are combined: they stay in the
/// nearest cache but one, and a system call is worth them.
const BITE: usize = 256 << 10;

/// A board as one member sees it during one operation.
#[derive(Debug)]
pub struct View<'a> {
    /// Where it sits.
    seat: &'a mut Seat,
    /// Its send and receive buffers.
    ends: (*mut u8, *mut u8),
    /// Combines elements, if the operation reduces.
    reducer: Option<&'a Reducer>,
    /// How often it looks for a record before it does something else.
    pub looks: u32,
    /// Whom it waits for, if it has for some time.
    pub awaits: Option<u32>,
}

impl Seat {
    /// What an operation without buffers sees, which looks once.
    #[inline(always)]
    pub fn view(&mut self) -> View<'_> {
        View {
            seat: self,
            ends: (ptr::null_mut(), ptr::null_mut()),
            reducer: None,
            looks: 1,
            awaits: None,
        }
    }

    /// What an operation with buffers sees, the send and the receive buffer; `reducer` combines
    /// elements, if it reduces.
    ///
    /// # Safety
    /// As long as operations run with it that are not complete, `ends` are valid for the blocks
    /// that their arguments name, the first for reads, the second for writes, and nobody else uses
    /// them but the members to which the operation shows them.
    #[inline(always)]
    pub unsafe fn view_with<'a>(
        &'a mut self,
        ends: (*mut u8, *mut u8),
        reducer: Option<&'a Reducer>,
    ) -> View<'a> {
        View {
            ends,
            reducer,
            ..self.view()
        }
    }
}

impl View<'_> {
    /// Gives up: see [`Seat::fail`].
    pub fn fail(&self) {
        self.seat.fail();
    }

    /// Member `rank` has died: it uses nothing any more.
    #[cold]
    pub fn lose(&self, rank: u32) {
        self.seat.lose(rank);
    }

    #[inline(always)]
    fn place(&mut self, r: Region) -> *mut u8 {
        let base = match r.buf {
            Buf::Input => self.ends.0,
            Buf::Output => self.ends.1,
            Buf::Scratch => self.seat.store.scratch.base(),
        };
        base.wrapping_add(r.offset)
    }

    /// Copies out of the buffers of member `rank`.
    fn read(&mut self, rank: u32, addr: u64, to: *mut u8, len: usize) -> Result<(), Refused> {
        let peer = self.neighbour(rank)?;
        // SAFETY: the caller owns `len` bytes there.
        unsafe { peer.read(addr, to, len) }.map_err(|e| refused(rank, &e))
    }

    /// The process of a peer whose buffers are reached.
    fn neighbour(&self, rank: u32) -> Result<Neighbour, Refused> {
        let found = self.seat.neighbours.get(rank as usize).copied().flatten();
        found.ok_or(Refused {
            rank,
            errno: libc::EPERM,
        })
    }

    /// `most` bytes at a time that are combined, or about: whole elements.
    #[inline(always)]
    fn whole(&self, most: usize) -> usize {
        let unit = self.reducer.map_or(1, Reducer::unit).max(1);
        most.max(unit) / unit * unit
    }

    /// Whether `len` bytes of a payload are taken when they are read, see
    /// [`taking`](copy::taking).
    #[inline(always)]
    fn takes(&self, from: &Payload, len: usize) -> bool {
        len >= TAKE && from.place == PayloadPlace::Ring && from.is_taken
    }

    /// Has `len` bytes at `at` of a payload on the board combined: all at once, or, to be taken,
    /// those from a position on at a time.
    #[inline(always)]
    fn in_steps(
        &mut self,
        (from, at, len): (&Payload, usize, usize),
        mut some: impl FnMut(&Self, *const u8, usize, usize) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let (base, len) = self.seat.clip(from, at, len);
        if !self.takes(from, len) {
            return some(self, base, 0, len);
        }
        let step = self.whole(STEP);
        for at in (0..len).step_by(step) {
            let n = step.min(len - at);
            let piece = base.wrapping_add(at);
            some(self, piece, at, n)?;
            // SAFETY: on the board, where the owner writes when we have completed the operation,
            // and other readers what we do.
            unsafe { copy::take(piece, n) };
        }
        Ok(())
    }

    /// Combines `len` bytes at `from` with those at `to`.
    ///
    /// # Safety
    /// Both are valid for so many bytes and do not overlap. The first may be
    /// memory that peers write at any time.
    #[inline(always)]
    unsafe fn apply(
        &self,
        from: *const u8,
        to: *mut u8,
        len: usize,
        order: Order,
    ) -> Result<(), Trouble> {
        match self.reducer {
            // SAFETY: predefined operations commute, and their kernels read each
            // element once.
            Some(Reducer::Kernel(k)) => unsafe { (k.run)(from, to, len / k.size) },
            Some(user) => combine_by_user(user, from, to, len, order).map_err(no_memory)?,
            None => unreachable!("a reduction has an operation"),
        }
        Ok(())
    }
}

/// Shortest payload in a ring that is taken.
const TAKE: usize = 2 << 10;

/// Bytes that are combined before they are taken: they stay in the nearest cache.
const STEP: usize = 8 << 10;

/// Shortest block that is copied between this member's buffers around the cache: it would
/// not stay there for the program, which has as much of its own.
const STREAM: usize = 512 << 10;

/// Bytes of the ring that are fetched before they are written: as many lines as
/// a core fetches at once.
const WARM: usize = 1 << 10;

impl Board for View<'_> {
    #[inline(always)]
    fn stamp(&self, rank: u32, seq: u64) -> u64 {
        let word = self.seat.area.word(rank, seq, 0);
        let mut stamp = word.load(Acquire);
        for _ in 1..self.looks {
            if stamp == seq {
                break;
            }
            stamp = word.load(Acquire);
        }
        stamp
    }

    #[inline(always)]
    fn meta(&self, rank: u32, seq: u64) -> u64 {
        self.seat.area.word(rank, seq, 8).load(Relaxed)
    }

    #[inline(always)]
    fn payload(&self, rank: u32, seq: u64, place: PayloadPlace) -> Payload {
        let at = match place {
            PayloadPlace::Line => 0,
            PayloadPlace::Ring | PayloadPlace::Direct => {
                self.seat.area.word(rank, seq, PAYLOAD).load(Relaxed)
            }
        };
        Payload {
            place,
            rank,
            seq,
            at,
            is_taken: false,
        }
    }

    #[inline(always)]
    fn put(&mut self, to: &Payload, at: usize, from: Region) {
        let (base, room) = self.seat.clip(to, at, from.len);
        assert!(room == from.len, "payload overruns its place");
        let source = self.place(from);
        if to.place == PayloadPlace::Line {
            // SAFETY: as below.
            return unsafe { copies::few(base, source, from.len) };
        }
        // SAFETY: in bounds as just checked; the place is ours until it is
        // published, and the program lends its buffer.
        let copy = || unsafe { copies::into_ring(base, source, from.len, to.is_taken) };
        if to.at & IN_LONG == 0 || from.len < COUNTED {
            return copy();
        }
        let began = clock::ticks();
        copy();
        let ticks = clock::ticks().wrapping_sub(began);
        self.seat.lines.wrote(from.len, ticks);
    }

    #[inline(always)]
    fn put_word(&mut self, to: &Payload, at: usize, word: u32) {
        let (base, room) = self.seat.clip(to, at, 4);
        assert!(room == 4, "payload overruns its place");
        // SAFETY: as in `put`.
        unsafe { base.cast::<u32>().write_unaligned(word) };
    }

    #[inline(always)]
    fn publish(&mut self, own: &Payload, meta: u64, reader: Option<u32>) {
        let word = |at| self.seat.area.word(self.seat.rank, own.seq, at);
        if own.place != PayloadPlace::Line {
            word(PAYLOAD).store(own.at, Relaxed);
        }
        word(8).store(meta, Relaxed);
        word(0).store(own.seq, Release);
        self.seat.wake(reader);
    }

    fn withdraw(&mut self, seq: u64) {
        let word = self.seat.area.word(self.seat.rank, seq, 8);
        word.store(word.load(Relaxed) | Meta::PLACE, Relaxed);
        self.lack(seq);
    }

    fn lack(&mut self, seq: u64) {
        // Before `set_done`, which publishes it.
        let word = self.seat.area.lacks(self.seat.rank);
        word.store(add_lack(word.load(Relaxed), seq), Relaxed);
    }

    fn lacks(&self, rank: u32) -> u64 {
        self.seat.area.lacks(rank).load(Relaxed)
    }

    #[inline(always)]
    fn get(&mut self, from: &Payload, at: usize, into: Region) -> Result<(), Refused> {
        let to = self.place(into);
        if from.place == PayloadPlace::Direct {
            return self.read(from.rank, from.at.wrapping_add(at as u64), to, into.len);
        }
        let (base, len) = self.seat.clip(from, at, into.len);
        if from.place == PayloadPlace::Line {
            // SAFETY: as below.
            unsafe { copies::few(to, base, len) };
            return Ok(());
        }
        let takes = self.takes(from, len);
        // SAFETY: `clip` stays within the peer's memory on the board, whose owner writes there
        // again when we have completed the operation; the program lends its buffer.
        unsafe { copies::out_of_ring(to, base, len, takes) };
        Ok(())
    }

    fn give(&mut self, to: &Payload, at: usize, from: Region) -> Result<(), Refused> {
        let source = self.place(from);
        let addr = to.at.wrapping_add(at as u64);
        let peer = self.neighbour(to.rank)?;
        // SAFETY: the program lends its buffer, and the peer lends what it shows.
        unsafe { peer.write(addr, source, from.len) }.map_err(|e| refused(to.rank, &e))
    }

    #[inline(always)]
    fn word(&self, from: &Payload, at: usize) -> u32 {
        match self.seat.area.clip(from, at, 4) {
            // SAFETY: as in `get`.
            (base, 4) => unsafe { base.cast::<u32>().read_unaligned() },
            _ => 0,
        }
    }

    #[inline(always)]
    fn combine(
        &mut self,
        from: &Payload,
        at: usize,
        into: Region,
        order: Order,
    ) -> Result<(), Trouble> {
        let to = self.place(into);
        if from.place != PayloadPlace::Direct {
            return self.in_steps((from, at, into.len), |view, base, at, len| {
                // SAFETY: as in `get`.
                unsafe { view.apply(base, to.add(at), len, order) }
            });
        }
        let bite = self.whole(BITE);
        self.seat.store.bite.reserve(bite).map_err(no_memory)?;
        for done in (0..into.len).step_by(bite) {
            let len = bite.min(into.len - done);
            let piece = self.seat.store.bite.base();
            self.read(
                from.rank,
                from.at.wrapping_add((at + done) as u64),
                piece,
                len,
            )?;
            // SAFETY: `piece` has `bite` bytes; the program lends its buffer.
            unsafe { self.apply(piece, to.add(done), len, order)? };
        }
        Ok(())
    }

    #[inline(always)]
    fn join(
        &mut self,
        from: &Payload,
        at: usize,
        own: Region,
        into: Region,
        order: Order,
    ) -> Result<(), Trouble> {
        if let (Some(Reducer::Kernel(k)), PayloadPlace::Line | PayloadPlace::Ring) =
            (self.reducer, from.place)
        {
            let (b, out) = (self.place(own), self.place(into));
            return self.in_steps((from, at, into.len), |_, a, at, len| {
                // SAFETY: as in `get`; predefined operations commute, and their kernels
                // read each element once.
                unsafe { (k.join)(a, b.add(at), out.add(at), len / k.size) };
                Ok(())
            });
        }
        let order = match order {
            Order::FromLeft => Order::FromRight,
            Order::FromRight => Order::FromLeft,
        };
        let bite = self.whole(BITE);
        for done in (0..into.len).step_by(bite) {
            let len = bite.min(into.len - done);
            self.get(from, at + done, into.part(done, len))?;
            self.fold(own.part(done, len), into.part(done, len), order)?;
        }
        Ok(())
    }

    fn pair(
        &mut self,
        (a, b): (&Payload, &Payload),
        at: usize,
        into: Region,
    ) -> Result<(), Trouble> {
        let (Some(Reducer::Kernel(k)), PayloadPlace::Line | PayloadPlace::Ring) =
            (self.reducer, a.place)
        else {
            return get_and_combine(self, (a, b), at, into);
        };
        let (run, takes) = (k.join, self.takes(a, into.len));
        let (left, len) = self.seat.clip(a, at, into.len);
        let out = self.place(into.part(0, len));
        self.in_steps((b, at, len), |_, right, at, len| {
            let left = left.wrapping_add(at);
            // SAFETY: as in `get`, for both; predefined operations' kernels read each element once.
            unsafe {
                run(left, right, out.add(at), len / k.size);
                if takes {
                    copy::take(left, len);
                }
            }
            Ok(())
        })
    }

    fn reserve(&mut self, len: usize) -> Result<(), Trouble> {
        self.seat.store.scratch.reserve(len).map_err(no_memory)
    }

    #[inline(always)]
    fn copy(&mut self, from: Region, into: Region) {
        self.keep(from, into, from.len);
    }

    #[inline(always)]
    fn keep(&mut self, from: Region, into: Region, whole: usize) {
        let (a, b) = (self.place(from), self.place(into));
        // SAFETY: the program lends both buffers, which do not overlap.
        unsafe {
            if whole < STREAM {
                copies::between(b, a, from.len);
            } else {
                copy::stream(b, a, from.len);
            }
        };
    }

    #[inline(always)]
    fn fold(&mut self, from: Region, into: Region, order: Order) -> Result<(), Trouble> {
        let (a, b) = (self.place(from), self.place(into));
        // SAFETY: as in `copy`.
        unsafe { self.apply(a, b, from.len, order) }
    }

    fn address(&mut self, of: Region) -> u64 {
        self.place(of) as u64
    }

    #[inline(always)]
    fn set_done(&mut self, seq: u64) {
        self.seat.area.counter(self.seat.rank).store(seq, Release);
        self.seat.wake(None);
    }

    #[inline]
    fn done(&self, rank: u32) -> u64 {
        self.seat.area.counter(rank).load(Acquire)
    }

    fn awaits(&mut self, rank: Option<u32>) {
        self.awaits = rank;
    }

    #[inline(always)]
    fn expect(&self, rank: u32, seq: u64) {
        copy::prefetch(self.seat.area.record(rank, seq));
    }

    #[inline(always)]
    fn warm(&mut self, seq: u64) {
        copy::claim(self.seat.area.record(self.seat.rank, seq));
    }

    fn prefers_ring(&mut self, op: LongOp) -> bool {
        let prefers = self.seat.choices.begin(op, clock::ticks());
        prefers && COLL_WEIGH.get()
    }

    fn came(&mut self, rank: u32, in_ring: bool) {
        // The first of two leads.
        if rank < self.seat.rank {
            self.seat.choices.follow(in_ring);
        }
    }

    #[inline(always)]
    fn warm_ring(&mut self, at: u64, len: usize) {
        let area = &self.seat.area;
        let next = Payload {
            place: PayloadPlace::Ring,
            rank: self.seat.rank,
            seq: 0,
            at,
            is_taken: false,
        };
        let (base, len) = area.clip(&next, 0, len.min(WARM));
        for line in (0..len).step_by(LINE) {
            copy::claim(base.wrapping_add(line));
        }
    }

    #[inline]
    fn leaves(&mut self) -> bool {
        self.seat.lines.left
    }
}

#[cold]
fn refused(rank: u32, error: &io::Error) -> Refused {
    let errno = error.raw_os_error().unwrap_or(libc::EIO);
    Refused { rank, errno }
}

fn no_memory(NoRoom(bytes): NoRoom) -> Trouble {
    Trouble::NoMemory(bytes)
}

/// Bytes of a copy that a function of the program sees.
const COPY: usize = 64 << 10;

/// A function of the program sees a copy: the peer may write its payload.
#[cold]
fn combine_by_user(
    user: &Reducer,
    from: *const u8,
    to: *mut u8,
    len: usize,
    order: Order,
) -> AllocResult<()> {
    let piece = user.piece(COPY).min(len);
    let mut copy = Scratch::new(piece)?;
    for at in (0..len).step_by(piece.max(1)) {
        let now = piece.min(len - at);
        // SAFETY: `from` and `to` are valid for `len` bytes, see `View::apply`.
        unsafe {
            let to = to.add(at);
            ptr::copy_nonoverlapping(from.add(at), copy.base(), now);
            match order {
                Order::FromLeft => user.apply(copy.base(), to, now)?,
                Order::FromRight => user.apply_right(copy.base(), to, now)?,
            }
        }
    }
    Ok(())
}
