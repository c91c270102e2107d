//! `MPI_Scan`.

mod chain;
pub(crate) mod doubling;

use crate::registry::{Algorithm, Collective, always};

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "doubling",
        collective: Collective::Scan,
        requires: always,
        cost: doubling::cost,
        build: doubling::build,
    },
    Algorithm {
        name: "chain",
        collective: Collective::Scan,
        requires: always,
        cost: chain::cost,
        build: chain::build,
    },
];
