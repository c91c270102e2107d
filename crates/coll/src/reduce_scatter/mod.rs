//! `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`.

pub(crate) mod circulant;
pub(crate) mod direct;
mod halving;
mod hierarchical;
mod ring;

use crate::algorithm::{Algorithm, Collective};
use crate::need::{COMMUTATIVE, LEVELS, POWER_OF_TWO, RANGES};

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
