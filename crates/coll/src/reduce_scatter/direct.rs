//! Every rank receives its block from every other rank and combines them: one
//! hop, n(p − 1)/p bytes, any operation.

use catena_schedule::Builder;

use crate::Args;
use crate::Terms;
use crate::acc::combine_all;

pub(crate) fn cost(t: &Terms) -> f64 {
    let block = t.n / t.p;
    t.everyone(block, t.combine(block))
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    for to in (1..a.size).map(|k| a.up(k)) {
        if !a.vector_block(to).is_empty() {
            b.send(to, a.vector_block(to));
        }
    }
    let result = a.result_block();
    if result.is_empty() {
        return;
    }
    // In place, the result may take the place of parts of the input.
    let home = if a.in_place {
        b.scratch(result.len)
    } else {
        result
    };
    combine_all(a, a.vector_block(a.rank), home, b);
    b.copy(home, result);
}
