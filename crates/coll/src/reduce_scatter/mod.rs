//! `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`.

pub(crate) mod direct;
mod halving;

use catena_plan::Region;

use crate::Args;
use crate::need::COMMUTATIVE;
use crate::registry::{Algorithm, Collective};

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "direct",
        collective: Collective::ReduceScatter,
        needs: &[],
        cost: direct::cost,
        build: direct::build,
    },
    Algorithm {
        name: "recursive_halving",
        collective: Collective::ReduceScatter,
        needs: &[COMMUTATIVE],
        cost: halving::cost,
        build: halving::build,
    },
];

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
