//! Each rank waits for the result of the one below it.

use catena_plan::{Builder, Order};

use crate::Args;
use crate::acc::Acc;
use crate::model::Terms;

pub(super) fn cost(t: &Terms) -> f64 {
    let n = t.shape.bytes as f64;
    f64::from(t.shape.size - 1) * (t.hop(n) + t.combine(n))
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
