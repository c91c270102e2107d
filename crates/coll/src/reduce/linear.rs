//! Every rank sends its vector to the root, which combines them: one hop.

use catena_plan::{Builder, Order};

use crate::acc::{Acc, combine_all};
use crate::{Args, Model, Shape};

pub(super) fn cost(s: &Shape, m: &Model) -> f64 {
    let (n, others) = (s.bytes as f64, f64::from(s.size - 1));
    // Combining one vector overlaps with receiving the next.
    let processor = others * (m.overhead + m.combine(n));
    let wire = m.latency + m.stream(others, n) + m.combine(n);
    processor.max(wire) + m.overhead
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    if a.vector_in().is_empty() {
        return;
    }
    if a.rank != a.root {
        b.send(a.root, a.vector_in());
    } else if a.commutative {
        let mut acc = Acc::new(a.vector_in(), a.vector_out());
        for k in 1..a.size {
            acc.combine(b, a.up(k), Order::FromRight);
        }
        acc.settle(b);
    } else {
        combine_all(a, a.vector_in(), a.vector_out(), b);
    }
}
