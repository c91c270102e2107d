//! Blocks go round the ring: p − 1 hops, only to neighbours.

use catena_plan::Builder;

use crate::Args;
use crate::args::wrap;
use crate::model::Terms;

pub(super) fn cost(t: &Terms) -> f64 {
    f64::from(t.shape.size - 1) * t.hop(t.shape.bytes as f64) + t.copies(1.0, t.shape.bytes as f64)
}

pub(super) fn table_cost(t: &Terms) -> f64 {
    cost(&t.with_bytes(t.shape.bytes / t.shape.size as usize))
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let p = a.size;
    let (left, right) = (a.down(1), a.up(1));
    for k in 0..p - 1 {
        let (out, got) = (wrap(a.rank, p - k, p), wrap(left, p - k, p));
        if !a.recv_block(got).is_empty() {
            b.recv(left, a.recv_block(got));
        }
        let out = if k == 0 {
            super::own_block(a, b)
        } else {
            a.recv_block(out)
        };
        if !out.is_empty() {
            b.send(right, out);
        }
    }
    if p == 1 {
        super::own_block(a, b);
    }
}
