//! In round k every rank sends to the one k above it and receives from the one
//! k below it. A bounded number of rounds is under way at once, so that neither
//! a receiver nor the queues are flooded.

use std::collections::VecDeque;

use catena_schedule::Builder;

use crate::Args;
use crate::Terms;

/// Rounds under way at once.
const WINDOW: usize = 16;

pub(super) fn cost(t: &Terms) -> f64 {
    t.everyone_taking(t.n)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let blocks = super::outgoing::outgoing(a, b);
    let mut receives = VecDeque::with_capacity(WINDOW);
    let mut sends = VecDeque::with_capacity(WINDOW);
    for k in 1..a.size {
        let (from, to) = (a.down(k), a.up(k));
        if !a.recv_block(from).is_empty() {
            let step = b.recv(from, a.recv_block(from));
            if receives.len() == WINDOW {
                b.depend(step, receives.pop_front().expect("full"));
            }
            receives.push_back(step);
        }
        if !blocks[to as usize].is_empty() {
            let step = b.send(to, blocks[to as usize]);
            if sends.len() == WINDOW {
                b.depend(step, sends.pop_front().expect("full"));
            }
            sends.push_back(step);
        }
    }
    b.copy(blocks[a.rank as usize], a.recv_block(a.rank));
}
