//! What algorithms need of a call.

use crate::Shape;

/// Something that a call must have for an algorithm to serve it.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// As in "it needs …".
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

/// For algorithms that go by nodes.
pub(crate) const LEVELS: Need = Need {
    text: "several nodes, and several ranks on one",
    met: |s| s.placement.has_levels(),
};

/// The same where every node must have leaders.
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
