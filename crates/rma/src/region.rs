//! The memory of a window that is allocated, where it has some members on a node: one **region**
//! for all of them.
//!
//! The lowest member makes it, and each opens it once, where n members with memory of their own
//! would open n - 1 pieces each. Every member has the pages of its own part provided, so they lie
//! near its processor, and a lack of memory is an error. A part begins on a page, a short one on a
//! line. Whether there is one all members tell, as one that keeps its memory in the segment of the
//! job, or is to align it to more than a page, takes it alone: then all do.

use std::io;
use std::sync::Arc;

use catena_core::Process;

use crate::heap::{self, Card, Mapping};
use crate::rows::{LEADER, PART, Row};
use crate::window::Reach;

/// The fewest members of a window on a node that share a region. Two open one piece of each other,
/// as they would open it.
pub(crate) const LEAST: usize = 3;

/// What a part is aligned to at most.
pub(crate) const PAGE: usize = 4096;
/// What a short part is aligned to: two processors write no line of each other.
const LINE: u64 = 64;

/// Whether the members of each node want the same: a region, or memory of their own.
pub(crate) fn are_agreed(rows: &[Row]) -> bool {
    rows.iter().all(|row| {
        let leader = rows.get(row[LEADER] as usize);
        leader.is_some_and(|leader| (leader[PART] != 0) == (row[PART] != 0))
    })
}

/// Where the parts of the members of a node lie in their region, by rank (0 for the others), and
/// its bytes.
fn places(rows: &[Row], leader: u64) -> (Vec<u64>, u64) {
    let mut end = 0u64;
    let mut place = |row: &Row| {
        if row[LEADER] != leader {
            return 0;
        }
        let least = if row[2] >= PAGE as u64 {
            PAGE as u64
        } else {
            LINE
        };
        let from = end.checked_next_multiple_of(row[PART].max(least));
        let from = from.unwrap_or(u64::MAX);
        end = from.saturating_add(row[2]);
        from
    };
    let places = rows.iter().map(&mut place).collect();
    (places, end)
}

/// Makes the region of the node whose lowest member this is; `None` if there is no memory for it
/// that others can open.
pub(crate) fn take(rows: &[Row], me: u32) -> Option<(*mut u8, Card)> {
    let (_, bytes) = places(rows, me.into());
    let bytes = usize::try_from(bytes).ok()?;
    let at = heap::reserve_lines(bytes).ok()?;
    match heap::card(at, bytes) {
        Some(card) if card.is_file() => Some((at, card)),
        _ => {
            heap::give(at);
            None
        }
    }
}

/// The region of this node.
pub(crate) struct Region {
    mapping: Arc<Mapping>,
    card: Card,
    places: Vec<u64>,
}

impl Region {
    /// Opens it, and has the pages of this member's own part provided.
    pub fn open(process: &Process, rows: &[Row], me: u32, card: Card) -> io::Result<Region> {
        let mapping = heap::map_region(process, card)?;
        let (places, _) = places(rows, rows[me as usize][LEADER]);
        let region = Region {
            mapping,
            card,
            places,
        };
        region
            .mapping
            .provide(region.part(me), rows[me as usize][2] as usize)?;
        Ok(region)
    }

    fn part(&self, rank: u32) -> Card {
        Card {
            at: self.card.at.saturating_add(self.places[rank as usize]),
            ..self.card
        }
    }

    /// Where the `size` bytes of a member of this node lie.
    pub fn at(&self, rank: u32, size: u64) -> io::Result<*mut u8> {
        self.mapping.at(self.part(rank), size as usize)
    }

    /// How they are reached.
    pub fn reach(&self, rank: u32, size: u64) -> io::Result<Reach> {
        let base = self.at(rank, size)?;
        let keep = Some(self.mapping.clone());
        Ok(Reach::Mapped { base, keep })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_overlap_and_are_aligned() {
        let sizes = [
            (0, 5000),
            (1, 7),
            (0, 1),
            (0, 64),
            (0, 0),
            (0, 4096),
            (1, 9),
            (0, 3),
        ];
        let row = |(leader, size): (u64, u64)| {
            let mut row = [0; _];
            (row[LEADER], row[2], row[PART]) = (leader, size, 128);
            row
        };
        let rows = sizes.map(row);
        let (of_0, bytes) = places(&rows, 0);
        assert_eq!(of_0, [0, 0, 5120, 5248, 5376, 8192, 0, 12288]);
        assert_eq!(bytes, 12291);
        assert_eq!(places(&rows, 1), (vec![0, 0, 0, 0, 0, 0, 128, 0], 137));
        let huge = [(0, u64::MAX - 5), (0, 4096)].map(row);
        assert_eq!(places(&huge, 0).1, u64::MAX, "there is no room for that");
    }

    #[test]
    fn a_node_of_which_one_wants_none_has_none() {
        let row = |(leader, align)| {
            let mut row = [0; _];
            (row[LEADER], row[PART]) = (leader, align);
            row
        };
        assert!(are_agreed(&[(0, 1), (0, 64), (2, 0)].map(row)));
        assert!(!are_agreed(&[(0, 1), (0, 0), (2, 0)].map(row)));
        assert!(!are_agreed(&[(9, 1)].map(row)));
    }
}
