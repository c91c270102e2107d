//! `MPI_Allgather`, `MPI_Allgatherv`.

mod bruck;
mod doubling;
mod hierarchical;
mod linear;
mod own;
mod ring;

use crate::algorithm::{Algorithm, Collective};
use crate::need::{LEVELS, POWER_OF_TWO, RANGES};

pub(crate) const EVEN: &[Algorithm] = &[
    Algorithm {
        name: "ring",
        collective: Collective::Allgather,
        needs: &[],
        cost: ring::cost,
        build: ring::build,
    },
    Algorithm {
        name: "recursive_doubling",
        collective: Collective::Allgather,
        needs: &[POWER_OF_TWO],
        cost: doubling::cost,
        build: doubling::build,
    },
    Algorithm {
        name: "bruck",
        collective: Collective::Allgather,
        needs: &[],
        cost: bruck::cost::<2>,
        build: bruck::build::<2>,
    },
    Algorithm {
        name: "bruck_4",
        collective: Collective::Allgather,
        needs: &[],
        cost: bruck::cost::<4>,
        build: bruck::build::<4>,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Allgather,
        needs: &[],
        cost: linear::cost,
        build: linear::build,
    },
    Algorithm {
        name: "hierarchical",
        collective: Collective::Allgather,
        needs: &[LEVELS, RANGES],
        cost: hierarchical::cost,
        build: hierarchical::build,
    },
];

pub(crate) const TABLE: &[Algorithm] = &[
    Algorithm {
        name: "ring",
        collective: Collective::Allgatherv,
        needs: &[],
        cost: ring::table_cost,
        build: ring::build,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Allgatherv,
        needs: &[],
        cost: linear::table_cost,
        build: linear::build,
    },
    Algorithm {
        name: "bruck",
        collective: Collective::Allgatherv,
        needs: &[],
        cost: bruck::table_cost::<2>,
        build: bruck::build::<2>,
    },
    Algorithm {
        name: "bruck_4",
        collective: Collective::Allgatherv,
        needs: &[],
        cost: bruck::table_cost::<4>,
        build: bruck::build::<4>,
    },
];
