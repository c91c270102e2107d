//! What the members of a board share, and how it is reached.

use catena_plan::{Order, Region};

use super::Kind;

/// Where a payload lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the record itself: at most [`INLINE`] bytes, one cache line in all.
    Line,
    /// In a slot of [`Board::capacity`] bytes.
    Slot,
}

/// Bytes of payload that share a cache line with stamp and meta, 8 bytes each.
pub const INLINE: usize = 48;

/// Memory shared by the members of a communicator on one node, as one of them
/// sees it, and that member's buffers.
///
/// Each member owns `LINES` records of one cache line, `SLOTS` slots and one
/// counter in a line of its own. Operation `seq` uses record `seq % LINES` and
/// slot `seq % SLOTS`. Only the owner writes; everybody reads. At the start
/// everything is zero.
///
/// What a peer wrote is not trusted: whatever it contains, implementations
/// stay within the slots and the buffers.
pub trait Board {
    /// Records of each member, a power of two, at least 2.
    const LINES: u64;
    /// Slots of each member, a power of two, at least 2.
    const SLOTS: u64;

    /// Bytes of a slot; alike for all members.
    fn capacity(&self) -> usize;

    /// The stamp of `rank`'s record for operation `seq` (Acquire); equals `seq`
    /// once that is published.
    fn stamp(&self, rank: u32, seq: u64) -> u64;

    /// The meta word of `rank`'s record for operation `seq`.
    fn meta(&self, rank: u32, seq: u64) -> u64;

    /// Copies `from` to byte `at` of the own payload for operation `seq`.
    fn put(&mut self, place: Place, seq: u64, at: usize, from: Region);

    /// Publishes the own record for operation `seq`: meta, then the stamp
    /// (Release).
    fn publish(&mut self, seq: u64, meta: u64);

    /// Copies bytes from `at` on of `rank`'s payload for operation `seq`.
    fn get(&mut self, place: Place, rank: u32, seq: u64, at: usize, into: Region);

    /// Combines bytes from `at` on of `rank`'s payload for operation `seq` with
    /// `into`; see [`catena_plan::Step::Reduce`].
    fn combine(&mut self, place: Place, rank: u32, seq: u64, at: usize, into: Region, order: Order);

    /// Copies between the own buffers; the two do not overlap.
    fn copy(&mut self, from: Region, into: Region);

    /// Says that this member has completed all operations below `seq`
    /// (Release).
    fn set_done(&mut self, seq: u64);

    /// What `rank` said last with [`Board::set_done`] (Acquire).
    fn done(&self, rank: u32) -> u64;

    /// Operation `seq` will be published soon: a good time to fetch the record
    /// for writing.
    fn warm(&mut self, _seq: u64) {}
}

/// What a member says about its call, so that calls that do not fit are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Number of the [`Kind`].
    pub kind: u8,
    /// Root; 0 where there is none.
    pub root: u32,
    /// Bytes, modulo 2³².
    pub bytes: u32,
}

impl Meta {
    pub(super) fn pack(kind: Kind, root: u32, bytes: usize) -> u64 {
        (kind as u64) << 56 | u64::from(root & 0xFF_FFFF) << 32 | (bytes as u64 & 0xFFFF_FFFF)
    }

    pub(super) fn unpack(word: u64) -> Self {
        Meta {
            kind: (word >> 56) as u8,
            root: (word >> 32) as u32 & 0xFF_FFFF,
            bytes: word as u32,
        }
    }
}

/// Two members called different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The other member.
    pub rank: u32,
    /// What it called.
    pub theirs: Meta,
    /// What this one called.
    pub mine: Meta,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = |meta: Meta| Kind::name_of(meta.kind);
        write!(
            f,
            "rank {} is in {} with root {} and {} bytes, this rank in {} with root {} and {} bytes",
            self.rank,
            name(self.theirs),
            self.theirs.root,
            self.theirs.bytes,
            name(self.mine),
            self.mine.root,
            self.mine.bytes
        )
    }
}

impl std::error::Error for Mismatch {}
