//! Blocks go round the ring and are combined on the way, each until it is where it
//! belongs: p − 1 hops of n/p bytes, only to neighbours. For operands that may be
//! exchanged.

use catena_schedule::{Builder, Order};

use crate::Args;
use crate::Terms;

pub(super) fn cost(t: &Terms) -> f64 {
    let block = t.n / t.p;
    t.ring(t.p - 1.0, block, t.combine(block))
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let (left, right) = (a.down(1), a.up(1));
    let longest = (0..a.size).map(|i| a.send.len(i)).max().unwrap_or(0);
    let arrive = [b.scratch(longest), b.scratch(longest)];
    let mut passed = a.vector_block(left);
    for k in 1..a.size {
        if !passed.is_empty() {
            b.send(right, passed);
        }
        // The last one that comes is this rank's.
        let own = a.vector_block(a.down(k + 1));
        passed = match k + 1 == a.size {
            true if !a.in_place => a.result_block(),
            _ => arrive[k as usize % 2].part(0, own.len),
        };
        if !own.is_empty() {
            b.recv(left, passed);
            b.reduce(own, passed, Order::FromLeft);
        }
    }
    b.copy(
        if a.size == 1 {
            a.vector_block(0)
        } else {
            passed
        },
        a.result_block(),
    );
}
