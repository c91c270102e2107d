//! A tree of high degree: few hops of the whole vector. It starts at the root if
//! operands may be exchanged; else at rank 0, which keeps their order, and the
//! result takes one hop more.

use catena_schedule::{Builder, Order};

use crate::Args;
use crate::Terms;
use crate::acc::Acc;
use crate::args::wrap;
use crate::tree::Tree;

pub(super) fn cost<const RADIX: u32>(t: &Terms) -> f64 {
    let forward = if t.shape.commutative || t.shape.size == 1 {
        0.0
    } else {
        t.message(t.far(), t.n)
    };
    t.up::<RADIX>(|_| t.n, t.combine(t.n)) + forward
}

pub(super) fn build<const RADIX: u32>(a: &Args, b: &mut Builder) {
    let input = a.vector_in();
    if input.is_empty() {
        return;
    }
    let top = if a.commutative { a.root } else { 0 };
    let place = wrap(a.rank, a.size - top, a.size);
    let tree = Tree::<RADIX> { size: a.size };
    let rank_at = |place| wrap(top, place, a.size);
    let below: Vec<u32> = tree.children(place).map(rank_at).collect();
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
        b.send(rank_at(tree.parent(place)), acc.now());
        if a.rank == a.root {
            b.recv(top, a.vector_out());
        }
    } else if a.rank == a.root {
        acc.settle(b);
    } else {
        b.send(a.root, acc.now());
    }
}
