//! Bruck's algorithm (Bruck, Ho, Kipnis, Upfal, Weathersby, 1997): ⌈log₂ p⌉ hops
//! for any number of ranks. Blocks are gathered in the order from the own one
//! and moved to their places in the end. For blocks of one length.

use catena_plan::{Builder, Region};

use crate::Args;
use crate::Terms;
use crate::terms::powers;

pub(super) fn cost(t: &Terms) -> f64 {
    let rounds = |first: u32, number: u32| {
        let round = |d: u32| (d, 1, f64::from(d.min(t.shape.size - d)) * t.n, 0.0);
        t.shifts(powers(number).filter(|&d| d >= first).map(round))
    };
    let (full, all) = (t.folded(), rounds(1, t.shape.size));
    let time = match t.shape.size - full {
        0 => all,
        // The last round hands out blocks that are there after a few.
        rest => all - rounds(rest, full).min(t.message(t.level(full), 0.0)),
    };
    time + t.copies(2.0, t.p * t.n / 2.0)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let (n, p) = (a.recv.len(0), a.size as usize);
    if n == 0 {
        return;
    }
    let all = b.scratch(p * n);
    let mine = super::mine(a);
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
        if have == 1 {
            b.copy(mine, all.part(0, n));
        }
        have += number;
    }
    if p == 1 {
        return super::keep(a, b);
    }
    let me = a.rank as usize;
    let (head, tail) = ((p - me) * n, me * n);
    b.copy(all.part(0, head), Region::output(tail, head));
    b.copy(all.part(head, tail), Region::output(0, tail));
}
