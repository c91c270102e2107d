//! Every rank sends its block to the root.

use catena_schedule::{Builder, Region};

use crate::Args;
use crate::Terms;

pub(super) fn cost(t: &Terms) -> f64 {
    t.fan(t.n, 0.0)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    if a.rank != a.root {
        let mine = Region::input(0, a.send.len(a.rank));
        if !mine.is_empty() {
            b.send(a.root, mine);
        }
        return;
    }
    for from in (1..a.size).map(|i| a.nth_from_root(i)) {
        if !a.recv_block(from).is_empty() {
            b.recv(from, a.recv_block(from));
        }
    }
    if !a.in_place {
        let mine = a.recv_block(a.rank);
        b.copy(Region::input(0, mine.len), mine);
    }
}
