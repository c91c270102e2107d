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
    /// where operations take less that way.
    ///
    /// What they take is found by trials now and then, for each kind of operation and length. The
    /// results of reductions do not depend on it.
    pub static COLL_WEIGH: bool = true;
    scope: AllEqual,
    level: Tuner,
    change: Anytime,
}

/// [`COLL_DIRECT`]; `usize::MAX` for never.
pub fn direct_from() -> usize {
    COLL_DIRECT.get().get().try_into().unwrap_or(usize::MAX)
}
