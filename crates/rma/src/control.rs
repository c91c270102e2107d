//! What the members of a window on one node share besides its memory: locks, and how far they are in
//! their epochs.
//!
//! | part                        | bytes                         | who writes it                     |
//! |-----------------------------|-------------------------------|-----------------------------------|
//! | [`TargetBlock`], per target | 128                           | see the locks                     |
//! | [`Pair`], per target and origin | 64                        | see there                         |
//! | [`RegionTable`], per target of a dynamic window | 28 KiB    | the target                        |
//!
//! It lies in the heap of the lowest member. Others may write it at any time, so there are only
//! atomics in it, and what is read is checked.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release, fence,
};

use crate::heap::{self, Card, Mapping};
use catena_base::ElementLock;
use catena_base::TicketLock;

/// What belongs to a target.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct TargetBlock {
    /// Under which its elements are accumulated.
    pub elements: ElementLock,
    _apart: [u32; 15],
    /// That of `MPI_Win_lock`.
    pub lock: TicketLock,
}

/// What belongs to a target and an origin. Counters wrap around.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Pair {
    /// 1 while the origin waits for the target's lock. Written by the origin.
    pub waits: AtomicU32,
    /// How the origin holds the target's lock: 0 not, 1 shared, 2 exclusively. Written by the origin.
    pub holds: AtomicU32,
    /// `MPI_Win_post` of the target that named the origin. Written by the target.
    pub posted: AtomicU32,
    /// `MPI_Win_complete` of the origin that named the target. Written by the origin.
    pub completed: AtomicU32,
}

/// Memory that is attached to a dynamic window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its address where it is attached.
    pub addr: u64,
    /// Its bytes.
    pub len: u64,
    /// How others map it, if they can.
    pub card: Card,
}

/// How many regions a process can attach to a window at once.
pub const REGIONS: usize = 512;

const WORDS: usize = 2 + Card::WORDS;

/// What a target has attached. Readers go by `version`: it is odd while the table changes.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct RegionTable {
    version: AtomicU64,
    count: AtomicU64,
    entries: [[AtomicU64; WORDS]; REGIONS],
}

const _: () = assert!(size_of::<TargetBlock>() == 128 && size_of::<Pair>() == 64);

impl RegionTable {
    /// Replaces what is attached; only the target does.
    pub fn publish(&self, regions: &[Region]) {
        self.version.fetch_add(1, Acquire);
        // The entries are not seen before the version is odd.
        fence(Release);
        for (entry, region) in self.entries.iter().zip(regions) {
            let [pid, fd, stamp, len, at] = region.card.words();
            let words = [region.addr, region.len, pid, fd, stamp, len, at];
            for (to, word) in entry.iter().zip(words) {
                to.store(word, Relaxed);
            }
        }
        let count = regions.len().min(REGIONS) as u64;
        self.count.store(count, Relaxed);
        self.version.fetch_add(1, Release);
    }

    /// What is attached at `[from, to)`, or `None` if not all of it is. Regions that touch count as
    /// one, which has no card: others map each by itself.
    pub fn find(&self, from: u64, to: u64) -> Option<Region> {
        loop {
            let version = self.version.load(Acquire);
            let found = self.cover(from, to);
            fence(Acquire);
            if version.is_multiple_of(2) && self.version.load(Relaxed) == version {
                return found;
            }
            std::hint::spin_loop();
        }
    }

    /// What [`RegionTable::find`] says, if the table does not change meanwhile.
    fn cover(&self, from: u64, to: u64) -> Option<Region> {
        let count = (self.count.load(Relaxed) as usize).min(REGIONS);
        let holds = |at: u64| {
            self.entries[..count].iter().find_map(|entry| {
                let word = |i: usize| entry[i].load(Relaxed);
                let (addr, len) = (word(0), word(1));
                (at.checked_sub(addr)? < len || at == to && at == addr).then(|| Region {
                    addr,
                    len,
                    card: Card::from_words([word(2), word(3), word(4), word(5), word(6)]),
                })
            })
        };
        let mut all = holds(from)?;
        let mut left = count;
        while all.addr.checked_add(all.len)? < to {
            left = left.checked_sub(1)?;
            let next = holds(all.addr + all.len)?;
            all.len = (next.addr - all.addr).checked_add(next.len)?;
            all.card = Card::NONE;
        }
        Some(all)
    }
}

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
    is_dynamic: bool,
    memory: Memory,
}

/// Bytes of the shared part.
pub fn bytes(members: usize, is_dynamic: bool) -> usize {
    let pairs = members * size_of::<Pair>();
    let regions = if is_dynamic {
        size_of::<RegionTable>()
    } else {
        0
    };
    members * (size_of::<TargetBlock>() + pairs + regions)
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
            is_dynamic,
            memory: Memory::Mapped { _mapping: mapping },
        })
    }

    /// What belongs to a target, by its number on the node.
    #[inline]
    pub fn target(&self, target: u32) -> &TargetBlock {
        debug_assert!((target as usize) < self.members);
        let at = target as usize * size_of::<TargetBlock>();
        // SAFETY: inside the memory, aligned; it consists of atomics.
        unsafe { &*self.base.add(at).cast() }
    }

    /// What belongs to a target and an origin.
    #[inline]
    pub fn pair(&self, target: u32, origin: u32) -> &Pair {
        debug_assert!((target as usize) < self.members && (origin as usize) < self.members);
        let blocks = self.members * size_of::<TargetBlock>();
        let at = (target as usize * self.members + origin as usize) * size_of::<Pair>();
        // SAFETY: as above.
        unsafe { &*self.base.add(blocks + at).cast() }
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
        let region = |t: u32| Region {
            addr: 1000 * u64::from(t),
            len: 100,
            card: Card::NONE,
        };
        for t in 0..3 {
            for o in 0..3 {
                mine.pair(t, o).posted.store(10 * t + o + 1, Release);
            }
            mine.regions(t).publish(&[region(t)]);
        }
        for t in 0..3 {
            let region = region(t);
            for o in 0..3 {
                assert_eq!(theirs.pair(t, o).posted.load(Acquire), 10 * t + o + 1);
            }
            assert!(theirs.target(t).lock.is_free());
            let base = 1000 * u64::from(t);
            let found = theirs.regions(t).find(base + 10, base + 100);
            assert_eq!(found.map(|r| r.addr), Some(base));
            assert_eq!(theirs.regions(t).find(base + 10, base + 101), None);
            let touching = Region {
                addr: base + 100,
                len: 50,
                card: Card::NONE,
            };
            mine.regions(t).publish(&[touching, region]);
            let both = theirs.regions(t).find(base + 10, base + 150);
            assert_eq!(both.map(|r| (r.addr, r.len)), Some((base, 150)));
            assert_eq!(theirs.regions(t).find(base + 10, base + 151), None);
            mine.regions(t).publish(&[]);
            assert_eq!(theirs.regions(t).find(base + 10, base + 20), None);
        }
    }
}
