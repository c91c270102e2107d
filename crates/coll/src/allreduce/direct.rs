//! Every rank combines one piece of the vector for all: it receives that piece
//! from every other rank, and sends the result to every other rank. Two hops
//! and 2n(p − 1)/p bytes, but p − 1 messages in each.

use catena_schedule::{Builder, Region};

use crate::Args;
use crate::Terms;
use crate::acc::combine_all;
use crate::args::cut;

pub(super) fn cost(t: &Terms) -> f64 {
    if t.shape.bytes <= t.shape.elem {
        // One rank has all of it.
        return t.fan(t.n, t.combine(t.n)) + t.fan(t.n, 0.0);
    }
    let piece = t.n / t.p;
    t.everyone(piece, t.combine(piece)) + t.everyone(piece, 0.0)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let (input, output) = (a.vector_in(), a.vector_out());
    if input.is_empty() {
        return;
    }
    let piece = |r: Region, i: u32| {
        let (from, len) = cut(r.len, a.elem, a.size, i);
        r.part(from, len)
    };
    for to in (1..a.size).map(|k| a.up(k)) {
        if !piece(input, to).is_empty() {
            b.send(to, piece(input, to));
        }
    }
    let mine = piece(output, a.rank);
    if !mine.is_empty() {
        combine_all(a, piece(input, a.rank), mine, b);
        for k in 1..a.size {
            b.send(a.up(k), mine);
        }
    }
    for from in (1..a.size).map(|k| a.down(k)) {
        if !piece(output, from).is_empty() {
            b.recv(from, piece(output, from));
        }
    }
}
