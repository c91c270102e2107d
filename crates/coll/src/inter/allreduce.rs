//! `MPI_Allreduce`: each group gets the combined vectors of the other.

use catena_schedule::{Builder, Region};

use super::call::{Algorithm, Args};
use super::local_group::{LocalGroup, Pieces, cost};
use super::reduce::combine_far;
use super::spread::{self, spread};
use crate::Terms;
use crate::{Collective, Model};

pub(super) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "leader",
        cost: leader_cost,
        build: leader,
    },
    Algorithm {
        name: "linear",
        cost: linear_cost,
        build: linear,
    },
    Algorithm {
        name: "pieces",
        cost: pieces_cost,
        build: pieces,
    },
];

fn result(a: &Args) -> Region {
    Region::output(0, a.send.len(0))
}

fn leader_cost(t: &Terms) -> f64 {
    cost(Collective::Reduce, t) + t.hop(t.shape.bytes as f64) + cost(Collective::Bcast, t)
}

/// Combined at the leaders, who exchange the results and broadcast them.
fn leader(a: &Args, m: &Model, b: &mut Builder) {
    if a.mine().is_empty() {
        return;
    }
    let near = LocalGroup { a, m };
    let ours = near.reduce(a.mine(), b);
    if near.leads() {
        b.send(a.far(0), ours);
        b.recv(a.far(0), result(a));
    }
    near.bcast(result(a), b);
}

fn linear_cost(t: &Terms) -> f64 {
    let (n, p) = (t.shape.bytes as f64, f64::from(t.shape.size));
    let processor = p * (2.0 * t.overhead() + t.combine(n));
    let wire = t.latency() + t.stream(p, n) + t.combine(n);
    processor.max(wire) + t.overhead()
}

/// Everyone to everyone, who all combine in the order of ranks.
fn linear(a: &Args, _: &Model, b: &mut Builder) {
    if a.mine().is_empty() {
        return;
    }
    for peer in a.far_ranks() {
        b.send(a.far(peer), a.mine());
    }
    combine_far(a, result(a), b);
}

fn pieces_cost(t: &Terms) -> f64 {
    let piece = t.shape.bytes as f64 / f64::from(t.shape.size);
    cost(Collective::ReduceScatter, t) + spread::cost(piece, t)
}

/// Everyone combines a piece, which goes to one of the other group and round
/// its ring.
fn pieces(a: &Args, m: &Model, b: &mut Builder) {
    let piece = LocalGroup { a, m }.reduce_scatter(a.mine(), b);
    let theirs = Pieces::new(result(a).len, a.elem, a.remote);
    spread(a, piece, |i| theirs.of(result(a), i), b);
}
