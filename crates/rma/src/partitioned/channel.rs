//! Memory that the two ends of a partitioned message on one node share: in the sender's heap,
//! mapped by the receiver.
//!
//! | part            | bytes    | who writes it | what                                                        |
//! |-----------------|----------|---------------|-------------------------------------------------------------|
//! | [`FromReceiver`] | 64      | receiver      | how many rounds it has started, and has taken; that it is gone |
//! | [`FromSender`]  | 64       | sender        | which way the partitions go; which round fails              |
//! | slots           | see [`Shape`] | sender   | a number for each chunk: the round of which it is there; of more chunks than [`FEW`] a log, in which order they came; and room for the bytes |
//!
//! Rounds count from 1 and wrap around. The slots are used in turn, so that a sender can be some
//! rounds ahead of the receiver. What is read here the other end has written: numbers are compared,
//! never followed.

use std::io;
use std::sync::atomic::{
    AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::heap::{self, Card, Mapping, Recent};

/// Most bytes of a message that is copied twice, through the channel: while the receiver takes one
/// chunk out of it, the sender puts the next one in. Up to here that takes less than one copy by
/// the kernel.
pub const STAGED: u64 = 4 << 20;
/// Bytes of all slots with room, if there are several.
const ROOMS: usize = 256 << 10;
/// Most slots.
const SLOTS: usize = 8;
/// Most bytes that are copied before the receiver is told.
const CHUNK: u64 = 16 << 10;
/// Most chunks that the receiver looks at one by one; of more the sender keeps a log.
pub const FEW: usize = 32;

/// Where the partitions go. The sender says it once it knows what the receiver has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum DataPath {
    /// Into the channel, out of which the receiver takes them.
    Staged = 1,
    /// Straight into the receiver's buffer.
    Straight = 2,
    /// Each is a message.
    Messages = 3,
}

/// What the receiver says.
#[derive(Debug, Default)]
#[repr(C, align(64))]
struct FromReceiver {
    started: AtomicU32,
    taken: AtomicU32,
    gone: AtomicU32,
}

/// What the sender says.
#[derive(Debug, Default)]
#[repr(C, align(64))]
struct FromSender {
    way: AtomicU32,
    /// The round that did not come, while it is the receiver's.
    failed: AtomicU32,
}

const FRONT: usize = size_of::<FromReceiver>() + size_of::<FromSender>();

/// How a message is cut, as both ends compute it from what the sender has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Partitions of the sender.
    pub partitions: u32,
    /// Bytes of each.
    pub bytes: u64,
    /// Bytes of a chunk, but for the last one of a partition.
    pub chunk: u64,
    /// Whether the channel has room for the bytes.
    pub has_room: bool,
    /// Chunks of a partition.
    each: usize,
}

impl Shape {
    /// That of a message of so many partitions of so many bytes.
    pub fn new(partitions: u32, bytes: u64) -> Shape {
        let total = bytes.saturating_mul(partitions.into());
        let has_room = total <= STAGED;
        let whole = bytes.max(1);
        let chunk = if has_room { whole.min(CHUNK) } else { whole };
        Shape {
            partitions,
            bytes,
            chunk,
            has_room,
            each: bytes.div_ceil(chunk).max(1) as usize,
        }
    }

    /// How many chunks there are.
    pub fn chunks(&self) -> usize {
        self.partitions as usize * self.each
    }

    /// The first chunk of a partition.
    #[inline]
    pub fn first_chunk(&self, partition: usize) -> usize {
        partition * self.each
    }

    /// Where the bytes of a chunk begin, and how many they are.
    #[inline]
    pub fn chunk_range(&self, chunk: usize) -> (u64, usize) {
        // A division takes longer than the copy of a short partition.
        let (partition, at) = match self.each {
            1 => (chunk, 0),
            each => (chunk / each, chunk % each),
        };
        let before = at as u64 * self.chunk;
        let len = (self.bytes - before).min(self.chunk);
        (self.start(partition) + before, len as usize)
    }

    /// The chunk that a byte belongs to.
    fn chunk_of(&self, byte: u64) -> usize {
        let (partition, at) = (byte / self.bytes, byte % self.bytes);
        self.first_chunk(partition as usize) + (at / self.chunk) as usize
    }

    /// The chunks that have the bytes from one to another; all, if no bytes tell them apart.
    pub fn chunks_of(&self, from: u64, end: u64) -> std::ops::Range<usize> {
        match self.total() {
            0 => 0..self.chunks(),
            total if from >= total.min(end) => 0..0,
            total => self.chunk_of(from)..self.chunk_of(end.min(total) - 1) + 1,
        }
    }

    /// Bytes of all.
    pub fn total(&self) -> u64 {
        self.bytes.saturating_mul(self.partitions.into())
    }

    /// Where the bytes of a partition begin.
    #[inline]
    pub fn start(&self, partition: usize) -> u64 {
        partition as u64 * self.bytes
    }

    /// Whether the sender keeps a log of the chunks.
    #[inline]
    pub fn has_log(&self) -> bool {
        self.chunks() > FEW
    }

    /// Bytes of the numbers at the front of a slot.
    fn numbers(&self) -> usize {
        (self.chunks() * size_of::<AtomicU32>()).next_multiple_of(8)
    }

    /// Bytes of the log behind them.
    fn log(&self) -> usize {
        match self.has_log() {
            true => self.chunks() * size_of::<AtomicU64>(),
            false => 0,
        }
    }

    /// Bytes of a slot.
    fn slot(&self) -> usize {
        let room = if self.has_room {
            self.total() as usize
        } else {
            0
        };
        (self.numbers() + self.log() + room).next_multiple_of(64)
    }

    /// How many slots there are: a power of two.
    pub fn slots(&self) -> u32 {
        1 << (ROOMS / self.slot()).clamp(1, SLOTS).ilog2()
    }

    fn channel(&self) -> usize {
        FRONT + self.slots() as usize * self.slot()
    }
}

/// Whose memory it is.
#[derive(Debug)]
enum Memory {
    Sender,
    Receiver { _mapping: Arc<Mapping> },
}

/// The neighbours' memory in which the last channels lay: it stays mapped for the next ones, as of
/// requests that are made, used and freed in a row.
static RECENT: LazyLock<Mutex<Recent>> = LazyLock::new(Mutex::default);

/// One end of the channel.
#[derive(Debug)]
pub struct Channel {
    base: *mut u8,
    shape: Shape,
    /// Where in a slot the log begins.
    log: usize,
    /// Where in a slot the room begins.
    room: usize,
    slot: usize,
    slots: u32,
    memory: Memory,
}

// SAFETY: what it points to is reached by atomics, and by copies that the protocol keeps apart.
unsafe impl Send for Channel {}
// SAFETY: as above.
unsafe impl Sync for Channel {}

impl Channel {
    fn at(base: *mut u8, shape: Shape, memory: Memory) -> Channel {
        Channel {
            base,
            shape,
            log: shape.numbers(),
            room: shape.numbers() + shape.log(),
            slot: shape.slot(),
            slots: shape.slots(),
            memory,
        }
    }

    /// Makes the sender's end, and how the receiver finds it.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn make(shape: Shape) -> io::Result<(Channel, Card)> {
        let len = shape.channel();
        let base = match lingering::take(len) {
            Some(base) => base,
            None => heap::take(len, align_of::<FromReceiver>())?,
        };
        let channel = Channel::at(base, shape, Memory::Sender);
        // SAFETY: ours, of this length; the other end sees it when it has the card. What is in the
        // room is read by nobody before the sender has written it.
        unsafe {
            base.write_bytes(0, FRONT);
            for slot in 0..channel.slots {
                channel.slot(slot).write_bytes(0, channel.room);
            }
        }
        let card = heap::card(base, len).expect("a piece of the heap");
        Ok((channel, card))
    }

    /// Finds that of a sender.
    ///
    /// # Errors
    /// If it cannot be mapped.
    pub fn open(card: Card, shape: Shape) -> io::Result<Channel> {
        let recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        let mapping = recent.map(card)?;
        let base = mapping.at(card, shape.channel())?;
        if !base.addr().is_multiple_of(align_of::<FromReceiver>()) {
            return Err(io::Error::other("it is not aligned"));
        }
        let memory = Memory::Receiver { _mapping: mapping };
        Ok(Channel::at(base, shape, memory))
    }

    /// How its message is cut.
    #[inline]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    #[inline]
    fn of_receiver(&self) -> &FromReceiver {
        // SAFETY: the memory begins with it; it consists of atomics.
        unsafe { &*self.base.cast() }
    }

    #[inline]
    fn of_sender(&self) -> &FromSender {
        // SAFETY: it follows the other one; it consists of atomics.
        unsafe { &*self.base.add(size_of::<FromReceiver>()).cast() }
    }

    #[inline]
    fn slot(&self, round: u32) -> *mut u8 {
        let at = (round & (self.slots - 1)) as usize * self.slot;
        // SAFETY: inside of the memory.
        unsafe { self.base.add(FRONT + at) }
    }

    /// The number of a chunk.
    #[inline]
    fn number(&self, round: u32, chunk: usize) -> &AtomicU32 {
        debug_assert!(chunk < self.shape.chunks());
        // SAFETY: inside of the slot, aligned.
        unsafe { &*self.slot(round).cast::<AtomicU32>().add(chunk) }
    }

    /// The room for the bytes of a round, if the channel has room.
    #[inline]
    pub fn room(&self, round: u32) -> *mut u8 {
        debug_assert!(self.shape.has_room);
        // SAFETY: inside of the slot.
        unsafe { self.slot(round).add(self.room) }
    }

    /// Asks for the front of the next slot, to which the receiver will not look before it has taken
    /// this round.
    #[inline]
    pub fn claim_next(&self, round: u32) {
        if self.slots > 1 {
            catena_base::copy::claim(self.slot(round.wrapping_add(1)));
        }
    }

    /// Says that a chunk of a round is there. The sender's.
    #[inline]
    pub fn announce(&self, round: u32, chunk: usize) {
        // Pairs with the load in `is_there`.
        self.number(round, chunk).store(round, Release);
    }

    /// Whether a chunk of a round is there.
    #[inline]
    pub fn is_there(&self, round: u32, chunk: usize) -> bool {
        self.number(round, chunk).load(Acquire) == round
    }

    /// An entry of the log of a round.
    #[inline]
    fn entry(&self, round: u32, at: usize) -> &AtomicU64 {
        debug_assert!(self.shape.has_log() && at < self.shape.chunks());
        // SAFETY: inside of the slot, aligned: as many entries as chunks.
        unsafe { &*self.slot(round).add(self.log).cast::<AtomicU64>().add(at) }
    }

    /// Writes into the log that a chunk, which is there, is one more. The sender's.
    #[inline]
    pub fn log(&self, round: u32, at: usize, chunk: usize) {
        let word = u64::from(round) << 32 | chunk as u64;
        // Pairs with the load in `logged`.
        self.entry(round, at).store(word, Release);
    }

    /// The chunk that the log of a round has at that place, if it has one yet.
    #[inline]
    pub fn logged(&self, round: u32, at: usize) -> Option<usize> {
        let word = self.entry(round, at).load(Acquire);
        let chunk = word as u32 as usize;
        ((word >> 32) as u32 == round && chunk < self.shape.chunks()).then_some(chunk)
    }

    /// The sender says which way the partitions go.
    pub fn choose(&self, way: DataPath) {
        self.of_sender().way.store(way as u32, Release);
    }

    /// Which way they go, once the sender has said it.
    pub fn way(&self) -> Option<DataPath> {
        let said = self.of_sender().way.load(Acquire);
        let ways = [DataPath::Staged, DataPath::Straight, DataPath::Messages];
        ways.into_iter().find(|&way| way as u32 == said)
    }

    /// Something of a round does not come. The sender's.
    #[cold]
    pub fn fail(&self, round: u32) {
        self.of_sender().failed.store(round, Release);
    }

    /// Whether something of a round does not.
    pub fn has_failed(&self, round: u32) -> bool {
        self.of_sender().failed.load(Relaxed) == round
    }

    /// The receiver has started a round: its buffer may be written.
    #[inline]
    pub fn start(&self, round: u32) {
        self.of_receiver().started.store(round, Release);
    }

    /// The receiver needs nothing of a round any more.
    #[inline]
    pub fn take(&self, round: u32) {
        self.of_receiver().taken.store(round, Release);
    }

    /// The last round that the sender may write, by what the receiver has said so far.
    #[inline]
    pub fn open_until(&self, way: DataPath) -> u32 {
        let receiver = self.of_receiver();
        match way {
            DataPath::Straight => receiver.started.load(Acquire),
            _ => receiver.taken.load(Acquire).wrapping_add(self.slots),
        }
    }

    /// The receiver will not look at it again.
    fn part(&self) {
        self.of_receiver().gone.store(1, Release);
    }

    /// Gives the sender's memory back although no receiver knows of it.
    pub fn retract(self) {
        self.of_receiver().gone.store(1, Relaxed);
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        match self.memory {
            Memory::Sender => lingering::give(self.base, self.shape.channel()),
            Memory::Receiver { .. } => self.part(),
        }
    }
}

/// Memory of channels that their senders have given up.
mod lingering {
    use super::FromReceiver;
    use crate::heap;
    use std::collections::VecDeque;
    use std::sync::atomic::Ordering::Acquire;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// Bytes that may lie idle, for channels that are as long.
    const MOST: usize = 1 << 20;
    /// Pieces that are looked at whenever one more comes.
    const LOOKS: usize = 4;

    /// Addresses and lengths.
    #[derive(Debug)]
    struct Lingering {
        /// Those whose receivers may still look at them, in turn.
        seen: VecDeque<(usize, usize)>,
        /// Those that nobody looks at, the last one last.
        idle: VecDeque<(usize, usize)>,
        bytes: usize,
    }

    static ALL: Mutex<Lingering> = Mutex::new(Lingering {
        seen: VecDeque::new(),
        idle: VecDeque::new(),
        bytes: 0,
    });

    fn all() -> MutexGuard<'static, Lingering> {
        ALL.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an idle piece of that length. What is in it is what the last channel left.
    pub fn take(len: usize) -> Option<*mut u8> {
        let mut all = all();
        let at = all.idle.iter().rposition(|it| it.1 == len)?;
        let (base, _) = all.idle.remove(at)?;
        all.bytes -= len;
        Some(std::ptr::with_exposed_provenance_mut(base))
    }

    /// Gives a piece up; it is idle as soon as its receiver has parted. So are some others whose
    /// receivers have. Of those that are idle the heap gets the oldest ones, beyond [`MOST`] bytes.
    pub fn give(base: *mut u8, len: usize) {
        let mut all = all();
        all.seen.push_front((base.expose_provenance(), len));
        for _ in 0..LOOKS.min(all.seen.len()) {
            let Some((at, len)) = all.seen.pop_front() else {
                break;
            };
            let base = std::ptr::with_exposed_provenance_mut::<u8>(at);
            // SAFETY: a piece of the heap that begins with this.
            let has_parted = unsafe { (*base.cast::<FromReceiver>()).gone.load(Acquire) } != 0;
            if has_parted {
                all.idle.push_back((at, len));
                all.bytes += len;
            } else {
                all.seen.push_back((at, len));
            }
        }
        while all.bytes > MOST
            && let Some((at, len)) = all.idle.pop_front()
        {
            all.bytes -= len;
            heap::give(std::ptr::with_exposed_provenance_mut(at));
        }
    }

    /// How many receivers may still look at.
    #[cfg(test)]
    pub fn len() -> usize {
        all().seen.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_belongs_to_one_batch() {
        for (partitions, bytes) in [
            (8, 1),
            (8, 8192),
            (8, 100_000),
            (1000, 3),
            (64, 0),
            (7, 1 << 20),
            (1, 5),
        ] {
            let shape = Shape::new(partitions, bytes);
            assert!(shape.slots() >= 1);
            let mut next = 0;
            for chunk in 0..shape.chunks() {
                let (from, len) = shape.chunk_range(chunk);
                assert_eq!(from, next, "{shape:?}");
                assert!(len != 0 || shape.total() == 0);
                next += len as u64;
                if len != 0 {
                    assert_eq!(shape.chunks_of(from, next), chunk..chunk + 1);
                    assert_eq!(
                        shape.chunks_of(from + len as u64 - 1, next),
                        chunk..chunk + 1
                    );
                }
            }
            assert_eq!(next, shape.total(), "{shape:?}");
            assert_eq!(shape.chunks_of(0, next + 1), 0..shape.chunks());
            for partition in 0..partitions as usize {
                let first = shape.first_chunk(partition);
                assert_eq!(shape.chunk_range(first).0, shape.start(partition));
            }
        }
        assert_eq!(Shape::new(8, 1).chunks(), 8, "each leaves by itself");
        assert_eq!(Shape::new(8, 8 << 10).chunks(), 8);
        assert_eq!(Shape::new(8, 100 << 10).chunks(), 8 * 7);
        assert!(!Shape::new(8, 1 << 20).has_room);
        assert_eq!(Shape::new(8, 1 << 20).chunks(), 8);
    }

    #[test]
    fn both_ends_see_the_same_and_memory_stays_until_the_receiver_has_parted() {
        let shape = Shape::new(8, 100);
        let (sender, card) = Channel::make(shape).expect("memory");
        let receiver = Channel::open(card, shape).expect("mapped");
        assert_eq!(receiver.way(), None);
        sender.choose(DataPath::Staged);
        assert_eq!(receiver.way(), Some(DataPath::Staged));
        let slots = shape.slots();
        assert_eq!(sender.open_until(DataPath::Staged), slots);
        assert_eq!(sender.open_until(DataPath::Straight), 0);
        receiver.start(1);
        receiver.take(1);
        assert_eq!(sender.open_until(DataPath::Staged), slots + 1);
        assert_eq!(sender.open_until(DataPath::Straight), 1);
        let many = Shape::new(1000, 3);
        assert!(!shape.has_log() && many.has_log());
        let (ours, _) = Channel::make(many).expect("memory");
        for round in 1..2 * many.slots() {
            assert_eq!(ours.logged(round, 0), None);
            ours.log(round, 0, 999);
            assert_eq!(ours.logged(round, 0), Some(999));
            assert_eq!(ours.logged(round, 1), None);
            ours.log(round, 0, 1000);
            assert_eq!(ours.logged(round, 0), None, "there is no such chunk");
        }
        ours.retract();
        for round in 1..2 * slots {
            assert!(!receiver.is_there(round, 0));
            // SAFETY: room for the message.
            unsafe { sender.room(round).add(799).write(round as u8) };
            sender.announce(round, 0);
            assert!(receiver.is_there(round, 0));
            // SAFETY: as above.
            assert_eq!(unsafe { receiver.room(round).add(799).read() }, round as u8);
        }
        let before = lingering::len();
        drop(sender);
        assert_eq!(lingering::len(), before + 1);
        drop(receiver);
        let (other, _) = Channel::make(shape).expect("memory");
        other.retract();
        assert_eq!(lingering::len(), before);
    }
}
