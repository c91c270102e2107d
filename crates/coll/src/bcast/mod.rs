//! `MPI_Bcast`. The message is in the output on every rank, also at the root.

mod hierarchical;
mod knomial;
mod linear;
mod pipeline;
mod scatter;

use crate::levels::has_levels;
use crate::registry::{Algorithm, Collective, always, power_of_two};

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "binomial",
        collective: Collective::Bcast,
        requires: always,
        cost: knomial::cost::<2>,
        build: knomial::build::<2>,
    },
    Algorithm {
        name: "knomial_4",
        collective: Collective::Bcast,
        requires: always,
        cost: knomial::cost::<4>,
        build: knomial::build::<4>,
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
        cost: pipeline::chain_cost,
        build: pipeline::chain,
    },
    Algorithm {
        name: "binary",
        collective: Collective::Bcast,
        requires: always,
        cost: pipeline::binary_cost,
        build: pipeline::binary,
    },
    Algorithm {
        name: "binary_chain",
        collective: Collective::Bcast,
        requires: has_levels,
        cost: pipeline::binary_chain_cost,
        build: pipeline::binary_chain,
    },
    Algorithm {
        name: "hierarchical",
        collective: Collective::Bcast,
        requires: has_levels,
        cost: hierarchical::cost,
        build: hierarchical::build,
    },
];
