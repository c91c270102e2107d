//! `MPI_Reduce`.

mod binomial;
mod linear;
mod rabenseifner;

use crate::registry::{Algorithm, Collective, always};

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "binomial",
        collective: Collective::Reduce,
        requires: always,
        cost: binomial::cost,
        build: binomial::build,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Reduce,
        requires: always,
        cost: linear::cost,
        build: linear::build,
    },
    Algorithm {
        name: "rabenseifner",
        collective: Collective::Reduce,
        requires: always,
        cost: rabenseifner::cost,
        build: rabenseifner::build,
    },
];
