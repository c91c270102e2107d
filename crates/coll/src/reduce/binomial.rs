//! A binomial tree: ⌈log₂ p⌉ hops of the whole vector. It starts at the root if
//! operands may be exchanged; else at rank 0, which keeps their order, and the
//! result takes one hop more.

use catena_plan::{Builder, Order};

use crate::Args;
use crate::acc::Acc;
use crate::args::wrap;
use crate::model::Terms;
use crate::model::depth;
use crate::tree::{children, parent};

pub(super) fn cost(t: &Terms) -> f64 {
    let n = t.shape.bytes as f64;
    let forward = if t.shape.commutative || t.shape.size == 1 {
        0.0
    } else {
        t.hop(n)
    };
    let side = if t.shape.size.is_power_of_two() {
        0.0
    } else {
        t.combine(n).max(n * t.per_byte())
    };
    depth(t.shape.size) * (t.hop(n) + t.combine(n)) + side + forward
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let input = a.vector_in();
    if input.is_empty() {
        return;
    }
    let top = if a.commutative { a.root } else { 0 };
    let place = wrap(a.rank, a.size - top, a.size);
    let rank_at = |place| wrap(top, place, a.size);
    let below: Vec<u32> = children(a.size, place).map(rank_at).collect();
    let home = if a.rank == a.root {
        a.vector_out()
    } else if below.is_empty() {
        input // nothing to combine: sent as it is
    } else {
        b.scratch(input.len)
    };
    let mut acc = Acc::new(input, home);
    for child in below {
        acc.combine(b, child, Order::FromRight);
    }
    if a.rank != top {
        b.send(rank_at(parent(place)), acc.now());
        if a.rank == a.root {
            b.recv(top, a.vector_out());
        }
    } else if a.rank == a.root {
        acc.settle(b);
    } else {
        b.send(a.root, acc.now());
    }
}
