//! The two levels of a call that goes by nodes: the ranks of each node, and
//! their leaders, one for each node.
//!
//! The lowest rank of a node leads it, or the root where there is one. Ranks of
//! a node, and leaders, are in rising order of ranks, and nodes; so where nodes
//! are ranges of ranks, operands stay in order.

use std::borrow::Cow;

use crate::part::Part;
use crate::{Args, Nodes, Placement, Shape, Terms};

/// The levels as one rank sees them.
#[derive(Debug)]
pub(crate) struct Levels<'a> {
    pub(crate) nodes: &'a Nodes,
    /// The ranks of this node.
    pub(crate) node: Part<'a>,
    /// Which rank of it leads it.
    pub(crate) leader: u32,
    /// The node of the root, or the first one.
    pub(crate) top: u32,
    /// This rank's node.
    pub(crate) at: u32,
    leaders: Vec<u32>,
}

impl<'a> Levels<'a> {
    /// The levels of a call without a root.
    ///
    /// # Panics
    /// If `a` has no site.
    pub(crate) fn new(a: &Args<'a>) -> Self {
        Levels::rooted(&Args { root: 0, ..*a })
    }

    /// The levels of a call with a root, which leads its node.
    pub(crate) fn rooted(a: &Args<'a>) -> Self {
        let site = a.site.expect("algorithms that go by nodes are told them");
        let nodes = site.nodes;
        let (at, top) = (nodes.of(a.rank), nodes.of(a.root));
        let lead = |node| {
            if node == top {
                a.root
            } else {
                nodes.on(node)[0]
            }
        };
        let leaders: Vec<u32> = (0..nodes.placement().nodes).map(lead).collect();
        let ranks = nodes.on(at);
        let index = |rank: u32| ranks.partition_point(|&r| r < rank) as u32;
        let size = ranks.len() as u32;
        Levels {
            nodes,
            node: Part {
                ranks: Some(Cow::Borrowed(ranks)),
                size,
                me: index(a.rank),
                placement: within_node(&nodes.placement(), size),
                crowd: 1,
                model: site.model,
                choose: site.choose,
                elem: a.elem,
                commutative: a.commutative,
            },
            leader: index(leaders[at as usize]),
            top,
            at,
            leaders,
        }
    }

    /// Whether this rank leads its node.
    pub(crate) fn leads(&self) -> bool {
        self.node.me == self.leader
    }

    /// The leaders, for one of them.
    pub(crate) fn leaders(&self) -> Part<'_> {
        self.across(Cow::Borrowed(&self.leaders), 1)
    }

    /// The ranks that have the place on their nodes that this one has on its, if
    /// the first `number` of each node do this.
    pub(crate) fn peers(&self, number: u32) -> Part<'_> {
        let nodes = 0..self.leaders.len() as u32;
        let like = |node| self.nodes.on(node)[self.node.me as usize];
        self.across(nodes.map(like).collect(), number)
    }

    /// One rank of each node.
    fn across<'b>(&'b self, ranks: Cow<'b, [u32]>, crowd: u32) -> Part<'b> {
        let size = ranks.len() as u32;
        Part {
            ranks: Some(ranks),
            size,
            me: self.at,
            placement: Placement::apart(size),
            crowd,
            ..self.node.clone()
        }
    }
}

/// The placement of `size` ranks of a node.
fn within_node(placement: &Placement, size: u32) -> Placement {
    Placement {
        per_domain: placement.per_domain.min(size),
        ..Placement::one_node(size)
    }
}

/// The terms of a call within the fullest node.
pub(crate) fn in_node<'a>(bytes: usize, t: &Terms<'a>) -> Terms<'a> {
    of_ranks(t.shape.placement.per_node, bytes, t)
}

/// The terms of a call within a node of so many ranks.
pub(crate) fn of_ranks<'a>(size: u32, bytes: usize, t: &Terms<'a>) -> Terms<'a> {
    let placement = within_node(&t.shape.placement, size);
    let shape = Shape {
        size,
        bytes,
        placement,
        ..t.shape
    };
    t.of(&shape)
}

/// The terms of a call among the leaders.
pub(crate) fn among_leaders<'a>(bytes: usize, t: &Terms<'a>) -> Terms<'a> {
    let size = t.shape.placement.nodes;
    let placement = Placement::apart(size);
    let shape = Shape {
        size,
        bytes,
        placement,
        ..t.shape
    };
    t.of(&shape)
}
