//! What the choice of an algorithm depends on, and the terms of its cost.

pub use catena_plan::simulate::Machine as Model;
use catena_plan::simulate::{Link, Shared};

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
};

/// A call on a machine: what the costs of algorithms are made of. Times are in
/// seconds.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    pub(crate) shape: Shape,
    pub(crate) model: &'a Model,
    /// Between the ranks that are farthest apart.
    far: &'a Link,
}

impl<'a> Terms<'a> {
    /// Of a call.
    pub fn new(shape: &Shape, model: &'a Model) -> Self {
        let far = if shape.placement.nodes > 1 {
            &model.network
        } else if shape.placement.per_domain < shape.placement.per_node {
            &model.node
        } else {
            &model.domain
        };
        Terms {
            shape: *shape,
            model,
            far,
        }
    }

    /// The same with another number of bytes.
    pub(crate) fn with_bytes(&self, bytes: usize) -> Self {
        let shape = Shape {
            bytes,
            ..self.shape
        };
        Terms { shape, ..*self }
    }

    pub(crate) fn latency(&self) -> f64 {
        self.far.latency
    }

    pub(crate) fn overhead(&self) -> f64 {
        self.far.overhead
    }

    pub(crate) fn per_byte(&self) -> f64 {
        self.far.per_byte
    }

    /// Time for one message of `bytes` from one rank to another.
    pub(crate) fn hop(&self, bytes: f64) -> f64 {
        self.far.latency + 2.0 * self.far.overhead + bytes * self.far.per_byte
    }

    /// Time for one rank to post `messages` of `bytes` each that are under way
    /// at once, without the latency: posting the next overlaps with moving the
    /// last.
    pub(crate) fn stream(&self, messages: f64, bytes: f64) -> f64 {
        messages * self.far.overhead.max(bytes * self.far.per_byte)
    }

    /// Time to combine `bytes`.
    pub(crate) fn combine(&self, bytes: f64) -> f64 {
        self.model.step + bytes * self.model.reduce
    }

    /// Time for `number` copies of `bytes` each.
    pub(crate) fn copies(&self, number: f64, bytes: f64) -> f64 {
        number * (self.model.step + bytes * self.model.copy)
    }
}

/// Rounds of a tree over `size` ranks: messages of its root.
pub(crate) fn log2_ceil(size: u32) -> u32 {
    size.next_power_of_two().trailing_zeros()
}

/// Hops from the root of a binomial tree to the leaf farthest away, which gets
/// its message no later than a nearer one behind all other children.
pub(crate) fn depth(size: u32) -> f64 {
    f64::from(size.ilog2())
}
