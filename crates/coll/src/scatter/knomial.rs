//! A tree of high degree: few hops, in which the blocks of whole subtrees travel
//! together. For blocks of one length.

use catena_schedule::{Builder, Region};

use crate::Args;
use crate::Terms;
use crate::tree::Tree;

pub(super) fn cost<const RADIX: u32>(t: &Terms) -> f64 {
    t.down::<RADIX>(|blocks| blocks * t.n)
}

pub(super) fn build<const RADIX: u32>(a: &Args, b: &mut Builder) {
    if a.rank == a.root {
        root::<RADIX>(a, b);
        return;
    }
    let (n, me) = (a.recv.len(a.rank), a.place());
    let tree = Tree::<RADIX> { size: a.size };
    if n == 0 {
        return;
    }
    let mine = Region::output(0, n);
    let held = tree.subtree(me);
    let up = a.nth_from_root(tree.parent(me));
    if held == 1 {
        b.recv(up, mine);
        return;
    }
    let all = b.scratch(held as usize * n);
    b.recv(up, all);
    for child in tree.children(me).rev() {
        let part = all.part((child - me) as usize * n, tree.subtree(child) as usize * n);
        b.send(a.nth_from_root(child), part);
    }
    b.copy(all.part(0, n), mine);
}

fn root<const RADIX: u32>(a: &Args, b: &mut Builder) {
    let n = a.send.len(a.rank);
    if n == 0 {
        return;
    }
    let tree = Tree::<RADIX> { size: a.size };
    for child in tree.children(0).rev() {
        let (first, number) = (a.nth_from_root(child), tree.subtree(child));
        // Blocks lie in the order of ranks, subtrees in the order from the
        // root: one of them may go round the end.
        let before_end = number.min(a.size - first) as usize;
        if before_end == number as usize {
            b.send(first, Region::input(a.send.offset(first), before_end * n));
        } else {
            let wrapped = b.scratch(number as usize * n);
            let (head, tail) = (before_end * n, (number as usize - before_end) * n);
            b.copy(
                Region::input(a.send.offset(first), head),
                wrapped.part(0, head),
            );
            b.copy(Region::input(0, tail), wrapped.part(head, tail));
            b.send(first, wrapped);
        }
    }
    if !a.in_place {
        b.copy(a.send_block(a.rank), Region::output(0, n));
    }
}
