//! Every rank is left with the result of a piece of the vector (see reduce_scatter),
//! and the pieces are gathered the other way round: 2⌈log₂ p⌉ hops and 2n(p − 1)/p
//! bytes for any number of ranks; for operands that may be exchanged.

use catena_schedule::Builder;

use crate::Args;
use crate::Terms;
use crate::args::cut;
use crate::circulant::{self, rounds, runs};
use crate::reduce_scatter::circulant::scatter;

pub(super) fn cost(t: &Terms) -> f64 {
    let pass = |work: fn(&Terms, f64) -> f64| circulant::cost::<2>(t, t.n / t.p, |n| work(t, n));
    pass(|t, bytes| t.combine(bytes)) + pass(|_, _| 0.0)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let output = a.vector_out();
    let start = |i| match i == a.size {
        true => output.len,
        false => cut(output.len, a.elem, a.size, i).0,
    };
    let pieces = |first, number| {
        let runs = runs(output, start, [first, number, a.size]);
        runs.into_iter().filter(|run| !run.is_empty())
    };
    let [mine, _] = runs(output, start, [a.rank, 1, a.size]);
    scatter::<2>(a, a.vector_in(), start, mine, b);
    let mut rounds: Vec<_> = rounds::<2>(a.size).collect();
    rounds.reverse();
    for (distance, number) in rounds.iter().flat_map(|round| round.messages()) {
        for run in pieces(a.rank, number) {
            b.send(a.down(distance), run);
        }
        for run in pieces(a.up(distance), number) {
            b.recv(a.up(distance), run);
        }
    }
}
