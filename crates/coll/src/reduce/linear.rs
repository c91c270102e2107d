//! Every rank sends its vector to the root, which combines them: one hop.

use catena_schedule::{Builder, Order};

use crate::Args;
use crate::Terms;
use crate::acc::{Acc, combine_all};

pub(super) fn cost(t: &Terms) -> f64 {
    t.fan(t.n, t.combine(t.n))
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
