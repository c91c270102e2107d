//! Every rank posts all its messages at once.

use catena_schedule::Builder;

use crate::Args;
use crate::Terms;
use crate::need::Need;

/// More messages at once only wait in queues.
pub(super) const FEW: Need = Need {
    text: "at most 64 ranks",
    met: |s| s.size <= 64,
};

pub(super) fn cost(t: &Terms) -> f64 {
    t.everyone_taking(t.n)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let blocks = super::outgoing::outgoing(a, b);
    for k in 1..a.size {
        let (from, to) = (a.down(k), a.up(k));
        if !a.recv_block(from).is_empty() {
            b.recv(from, a.recv_block(from));
        }
        if !blocks[to as usize].is_empty() {
            b.send(to, blocks[to as usize]);
        }
    }
    b.copy(blocks[a.rank as usize], a.recv_block(a.rank));
}
