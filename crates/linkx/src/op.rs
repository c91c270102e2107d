//! One operation, and its memory as the engine sees it.
//!
//! A message is what lies in [`Op::head`], followed by [`Op::runs`]. The head holds what the
//! operation owns: bytes that were injected, requests, and remote CQ data that found no room in the
//! seal. An operation stays where it is while the engine has it: what it lends is named by a
//! pointer.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

use catena_base::{PayloadRoom, PeerBytes};
use catena_fabric::{Buf, Payload};
use catena_link::{ReqId, Sink, Source};
use libc::iovec;

use crate::memory::Hold;

/// The seal of a message whose first 8 bytes are remote CQ data.
pub const SEAL_AHEAD: u32 = u32::MAX;
/// How many those are.
pub const AHEAD: usize = 8;

/// The seal that stands for remote CQ data, if it has room for them.
#[inline]
pub fn seal_of(data: u64) -> u32 {
    match data < u64::from(SEAL_AHEAD) - 1 {
        true => data as u32 + 1,
        false => SEAL_AHEAD,
    }
}

/// The remote CQ data that a seal stands for, if that has them.
#[inline]
pub fn data_of(seal: u32) -> Option<u64> {
    (seal != 0 && seal != SEAL_AHEAD).then(|| u64::from(seal) - 1)
}

/// Bytes of several runs of memory; as many as there can be where they are more.
#[inline]
pub fn total(iov: &[iovec]) -> usize {
    let lens = iov.iter().map(|it| it.iov_len);
    lens.fold(0, usize::saturating_add)
}

/// Which operation it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A message that is sent, tagged or not.
    #[default]
    Send,
    /// A receive, tagged or not.
    Recv,
    /// A receive into a buffer that takes many messages.
    MultiRecv,
    /// A request of a peer's that is received.
    Request,
    /// A request that is sent: where it does not leave, no answer comes.
    Ask,
    /// An answer, or data that follow a request.
    Sent,
    /// This process reads a peer's memory.
    Read,
    /// It writes that, or has an atomic done there.
    Write,
    /// A peer writes memory here.
    Written,
}

/// An operation.
#[derive(Debug)]
pub struct Op {
    pub kind: Kind,
    /// What its user calls it.
    pub context: *mut c_void,
    /// What its completion says of it.
    pub flags: u64,
    /// Whether it has a completion if it ends well.
    pub tells: bool,
    /// Memory that it owns.
    pub head: Vec<u8>,
    /// What a request of a peer's is received into; it lends that to itself.
    pub store: Vec<u8>,
    /// Memory that is lent to it, and what holds it if it is a region's.
    pub runs: Vec<iovec>,
    pub hold: Option<Hold>,
    /// Bytes of both.
    pub len: usize,
    /// The seal of what is sent, or has come.
    pub seal: Cell<u32>,
    /// Remote CQ data that came ahead of a message.
    pub ahead: Cell<[u8; AHEAD]>,
    /// The peer, where the engine's completion does not say it.
    pub peer: u32,
    /// Of a request: the number at the other end, or its own.
    pub number: u64,
    /// Parts that it waits for still.
    pub parts: u32,
    /// Whether its answer has come, or is known not to come.
    pub is_answered: bool,
    /// How it failed, if it did, positive.
    pub error: i32,
    /// Where the bytes begin that a completion names.
    pub at: *mut c_void,
    /// The space it is in.
    pub space: u32,
    /// The engine's request, of a receive that is under way.
    pub request: Option<ReqId>,
}

impl Default for Op {
    fn default() -> Op {
        Op {
            kind: Kind::Send,
            context: null_mut(),
            flags: 0,
            tells: false,
            head: Vec::new(),
            store: Vec::new(),
            runs: Vec::new(),
            hold: None,
            len: 0,
            seal: Cell::new(0),
            ahead: Cell::new([0; AHEAD]),
            peer: u32::MAX,
            number: 0,
            parts: 0,
            is_answered: false,
            error: 0,
            at: null_mut(),
            space: 0,
            request: None,
        }
    }
}

impl Op {
    /// Takes memory that is lent to it.
    #[inline(always)]
    pub fn lend(&mut self, iov: &[iovec]) {
        self.runs.clear();
        match iov {
            [run] => self.runs.push(*run),
            _ => self.runs.extend_from_slice(iov),
        }
        self.at = iov.first().map_or(null_mut(), |it| it.iov_base);
        self.len = self.head.len().saturating_add(total(iov));
    }

    /// Keeps a copy of memory that is lent for a call.
    ///
    /// # Safety
    /// It can be read.
    pub unsafe fn copy(&mut self, iov: &[iovec]) {
        for run in iov.iter().filter(|run| run.iov_len > 0) {
            // SAFETY: as promised.
            let bytes = unsafe { std::slice::from_raw_parts(run.iov_base.cast(), run.iov_len) };
            self.head.extend_from_slice(bytes);
        }
        self.len = self.head.len();
    }

    /// Receives into memory of its own, of that length.
    pub fn lend_own(&mut self, len: usize) {
        self.store = vec![0; len];
        let own = iovec {
            iov_base: self.store.as_mut_ptr().cast(),
            iov_len: len,
        };
        self.lend(&[own]);
    }

    /// Makes it one that was never used.
    #[inline]
    pub fn reset(&mut self) {
        self.head.clear();
        self.runs.clear();
        (self.hold, self.request) = (None, None);
        (self.kind, self.context, self.flags, self.tells) = (Kind::Send, null_mut(), 0, false);
        (self.len, self.peer, self.number, self.parts) = (0, u32::MAX, 0, 0);
        (self.error, self.at, self.space, self.is_answered) = (0, null_mut(), 0, false);
        self.seal.set(0);
    }

    /// Its remote CQ data, once it has received a message.
    #[inline]
    pub fn data(&self) -> Option<u64> {
        match self.seal.get() {
            SEAL_AHEAD => Some(u64::from_le_bytes(self.ahead.get())),
            seal => data_of(seal),
        }
    }
}

/// A message on its way out.
#[derive(Debug)]
pub enum Message {
    /// One run of the program's memory.
    Run {
        /// Its first byte.
        at: *const u8,
        /// Bytes.
        len: usize,
        /// See [`seal_of`].
        seal: u32,
    },
    /// The memory of an operation.
    Op(NonNull<Op>),
}

/// A part of a message: what is left of it from byte `from` on.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    head: &'a [u8],
    runs: &'a [iovec],
    from: usize,
    len: usize,
}

impl Part<'_> {
    /// Hands over each piece of it: where it is within the part, its first byte, and its length.
    fn pieces(&self, mut each: impl FnMut(usize, *const u8, usize)) {
        let head = (self.head.as_ptr(), self.head.len());
        let runs = self.runs.iter();
        let all = runs.map(|it| (it.iov_base.cast_const().cast(), it.iov_len));
        walk(
            std::iter::once(head).chain(all),
            self.from,
            self.len,
            |at, piece, len| {
                each(at, piece, len);
            },
        );
    }
}

/// Walks over the bytes `[from, from + len)` of memory that lies in several runs.
fn walk(
    runs: impl Iterator<Item = (*const u8, usize)>,
    from: usize,
    len: usize,
    mut each: impl FnMut(usize, *const u8, usize),
) {
    let (mut skip, mut done) = (from, 0);
    for (at, run) in runs {
        if skip >= run {
            skip -= run;
            continue;
        }
        let n = (run - skip).min(len - done);
        if n == 0 {
            break;
        }
        each(done, at.wrapping_add(skip), n);
        (skip, done) = (0, done + n);
    }
}

impl Payload for Part<'_> {
    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn contiguous(&self) -> Option<*const u8> {
        let end = self.from + self.len;
        (end <= self.head.len()).then(|| self.head.as_ptr().wrapping_add(self.from))
    }

    #[inline]
    fn write(&self, mut room: PayloadRoom<'_>) {
        self.pieces(|at, piece, len| {
            // SAFETY: memory that the program lends, or the operation owns.
            room.write(at, unsafe { std::slice::from_raw_parts(piece, len) });
        });
    }
}

impl Source for Message {
    type Part<'a> = Part<'a>;

    #[inline]
    fn len(&self) -> u64 {
        match self {
            Message::Run { len, .. } => *len as u64,
            // SAFETY: an operation stays where it is while the engine has its message.
            Message::Op(op) => unsafe { op.as_ref() }.len as u64,
        }
    }

    #[inline]
    fn part(&self, from: u64, len: usize) -> Part<'_> {
        let from = from as usize;
        match self {
            Message::Run { at, .. } => Part {
                head: match len {
                    0 => &[],
                    // SAFETY: memory that the program lends; the engine asks for bytes of it alone.
                    _ => unsafe { std::slice::from_raw_parts(at.wrapping_add(from), len) },
                },
                runs: &[],
                from: 0,
                len,
            },
            Message::Op(op) => {
                // SAFETY: as above.
                let op = unsafe { op.as_ref() };
                Part {
                    head: &op.head,
                    runs: &op.runs,
                    from,
                    len,
                }
            }
        }
    }

    fn run(&self) -> Option<Buf> {
        match self {
            Message::Run { at, len, .. } => Some(Buf::host(*at, *len)),
            Message::Op(op) => {
                // SAFETY: as above.
                let op = unsafe { op.as_ref() };
                match (&*op.head, &*op.runs) {
                    ([], [run]) => Some(Buf::host(run.iov_base.cast(), run.iov_len)),
                    (head, []) => Some(Buf::host(head.as_ptr(), head.len())),
                    _ => None,
                }
            }
        }
    }

    #[inline]
    fn seal(&self) -> u32 {
        match self {
            Message::Run { seal, .. } => *seal,
            // SAFETY: as above.
            Message::Op(op) => unsafe { op.as_ref() }.seal.get(),
        }
    }
}

/// Room for a message: the memory that is lent to an operation.
#[derive(Debug)]
pub struct Room(pub NonNull<Op>);

impl Room {
    #[inline]
    fn op(&self) -> &Op {
        // SAFETY: an operation stays where it is while the engine has its room, and is not changed.
        unsafe { self.0.as_ref() }
    }
}

impl Sink for Room {
    /// Its length, and what may come ahead. Whoever takes the completion sees whether a message
    /// that has nothing ahead was longer than the room.
    #[inline]
    fn capacity(&self) -> u64 {
        self.op().len.saturating_add(AHEAD) as u64
    }

    #[inline]
    fn place(&mut self, at: u64, bytes: PeerBytes<'_>) {
        let op = self.op();
        let (mut at, mut bytes) = (at as usize, bytes);
        if let ([run], true) = (&*op.runs, op.seal.get() != SEAL_AHEAD) {
            let n = bytes.len().min(run.iov_len.saturating_sub(at));
            let to = run.iov_base.cast::<u8>().wrapping_add(at);
            // SAFETY: room that the program lends, or the operation owns, for this alone.
            return unsafe { bytes.part(0, n).copy_to(to) };
        }
        if op.seal.get() == SEAL_AHEAD {
            if at < AHEAD {
                let mut ahead = op.ahead.get();
                let n = bytes.read(&mut ahead[at..]);
                op.ahead.set(ahead);
                bytes = bytes.part(n, usize::MAX);
                at = AHEAD;
            }
            at -= AHEAD;
        }
        let runs = op.runs.iter();
        let all = runs.map(|it| (it.iov_base.cast_const().cast(), it.iov_len));
        walk(all, at, bytes.len(), |from, to, len| {
            // SAFETY: room that the program lends, or the operation owns, for this alone.
            unsafe { bytes.part(from, len).copy_to(to.cast_mut()) };
        });
    }

    #[inline]
    fn check_seal(&self, seal: u32, _source: u32, _len: u64) {
        self.op().seal.set(seal);
    }

    fn run(&mut self) -> Option<Buf> {
        let op = self.op();
        if op.seal.get() == SEAL_AHEAD {
            return None;
        }
        match &*op.runs {
            [run] => Some(Buf::host(run.iov_base.cast(), run.iov_len)),
            _ => None,
        }
    }
}

/// Bytes that an operation keeps for the next one, at most.
const KEPT: usize = 1 << 16;

/// All operations: they stay where they are while others come and go, are used again, and go with
/// the pool.
#[derive(Debug, Default)]
pub struct Pool {
    all: Vec<NonNull<Op>>,
    free: Vec<NonNull<Op>>,
}

impl Pool {
    /// One that was never used; it is to be [given back](Pool::give).
    #[inline]
    pub fn take(&mut self) -> NonNull<Op> {
        self.free.pop().unwrap_or_else(|| {
            let op = NonNull::from(Box::leak(Box::default()));
            self.all.push(op);
            op
        })
    }

    /// Receives that are under way.
    pub fn receives(&self) -> impl Iterator<Item = NonNull<Op>> {
        // SAFETY: they stay where they are.
        let is_one = |op: &NonNull<Op>| unsafe { op.as_ref() }.request.is_some();
        self.all.iter().copied().filter(is_one)
    }

    /// Takes one back.
    ///
    /// # Safety
    /// It was [taken](Pool::take), and nobody uses it any more.
    pub unsafe fn give(&mut self, mut op: NonNull<Op>) {
        // SAFETY: as promised.
        let it = unsafe { op.as_mut() };
        it.reset();
        if it.head.capacity() > KEPT {
            it.head = Vec::new();
        }
        it.store = Vec::new();
        self.free.push(op);
    }
}

impl Drop for Pool {
    /// Frees all of them: the engine, which may have some, went before.
    fn drop(&mut self) {
        for op in self.all.drain(..) {
            // SAFETY: leaked by `take`, and nobody uses it any more.
            drop(unsafe { Box::from_raw(op.as_ptr()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_survive_the_journey() {
        for data in [0, 1, 77, u64::from(u32::MAX) - 2] {
            assert_eq!(data_of(seal_of(data)), Some(data));
        }
        for data in [u64::from(u32::MAX) - 1, u64::from(u32::MAX), u64::MAX] {
            assert_eq!(seal_of(data), SEAL_AHEAD);
        }
        assert_eq!((data_of(0), data_of(SEAL_AHEAD)), (None, None));
    }

    /// Sends a message in pieces of `step` bytes from one operation's memory into another one's.
    fn through(from: &[&[u8]], seal: u32, rooms: &mut [&mut [u8]], step: usize) -> Option<u64> {
        let mut pool = Pool::default();
        let (mut a, b) = (pool.take(), pool.take());
        let iov = |at: *const u8, len| iovec {
            iov_base: at.cast_mut().cast(),
            iov_len: len,
        };
        // SAFETY: both are ours alone.
        let (sent, room) = unsafe { (a.as_mut(), &mut *b.as_ptr()) };
        sent.head.extend_from_slice(from[0]);
        let runs: Vec<iovec> = from[1..]
            .iter()
            .map(|it| iov(it.as_ptr(), it.len()))
            .collect();
        sent.lend(&runs);
        let runs: Vec<iovec> = rooms.iter().map(|it| iov(it.as_ptr(), it.len())).collect();
        room.lend(&runs);
        let (message, mut into) = (Message::Op(a), Room(b));
        into.check_seal(seal, 0, message.len());
        let len = message.len() as usize;
        for at in (0..len).step_by(step) {
            let n = step.min(len - at);
            let part = message.part(at as u64, n);
            let mut bytes = vec![0; n];
            // SAFETY: as long as the part.
            part.write(unsafe { PayloadRoom::new(bytes.as_mut_ptr(), n) });
            into.place(at as u64, PeerBytes::from(&*bytes));
        }
        // SAFETY: neither message nor room is used any more.
        unsafe {
            let data = b.as_ref().data();
            pool.give(a);
            pool.give(b);
            data
        }
    }

    #[test]
    fn messages_cross_runs() {
        for step in 1..12 {
            let (mut one, mut two) = ([0; 3], [0; 6]);
            let data = through(
                &[b"ab", b"cde", b"", b"fgh"],
                8,
                &mut [&mut one, &mut two],
                step,
            );
            assert_eq!((data, &one, &two), (Some(7), b"abc", b"defgh\0"));
        }
    }

    #[test]
    fn what_is_ahead_is_no_part_of_the_message() {
        let data = u64::MAX - 5;
        for step in 1..20 {
            let mut room = [0; 4];
            let head = data.to_le_bytes();
            let came = through(&[&head, b"hello"], SEAL_AHEAD, &mut [&mut room], step);
            assert_eq!((came, &room), (Some(data), b"hell"), "{step}");
        }
    }
}
