//! Requests (MPI-5, chapters 3.7, 3.9 and 13.2).
//!
//! A plain transfer's handle names its slot in `link`, so that starting and
//! completing one touches no other table. Every other request is an [object](RequestObject),
//! a file for each kind; those of collectives and of communicators stand with these.

mod calls;
mod carried;
mod complete;
pub mod conformance;
mod flush;
mod generalized;
mod handle;
mod many;
mod object;
mod outcome;
mod pair;
mod persistent;

use catena_abi::{Status, consts};

pub(crate) use calls::active_already;
pub use generalized::Generalized;
pub(crate) use handle::{NO_SLOT, as_transfer, bad_request};
pub use handle::{NOWHERE, SENT, transfer};
pub use many::Among;
pub use object::RequestObject;
pub(crate) use outcome::when;
pub use outcome::{Done, State};
pub use persistent::Operation;

/// The status of a receive from `MPI_PROC_NULL` (MPI-5, 3.10).
pub const NOWHERE_STATUS: Status = Status::new(consts::PROC_NULL, consts::ANY_TAG, 0);
