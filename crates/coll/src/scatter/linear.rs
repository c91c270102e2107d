//! The root sends every rank its block.

use catena_schedule::{Builder, Region};

use crate::Args;
use crate::Terms;

pub(super) fn cost(t: &Terms) -> f64 {
    t.fan(t.n, 0.0)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    if a.rank != a.root {
        let mine = Region::output(0, a.recv.len(a.rank));
        if !mine.is_empty() {
            b.recv(a.root, mine);
        }
        return;
    }
    for to in (1..a.size).map(|i| a.nth_from_root(i)) {
        if !a.send_block(to).is_empty() {
            b.send(to, a.send_block(to));
        }
    }
    if !a.in_place {
        let mine = a.send_block(a.rank);
        b.copy(mine, Region::output(0, mine.len));
    }
}
