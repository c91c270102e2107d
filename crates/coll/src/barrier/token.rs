//! Messages of a barrier and their order.

use catena_schedule::{Builder, Region, StepId};

/// What a message of a barrier carries.
pub(super) const TOKEN: Region = Region::output(0, 0);

/// Makes `step` wait for all of `earlier`.
pub(super) fn after(step: StepId, earlier: &[StepId], b: &mut Builder) {
    for &e in earlier {
        b.depend(step, e);
    }
}
