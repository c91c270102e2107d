//! Every rank sends its block to every other: one hop.

use catena_schedule::Builder;

use super::own;
use crate::Args;
use crate::Terms;

pub(super) fn cost(t: &Terms) -> f64 {
    t.everyone_taking(t.n)
}

pub(super) fn table_cost(t: &Terms) -> f64 {
    cost(&t.with_bytes(t.shape.bytes / t.shape.size as usize))
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    for from in (1..a.size).map(|k| a.down(k)) {
        if !a.recv_block(from).is_empty() {
            b.recv(from, a.recv_block(from));
        }
    }
    let mine = own::mine(a);
    if !mine.is_empty() {
        for to in (1..a.size).map(|k| a.up(k)) {
            b.send(to, mine);
        }
    }
    own::keep(a, b);
}
