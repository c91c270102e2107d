//! A binomial tree: ⌈log₂ p⌉ hops, in which the blocks of whole subtrees travel
//! together. For blocks of one length.

use catena_plan::{Builder, Region};

use crate::Args;
use crate::model::Terms;
use crate::model::depth;
use crate::tree::{children, parent, subtree};

pub(super) fn cost(t: &Terms) -> f64 {
    depth(t.shape.size) * t.hop(0.0)
        + f64::from(t.shape.size - 1) * t.shape.bytes as f64 * t.per_byte()
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    if a.rank == a.root {
        root(a, b);
        return;
    }
    let (n, me) = (a.send.len(a.rank), a.place());
    if n == 0 {
        return;
    }
    let mine = Region::input(0, n);
    let held = subtree(a.size, me);
    let up = a.nth_from_root(parent(me));
    if held == 1 {
        b.send(up, mine);
        return;
    }
    let all = b.scratch(held as usize * n);
    for child in children(a.size, me) {
        let part = all.part(
            (child - me) as usize * n,
            subtree(a.size, child) as usize * n,
        );
        b.recv(a.nth_from_root(child), part);
    }
    b.copy(mine, all.part(0, n));
    b.send(up, all);
}

fn root(a: &Args, b: &mut Builder) {
    let n = a.recv.len(a.rank);
    if n == 0 {
        return;
    }
    for child in children(a.size, 0) {
        let (first, number) = (a.nth_from_root(child), subtree(a.size, child));
        // Blocks lie in the order of ranks, subtrees in the order from the
        // root: one of them may go round the end.
        let before_end = number.min(a.size - first) as usize;
        if before_end == number as usize {
            b.recv(first, Region::output(a.recv.offset(first), before_end * n));
        } else {
            let wrapped = b.scratch(number as usize * n);
            b.recv(first, wrapped);
            let (head, tail) = (before_end * n, (number as usize - before_end) * n);
            b.copy(
                wrapped.part(0, head),
                Region::output(a.recv.offset(first), head),
            );
            b.copy(wrapped.part(head, tail), Region::output(0, tail));
        }
    }
    if !a.in_place {
        b.copy(Region::input(0, n), a.recv_block(a.rank));
    }
}
