//! `MPI_Scatter`, `MPI_Scatterv`.

mod binomial;
mod linear;

use crate::registry::{Algorithm, Collective, always};

pub(crate) const EVEN: &[Algorithm] = &[
    Algorithm {
        name: "binomial",
        collective: Collective::Scatter,
        requires: always,
        cost: binomial::cost,
        build: binomial::build,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Scatter,
        requires: always,
        cost: linear::cost,
        build: linear::build,
    },
];

pub(crate) const TABLE: &[Algorithm] = &[Algorithm {
    name: "linear",
    collective: Collective::Scatterv,
    requires: always,
    cost: linear::cost,
    build: linear::build,
}];
