//! A binomial tree: ⌈log₂ p⌉ hops of the whole message.

use catena_plan::Builder;

use crate::Args;
use crate::model::Terms;
use crate::model::{depth, log2_ceil};
use crate::tree::{children, parent};

pub(super) fn cost(t: &Terms) -> f64 {
    depth(t.shape.size) * t.hop(0.0)
        + f64::from(log2_ceil(t.shape.size)) * t.shape.bytes as f64 * t.per_byte()
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
