//! `MPI_Reduce`: the vectors of the remote group, combined, to the root.

use catena_schedule::{Builder, Order, Region};

use super::call::{Algorithm, Args, Root};
use super::local_group::{LocalGroup, Pieces, cost};
use crate::Terms;
use crate::acc::Acc;
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

fn leader_cost(t: &Terms) -> f64 {
    cost(Collective::Reduce, t) + t.hop(t.shape.bytes as f64)
}

/// Combined at the leader, who sends the result.
fn leader(a: &Args, m: &Model, b: &mut Builder) {
    let near = LocalGroup { a, m };
    let result = Region::output(0, a.send.len(0));
    match a.root {
        _ if result.is_empty() => {}
        Root::Here => _ = b.recv(a.far(0), result),
        Root::Near => {}
        Root::There(root) => {
            let sum = near.reduce(a.mine(), b);
            if near.leads() {
                b.send(a.far(root), sum);
            }
        }
    }
}

fn linear_cost(t: &Terms) -> f64 {
    let (n, p) = (t.shape.bytes as f64, f64::from(t.shape.size));
    let processor = p * (t.overhead() + t.combine(n));
    let wire = t.latency() + t.stream(p, n) + t.combine(n);
    processor.max(wire) + t.overhead()
}

/// Everyone to the root, which combines.
fn linear(a: &Args, _: &Model, b: &mut Builder) {
    let result = Region::output(0, a.send.len(0));
    match a.root {
        _ if result.is_empty() => {}
        Root::Here => combine_far(a, result, b),
        Root::Near => {}
        Root::There(root) => _ = b.send(a.far(root), a.mine()),
    }
}

/// Receives the vectors of the remote group and combines them to `result`, in
/// the order of their ranks.
pub(super) fn combine_far(a: &Args, result: Region, b: &mut Builder) {
    b.recv(a.far(0), result);
    let mut acc = Acc::new(result, result);
    for peer in 1..a.remote {
        acc.combine(b, a.far(peer), Order::FromRight);
    }
}

fn pieces_cost(t: &Terms) -> f64 {
    let piece = t.shape.bytes as f64 / f64::from(t.shape.size);
    cost(Collective::ReduceScatter, t) + t.latency() + t.stream(f64::from(t.shape.size), piece)
}

/// Everyone combines a piece and sends it to the root.
fn pieces(a: &Args, m: &Model, b: &mut Builder) {
    let result = Region::output(0, a.send.len(0));
    match a.root {
        Root::Here => {
            let pieces = Pieces::new(result.len, a.elem, a.remote);
            for from in 0..a.remote {
                let piece = pieces.of(result, from);
                if !piece.is_empty() {
                    b.recv(a.far(from), piece);
                }
            }
        }
        Root::Near => {}
        Root::There(root) => {
            let piece = LocalGroup { a, m }.reduce_scatter(a.mine(), b);
            if !piece.is_empty() {
                b.send(a.far(root), piece);
            }
        }
    }
}
