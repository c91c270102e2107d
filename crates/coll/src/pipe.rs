//! Trees along which long messages travel in segments: a chain, or one in which
//! everyone has two children. Where nodes are known they connect the leaders of
//! the nodes, and the ranks of each node, for themselves.

use crate::levels::Levels;
use crate::{Algorithm, Args, Terms};

/// How a tree branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Branch {
    /// Everyone has one child.
    Chain,
    /// Two.
    Binary,
}

/// How a tree branches among the leaders of nodes, and within a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Branches {
    pub(crate) across: Branch,
    pub(crate) within: Branch,
}

pub(crate) const CHAIN: Branches = Branches {
    across: Branch::Chain,
    within: Branch::Chain,
};

pub(crate) const BINARY: Branches = Branches {
    across: Branch::Binary,
    within: Branch::Binary,
};

pub(crate) const BINARY_CHAIN: Branches = Branches {
    across: Branch::Binary,
    within: Branch::Chain,
};

impl Branches {
    fn depth(&self, nodes: u32, per_node: u32) -> u32 {
        self.across.depth(nodes) + self.within.depth(per_node)
    }
}

/// The ranks that one rank has next to it in a tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pipe {
    /// The rank before this one; none at the root.
    pub(crate) parent: Option<u32>,
    /// The ranks behind this one, those that are farther away first.
    pub(crate) children: Vec<u32>,
    /// Hops from the root to the farthest rank.
    pub(crate) depth: u32,
}

impl Pipe {
    /// Of this rank, in the tree whose root is that of the call.
    pub(crate) fn new(a: &Args, tree: Branches) -> Self {
        let mut pipe = Pipe::default();
        if a.site.is_none() {
            pipe.depth = tree.depth(1, a.size);
            pipe.connect(tree.within, a.size, a.place(), |place| {
                a.nth_from_root(place)
            });
            return pipe;
        }
        let levels = Levels::rooted(a);
        if levels.leads() {
            let leaders = levels.leaders();
            let place = |i| (leaders.size - levels.top + i) % leaders.size;
            let rank = |place| leaders.rank((place + levels.top) % leaders.size);
            pipe.connect(tree.across, leaders.size, place(leaders.me), rank);
        }
        let node = &levels.node;
        let place = |i| (node.size - levels.leader + i) % node.size;
        let rank = |place| node.rank((place + levels.leader) % node.size);
        pipe.connect(tree.within, node.size, place(node.me), rank);
        let placement = levels.nodes.placement();
        pipe.depth = tree.depth(placement.nodes, placement.per_node);
        pipe
    }

    /// Adds the neighbours of the one at `place` of `size`.
    fn connect(&mut self, branch: Branch, size: u32, place: u32, rank: impl Fn(u32) -> u32) {
        // The subtree that starts at `first` and ends before `end`.
        let (mut first, mut end) = (0, size);
        let mut parent = None;
        while first < place {
            let middle = branch.middle(first, end);
            parent = Some(first);
            (first, end) = if place < middle {
                (first + 1, middle)
            } else {
                (middle, end)
            };
        }
        if let Some(parent) = parent {
            self.parent = Some(rank(parent));
        }
        let middle = branch.middle(first, end);
        if middle < end {
            self.children.push(rank(middle));
        }
        if first + 1 < middle {
            self.children.push(rank(first + 1));
        }
    }
}

impl Branch {
    /// Where the second subtree below `first` starts, of those that end before
    /// `end`.
    fn middle(self, first: u32, end: u32) -> u32 {
        match self {
            Branch::Chain => first + 1,
            Branch::Binary => first + 1 + (end - first - 1) / 2,
        }
    }

    /// Children of everyone who is not near the end.
    pub(crate) fn children(self) -> u32 {
        match self {
            Branch::Chain => 1,
            Branch::Binary => 2,
        }
    }

    /// Time until the last of `size` ranks has the first segment, of `hop` for each
    /// hop, and `later` for the second child.
    pub(crate) fn time(self, size: u32, hop: f64, later: f64) -> f64 {
        /// For `size` ranks, and one more.
        fn binary(size: u32, hop: f64, later: f64) -> [f64; 2] {
            if size == 1 {
                return [0.0, hop];
            }
            let smaller = (size - 1) / 2;
            let below = if smaller == 0 {
                [0.0, 0.0]
            } else {
                binary(smaller, hop, later)
            };
            let of = |ranks: u32| {
                let (second, first) = ((ranks - 1) / 2, ranks / 2);
                let at = |n: u32| below[(n - smaller) as usize];
                let second = if second == 0 { 0.0 } else { later + at(second) };
                hop + at(first).max(second)
            };
            [of(size), of(size + 1)]
        }
        match self {
            Branch::Chain => f64::from(size - 1) * hop,
            Branch::Binary => binary(size, hop, later)[0],
        }
    }

    /// Hops to the farthest of `size` ranks.
    pub(crate) fn depth(self, size: u32) -> u32 {
        match self {
            Branch::Chain => size - 1,
            Branch::Binary => size.ilog2(),
        }
    }
}

/// Bytes of a segment of a message that makes so many hops: short ones where the
/// time of the first matters, else long ones, whose number is less, and bounded:
/// a schedule has steps for each.
pub(crate) fn segment(bytes: usize, hops: u32) -> usize {
    if bytes / LONG > 8 * hops as usize {
        bytes.div_ceil(MOST).next_multiple_of(LONG)
    } else {
        SHORT
    }
}

/// The most segments that a message of so many bytes has.
pub(crate) fn segments(bytes: usize) -> f64 {
    bytes.div_ceil(SHORT) as f64
}

/// How the tree of an algorithm branches that passes on segments within a node, or
/// among leaders.
pub(crate) fn branch(algorithm: &Algorithm) -> Option<Branch> {
    match algorithm.name {
        "chain" => Some(Branch::Chain),
        "binary" => Some(Branch::Binary),
        _ => None,
    }
}

const SHORT: usize = 8 << 10;
/// Stays in the cache from one hop to the next.
const LONG: usize = 32 << 10;
const MOST: usize = 8192;

/// Estimated time along such a tree, with some work for each byte that arrives.
pub(crate) fn cost(t: &Terms, tree: Branches, work: impl Fn(f64) -> f64) -> f64 {
    let placement = t.shape.placement;
    let segment = cut(t, tree.depth(placement.nodes, placement.per_node));
    t.pipe(tree, [segment; 2], work)
}

/// Estimated time along a tree, as [`cost`], if its levels cut segments each for itself.
pub(crate) fn cost_of_both(t: &Terms, tree: Branches, work: impl Fn(f64) -> f64) -> f64 {
    let placement = t.shape.placement;
    let across = cut(t, tree.across.depth(placement.nodes));
    let within = cut(t, tree.within.depth(placement.per_node));
    t.pipe(tree, [across, within], work)
}

fn cut(t: &Terms, hops: u32) -> f64 {
    segment(t.shape.bytes, hops).min(t.shape.bytes) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_short_at_first_and_never_too_many() {
        assert_eq!(segment(64 << 10, 3), SHORT);
        assert_eq!(segment(1 << 20, 3), LONG);
        assert_eq!(segment(MOST * LONG, 3), LONG);
        for bytes in [MOST * LONG + 1, 1 << 40, usize::MAX] {
            let segment = segment(bytes, 3);
            assert!(segment > LONG && bytes.div_ceil(segment) <= MOST, "{bytes}");
        }
    }
}
