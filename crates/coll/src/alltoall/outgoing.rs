//! The blocks that a rank sends.

use catena_schedule::{Builder, Region};

use crate::Args;

/// The blocks to send. In place they are moved away first, as those received
/// take their places.
pub(super) fn outgoing(a: &Args, b: &mut Builder) -> Vec<Region> {
    let mut blocks = Vec::with_capacity(a.size as usize);
    for i in 0..a.size {
        blocks.push(if !a.in_place {
            a.send_block(i)
        } else if i == a.rank {
            a.recv_block(i)
        } else {
            let place = a.recv_block(i);
            let aside = b.scratch(place.len);
            b.copy(place, aside);
            aside
        });
    }
    blocks
}
