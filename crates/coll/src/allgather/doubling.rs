//! Recursive doubling: partners at distance 1, 2, 4, … exchange what they have.
//! log₂ p hops; for a power of two of ranks and blocks of one length.

use catena_schedule::{Builder, Region};

use super::own;
use crate::Args;
use crate::Terms;

pub(super) fn cost(t: &Terms) -> f64 {
    t.exchanges(0.0, t.distances().map(|d| (d, f64::from(d) * t.n, 0.0)))
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let n = a.recv.len(0);
    if n == 0 {
        return;
    }
    let blocks =
        |first: u32, number: u32| Region::output(a.recv.offset(first), number as usize * n);
    let mut mine = own::mine(a);
    let mut have = 1;
    while have < a.size {
        let partner = a.rank ^ have;
        b.recv(partner, blocks(partner & !(have - 1), have));
        b.send(partner, mine);
        if have == 1 {
            own::keep(a, b);
        }
        have *= 2;
        mine = blocks(a.rank & !(have - 1), have);
    }
    if a.size == 1 {
        own::keep(a, b);
    }
}
