//! `MPI_Bcast`. The message is in the output on every rank, also at the root.

mod binomial;
mod chain;
mod linear;
mod scatter;

use crate::registry::{Algorithm, Collective, always, power_of_two};

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "binomial",
        collective: Collective::Bcast,
        requires: always,
        cost: binomial::cost,
        build: binomial::build,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Bcast,
        requires: always,
        cost: linear::cost,
        build: linear::build,
    },
    Algorithm {
        name: "scatter_doubling",
        collective: Collective::Bcast,
        requires: power_of_two,
        cost: scatter::doubling_cost,
        build: scatter::doubling,
    },
    Algorithm {
        name: "scatter_ring",
        collective: Collective::Bcast,
        requires: always,
        cost: scatter::ring_cost,
        build: scatter::ring,
    },
    Algorithm {
        name: "chain",
        collective: Collective::Bcast,
        requires: always,
        cost: chain::cost,
        build: chain::build,
    },
];
