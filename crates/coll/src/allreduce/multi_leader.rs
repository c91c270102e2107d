//! Within each node the vector is combined in pieces, one for each of as many
//! leaders as the smallest node has ranks; each leader combines its piece with
//! its like on the other nodes; then the pieces are put together within each
//! node. So all ranks work, and every card carries the vector once.

use catena_schedule::Builder;

use crate::levels::{Levels, among_leaders, in_node};
use crate::part::Pieces;
use crate::{Args, Collective, Terms};

pub(super) fn cost(t: &Terms) -> f64 {
    let leaders = t.shape.placement.fewest as usize;
    let node = in_node(t.shape.bytes, t);
    let share = leaders as f64 / f64::from(t.shape.placement.per_node);
    let cost = |what| (node.cheapest(what).0.cost)(&node.sparse(share));
    let piece = among_leaders(t.shape.bytes.div_ceil(leaders), t).oversubscribed(leaders as u32);
    cost(Collective::ReduceScatter)
        + piece.cheapest(Collective::Allreduce).1
        + cost(Collective::Allgatherv)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let (result, levels) = (a.vector_out(), Levels::new(a));
    if result.is_empty() {
        return;
    }
    let (node, number) = (&levels.node, levels.nodes.placement().fewest);
    let pieces = Pieces::new(result.len, a.elem, number).among(node.size);
    let mine = pieces.of(result, node.me);
    let scattered = b.scratch(mine.len);
    node.reduce_scatter(&pieces, a.vector_in(), scattered, b);
    if node.me < number {
        levels.peers(number).allreduce(scattered, mine, b);
    }
    node.allgather(&pieces, result, b);
}
