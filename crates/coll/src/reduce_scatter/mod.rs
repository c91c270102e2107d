//! `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`.

pub(crate) mod circulant;
pub(crate) mod direct;
mod halving;
mod hierarchical;
mod ring;

use catena_plan::Region;

use crate::Args;
use crate::need::{COMMUTATIVE, LEVELS, POWER_OF_TWO, RANGES};
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
        needs: &[COMMUTATIVE, POWER_OF_TWO],
        cost: halving::cost,
        build: halving::build,
    },
    Algorithm {
        name: "circulant",
        collective: Collective::ReduceScatter,
        needs: &[COMMUTATIVE],
        cost: circulant::cost::<2>,
        build: circulant::build::<2>,
    },
    Algorithm {
        name: "circulant_4",
        collective: Collective::ReduceScatter,
        needs: &[COMMUTATIVE],
        cost: circulant::cost::<4>,
        build: circulant::build::<4>,
    },
    Algorithm {
        name: "ring",
        collective: Collective::ReduceScatter,
        needs: &[COMMUTATIVE],
        cost: ring::cost,
        build: ring::build,
    },
    Algorithm {
        name: "hierarchical",
        collective: Collective::ReduceScatter,
        needs: &[LEVELS, RANGES],
        cost: hierarchical::cost,
        build: hierarchical::build,
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
