//! What algorithms need of a call.

use crate::Shape;

/// Something that a call must have for an algorithm to serve it.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// The need in words, as they follow "it needs".
    pub text: &'static str,
    /// Whether a call has it.
    pub met: fn(&Shape) -> bool,
}

pub(crate) const POWER_OF_TWO: Need = Need {
    text: "a power of two of ranks",
    met: |s| s.size.is_power_of_two(),
};

pub(crate) const COMMUTATIVE: Need = Need {
    text: "operands that may change places",
    met: |s| s.commutative,
};

/// For algorithms that exchange a vector in two steps, half each. Two ranks of a node do
/// better to exchange all of it in one: it is announced once, and read as the program left
/// it, not as the other rank has just written it. Measured: 8 KiB take 0.78 of the time of
/// the halves, 64 KiB 0.56, 1 MiB 0.94, 2 MiB 1.2.
pub(crate) const WORTH_HALVING: Need = Need {
    text: "more than two ranks, several nodes, or less than 8 KiB or more than 1 MiB",
    met: |s| s.size != 2 || s.placement.nodes > 1 || !(8 << 10..=1 << 20).contains(&s.bytes),
};

/// For algorithms that go by nodes.
pub(crate) const LEVELS: Need = Need {
    text: "several nodes, and several ranks on one",
    met: |s| s.placement.has_levels(),
};

/// For algorithms that go by nodes, each of which must have several leaders.
pub(crate) const PAIRS: Need = Need {
    text: "several ranks on every node",
    met: |s| s.placement.fewest > 1,
};

pub(crate) const RANGES: Need = Need {
    text: "nodes that are ranges of ranks",
    met: |s| s.placement.consecutive,
};

/// For algorithms that go by nodes and combine operands: they stay in order, if they
/// must.
pub(crate) const IN_ORDER: Need = Need {
    text: "operands that may change places, or nodes that are ranges of ranks",
    met: |s| s.commutative || s.placement.consecutive,
};
