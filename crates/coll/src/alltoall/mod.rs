//! `MPI_Alltoall`, `MPI_Alltoallv`, `MPI_Alltoallw`.

mod bruck;
mod linear;
mod pairwise;

use catena_plan::{Builder, Region};

use crate::Args;
use crate::registry::{Algorithm, Collective};

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

/// The blocks to send. In place they are moved away first, as those received
/// take their places.
fn outgoing(a: &Args, b: &mut Builder) -> Vec<Region> {
    let mut blocks = Vec::with_capacity(a.size as usize);
    for i in 0..a.size {
        blocks.push(if !a.in_place {
            a.send_block(i)
        } else if i == a.rank {
            a.recv_block(i)
        } else {
            let place = a.recv_block(i);
            let aside = b.scratch(place.len);
            b.copy(place, aside);
            aside
        });
    }
    blocks
}
