//! `MPI_Exscan`. Nothing is written at rank 0.

mod chain;
mod doubling;

use crate::registry::{Algorithm, Collective, always};

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "doubling",
        collective: Collective::Exscan,
        requires: always,
        cost: doubling::cost,
        build: doubling::build,
    },
    Algorithm {
        name: "chain",
        collective: Collective::Exscan,
        requires: always,
        cost: chain::cost,
        build: chain::build,
    },
];
