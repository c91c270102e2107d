//! `MPI_Bcast`. The message is in the output on every rank, also at the root.

mod hierarchical;
mod knomial;
mod linear;
mod pipeline;
mod scatter;

use crate::algorithm::{Algorithm, Collective};
use crate::need::{LEVELS, POWER_OF_TWO};

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "binomial",
        collective: Collective::Bcast,
        needs: &[],
        cost: knomial::cost::<2>,
        build: knomial::build::<2>,
    },
    Algorithm {
        name: "knomial_4",
        collective: Collective::Bcast,
        needs: &[],
        cost: knomial::cost::<4>,
        build: knomial::build::<4>,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Bcast,
        needs: &[],
        cost: linear::cost,
        build: linear::build,
    },
    Algorithm {
        name: "scatter_doubling",
        collective: Collective::Bcast,
        needs: &[POWER_OF_TWO],
        cost: scatter::doubling_cost,
        build: scatter::doubling,
    },
    Algorithm {
        name: "scatter_ring",
        collective: Collective::Bcast,
        needs: &[],
        cost: scatter::ring_cost,
        build: scatter::ring,
    },
    Algorithm {
        name: "chain",
        collective: Collective::Bcast,
        needs: &[],
        cost: pipeline::chain_cost,
        build: pipeline::chain,
    },
    Algorithm {
        name: "binary",
        collective: Collective::Bcast,
        needs: &[],
        cost: pipeline::binary_cost,
        build: pipeline::binary,
    },
    Algorithm {
        name: "binary_chain",
        collective: Collective::Bcast,
        needs: &[LEVELS],
        cost: pipeline::binary_chain_cost,
        build: pipeline::binary_chain,
    },
    Algorithm {
        name: "hierarchical",
        collective: Collective::Bcast,
        needs: &[LEVELS],
        cost: hierarchical::cost,
        build: hierarchical::build,
    },
];
