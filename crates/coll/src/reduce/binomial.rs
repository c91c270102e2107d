//! A binomial tree: ⌈log₂ p⌉ hops of the whole vector. It starts at the root if
//! operands may be exchanged; else at rank 0, which keeps their order, and the
//! result takes one hop more.

use catena_plan::{Builder, Order};

use crate::acc::Acc;
use crate::args::wrap;
use crate::model::depth;
use crate::tree::{children, parent};
use crate::{Args, Model, Shape};

pub(super) fn cost(s: &Shape, m: &Model) -> f64 {
    let n = s.bytes as f64;
    let forward = if s.commutative || s.size == 1 {
        0.0
    } else {
        m.hop(n)
    };
    let side = if s.size.is_power_of_two() {
        0.0
    } else {
        m.combine(n).max(n * m.per_byte)
    };
    depth(s.size) * (m.hop(n) + m.combine(n)) + side + forward
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
