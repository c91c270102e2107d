//! The size of a board.

/// Bytes of a cache line; payloads in a ring begin on one.
pub const LINE: usize = 64;

/// Bytes of an entry of a payload that is a table of addresses.
pub(crate) const DIRECT_ENTRY: usize = 16;

/// Bytes of payload that share a cache line with stamp and meta, 8 bytes each.
pub const INLINE: usize = 48;

/// Operations of a board for which members count rounds.
pub const ROUNDS: usize = 16;

/// The size of a board; alike for all its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Records of each member, a power of two, at least 2.
    pub lines: u64,
    /// Bytes of each member's ring, a power of two, at least 256.
    pub ring: usize,
    /// Bytes of a second ring of each member, for rows that do not fit into the first, and of two
    /// members for all operations that do not; a power of two, or 0.
    pub long: usize,
    /// From this many bytes on a block is reached directly; `usize::MAX` if
    /// members cannot.
    pub direct: usize,
}

impl Limits {
    /// Longest payload in the ring; with several of them under way, who writes
    /// and who reads copy at the same time.
    #[inline]
    pub(crate) fn segment(&self) -> usize {
        self.ring / 4
    }

    /// Whether a segment may hold an element of each of that many blocks, so that an operation
    /// which cuts its blocks between elements comes to its end.
    /// [`Member::choose`](crate::Member::choose) asks; it is what
    /// [`longest_segment`](crate::segment::longest_segment) relies on.
    #[inline(always)]
    pub(crate) fn holds(&self, elem: usize, blocks: usize) -> bool {
        elem.checked_mul(blocks)
            .is_some_and(|least| least <= self.segment())
    }

    /// Whether an operation uses the long ring which puts so many bytes into one.
    #[inline(always)]
    pub(crate) fn is_long(&self, bytes: usize) -> bool {
        bytes > self.ring && self.long > 0
    }

    /// Bytes of the ring, or of the long one.
    #[inline(always)]
    pub(crate) fn bytes(&self, is_long: bool) -> usize {
        if is_long { self.long } else { self.ring }
    }

    /// Longest payload in the ring, or in the long one, that has no segments, as not all know its
    /// length: room for one is left to who has waited for nobody. At most what is
    /// [unsaid](Limits::unsaid) and the rest of a lap, where it did not fit, are not there.
    #[inline]
    pub(crate) fn row(&self, is_long: bool) -> usize {
        self.bytes(is_long) / 32 * 13
    }

    /// Longest payload without segments.
    #[inline]
    pub(crate) fn longest_row(&self) -> usize {
        self.row(self.long > 0)
    }

    /// Bytes of a ring that may be wanted back before their owner is told.
    #[inline]
    pub(crate) fn unsaid(&self) -> usize {
        self.ring / 8
    }
}
