//! `MPI_Reduce`.

mod hierarchical;
mod knomial;
mod linear;
mod pipeline;
mod rabenseifner;

use crate::algorithm::{Algorithm, Collective};
use crate::need::{COMMUTATIVE, IN_ORDER, LEVELS};

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "binomial",
        collective: Collective::Reduce,
        needs: &[],
        cost: knomial::cost::<2>,
        build: knomial::build::<2>,
    },
    Algorithm {
        name: "knomial_4",
        collective: Collective::Reduce,
        needs: &[],
        cost: knomial::cost::<4>,
        build: knomial::build::<4>,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Reduce,
        needs: &[],
        cost: linear::cost,
        build: linear::build,
    },
    Algorithm {
        name: "rabenseifner",
        collective: Collective::Reduce,
        needs: &[],
        cost: rabenseifner::cost,
        build: rabenseifner::build,
    },
    Algorithm {
        name: "chain",
        collective: Collective::Reduce,
        needs: &[COMMUTATIVE],
        cost: pipeline::chain_cost,
        build: pipeline::chain,
    },
    Algorithm {
        name: "binary",
        collective: Collective::Reduce,
        needs: &[COMMUTATIVE],
        cost: pipeline::binary_cost,
        build: pipeline::binary,
    },
    Algorithm {
        name: "binary_chain",
        collective: Collective::Reduce,
        needs: &[COMMUTATIVE, LEVELS],
        cost: pipeline::binary_chain_cost,
        build: pipeline::binary_chain,
    },
    Algorithm {
        name: "hierarchical",
        collective: Collective::Reduce,
        needs: &[LEVELS, IN_ORDER],
        cost: hierarchical::cost,
        build: hierarchical::build,
    },
];
