//! Every rank sends its vector to every other and combines all p in the order
//! of ranks: one hop, for few ranks and short vectors.

use catena_schedule::{Builder, Order};

use crate::Args;
use crate::Terms;

pub(super) fn cost(t: &Terms) -> f64 {
    // The first operand may be the last to arrive.
    t.everyone(t.n, 0.0) + (t.p - 1.0) * t.combine(t.n)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let (input, output) = (a.vector_in(), a.vector_out());
    if input.is_empty() {
        return;
    }
    // Every rank combines from rank 0 upwards, so that all get the same bits;
    // in place, its own operand has to move out of the way until its turn.
    let mine = if a.in_place && a.rank > 0 {
        let aside = b.scratch(input.len);
        b.copy(input, aside);
        aside
    } else {
        input
    };
    for k in 1..a.size {
        b.send(a.up(k), mine);
    }
    if a.rank == 0 {
        b.copy(input, output);
    } else {
        b.recv(0, output);
    }
    for i in 1..a.size {
        if i == a.rank {
            b.reduce(mine, output, Order::FromRight);
        } else {
            let arrive = b.scratch(input.len);
            b.recv(i, arrive);
            b.reduce(arrive, output, Order::FromRight);
        }
    }
}
