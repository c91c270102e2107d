//! Combined within each node, then every leader gets the blocks of its node, and
//! hands them out. For nodes that are ranges of ranks.

use catena_schedule::{Builder, Region};

use crate::levels::{Levels, among_leaders, in_node};
use crate::part::Pieces;
use crate::{Args, Collective, Terms};

pub(super) fn cost(t: &Terms) -> f64 {
    let block = t.shape.bytes / t.shape.size as usize;
    in_node(t.shape.bytes, t).cheapest(Collective::Reduce).1
        + among_leaders(t.shape.bytes, t)
            .cheapest(Collective::ReduceScatter)
            .1
        + in_node(block, t).cheapest(Collective::Scatterv).1
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let levels = Levels::new(a);
    let lengths = |ranks: &[u32]| ranks.iter().map(|&r| a.send.len(r)).collect::<Vec<_>>();
    let nodes = (0..levels.nodes.placement().nodes).map(|i| levels.nodes.on(i));
    let vector = Region {
        len: a.send.end(a.size),
        ..a.vector_block(0)
    };
    let (mut combined, mut ours) = (vector, a.result_block());
    if levels.leads() {
        combined = b.scratch(vector.len);
    }
    levels.node.reduce(levels.leader, vector, combined, b);
    let node = lengths(levels.nodes.on(levels.at));
    if levels.leads() {
        let pieces = Pieces::of_lengths(nodes.map(|on| lengths(on).iter().sum()).collect());
        ours = b.scratch(node.iter().sum());
        levels.leaders().reduce_scatter(&pieces, combined, ours, b);
    }
    let pieces = Pieces::of_lengths(node);
    levels
        .node
        .scatterv(ours, pieces.layout(), a.result_block(), b);
}
