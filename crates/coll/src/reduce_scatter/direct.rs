//! Every rank receives its block from every other rank and combines them: one
//! hop, n(p − 1)/p bytes, any operation.

use catena_schedule::Builder;

use super::blocks::{block_in, result};
use crate::Args;
use crate::Terms;
use crate::acc::combine_all;

pub(crate) fn cost(t: &Terms) -> f64 {
    let block = t.n / t.p;
    t.everyone(block, t.combine(block))
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    for to in (1..a.size).map(|k| a.up(k)) {
        if !block_in(a, to).is_empty() {
            b.send(to, block_in(a, to));
        }
    }
    let result = result(a);
    if result.is_empty() {
        return;
    }
    // In place, the result may take the place of parts of the input.
    let home = if a.in_place {
        b.scratch(result.len)
    } else {
        result
    };
    combine_all(a, block_in(a, a.rank), home, b);
    b.copy(home, result);
}
