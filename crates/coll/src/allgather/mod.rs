//! `MPI_Allgather`, `MPI_Allgatherv`.

mod bruck;
mod doubling;
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

/// Puts the own block where it belongs; returns where it can be read at once.
fn own_block(a: &Args, b: &mut Builder) -> Region {
    let place = a.recv_block(a.rank);
    if a.in_place {
        return place;
    }
    let mine = Region::input(0, place.len);
    b.copy(mine, place);
    mine
}
