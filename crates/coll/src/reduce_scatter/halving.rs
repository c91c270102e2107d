//! Recursive halving: partners at distance p/2, p/4, … exchange the half of the
//! vector that the other is responsible for. log₂ p hops; for a power of two of
//! ranks, and operands that may be exchanged, as distant ranks are combined first.

use catena_schedule::{Builder, Order, Region};

use crate::Args;
use crate::Terms;
use crate::acc::Acc;

pub(super) fn cost(t: &Terms) -> f64 {
    let part = |d: u32| t.n * f64::from(d) / t.p;
    let rounds = t
        .distances()
        .rev()
        .map(|d| (d, part(d), t.combine(part(d))));
    t.exchanges(0.0, rounds) + t.copies(1.0, t.n / t.p)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let end = a.send.end(a.size);
    let input = Region {
        len: end,
        ..a.vector_block(0)
    };
    if input.is_empty() {
        return;
    }
    let start = |i| if i == a.size { end } else { a.send.offset(i) };
    // What is held of the vector: the blocks from `first` on.
    let mut acc = Acc::new(input, b.scratch(input.len));
    let mut first = 0;
    let mut distance = a.size / 2;
    while distance > 0 {
        let partner = a.rank ^ distance;
        let halves = [first, first + distance]
            .map(|i| (start(i) - start(first), start(i + distance) - start(i)));
        let [keep, give] = match a.rank & distance {
            0 => halves,
            _ => [halves[1], halves[0]],
        };
        if give.1 > 0 {
            b.send(partner, acc.now().part(give.0, give.1));
        }
        acc.keep(keep.0, keep.1);
        if keep.1 > 0 {
            acc.combine(b, partner, Order::FromRight);
        }
        first += a.rank & distance;
        distance /= 2;
    }
    b.copy(acc.now(), a.result_block());
}
