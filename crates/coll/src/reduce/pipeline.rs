//! Vectors travel along a tree to the root in segments, and are combined on the
//! way: all links are busy at once. For operands that may be exchanged.

use catena_schedule::{Builder, Order};

use crate::acc::Acc;
use crate::pipe::{self, BINARY, BINARY_CHAIN, CHAIN, Pipe, segment};
use crate::{Args, Site, Terms};

/// Bytes of a segment between two ranks on two nodes.
const PAIR: usize = 64 << 10;

pub(super) fn chain_cost(t: &Terms) -> f64 {
    pipe::cost(t, CHAIN, |n| t.combine(n))
}

pub(super) fn chain(a: &Args, b: &mut Builder) {
    combine_along(a, &Pipe::new(a, CHAIN), b);
}

pub(super) fn binary_cost(t: &Terms) -> f64 {
    pipe::cost(t, BINARY, |n| t.combine(n))
}

pub(super) fn binary(a: &Args, b: &mut Builder) {
    combine_along(a, &Pipe::new(a, BINARY), b);
}

pub(super) fn binary_chain_cost(t: &Terms) -> f64 {
    pipe::cost(t, BINARY_CHAIN, |n| t.combine(n))
}

pub(super) fn binary_chain(a: &Args, b: &mut Builder) {
    combine_along(a, &Pipe::new(a, BINARY_CHAIN), b);
}

fn combine_along(a: &Args, pipe: &Pipe, b: &mut Builder) {
    let input = a.vector_in();
    // There nobody passes segments on: they are as long as leave at once.
    let apart = |site: Site| site.nodes.placement().nodes == 2;
    let step = match a.site {
        Some(site) if a.size == 2 && apart(site) => PAIR,
        _ => segment(input.len, pipe.depth),
    };
    let step = step / a.elem * a.elem;
    let step = step.max(a.elem);
    let home = if a.rank == a.root {
        a.vector_out()
    } else if pipe.children.is_empty() {
        input // sent as it is
    } else {
        b.scratch(input.len)
    };
    for from in (0..input.len).step_by(step) {
        let len = step.min(input.len - from);
        let mut acc = Acc::new(input.part(from, len), home.part(from, len));
        for &child in pipe.children.iter().rev() {
            acc.combine(b, child, Order::FromRight);
        }
        match pipe.parent {
            Some(parent) => _ = b.send(parent, acc.now()),
            None => acc.settle(b),
        }
    }
}
