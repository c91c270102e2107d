//! `MPI_Gather`, `MPI_Gatherv`.

mod binomial;
mod linear;

use crate::registry::{Algorithm, Collective, always};

pub(crate) const EVEN: &[Algorithm] = &[
    Algorithm {
        name: "binomial",
        collective: Collective::Gather,
        requires: always,
        cost: binomial::cost,
        build: binomial::build,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Gather,
        requires: always,
        cost: linear::cost,
        build: linear::build,
    },
];

pub(crate) const TABLE: &[Algorithm] = &[Algorithm {
    name: "linear",
    collective: Collective::Gatherv,
    requires: always,
    cost: linear::cost,
    build: linear::build,
}];
