//! Each rank waits for the result of the one below it.

use catena_plan::{Builder, Order};

use crate::acc::Acc;
use crate::{Args, Model, Shape};

pub(super) fn cost(s: &Shape, m: &Model) -> f64 {
    let n = s.bytes as f64;
    f64::from(s.size - 1) * (m.hop(n) + m.combine(n))
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    if a.vector_in().is_empty() {
        return;
    }
    let mut acc = Acc::new(a.vector_in(), a.vector_out());
    if a.rank > 0 {
        acc.combine(b, a.rank - 1, Order::FromLeft);
    }
    if a.rank + 1 < a.size {
        b.send(a.rank + 1, acc.now());
    }
    acc.settle(b);
}
