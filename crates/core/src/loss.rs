//! The errors of calls that failures end.

use catena_boot::FAULT_TOLERANCE;
use catena_objects::error::{Error, Kind};

/// What a call on a communicator that was revoked ends with.
#[cold]
pub(crate) fn revoked() -> Error {
    let text = "the communicator was revoked: MPI_Comm_shrink makes a new one of the members that \
        are alive";
    Error::new(Kind::Revoked, text)
}

/// What a death is to the program: a failure to go on after, where the job does.
#[cold]
pub fn kind_of_death() -> Kind {
    match FAULT_TOLERANCE.get() {
        true => Kind::ProcFailed,
        false => Kind::ProcAborted,
    }
}

/// A member's death, in the words of the program.
#[cold]
pub(crate) fn died(who: &str) -> Error {
    Error::new(kind_of_death(), format!("{who} has died"))
}
