//! What is attached to a dynamic window, as its owner tells the others.
//!
//! | field     | who writes it | rule                                                      |
//! |-----------|---------------|-----------------------------------------------------------|
//! | `version` | the owner     | odd while the rest changes; what was read under it counts |
//! | the rest  | the owner     | between two changes of `version`                          |
//!
//! The entries lie in a piece of the owner's heap, in the order of their addresses. If there are more,
//! the owner takes a longer piece. A reader that is late reads what is no table any more, and sees by the version that it
//! must not use it.

use std::cell::RefCell;
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

const WORDS: usize = 2 + Card::WORDS;
/// Entries that the first piece has room for.
const FIRST: usize = 16;

/// Where the table of an owner is. Zeroed memory is that of an owner without regions.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct RegionTable {
    version: AtomicU64,
    count: AtomicU64,
    card: [AtomicU64; Card::WORDS],
}

const _: () = assert!(size_of::<RegionTable>() == 64);

/// The owner's piece of its heap.
#[derive(Debug, Default)]
pub struct Store(RefCell<Option<(*mut u8, usize)>>);

impl Drop for Store {
    fn drop(&mut self) {
        if let Some((at, _)) = self.0.take() {
            heap::give(at);
        }
    }
}

/// Entry `i` of the entries at `base`.
///
/// # Safety
/// `base` is aligned to 8 and valid for more than `i` entries.
unsafe fn entry<'a>(base: *mut u8, i: usize) -> &'a [AtomicU64; WORDS] {
    // SAFETY: the caller's promise; it consists of atomics.
    unsafe { &*base.cast::<[AtomicU64; WORDS]>().add(i) }
}

/// What of `count` regions in the order of their addresses lies at `[from, to)`, if all of that is
/// attached. Regions that touch count as one, which has no card: others map each by itself.
pub fn cover(count: usize, at: impl Fn(usize) -> Region, from: u64, to: u64) -> Option<Region> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        match at(middle).addr <= from {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    let first = low.checked_sub(1)?;
    let mut all = at(first);
    if from.checked_sub(all.addr)? >= all.len {
        return None;
    }
    for next in first + 1.. {
        let end = all.addr.checked_add(all.len)?;
        if end >= to {
            break;
        }
        let next = (next < count)
            .then(|| at(next))
            .filter(|it| it.addr == end)?;
        all.len = all.len.checked_add(next.len)?;
        all.card = Card::NONE;
    }
    Some(all)
}

impl RegionTable {
    /// Replaces what is attached; only the owner does.
    ///
    /// # Errors
    /// If there is no memory; nothing changes then.
    pub fn publish(&self, store: &Store, regions: &[Region]) -> io::Result<()> {
        let mut piece = store.0.borrow_mut();
        let room = piece.map_or(0, |(_, room)| room);
        let mut old = None;
        if regions.len() > room {
            let room = regions.len().next_power_of_two().max(FIRST);
            let at = heap::take(room * WORDS * 8, 64)?;
            old = piece.replace((at, room));
        }
        self.version.fetch_add(1, Relaxed);
        // What follows is not seen before the version is odd.
        fence(Release);
        if let Some((base, room)) = *piece {
            for (i, region) in regions.iter().enumerate() {
                let [pid, fd, stamp, len, at] = region.card.words();
                let words = [region.addr, region.len, pid, fd, stamp, len, at];
                // SAFETY: our piece has room for them.
                let entry = unsafe { entry(base, i) };
                for (to, word) in entry.iter().zip(words) {
                    to.store(word, Relaxed);
                }
            }
            let card = heap::card(base, room * WORDS * 8).unwrap_or(Card::NONE);
            for (to, word) in self.card.iter().zip(card.words()) {
                to.store(word, Relaxed);
            }
        }
        self.count.store(regions.len() as u64, Relaxed);
        self.version.fetch_add(1, Release);
        drop(piece);
        if let Some((at, _)) = old {
            heap::give(at);
        }
        Ok(())
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

    /// The same, if the table does not change meanwhile.
    fn look(&self, recent: &Recent, from: u64, to: u64) -> Option<Region> {
        let count = self.count.load(Relaxed) as usize;
        if count == 0 {
            return None;
        }
        let card = Card::from_words(std::array::from_fn(|i| self.card[i].load(Relaxed)));
        let mapping = recent.map(card).ok()?;
        let base = mapping.at(card, count.checked_mul(WORDS * 8)?).ok()?;
        if !base.addr().is_multiple_of(8) {
            return None;
        }
        let region = |i: usize| {
            // SAFETY: inside the mapping, aligned.
            let entry = unsafe { entry(base, i) };
            let word = |i: usize| entry[i].load(Relaxed);
            Region {
                addr: word(0),
                len: word(1),
                card: Card::from_words(std::array::from_fn(|i| word(2 + i))),
            }
        };
        cover(count, region, from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(addr: u64, len: u64) -> Region {
        let card = Card::NONE;
        Region { addr, len, card }
    }

    #[test]
    fn others_find_what_is_attached() {
        let (table, store) = (RegionTable::default(), Store::default());
        let recent = Recent::default();
        assert_eq!(table.find(&recent, 0, 1), None);
        let mut all = Vec::new();
        for n in 1..100 {
            all.push(region(1000 * n, 100));
            table.publish(&store, &all).expect("memory");
            let base = 1000 * n;
            assert_eq!(
                table.find(&recent, base + 10, base + 100),
                Some(region(base, 100))
            );
            assert_eq!(table.find(&recent, base + 10, base + 101), None);
            assert_eq!(table.find(&recent, 1000, 1001), Some(region(1000, 100)));
            assert_eq!(table.find(&recent, base - 1, base), None);
        }
        table.publish(&store, &[]).expect("memory");
        assert_eq!(table.find(&recent, 1000, 1001), None);
    }

    #[test]
    fn regions_that_touch_are_one() {
        let all = [
            region(100, 50),
            region(150, 50),
            region(200, 1),
            region(300, 9),
        ];
        let find = |from, to| cover(all.len(), |i| all[i], from, to).map(|it| (it.addr, it.len));
        assert_eq!(find(120, 150), Some((100, 50)));
        assert_eq!(find(120, 201), Some((100, 101)));
        assert_eq!(find(160, 200), Some((150, 50)));
        assert_eq!(find(120, 202), None);
        assert_eq!(find(300, 310), None);
        assert_eq!(find(99, 101), None);
    }
}
