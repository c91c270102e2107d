//! Recursive doubling: partners at distance 1, 2, 4, … exchange what they have.
//! log₂ p hops; for a power of two of ranks and blocks of one length.

use catena_plan::{Builder, Region};

use crate::Args;
use crate::model::Terms;

pub(super) fn cost(t: &Terms) -> f64 {
    let n = t.shape.bytes as f64;
    f64::from(t.shape.size.ilog2()) * t.hop(0.0)
        + f64::from(t.shape.size - 1) * n * t.per_byte()
        + t.copies(1.0, n)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let n = a.recv.len(0);
    if n == 0 {
        return;
    }
    let blocks =
        |first: u32, number: u32| Region::output(a.recv.offset(first), number as usize * n);
    let mut mine = super::own_block(a, b);
    let mut have = 1;
    while have < a.size {
        let partner = a.rank ^ have;
        b.recv(partner, blocks(partner & !(have - 1), have));
        b.send(partner, mine);
        have *= 2;
        mine = blocks(a.rank & !(have - 1), have);
    }
}
