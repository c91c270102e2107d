//! `MPI_Gather`, `MPI_Gatherv`.

mod knomial;
mod linear;

use crate::algorithm::{Algorithm, Collective};

pub(crate) const EVEN: &[Algorithm] = &[
    Algorithm {
        name: "binomial",
        collective: Collective::Gather,
        needs: &[],
        cost: knomial::cost::<2>,
        build: knomial::build::<2>,
    },
    Algorithm {
        name: "knomial_4",
        collective: Collective::Gather,
        needs: &[],
        cost: knomial::cost::<4>,
        build: knomial::build::<4>,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Gather,
        needs: &[],
        cost: linear::cost,
        build: linear::build,
    },
];

pub(crate) const TABLE: &[Algorithm] = &[Algorithm {
    name: "linear",
    collective: Collective::Gatherv,
    needs: &[],
    cost: linear::cost,
    build: linear::build,
}];
