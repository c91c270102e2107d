//! `MPI_Allgather`, `MPI_Allgatherv`.

mod bruck;
mod doubling;
mod hierarchical;
mod linear;
mod ring;

use catena_plan::{Builder, Region};

use crate::Args;
use crate::registry::{Algorithm, Collective, always, power_of_two};

pub(crate) const EVEN: &[Algorithm] = &[
    Algorithm {
        name: "ring",
        collective: Collective::Allgather,
        requires: always,
        cost: ring::cost,
        build: ring::build,
    },
    Algorithm {
        name: "recursive_doubling",
        collective: Collective::Allgather,
        requires: power_of_two,
        cost: doubling::cost,
        build: doubling::build,
    },
    Algorithm {
        name: "bruck",
        collective: Collective::Allgather,
        requires: always,
        cost: bruck::cost,
        build: bruck::build,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Allgather,
        requires: always,
        cost: linear::cost,
        build: linear::build,
    },
    Algorithm {
        name: "hierarchical",
        collective: Collective::Allgather,
        requires: hierarchical::requires,
        cost: hierarchical::cost,
        build: hierarchical::build,
    },
];

pub(crate) const TABLE: &[Algorithm] = &[
    Algorithm {
        name: "ring",
        collective: Collective::Allgatherv,
        requires: always,
        cost: ring::table_cost,
        build: ring::build,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Allgatherv,
        requires: always,
        cost: linear::table_cost,
        build: linear::build,
    },
];

/// Where this rank's block is before the call.
fn mine(a: &Args) -> Region {
    let place = a.recv_block(a.rank);
    if a.in_place {
        place
    } else {
        Region::input(0, place.len)
    }
}

/// Puts it where it belongs; what others wait for is sent first.
fn keep(a: &Args, b: &mut Builder) {
    b.copy(mine(a), a.recv_block(a.rank));
}
