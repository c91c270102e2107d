//! `MPI_Exscan`. Nothing is written at rank 0.

mod chain;
mod doubling;

use crate::algorithm::{Algorithm, Collective};

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "doubling",
        collective: Collective::Exscan,
        needs: &[],
        cost: doubling::cost,
        build: doubling::build,
    },
    Algorithm {
        name: "chain",
        collective: Collective::Exscan,
        needs: &[],
        cost: chain::cost,
        build: chain::build,
    },
];
