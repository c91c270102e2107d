//! Gathered at the leader of each node, exchanged among the leaders, and handed
//! out within each node. For nodes that are ranges of ranks.

use catena_schedule::Builder;

use super::own;
use crate::levels::{Levels, among_leaders, in_node};
use crate::part::Pieces;
use crate::{Args, Collective, Terms};

pub(super) fn cost(t: &Terms) -> f64 {
    let n = t.shape.bytes;
    let all = n * t.shape.size as usize;
    in_node(n, t).cheapest(Collective::Gather).1
        + among_leaders(all, t).cheapest(Collective::Allgatherv).1
        + in_node(all, t).cheapest(Collective::Bcast).1
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let levels = Levels::new(a);
    let all = catena_schedule::Region::output(0, a.recv.end(a.size));
    let sizes = levels
        .nodes
        .sizes()
        .map(|ranks| ranks as usize * a.recv.len(0));
    let pieces = Pieces::of_lengths(sizes.collect());
    let ours = pieces.of(all, levels.at);
    levels.node.gather(levels.leader, own::mine(a), ours, b);
    if levels.leads() {
        levels.leaders().allgather(&pieces, all, b);
    }
    levels.node.bcast(levels.leader, all, b);
}
