//! What the members of a window tell each other when it is made: words, in this order. The first
//! says whether all is well, then come the address of the memory, its bytes, the unit of
//! displacements, and in word 5 whether it need not be contiguous.

use crate::heap::{self, Card};

/// The number that a member has for the window.
pub(crate) const NUMBER: usize = 4;
/// The lowest rank on the node of a member.
pub(crate) const LEADER: usize = 6;
/// Bytes of the keys by which networks reach its memory.
pub(crate) const KEYS: usize = 7;
/// Where its memory is found.
pub(crate) const OWN_CARD: usize = 8;
/// Where its mailbox is found, if it has memory that only the kernel reaches.
pub(crate) const BOX: usize = OWN_CARD + Card::WORDS;
/// By which neighbours find out whether they can open its descriptors.
pub(crate) const PROBE: usize = BOX + Card::WORDS;
/// What its part of a region is to be aligned to, if it has no memory of its own yet.
pub(crate) const PART: usize = PROBE + Card::WORDS;
/// The number of the kind of its memory.
pub(crate) const KIND: usize = PART + 1;
/// What a member has.
pub(crate) const ROW: usize = KIND + 1;
pub(crate) type Row = [u64; ROW];

/// Whether a neighbour is there whose descriptors this process cannot open, and has to: of those
/// that the lowest `made_all` for, that one alone.
pub(crate) fn is_blind(me: u32, rows: &[Row], made_all: bool) -> bool {
    let leader = rows[me as usize][LEADER];
    let mut neighbours = (0..).zip(rows).filter(|(rank, row)| {
        *rank != me && row[LEADER] == leader && (!made_all || u64::from(*rank) == leader)
    });
    neighbours.any(|(_, row)| !heap::reaches(card_at(&row[PROBE..])))
}

/// The card that these words begin with.
pub(crate) fn card_at(words: &[u64]) -> Card {
    Card::from_words(std::array::from_fn(|i| words[i]))
}
