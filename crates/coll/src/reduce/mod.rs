//! `MPI_Reduce`.

mod hierarchical;
mod knomial;
mod linear;
mod pipeline;
mod rabenseifner;

use crate::levels::has_levels_in_order;
use crate::registry::{Algorithm, Collective, always, commutative};

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "binomial",
        collective: Collective::Reduce,
        requires: always,
        cost: knomial::cost::<2>,
        build: knomial::build::<2>,
    },
    Algorithm {
        name: "knomial_4",
        collective: Collective::Reduce,
        requires: always,
        cost: knomial::cost::<4>,
        build: knomial::build::<4>,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Reduce,
        requires: always,
        cost: linear::cost,
        build: linear::build,
    },
    Algorithm {
        name: "rabenseifner",
        collective: Collective::Reduce,
        requires: always,
        cost: rabenseifner::cost,
        build: rabenseifner::build,
    },
    Algorithm {
        name: "chain",
        collective: Collective::Reduce,
        requires: commutative,
        cost: pipeline::chain_cost,
        build: pipeline::chain,
    },
    Algorithm {
        name: "binary",
        collective: Collective::Reduce,
        requires: commutative,
        cost: pipeline::binary_cost,
        build: pipeline::binary,
    },
    Algorithm {
        name: "binary_chain",
        collective: Collective::Reduce,
        requires: |s| s.commutative && s.placement.has_levels(),
        cost: pipeline::binary_chain_cost,
        build: pipeline::binary_chain,
    },
    Algorithm {
        name: "hierarchical",
        collective: Collective::Reduce,
        requires: has_levels_in_order,
        cost: hierarchical::cost,
        build: hierarchical::build,
    },
];
