//! Every rank sends its block to every other: one hop.

use catena_plan::Builder;

use crate::{Args, Model, Shape};

pub(super) fn cost(s: &Shape, m: &Model) -> f64 {
    let (n, others) = (s.bytes as f64, f64::from(s.size - 1));
    m.latency + m.stream(others, n) + others * m.overhead + m.copies(1.0, n)
}

pub(super) fn table_cost(s: &Shape, m: &Model) -> f64 {
    cost(
        &Shape {
            bytes: s.bytes / s.size as usize,
            ..*s
        },
        m,
    )
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
