//! Settings of how long blocks go from member to member.

use catena_settings::{Bytes, setting};

setting! {
    /// From this many bytes on, collectives of ranks on one node copy
    /// a block from buffer to buffer instead of through shared memory, unless
    /// several ranks read it.
    ///
    /// Needs permission to reach other processes' memory, which some containers
    /// withhold; that is noticed. `unlimited` means never.
    pub static COLL_DIRECT: Bytes = Bytes::kib(32);
    scope: AllEqual,
    level: Tuner,
}

setting! {
    /// Whether blocks of CATENA_COLL_DIRECT bytes and more pass through shared memory nevertheless
    /// while two plain copies take less than one that the kernel makes.
    ///
    /// What they take is measured now and then by all ranks, which follow what all but a few of
    /// them prefer. The results of reductions do not depend on it.
    pub static COLL_WEIGH: bool = true;
    scope: AllEqual,
    level: Tuner,
    change: Anytime,
}

/// [`COLL_DIRECT`]; `usize::MAX` for never.
pub fn direct_from() -> usize {
    COLL_DIRECT.get().get().try_into().unwrap_or(usize::MAX)
}
