//! What a process has attached to a dynamic window: its own list, which the others read as a
//! [`RegionTable`].
//!
//! The list is cut into blocks of at most [`ENTRIES`] regions, as the table is. A change moves what
//! stands behind it in its block, and now and then a block more: so attaching and detaching take
//! about the same time however much is attached.

use std::collections::BTreeMap;
use std::io;

use crate::regions::{ENTRIES, Entries, Region, RegionTable, cover};

/// Some regions, in the order of their addresses.
#[derive(Debug)]
struct Block {
    /// Where in the memory of the table they lie.
    number: usize,
    regions: Vec<Region>,
}

/// What is attached.
#[derive(Debug, Default)]
pub struct Attached {
    /// In the order of their addresses; none is empty.
    blocks: Vec<Block>,
    /// Where the others read them; each block has room there.
    entries: Option<Entries>,
    /// Numbers of blocks that have been given back.
    free: Vec<usize>,
    /// How often something without bytes is attached, by address. Nobody else needs to know.
    empty: BTreeMap<u64, usize>,
}

impl Drop for Attached {
    fn drop(&mut self) {
        if let Some(entries) = self.entries.take() {
            entries.give();
        }
    }
}

/// What attaching and detaching need to know of an address.
#[derive(Clone, Copy, Debug)]
struct AttachedAddress {
    block: usize,
    at: usize,
}

impl Attached {
    /// Where the last region stands that begins at or before an address.
    fn last_before(&self, addr: u64) -> Option<AttachedAddress> {
        let behind = |it: &Block| it.regions[0].addr <= addr;
        let block = self.blocks.partition_point(behind).checked_sub(1)?;
        let regions = &self.blocks[block].regions;
        let at = regions.partition_point(|it| it.addr <= addr) - 1;
        Some(AttachedAddress { block, at })
    }

    fn at(&self, AttachedAddress { block, at }: AttachedAddress) -> Region {
        self.blocks[block].regions[at]
    }

    /// Those from a place on.
    fn from(
        &self,
        AttachedAddress { block, at }: AttachedAddress,
    ) -> impl Iterator<Item = Region> + '_ {
        let all = self.blocks[block..].iter().flat_map(|it| &it.regions);
        all.skip(at).copied()
    }

    /// The region that an address lies in.
    pub fn around(&self, addr: u64) -> Option<Region> {
        let region = self.at(self.last_before(addr)?);
        (addr - region.addr < region.len).then_some(region)
    }

    /// What is attached at `[from, to)`, if all of it is; see [`cover`].
    pub fn find(&self, from: u64, to: u64) -> Option<Region> {
        cover(self.from(self.last_before(from)?), from, to)
    }

    /// A region that shares bytes with `[addr, addr + len)`, or lies around it.
    pub fn overlapping(&self, addr: u64, len: u64) -> Option<Region> {
        let is_empty = |at: u64| Region {
            addr: at,
            len: 0,
            card: crate::heap::Card::NONE,
        };
        let end = addr.saturating_add(len);
        let overlaps =
            |it: &Region| addr < it.addr.saturating_add(it.len) && it.addr < end.max(addr);
        let around = self.around(addr).filter(|it| it.addr < addr || len != 0);
        let next = || {
            let first = AttachedAddress { block: 0, at: 0 };
            let from = match self.last_before(addr) {
                None => (!self.blocks.is_empty()).then_some(first)?,
                Some(place) => place,
            };
            self.from(from).find(|it| it.addr >= addr).filter(overlaps)
        };
        let inside = || {
            let from = addr.checked_add(1).filter(|from| *from < end)?;
            self.empty
                .range(from..end)
                .next()
                .map(|(at, _)| is_empty(*at))
        };
        around.or_else(next).or_else(inside)
    }

    /// Attaches a region, which overlaps no other one.
    ///
    /// # Errors
    /// If there is no memory for the table; nothing changes then.
    pub fn attach(&mut self, table: &RegionTable, region: Region) -> io::Result<()> {
        if region.len == 0 {
            *self.empty.entry(region.addr).or_default() += 1;
            return Ok(());
        }
        let place = self.last_before(region.addr);
        let place = place.map_or(
            AttachedAddress { block: 0, at: 0 },
            |AttachedAddress { block, at }| AttachedAddress { block, at: at + 1 },
        );
        let splits = match self.blocks.get(place.block) {
            None => true,
            Some(block) => block.regions.len() == ENTRIES,
        };
        if splits {
            return self.attach_in_new_block(table, place, region);
        }
        let block = &mut self.blocks[place.block];
        block.regions.insert(place.at, region);
        self.tell(table, place.block, place.at);
        Ok(())
    }

    #[cold]
    fn attach_in_new_block(
        &mut self,
        table: &RegionTable,
        AttachedAddress { block, at }: AttachedAddress,
        region: Region,
    ) -> io::Result<()> {
        let used = self.blocks.len() + self.free.len();
        let old = self.entries;
        let entries = match old {
            Some(entries) if !self.free.is_empty() || used < entries.room() => entries,
            old => Entries::take(old.map_or(1, |it| 2 * it.room()))?,
        };
        self.entries = Some(entries);
        let number = self.free.pop().unwrap_or(used);
        let mut regions = Vec::with_capacity(ENTRIES);
        let mut first = block;
        match self.blocks.get_mut(block) {
            None => regions.push(region),
            Some(full) => {
                // What comes in order leaves full blocks behind.
                let is_last = at == ENTRIES;
                let middle = if is_last { ENTRIES } else { ENTRIES / 2 };
                regions.extend(full.regions.drain(middle..));
                match at.checked_sub(middle) {
                    Some(at) if is_last || at != 0 => regions.insert(at, region),
                    _ => full.regions.insert(at, region),
                }
                first += 1;
            }
        }
        self.blocks.insert(first, Block { number, regions });
        let is_new = old.is_none_or(|old| old.room() != entries.room());
        let from = if is_new { 0 } else { block };
        let written = if is_new {
            0..self.blocks.len()
        } else {
            block..first + 1
        };
        table.change(&entries, self.blocks.len(), || {
            for block in &self.blocks[written] {
                entries.write(block.number, 0, &block.regions);
            }
            for (at, block) in self.blocks.iter().enumerate().skip(from) {
                entries.list(at, block.number, &block.regions);
            }
        });
        if let Some(old) = old.filter(|_| is_new) {
            old.give();
        }
        Ok(())
    }

    /// Tells the others of a block that has changed from a place on.
    fn tell(&self, table: &RegionTable, block: usize, from: usize) {
        let (Some(entries), Block { number, regions }) = (self.entries, &self.blocks[block]) else {
            return;
        };
        table.change(&entries, self.blocks.len(), || {
            entries.write(*number, from, regions);
            entries.list(block, *number, regions);
        });
    }

    /// Detaches what begins at an address; its bytes, if there was something. What has none goes
    /// first.
    pub fn detach(&mut self, table: &RegionTable, addr: u64) -> Option<u64> {
        if let Some(times) = self.empty.get_mut(&addr) {
            *times -= 1;
            if *times == 0 {
                self.empty.remove(&addr);
            }
            return Some(0);
        }
        let place = self.last_before(addr)?;
        let Region { len, .. } = Some(self.at(place)).filter(|it| it.addr == addr)?;
        let AttachedAddress { block, at } = place;
        self.blocks[block].regions.remove(at);
        let left = self.blocks[block].regions.len();
        let behind = self.blocks.get(block + 1).map(|it| it.regions.len());
        // Few of them join those behind, so that there are no more blocks than are needed.
        let joins = behind.is_some_and(|behind| left + behind <= ENTRIES / 2);
        if left != 0 && !joins {
            self.tell(table, block, at);
            return Some(len);
        }
        let gone = match joins {
            false => self.blocks.remove(block),
            true => {
                let next = self.blocks.remove(block + 1);
                self.blocks[block].regions.extend(&next.regions);
                next
            }
        };
        self.free.push(gone.number);
        if let Some(entries) = self.entries {
            table.change(&entries, self.blocks.len(), || {
                for (at, block) in self.blocks.iter().enumerate().skip(block) {
                    if joins && at == place.block {
                        entries.write(block.number, 0, &block.regions);
                    }
                    entries.list(at, block.number, &block.regions);
                }
            });
        }
        Some(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::{Card, Recent};

    fn region(addr: u64, len: u64) -> Region {
        let card = Card::NONE;
        Region { addr, len, card }
    }

    /// A few thousand attach and detach, in some order, of places of ten bytes each; whatever is
    /// attached then, the owner and the others find the same.
    fn check(places: usize, mut next: impl FnMut(usize) -> usize) {
        let (mut own, table, recent) = (
            Attached::default(),
            RegionTable::default(),
            Recent::default(),
        );
        let mut there = vec![false; places];
        for turn in 0..6 * places {
            let i = next(turn);
            let (addr, len) = (
                1000 + 10 * i as u64,
                if i.is_multiple_of(3) { 10 } else { 7 },
            );
            there[i] = !there[i];
            match there[i] {
                true => {
                    assert_eq!(own.overlapping(addr, len), None);
                    own.attach(&table, region(addr, len)).expect("memory");
                }
                false => {
                    assert_eq!(own.overlapping(addr + 1, 3), Some(region(addr, len)));
                    assert_eq!(own.detach(&table, addr), Some(len));
                    assert_eq!(own.detach(&table, addr), None);
                }
            }
            for i in [i, i.saturating_sub(1), (i + 1) % places, turn % places] {
                let (addr, len) = (
                    1000 + 10 * i as u64,
                    if i.is_multiple_of(3) { 10 } else { 7 },
                );
                let expected = there[i].then_some(region(addr, len));
                assert_eq!(own.around(addr + 6), expected);
                assert_eq!(own.find(addr + 2, addr + 7), expected);
                assert_eq!(table.find(&recent, addr + 2, addr + 7), expected);
                // Some touch the next one.
                let both = i + 1 < places && there[i] && there[i + 1] && len == 10;
                let both = both.then(|| region(addr, 17));
                assert_eq!(own.find(addr + 2, addr + 12), both);
                assert_eq!(table.find(&recent, addr + 2, addr + 12), both);
                assert_eq!(table.find(&recent, 0, 1), None);
            }
            let count = there.iter().filter(|it| **it).count();
            let blocks = own.blocks.len();
            assert!(
                blocks <= 1 + 2 * count / (ENTRIES / 2),
                "{blocks} for {count}"
            );
            assert!(own.blocks.iter().all(|it| !it.regions.is_empty()));
        }
    }

    #[test]
    fn others_find_what_is_attached_in_whatever_order() {
        let places = 100;
        check(places, |turn| turn % places);
        check(places, |turn| places - 1 - turn % places);
        let mut random = 7u64;
        check(places, |_| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) as usize % places
        });
    }

    #[test]
    fn what_has_no_bytes_is_attached_beside_others() {
        let (mut own, table) = (Attached::default(), RegionTable::default());
        own.attach(&table, region(100, 0))
            .expect("nothing is needed");
        assert_eq!(own.overlapping(100, 10), None, "it begins there");
        assert_eq!(own.overlapping(90, 11), Some(region(100, 0)));
        own.attach(&table, region(100, 10)).expect("memory");
        own.attach(&table, region(100, 0))
            .expect("nothing is needed");
        assert_eq!(own.overlapping(100, 0), None);
        assert_eq!(own.overlapping(105, 0), Some(region(100, 10)));
        assert_eq!(own.overlapping(95, 5), None);
        assert_eq!(own.overlapping(95, 6), Some(region(100, 10)));
        let all = [(); 4].map(|()| own.detach(&table, 100));
        assert_eq!(all, [Some(0), Some(0), Some(10), None]);
    }
}
