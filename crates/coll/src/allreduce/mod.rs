//! `MPI_Allreduce`.

mod direct;
mod doubling;
pub(crate) mod halving;
mod linear;
mod ring;

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
];
