//! What the members of a window on one node share besides its memory: locks, and how far they are
//! in their epochs.
//!
//! | part                        | bytes                         | who writes it                     |
//! |-----------------------------|-------------------------------|-----------------------------------|
//! | [`WindowBarrier`]                 | 128                           | all, see `meeting`                |
//! | [`TargetBlock`], per target | 128                           | see the locks                     |
//! | a row per member: [`Row`], and a [`Pair`] for each member | 24, and 12 each; whole lines | the member |
//! | [`RegionTable`], per target of a dynamic window | 64        | the target                        |
//!
//! It lies in the heap of the lowest member. Others may write it at any time, so there are only
//! atomics in it, and what is read is checked.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicU16, AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use crate::heap::{self, Card, Mapping};
use crate::regions::RegionTable;
use catena_base::{ClassLock, ElementLock, TicketLock};

/// What belongs to a target.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct TargetBlock {
    /// Under which its elements are accumulated.
    pub elements: ElementLock,
    /// Where its counters of notifications are. Written by the target.
    pub counters: CounterCard,
    _apart: [u64; 1],
    /// That of `MPI_Win_lock`.
    pub lock: TicketLock,
    /// The member, and 1, whose death has left the lock, or a place in its queue, taken for ever.
    /// Written by whoever gives up for that.
    pub lost: AtomicU32,
}

/// Where counters of notifications are. Zeroed memory is that of a target without any. It changes
/// while all members meet.
#[derive(Debug)]
#[repr(C)]
pub struct CounterCard {
    count: AtomicU64,
    card: [AtomicU64; Card::WORDS],
}

impl CounterCard {
    /// How many there are, and where.
    pub fn read(&self) -> (u32, Card) {
        let count = u32::try_from(self.count.load(Acquire)).unwrap_or(u32::MAX);
        let word = |i: usize| self.card[i].load(Relaxed);
        (count, Card::from_words(std::array::from_fn(word)))
    }

    /// Tells of them.
    pub fn write(&self, count: u32, card: Card) {
        for (to, word) in self.card.iter().zip(card.words()) {
            to.store(word, Relaxed);
        }
        self.count.store(count.into(), Release);
    }
}

/// What two processors do not write at the same time.
const LINE: usize = 64;

/// What a member tells all others. Only the member writes it.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Row {
    /// How many of its threads wait at the gate, or of those elsewhere for which it keeps the gate.
    pub gate_waits: AtomicU32,
    /// How often it is inside of the gate, or about to be.
    pub in_gate: AtomicU32,
    /// 1 while origins elsewhere wait for its lock.
    pub proxy_waits: AtomicU32,
    /// 1 if some of them hold its lock or are in its queue.
    pub proxy_holds: AtomicU32,
    /// The number of the last meeting that the member has come to, and of the one before, and
    /// whether with an error: 1, in the lowest bit. That of a number lies at its lowest bit. See
    /// `meeting`.
    pub came: [AtomicU32; 2],
}

/// What a member tells another one. Only the member writes it. Counters wrap around.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Pair {
    /// The tag of the ticket with which the member waits for the other one's lock; 0 if it does
    /// not.
    pub waits: AtomicU16,
    /// Whether the member holds the other one's lock, or is in its queue: 1, else 0. Written before
    /// it draws a ticket and after it has left, so that the others know what died with it.
    pub holds: AtomicU16,
    /// How often `MPI_Win_post` has named the other one as an origin.
    pub posted: AtomicU32,
    /// How often `MPI_Win_complete` has named it as a target.
    pub completed: AtomicU32,
}

/// How all members of a window come together; see `meeting`.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct WindowBarrier {
    /// Members that have come to the one under way.
    pub arrived: AtomicU32,
    /// Meetings that are over.
    pub over: AtomicU32,
    /// Members that came to the one under way with an error.
    pub failures: AtomicU32,
    /// What `failures` was when the last one was over.
    pub outcome: AtomicU32,
    /// Members that will not look at this memory again.
    pub left: AtomicU32,
    /// The member, and 1, whose death has left the gate closed for ever. Written by whoever gives
    /// up for that.
    pub gate_lost: AtomicU32,
    _apart: [u32; 10],
    /// Keeps those who lock all apart from those who lock exclusively; see `passive_target`.
    pub gate: ClassLock,
}

const _: () = assert!(
    size_of::<WindowBarrier>() == 128 && size_of::<TargetBlock>() == 128 && size_of::<Pair>() == 12
);

/// Where it lies.
#[derive(Debug)]
enum Memory {
    /// In the heap of this process, which gives it back.
    Own,
    /// In that of another one.
    Mapped { _mapping: Arc<Mapping> },
}

/// The shared part of a window, as one member has it.
#[derive(Debug)]
pub struct Control {
    base: *mut u8,
    /// Members on the node.
    members: usize,
    /// Bytes of a row.
    row: usize,
    is_dynamic: bool,
    memory: Memory,
}

/// Bytes of the shared part.
pub fn bytes(members: usize, is_dynamic: bool) -> usize {
    let regions = if is_dynamic {
        size_of::<RegionTable>()
    } else {
        0
    };
    size_of::<WindowBarrier>() + members * (size_of::<TargetBlock>() + regions + row_bytes(members))
}

/// Bytes of a row. Two members write no line of each other.
const fn row_bytes(members: usize) -> usize {
    (size_of::<Row>() + members * size_of::<Pair>()).next_multiple_of(LINE)
}

impl Control {
    /// Makes it; the others find it by the card.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn make(members: usize, is_dynamic: bool) -> std::io::Result<(Control, Card)> {
        let len = bytes(members, is_dynamic);
        let base = heap::take(len, align_of::<TargetBlock>())?;
        // SAFETY: ours, of this length; others see it when they have the card.
        unsafe { base.write_bytes(0, len) };
        let card = heap::card(base, len).expect("a piece of the heap");
        let control = Control {
            base,
            members,
            row: row_bytes(members),
            is_dynamic,
            memory: Memory::Own,
        };
        Ok((control, card))
    }

    /// Finds that of another member.
    ///
    /// # Errors
    /// If its memory cannot be mapped.
    pub fn open(card: Card, members: usize, is_dynamic: bool) -> std::io::Result<Control> {
        let mapping = heap::map_peer(card)?;
        let base = mapping.at(card, bytes(members, is_dynamic))?;
        if !base.addr().is_multiple_of(64) {
            return Err(std::io::Error::other("it is not aligned"));
        }
        Ok(Control {
            base,
            members,
            row: row_bytes(members),
            is_dynamic,
            memory: Memory::Mapped { _mapping: mapping },
        })
    }

    /// How all members come together.
    #[inline]
    pub fn meeting(&self) -> &WindowBarrier {
        // SAFETY: the memory begins with it; it consists of atomics.
        unsafe { &*self.base.cast() }
    }

    /// Whether this process gives the memory back.
    pub fn is_own(&self) -> bool {
        matches!(self.memory, Memory::Own)
    }

    /// What belongs to a target, by its number on the node.
    #[inline]
    pub fn target(&self, target: u32) -> &TargetBlock {
        debug_assert!((target as usize) < self.members);
        let at = size_of::<WindowBarrier>() + target as usize * size_of::<TargetBlock>();
        // SAFETY: inside the memory, aligned; it consists of atomics.
        unsafe { &*self.base.add(at).cast() }
    }

    /// Where the row of a member begins.
    #[inline]
    fn row_at(&self, member: u32) -> *mut u8 {
        debug_assert!((member as usize) < self.members);
        let blocks = size_of::<WindowBarrier>() + self.members * size_of::<TargetBlock>();
        // SAFETY: inside the memory.
        unsafe { self.base.add(blocks + member as usize * self.row) }
    }

    /// What a member tells all others.
    #[inline]
    pub fn row(&self, member: u32) -> &Row {
        // SAFETY: inside the memory, aligned; it consists of atomics.
        unsafe { &*self.row_at(member).cast() }
    }

    /// What a member tells another one.
    #[inline]
    pub fn pair(&self, member: u32, other: u32) -> &Pair {
        debug_assert!((other as usize) < self.members);
        let at = size_of::<Row>() + other as usize * size_of::<Pair>();
        // SAFETY: as above.
        unsafe { &*self.row_at(member).add(at).cast() }
    }

    /// What a target has attached to a dynamic window.
    pub fn regions(&self, target: u32) -> &RegionTable {
        assert!(self.is_dynamic && (target as usize) < self.members);
        let before = bytes(self.members, false);
        let at = target as usize * size_of::<RegionTable>();
        // SAFETY: as above.
        unsafe { &*self.base.add(before + at).cast() }
    }

    /// Members on the node.
    pub fn members(&self) -> u32 {
        self.members as u32
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if matches!(self.memory, Memory::Own) {
            heap::give(self.base);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_apart_and_others_see_them() {
        let (mine, card) = Control::make(3, true).expect("memory");
        let theirs = Control::open(card, 3, true).expect("mapped");
        mine.meeting().over.store(77, Release);
        for t in 0..3 {
            for o in 0..3 {
                mine.pair(t, o).posted.store(10 * t + o + 1, Release);
            }
            mine.row(t).in_gate.store(100 + t, Release);
        }
        for t in 0..3 {
            for o in 0..3 {
                assert_eq!(theirs.pair(t, o).posted.load(Acquire), 10 * t + o + 1);
            }
            assert_eq!(theirs.row(t).in_gate.load(Acquire), 100 + t);
            assert!(theirs.target(t).lock.is_free());
            assert_eq!(theirs.regions(t).find(&heap::Recent::default(), 0, 1), None);
        }
        assert_eq!(theirs.meeting().over.load(Acquire), 77);
        assert!(mine.is_own() && !theirs.is_own());
    }
}
