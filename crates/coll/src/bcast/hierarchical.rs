//! Among the leaders of the nodes first, the root being one, then within each
//! node.

use catena_schedule::Builder;

use crate::levels::Levels;
use crate::pipe;
use crate::rooted::rooted_cost;
use crate::terms::Level;
use crate::{Args, Collective, Terms};

pub(super) fn cost(t: &Terms) -> f64 {
    // The messages to the other leaders are posted first.
    let posting = pipe::segments(t.shape.bytes) * t.link(Level::Network).overhead;
    rooted_cost(Collective::Bcast, posting, |_| 0.0, t)
}

pub(super) fn build(a: &Args, b: &mut Builder) {
    let (message, levels) = (a.recv_block(0), Levels::rooted(a));
    if levels.leads() {
        levels.leaders().bcast(levels.top, message, b);
    }
    levels.node.bcast(levels.leader, message, b);
}
