//! A binomial tree: ⌈log₂ p⌉ hops of the whole message.

use catena_plan::Builder;

use crate::model::{depth, log2_ceil};
use crate::tree::{children, parent};
use crate::{Args, Model, Shape};

pub(super) fn cost(s: &Shape, m: &Model) -> f64 {
    depth(s.size) * m.hop(0.0) + f64::from(log2_ceil(s.size)) * s.bytes as f64 * m.per_byte
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let message = a.recv_block(0);
    if message.is_empty() {
        return;
    }
    let me = a.place();
    if me != 0 {
        b.recv(a.nth_from_root(parent(me)), message);
    }
    for child in children(a.size, me).rev() {
        b.send(a.nth_from_root(child), message);
    }
}
