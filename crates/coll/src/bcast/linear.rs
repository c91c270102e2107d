//! The root sends to every other rank: one hop, p − 1 messages.

use catena_schedule::Builder;

use crate::Args;
use crate::Terms;

pub(super) fn cost(t: &Terms) -> f64 {
    t.fan(t.n, 0.0)
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
