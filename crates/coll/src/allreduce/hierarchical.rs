//! Combined within each node, then among the leaders of the nodes, and handed
//! out within each node.

use catena_schedule::Builder;

use crate::levels::{Levels, among_leaders, in_node};
use crate::{Args, Collective, Terms};

pub(super) fn cost(t: &Terms) -> f64 {
    let node = in_node(t.shape.bytes, t);
    let leaders = among_leaders(t.shape.bytes, t);
    node.cheapest(Collective::Reduce).1
        + leaders.cheapest(Collective::Allreduce).1
        + node.cheapest(Collective::Bcast).1
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let (result, levels) = (a.vector_out(), Levels::new(a));
    levels.node.reduce(levels.leader, a.vector_in(), result, b);
    if levels.leads() {
        levels.leaders().allreduce(result, result, b);
    }
    levels.node.bcast(levels.leader, result, b);
}
