//! Pieces of the vector go round the ring twice: once to be combined, once to
//! be handed out. 2(p − 1) hops of n/p bytes, only to neighbours.

use catena_schedule::{Builder, Order, Region};

use crate::Args;
use crate::Terms;
use crate::args::{cut, wrap};

pub(super) fn cost(t: &Terms) -> f64 {
    let (rounds, piece) = (t.p - 1.0, t.n / t.p);
    t.ring(rounds, piece, t.combine(piece)) + t.ring(rounds, piece, 0.0)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let (input, output) = (a.vector_in(), a.vector_out());
    if input.is_empty() {
        return;
    }
    let (p, me) = (a.size, a.rank);
    let (left, right) = (a.down(1), a.up(1));
    let piece = |r: Region, i: u32| {
        let (from, len) = cut(r.len, a.elem, p, i);
        r.part(from, len)
    };
    let longest = piece(output, 0).len;
    let arrive = if a.in_place {
        [b.scratch(longest), b.scratch(longest)]
    } else {
        [output; 2]
    };
    if p == 1 {
        b.copy(input, output);
    }
    for k in 0..p - 1 {
        let (out, got) = (wrap(me, p - k, p), wrap(left, p - k, p));
        let source = if k == 0 {
            piece(input, out)
        } else {
            piece(output, out)
        };
        if !source.is_empty() {
            b.send(right, source);
        }
        let (own, result) = (piece(input, got), piece(output, got));
        if result.is_empty() {
            continue;
        }
        if a.in_place {
            let place = arrive[k as usize % 2].part(0, result.len);
            b.recv(left, place);
            b.reduce(place, result, Order::FromLeft);
        } else {
            b.recv(left, result);
            b.reduce(own, result, Order::FromRight);
        }
    }
    for k in 0..p - 1 {
        let (out, got) = (wrap(right, p - k, p), wrap(me, p - k, p));
        if !piece(output, out).is_empty() {
            b.send(right, piece(output, out));
        }
        if !piece(output, got).is_empty() {
            b.recv(left, piece(output, got));
        }
    }
}
