//! `MPI_Allreduce`.

mod circulant;
mod direct;
mod doubling;
pub(crate) mod halving;
mod hierarchical;
mod linear;
mod multi_leader;
mod ring;

use crate::algorithm::{Algorithm, Collective};
use crate::need::{COMMUTATIVE, IN_ORDER, LEVELS, PAIRS, WORTH_HALVING};

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "recursive_doubling",
        collective: Collective::Allreduce,
        needs: &[],
        cost: doubling::cost,
        build: doubling::build,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Allreduce,
        needs: &[],
        cost: linear::cost,
        build: linear::build,
    },
    Algorithm {
        name: "rabenseifner",
        collective: Collective::Allreduce,
        needs: &[WORTH_HALVING],
        cost: halving::cost,
        build: halving::build,
    },
    Algorithm {
        name: "circulant",
        collective: Collective::Allreduce,
        needs: &[COMMUTATIVE, WORTH_HALVING],
        cost: circulant::cost,
        build: circulant::build,
    },
    Algorithm {
        name: "direct",
        collective: Collective::Allreduce,
        needs: &[WORTH_HALVING],
        cost: direct::cost,
        build: direct::build,
    },
    Algorithm {
        name: "ring",
        collective: Collective::Allreduce,
        needs: &[COMMUTATIVE, WORTH_HALVING],
        cost: ring::cost,
        build: ring::build,
    },
    Algorithm {
        name: "hierarchical",
        collective: Collective::Allreduce,
        needs: &[LEVELS, IN_ORDER],
        cost: hierarchical::cost,
        build: hierarchical::build,
    },
    Algorithm {
        name: "multi_leader",
        collective: Collective::Allreduce,
        needs: &[LEVELS, IN_ORDER, PAIRS],
        cost: multi_leader::cost,
        build: multi_leader::build,
    },
];
