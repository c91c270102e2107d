//! The block that a rank contributes.

use catena_schedule::{Builder, Region};

use crate::Args;

/// Where this rank's block is before the call.
pub(super) fn mine(a: &Args) -> Region {
    let place = a.recv_block(a.rank);
    if a.in_place {
        place
    } else {
        Region::input(0, place.len)
    }
}

/// Puts it where it belongs; what others wait for is sent first.
pub(super) fn keep(a: &Args, b: &mut Builder) {
    b.copy(mine(a), a.recv_block(a.rank));
}
