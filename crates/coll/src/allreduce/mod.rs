//! `MPI_Allreduce`.

mod direct;
mod doubling;
pub(crate) mod halving;
mod hierarchical;
mod linear;
mod multi_leader;
mod ring;

use crate::levels::has_levels_in_order;
use crate::registry::{Algorithm, Collective, always, commutative};

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "recursive_doubling",
        collective: Collective::Allreduce,
        requires: always,
        cost: doubling::cost,
        build: doubling::build,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Allreduce,
        requires: always,
        cost: linear::cost,
        build: linear::build,
    },
    Algorithm {
        name: "rabenseifner",
        collective: Collective::Allreduce,
        requires: always,
        cost: halving::cost,
        build: halving::build,
    },
    Algorithm {
        name: "direct",
        collective: Collective::Allreduce,
        requires: always,
        cost: direct::cost,
        build: direct::build,
    },
    Algorithm {
        name: "ring",
        collective: Collective::Allreduce,
        requires: commutative,
        cost: ring::cost,
        build: ring::build,
    },
    Algorithm {
        name: "hierarchical",
        collective: Collective::Allreduce,
        requires: has_levels_in_order,
        cost: hierarchical::cost,
        build: hierarchical::build,
    },
    Algorithm {
        name: "multi_leader",
        collective: Collective::Allreduce,
        requires: multi_leader::requires,
        cost: multi_leader::cost,
        build: multi_leader::build,
    },
];
