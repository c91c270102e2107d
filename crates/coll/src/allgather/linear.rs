//! Every rank sends its block to every other: one hop.

use catena_plan::Builder;

use crate::Args;
use crate::model::Terms;

pub(super) fn cost(t: &Terms) -> f64 {
    let (n, others) = (t.shape.bytes as f64, f64::from(t.shape.size - 1));
    t.latency() + t.stream(others, n) + others * t.overhead() + t.copies(1.0, n)
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
    let mine = super::own_block(a, b);
    if !mine.is_empty() {
        for to in (1..a.size).map(|k| a.up(k)) {
            b.send(to, mine);
        }
    }
}
