//! Blocks go round the ring: p − 1 hops, only to neighbours.

use catena_schedule::Builder;

use super::own;
use crate::Args;
use crate::Terms;
use crate::args::wrap;

pub(super) fn cost(t: &Terms) -> f64 {
    t.ring(t.p - 1.0, t.n, 0.0)
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
            own::mine(a)
        } else {
            a.recv_block(out)
        };
        if !out.is_empty() {
            b.send(right, out);
        }
    }
    own::keep(a, b);
}
