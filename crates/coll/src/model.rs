//! What the choice of an algorithm depends on.

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
}

impl Shape {
    /// Number of elements.
    pub fn elems(&self) -> usize {
        self.bytes / self.elem.max(1)
    }
}

/// What messages and memory cost between the ranks of a communicator, in the
/// terms of LogGP (Alexandrov et al., 1995).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Time until a peer reacts to a message, seconds: the latency of the
    /// wire, and the switch to the peer if ranks outnumber cores.
    pub latency: f64,
    /// Processor time for one message on one side, seconds.
    pub overhead: f64,
    /// Time per byte sent, seconds.
    pub per_byte: f64,
    /// Time for one copy or reduction besides its bytes, seconds.
    pub step: f64,
    /// Time to combine one byte, seconds.
    pub reduce: f64,
    /// Time to copy one byte, seconds.
    pub copy: f64,
}

impl Model {
    /// Ranks that share memory and have a core each.
    pub const NODE: Model = Model {
        latency: 1.5e-7,
        overhead: 5e-8,
        per_byte: 1.0e-10,
        step: 3e-8,
        reduce: 1.0e-10,
        copy: 5e-11,
    };

    /// Time for one message of `bytes` from one rank to another.
    pub(crate) fn hop(&self, bytes: f64) -> f64 {
        self.latency + 2.0 * self.overhead + bytes * self.per_byte
    }

    /// Time for one rank to post `messages` of `bytes` each that are under way
    /// at once, without the latency: posting the next overlaps with moving the
    /// last.
    pub(crate) fn stream(&self, messages: f64, bytes: f64) -> f64 {
        messages * self.overhead.max(bytes * self.per_byte)
    }

    /// Time to combine `bytes`.
    pub(crate) fn combine(&self, bytes: f64) -> f64 {
        self.step + bytes * self.reduce
    }

    /// Time for `number` copies of `bytes` each.
    pub(crate) fn copies(&self, number: f64, bytes: f64) -> f64 {
        number * (self.step + bytes * self.copy)
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
