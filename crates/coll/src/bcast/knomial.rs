//! A tree of high degree: few hops of the whole message.

use catena_schedule::Builder;

use crate::tree::Tree;
use crate::{Args, Terms};

pub(super) fn cost<const RADIX: u32>(t: &Terms) -> f64 {
    t.down::<RADIX>(|_| t.n)
}

pub(super) fn build<const RADIX: u32>(a: &Args, b: &mut Builder) {
    let message = a.recv_block(0);
    if message.is_empty() {
        return;
    }
    let (me, tree) = (a.place(), Tree::<RADIX> { size: a.size });
    if me != 0 {
        b.recv(a.nth_from_root(tree.parent(me)), message);
    }
    for child in tree.children(me).rev() {
        b.send(a.nth_from_root(child), message);
    }
}
