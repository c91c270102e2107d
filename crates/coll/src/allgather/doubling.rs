//! Recursive doubling: partners at distance 1, 2, 4, … exchange what they have.
//! log₂ p hops; for a power of two of ranks and blocks of one length.

use catena_plan::{Builder, Region};

use crate::{Args, Model, Shape};

pub(super) fn cost(s: &Shape, m: &Model) -> f64 {
    let n = s.bytes as f64;
    f64::from(s.size.ilog2()) * m.hop(0.0)
        + f64::from(s.size - 1) * n * m.per_byte
        + m.copies(1.0, n)
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
