//! The message travels along a tree in segments, so that all links are busy at
//! once: a chain, in which every link carries it once and the last rank is far
//! away, or a binary tree, in which everyone sends it twice and nobody is.

use catena_schedule::Builder;

use crate::pipe::{self, BINARY, BINARY_CHAIN, CHAIN, Pipe, segment};
use crate::{Args, Terms};

pub(super) fn chain_cost(t: &Terms) -> f64 {
    pipe::cost(t, CHAIN, |_| 0.0)
}

pub(super) fn chain(a: &Args, b: &mut Builder) {
    send_along(a, &Pipe::new(a, CHAIN), b);
}

pub(super) fn binary_cost(t: &Terms) -> f64 {
    pipe::cost(t, BINARY, |_| 0.0)
}

pub(super) fn binary(a: &Args, b: &mut Builder) {
    send_along(a, &Pipe::new(a, BINARY), b);
}

pub(super) fn binary_chain_cost(t: &Terms) -> f64 {
    pipe::cost(t, BINARY_CHAIN, |_| 0.0)
}

pub(super) fn binary_chain(a: &Args, b: &mut Builder) {
    send_along(a, &Pipe::new(a, BINARY_CHAIN), b);
}

fn send_along(a: &Args, pipe: &Pipe, b: &mut Builder) {
    let message = a.recv_block(0);
    // Between two ranks nobody passes segments on, and long messages are fast.
    let step = if a.size == 2 {
        message.len.max(1)
    } else {
        segment(message.len, pipe.depth)
    };
    for from in (0..message.len).step_by(step) {
        let part = message.part(from, step.min(message.len - from));
        if let Some(parent) = pipe.parent {
            b.recv(parent, part);
        }
        for &child in &pipe.children {
            b.send(child, part);
        }
    }
}
