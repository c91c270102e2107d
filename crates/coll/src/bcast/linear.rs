//! The root sends to every other rank: one hop, p − 1 messages.

use catena_plan::Builder;

use crate::Args;
use crate::model::Terms;

pub(super) fn cost(t: &Terms) -> f64 {
    t.latency() + t.overhead() + t.stream(f64::from(t.shape.size - 1), t.shape.bytes as f64)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let message = a.recv_block(0);
    if message.is_empty() {
        return;
    }
    if a.rank == a.root {
        for i in 1..a.size {
            b.send(a.nth_from_root(i), message);
        }
    } else {
        b.recv(a.root, message);
    }
}
