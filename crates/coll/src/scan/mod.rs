//! `MPI_Scan`.

mod chain;
pub(crate) mod doubling;

use crate::algorithm::{Algorithm, Collective};

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "doubling",
        collective: Collective::Scan,
        needs: &[],
        cost: doubling::cost,
        build: doubling::build,
    },
    Algorithm {
        name: "chain",
        collective: Collective::Scan,
        needs: &[],
        cost: chain::cost,
        build: chain::build,
    },
];
