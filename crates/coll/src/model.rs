//! What the choice of an algorithm depends on.

pub use catena_schedule::simulate::Machine as Model;
use catena_schedule::simulate::{Link, Shared};

use crate::Placement;

/// One call as all ranks see it alike; they must choose the same algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Number of ranks.
    pub size: u32,
    /// Bytes: the message of bcast, the vector of a reduction (all blocks
    /// together for reduce_scatter), one block of gather, scatter, allgather
    /// and alltoall, all blocks together for allgatherv. 0 for those whose
    /// counts only some ranks know: gatherv, scatterv, alltoallv.
    pub bytes: usize,
    /// See [`crate::Args::elem`]; 1 where nothing is reduced.
    pub elem: usize,
    /// See [`crate::Args::commutative`].
    pub commutative: bool,
    /// Where the ranks are.
    pub placement: Placement,
}

/// A cluster of today: nodes of a few domains with a core for each rank, and a
/// network of 100 Gbit/s.
pub const TYPICAL: Model = Model {
    domain: Link {
        latency: 1.5e-7,
        overhead: 5e-8,
        gap: 0.0,
        per_byte: 1.0e-10,
        eager: 64 << 10,
    },
    node: Link {
        latency: 2.5e-7,
        overhead: 5e-8,
        gap: 0.0,
        per_byte: 1.2e-10,
        eager: 64 << 10,
    },
    network: Link {
        latency: 1.2e-6,
        overhead: 2.5e-7,
        gap: 5e-8,
        per_byte: 8e-11,
        eager: 16 << 10,
    },
    memory: Shared {
        per_message: 2e-9,
        per_byte: 1.5e-11,
    },
    card: Shared {
        per_message: 8e-9,
        per_byte: 8e-11,
    },
    step: 3e-8,
    reduce: 1.0e-10,
    copy: 5e-11,
    handover: 0.0,
};

/// Rounds of a tree over `size` ranks: messages of its root.
pub(crate) fn log2_ceil(size: u32) -> u32 {
    size.next_power_of_two().trailing_zeros()
}

/// Hops from the root of a binomial tree to the leaf farthest away, which gets
/// its message no later than a nearer one behind all other children.
pub(crate) fn depth(size: u32) -> f64 {
    f64::from(size.ilog2())
}
