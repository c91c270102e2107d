//! Each rank waits for the result of the one below it.

use catena_schedule::{Builder, Order};

use crate::Args;
use crate::Terms;

pub(super) fn cost(t: &Terms) -> f64 {
    t.chain(t.n, t.n, t.combine(t.n))
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let (input, output) = (a.vector_in(), a.vector_out());
    if input.is_empty() {
        return;
    }
    let last = a.rank + 1 == a.size;
    if a.rank == 0 {
        if !last {
            b.send(1, input);
        }
    } else if last {
        b.recv(a.rank - 1, output);
    } else {
        let through = b.scratch(input.len);
        b.copy(input, through);
        b.recv(a.rank - 1, output);
        b.reduce(output, through, Order::FromLeft);
        b.send(a.rank + 1, through);
    }
}
