//! Bruck's algorithm (Bruck, Ho, Kipnis, Upfal, Weathersby, 1997): ⌈log₂ p⌉ hops
//! for any number of ranks. Blocks are gathered in the order from the own one
//! and moved to their places in the end. For blocks of one length.

use catena_plan::{Builder, Region};

use crate::Args;
use crate::model::Terms;
use crate::model::log2_ceil;

pub(super) fn cost(t: &Terms) -> f64 {
    let all = f64::from(t.shape.size) * t.shape.bytes as f64;
    f64::from(log2_ceil(t.shape.size)) * t.hop(0.0)
        + f64::from(t.shape.size - 1) * t.shape.bytes as f64 * t.per_byte()
        + t.copies(1.0, t.shape.bytes as f64)
        + t.copies(2.0, all / 2.0)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let (n, p) = (a.recv.len(0), a.size as usize);
    if n == 0 {
        return;
    }
    let all = b.scratch(p * n);
    let mine = if a.in_place {
        a.recv_block(a.rank)
    } else {
        Region::input(0, n)
    };
    b.copy(mine, all.part(0, n));
    let mut have = 1;
    while have < p {
        let number = have.min(p - have);
        b.recv(a.up(have as u32), all.part(have * n, number * n));
        let out = if have == 1 {
            mine
        } else {
            all.part(0, number * n)
        };
        b.send(a.down(have as u32), out);
        have += number;
    }
    let me = a.rank as usize;
    let (head, tail) = ((p - me) * n, me * n);
    b.copy(all.part(0, head), Region::output(tail, head));
    b.copy(all.part(head, tail), Region::output(0, tail));
}
