//! `MPI_Barrier`.

mod dissemination;
mod hierarchical;
mod linear;
mod token;

use crate::algorithm::{Algorithm, Collective};
use crate::need::LEVELS;

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "dissemination",
        collective: Collective::Barrier,
        needs: &[],
        cost: dissemination::cost::<2>,
        build: dissemination::build::<2>,
    },
    Algorithm {
        name: "dissemination_4",
        collective: Collective::Barrier,
        needs: &[],
        cost: dissemination::cost::<4>,
        build: dissemination::build::<4>,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Barrier,
        needs: &[],
        cost: linear::cost,
        build: linear::build,
    },
    Algorithm {
        name: "hierarchical",
        collective: Collective::Barrier,
        needs: &[LEVELS],
        cost: hierarchical::cost,
        build: hierarchical::build,
    },
];
