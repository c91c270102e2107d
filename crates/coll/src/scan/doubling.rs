//! In round k every rank adds what the one 2ᵏ below it has summed up (Hillis,
//! Steele, 1986). ⌈log₂ p⌉ rounds.

use catena_schedule::{Builder, Order};

use crate::Args;
use crate::Terms;
use crate::acc::Acc;

pub(super) fn cost(t: &Terms) -> f64 {
    t.prefix(t.shape.size, t.n, t.combine(t.n))
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    if a.vector_in().is_empty() {
        return;
    }
    let mut acc = Acc::new(a.vector_in(), a.vector_out());
    rounds(&mut acc, a, 0, b);
    acc.settle(b);
}

/// The rounds among ranks `first` to p − 1, of which this is one.
pub(crate) fn rounds(acc: &mut Acc, a: &Args, first: u32, b: &mut Builder) {
    let mut distance = 1;
    while distance < a.size - first {
        if a.size - a.rank > distance {
            b.send(a.rank + distance, acc.now());
        }
        if a.rank - first >= distance {
            acc.combine(b, a.rank - distance, Order::FromLeft);
        }
        distance *= 2;
    }
}
