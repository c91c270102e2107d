//! How far MPI is in this process, and which rank it is.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::Relaxed};

/// Whether calls are counted: between the first function that begins MPI and the last one that
/// ends it.
static IS_GOING_ON: AtomicBool = AtomicBool::new(false);

/// Whether there is `MPI_COMM_WORLD`.
static HAS_WORLD: AtomicBool = AtomicBool::new(false);

/// The rank of this process, or -1, and the size of the world.
static RANK: AtomicI32 = AtomicI32::new(-1);
static RANKS: AtomicU32 = AtomicU32::new(0);

/// Whether the launcher asks for something by a variable.
fn asks(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Whether calls are written one by one, too: the launcher says so.
pub fn is_streamed() -> bool {
    static IS_STREAMED: OnceLock<bool> = OnceLock::new();
    *IS_STREAMED.get_or_init(|| asks(catena_profile::STREAMED))
}

/// Whether it is noted what the library counts: the launcher says so.
pub fn is_explained() -> bool {
    static IS_EXPLAINED: OnceLock<bool> = OnceLock::new();
    *IS_EXPLAINED.get_or_init(|| asks(catena_profile::EXPLAINED))
}

#[inline]
pub fn is_going_on() -> bool {
    IS_GOING_ON.load(Relaxed)
}

pub fn set_going_on(is_going_on: bool) {
    IS_GOING_ON.store(is_going_on, Relaxed);
}

pub fn has_world() -> bool {
    HAS_WORLD.load(Relaxed)
}

pub fn set_world(has_world: bool) {
    HAS_WORLD.store(has_world, Relaxed);
}

/// The rank of this process, if that is known, and how many there are.
pub fn rank() -> (Option<u32>, u32) {
    let rank = u32::try_from(RANK.load(Relaxed)).ok();
    (rank, RANKS.load(Relaxed))
}

pub fn set_rank(rank: i32, ranks: u32) {
    RANK.store(rank, Relaxed);
    RANKS.store(ranks, Relaxed);
}
