//! `MPI_Barrier`.

mod dissemination;
mod hierarchical;
mod linear;

use catena_plan::{Builder, Region, StepId};

use crate::need::LEVELS;
use crate::registry::{Algorithm, Collective};

pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "dissemination",
        collective: Collective::Barrier,
        needs: &[],
        cost: dissemination::cost::<2>,
        build: dissemination::build::<2>,
    },
    Algorithm {
        name: "dissemination_4",
        collective: Collective::Barrier,
        needs: &[],
        cost: dissemination::cost::<4>,
        build: dissemination::build::<4>,
    },
    Algorithm {
        name: "linear",
        collective: Collective::Barrier,
        needs: &[],
        cost: linear::cost,
        build: linear::build,
    },
    Algorithm {
        name: "hierarchical",
        collective: Collective::Barrier,
        needs: &[LEVELS],
        cost: hierarchical::cost,
        build: hierarchical::build,
    },
];

/// What a message of a barrier carries.
const TOKEN: Region = Region::output(0, 0);

/// Makes `step` wait for all of `earlier`.
fn after(step: StepId, earlier: &[StepId], b: &mut Builder) {
    for &e in earlier {
        b.depend(step, e);
    }
}
