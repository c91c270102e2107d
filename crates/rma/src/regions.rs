//! What is attached to a dynamic window, as its owner tells the others.
//!
//! | field     | who writes it | rule                                                      |
//! |-----------|---------------|-----------------------------------------------------------|
//! | `version` | the owner     | odd while the rest changes; what was read under it counts |
//! | the rest  | the owner     | between two changes of `version`                          |
//!
//! The entries lie in a piece of the owner's heap ([`Entries`]): in blocks of [`ENTRIES`], each in
//! the order of its addresses, behind a list of the blocks in that order. So a change writes few
//! words, however much is attached. A reader that is late reads what is no table any more, and sees
//! by the version that it must not use it.

use std::io;
use std::sync::atomic::{
    AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release, fence,
};

use crate::heap::{self, Card, Recent};

/// Memory that is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its address where it is attached.
    pub addr: u64,
    /// Its bytes.
    pub len: u64,
    /// How others map it, if they can.
    pub card: Card,
}

/// Words of a region.
const WORDS: usize = 2 + Card::WORDS;
/// Words of a block in the list: its first address, and its number and how many regions it has.
const LISTED: usize = 2;
/// Regions that a block has room for.
pub(crate) const ENTRIES: usize = if cfg!(test) { 4 } else { 64 };

/// Where the table of an owner is. Zeroed memory is that of an owner without regions.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct RegionTable {
    version: AtomicU64,
    /// Blocks that are listed.
    blocks: AtomicU64,
    /// Blocks that there is room for.
    room: AtomicU64,
    card: [AtomicU64; Card::WORDS],
}

const _: () = assert!(size_of::<RegionTable>() == 64);

/// The memory of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entries {
    base: *mut u8,
    room: usize,
}

impl Entries {
    /// Takes memory for as many blocks.
    ///
    /// # Errors
    /// If there is none.
    pub fn take(room: usize) -> io::Result<Entries> {
        let base = heap::take(Entries::bytes(room).unwrap_or(usize::MAX), 64)?;
        Ok(Entries { base, room })
    }

    /// Gives it back.
    pub fn give(self) {
        heap::give(self.base);
    }

    /// Blocks that there is room for.
    pub fn room(&self) -> usize {
        self.room
    }

    fn bytes(room: usize) -> Option<usize> {
        room.checked_mul(8 * (LISTED + ENTRIES * WORDS))
    }

    /// `N` words from word `at` on, which are inside the memory.
    fn words<const N: usize>(&self, at: usize) -> &[AtomicU64; N] {
        assert!(8 * (at + N) <= Entries::bytes(self.room).unwrap_or(0));
        // SAFETY: inside the memory, which is the owner's or a mapping, and aligned to 8; it
        // consists of atomics.
        unsafe { &*self.base.cast::<AtomicU64>().add(at).cast() }
    }

    fn listed(&self, at: usize) -> &[AtomicU64; LISTED] {
        self.words(LISTED * at)
    }

    fn entry(&self, block: usize, at: usize) -> &[AtomicU64; WORDS] {
        self.words(LISTED * self.room + (block * ENTRIES + at) * WORDS)
    }

    /// Writes what the list says of a block: the number of its memory, and its regions.
    pub fn list(&self, at: usize, number: usize, regions: &[Region]) {
        let [first, rest] = self.listed(at);
        first.store(regions[0].addr, Relaxed);
        rest.store((number as u64) << 32 | regions.len() as u64, Relaxed);
    }

    /// Writes the regions of a block from the `from`th on.
    pub fn write(&self, number: usize, from: usize, regions: &[Region]) {
        for (at, region) in regions.iter().enumerate().skip(from) {
            let [pid, fd, stamp, len, place] = region.card.words();
            let words = [region.addr, region.len, pid, fd, stamp, len, place];
            for (to, word) in self.entry(number, at).iter().zip(words) {
                to.store(word, Relaxed);
            }
        }
    }

    fn read(&self, number: usize, at: usize) -> Region {
        let entry = self.entry(number, at);
        let word = |i: usize| entry[i].load(Relaxed);
        Region {
            addr: word(0),
            len: word(1),
            card: Card::from_words(std::array::from_fn(|i| word(2 + i))),
        }
    }
}

/// How many of `count` things in the order of their addresses begin at or before an address.
fn before(count: usize, addr: u64, of: impl Fn(usize) -> u64) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        match of(middle) <= addr {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// What of some regions lies at `[from, to)`, if all of that is attached: they begin with the last
/// one that begins at or before `from`, in the order of their addresses. Regions of one kind of
/// memory that touch count as one region, which has no card: other processes map each of them by
/// itself.
pub(crate) fn cover(
    mut regions: impl Iterator<Item = Region>,
    from: u64,
    to: u64,
) -> Option<Region> {
    let mut all = regions.next()?;
    if from.checked_sub(all.addr)? >= all.len {
        return None;
    }
    loop {
        let end = all.addr.checked_add(all.len)?;
        if end >= to {
            return Some(all);
        }
        let kind = all.card.kind();
        let follows = |it: &Region| it.addr == end && it.card.kind() == kind;
        let next = regions.next().filter(follows)?;
        all.len = all.len.checked_add(next.len)?;
        if kind.is_host() {
            all.card = Card::NONE;
        }
    }
}

impl RegionTable {
    /// Has `change` change what lies in a table's memory, and says which that is, and how many
    /// blocks are listed; only the owner does.
    pub(crate) fn change(&self, entries: &Entries, blocks: usize, change: impl FnOnce()) {
        self.version.fetch_add(1, Relaxed);
        // What follows is not seen before the version is odd.
        fence(Release);
        change();
        if self.room.load(Relaxed) != entries.room as u64 {
            // There is one piece of each length.
            let bytes = Entries::bytes(entries.room).unwrap_or(usize::MAX);
            let card = heap::card(entries.base, bytes).unwrap_or(Card::NONE);
            for (to, word) in self.card.iter().zip(card.words()) {
                to.store(word, Relaxed);
            }
            self.room.store(entries.room as u64, Relaxed);
        }
        self.blocks.store(blocks as u64, Relaxed);
        self.version.fetch_add(1, Release);
    }

    /// What is attached at `[from, to)`; `None` if not all of it is. See [`cover`].
    pub fn find(&self, recent: &Recent, from: u64, to: u64) -> Option<Region> {
        loop {
            let version = self.version.load(Acquire);
            let found = self.look(recent, from, to);
            fence(Acquire);
            if version.is_multiple_of(2) && self.version.load(Relaxed) == version {
                return found;
            }
            std::thread::yield_now();
        }
    }

    /// What is attached at `[from, to)`, if the table does not change meanwhile.
    fn look(&self, recent: &Recent, from: u64, to: u64) -> Option<Region> {
        let blocks = self.blocks.load(Relaxed) as usize;
        let room = self.room.load(Relaxed) as usize;
        if blocks == 0 || blocks > room {
            return None;
        }
        let card = Card::from_words(std::array::from_fn(|i| self.card[i].load(Relaxed)));
        let mapping = recent.map(card).ok()?;
        let base = mapping.at(card, Entries::bytes(room)?).ok()?;
        if !base.addr().is_multiple_of(8) {
            return None;
        }
        let entries = Entries { base, room };
        let listed = |at: usize| {
            let [_, rest] = entries.listed(at);
            let rest = rest.load(Relaxed);
            ((rest >> 32) as usize, rest as u32 as usize)
        };
        // What another process writes while it is read may be anything.
        let is_sound = |&(number, count): &(usize, usize)| number < room && count <= ENTRIES;
        let first = |at: usize| entries.listed(at)[0].load(Relaxed);
        let at = before(blocks, from, first).checked_sub(1)?;
        let (number, count) = Some(listed(at)).filter(is_sound)?;
        let addr = |at: usize| entries.entry(number, at)[0].load(Relaxed);
        let skip = before(count, from, addr).checked_sub(1)?;
        let parts = (at..blocks).map(listed).take_while(is_sound);
        let regions = parts.flat_map(|(number, count)| {
            let entries = &entries;
            (0..count).map(move |at| entries.read(number, at))
        });
        cover(regions.skip(skip), from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_that_touch_are_one() {
        let all = [(100, 50), (150, 50), (200, 1), (300, 9)].map(|(addr, len)| Region {
            addr,
            len,
            card: Card::NONE,
        });
        let find = |from, to| {
            let first = all.iter().rposition(|it| it.addr <= from)?;
            let found = cover(all[first..].iter().copied(), from, to);
            found.map(|it| (it.addr, it.len))
        };
        assert_eq!(find(120, 150), Some((100, 50)));
        assert_eq!(find(120, 201), Some((100, 101)));
        assert_eq!(find(160, 200), Some((150, 50)));
        assert_eq!(find(120, 202), None);
        assert_eq!(find(300, 310), None);
        assert_eq!(find(99, 101), None);
    }
}
