//! `MPI_Barrier`.

mod dissemination;
mod linear;

use crate::registry::{Algorithm, Collective, always};

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "dissemination",
        collective: Collective::Barrier,
        requires: always,
        cost: dissemination::cost,
        build: dissemination::build,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Barrier,
        requires: always,
        cost: linear::cost,
        build: linear::build,
    },
];
