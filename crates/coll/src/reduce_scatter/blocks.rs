//! The blocks of the vector, and where the result goes.

use catena_schedule::Region;

use crate::Args;

/// Block `i` of the vector that this rank contributes.
pub(crate) fn block_in(a: &Args, i: u32) -> Region {
    let (offset, len) = (a.send.offset(i), a.send.len(i));
    if a.in_place {
        Region::output(offset, len)
    } else {
        Region::input(offset, len)
    }
}

/// Where the result goes.
pub(crate) fn result(a: &Args) -> Region {
    Region::output(0, a.send.len(a.rank))
}
