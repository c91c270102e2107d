//! `MPI_Alltoall`, `MPI_Alltoallv`, `MPI_Alltoallw`.

mod bruck;
mod linear;
mod outgoing;
mod pairwise;

use crate::algorithm::{Algorithm, Collective};

pub(crate) const EVEN: &[Algorithm] = &[
    Algorithm {
        name: "pairwise",
        collective: Collective::Alltoall,
        needs: &[],
        cost: pairwise::cost,
        build: pairwise::build,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Alltoall,
        needs: &[linear::FEW],
        cost: linear::cost,
        build: linear::build,
    },
    Algorithm {
        name: "bruck",
        collective: Collective::Alltoall,
        needs: &[],
        cost: bruck::cost,
        build: bruck::build,
    },
];

pub(crate) const TABLE: &[Algorithm] = &[
    Algorithm {
        name: "pairwise",
        collective: Collective::Alltoallv,
        needs: &[],
        cost: pairwise::cost,
        build: pairwise::build,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Alltoallv,
        needs: &[linear::FEW],
        cost: linear::cost,
        build: linear::build,
    },
];
