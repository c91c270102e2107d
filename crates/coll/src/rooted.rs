//! What a collective with a root costs that goes by nodes.

use crate::levels::{among_leaders, in_node, of_ranks};
use crate::pipe::{self, Branches};
use crate::{Collective, Terms};

/// Time of a rooted collective among the leaders and then in each node, or back,
/// with some work for each byte that arrives. Of two nodes that of the root does
/// not wait for the other, only for `root` seconds of work of its own.
pub(crate) fn rooted_cost(
    what: Collective,
    root: f64,
    work: impl Fn(f64) -> f64,
    t: &Terms,
) -> f64 {
    let bytes = t.shape.bytes;
    let (over, across) = among_leaders(bytes, t).cheapest(what);
    let (inside, node) = in_node(bytes, t).cheapest(what);
    if let (Some(across), Some(within)) = (pipe::branch(over), pipe::branch(inside)) {
        return pipe::cost_of_both(t, Branches { across, within }, work);
    }
    match t.shape.placement {
        p if p.nodes == 2 => {
            let other = of_ranks(p.fewest, bytes, t).cheapest(what).1;
            (root.min(across) + node).max(across + other)
        }
        _ => across + node,
    }
}
