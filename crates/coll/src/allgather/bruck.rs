//! Bruck's algorithm (Bruck, Ho, Kipnis, Upfal, Weathersby, 1997): ⌈log p⌉ hops for
//! any number of ranks. Blocks are gathered in the order from this rank's own and moved
//! to their places in the end.

use catena_schedule::{Builder, Region};

use super::own;
use crate::Args;
use crate::Terms;
use crate::circulant::{self, rounds};

pub(super) fn cost<const RADIX: u32>(t: &Terms) -> f64 {
    let all = t.p * t.n;
    circulant::cost::<RADIX>(t, t.n, |_| 0.0) + t.copies(2.0, all / 2.0)
}

pub(super) fn table_cost<const RADIX: u32>(t: &Terms) -> f64 {
    cost::<RADIX>(&t.with_bytes(t.shape.bytes / t.shape.size as usize))
}

pub(super) fn build<const RADIX: u32>(a: &Args, b: &mut Builder) {
    if a.size == 1 {
        return own::keep(a, b);
    }
    let mut starts = vec![0];
    for i in 0..a.size {
        starts.push(starts[i as usize] + a.recv.len(a.up(i)));
    }
    let all = b.scratch(starts[a.size as usize]);
    let blocks = |first: u32, number: u32| {
        let at = starts[first as usize];
        all.part(at, starts[(first + number) as usize] - at)
    };
    let mine = own::mine(a);
    let mut rounds: Vec<_> = rounds::<RADIX>(a.size).collect();
    rounds.reverse();
    for (distance, number) in rounds.iter().flat_map(|round| round.messages()) {
        let coming = blocks(distance, number);
        if !coming.is_empty() {
            b.recv(a.up(distance), coming);
        }
        let out = if number == 1 { mine } else { blocks(0, number) };
        if !out.is_empty() {
            b.send(a.down(distance), out);
        }
        if distance == 1 {
            b.copy(mine, blocks(0, 1));
        }
    }
    let mut first = if a.in_place { 1 } else { 0 };
    while first < a.size {
        // Those that are neighbours in the result, too.
        let start = a.recv_block(a.up(first));
        let mut run = Region { len: 0, ..start };
        let mut next = first;
        while next < a.size && a.recv_block(a.up(next)).offset == run.end() {
            run.len += a.recv_block(a.up(next)).len;
            next += 1;
        }
        b.copy(blocks(first, next - first), run);
        first = next;
    }
}
