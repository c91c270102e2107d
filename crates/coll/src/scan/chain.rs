//! Each rank waits for the result of the one below it.

use catena_schedule::{Builder, Order};

use crate::Args;
use crate::Terms;
use crate::acc::Acc;

pub(super) fn cost(t: &Terms) -> f64 {
    t.chain(t.n, t.n, t.combine(t.n))
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
