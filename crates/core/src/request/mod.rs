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
mod many;
mod object;
mod pair;
mod persistent;

use catena_abi::{self as abi, Status, consts};
use catena_base::slab::Key;
use catena_link::{Completion, ReqId};

use crate::p2p;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::table::{ObjectKind, decode, encode};

pub(crate) use calls::active_already;
pub use generalized::Generalized;
pub use many::Among;
pub use object::RequestObject;
pub use persistent::Operation;

const NO_SLOT: u32 = (1 << 27) - 1;

/// A send that was complete when it returned; never freed.
pub const SENT: abi::Request = abi::Request(encode(
    ObjectKind::Transfer,
    Key {
        index: NO_SLOT,
        generation: 0,
    },
));
/// A transfer with `MPI_PROC_NULL`; never freed.
pub const NOWHERE: abi::Request = abi::Request(encode(
    ObjectKind::Transfer,
    Key {
        index: NO_SLOT - 1,
        generation: 0,
    },
));

/// The handle of a transfer.
#[inline]
pub const fn transfer(id: ReqId) -> abi::Request {
    let key = Key {
        index: id.index,
        generation: id.generation,
    };
    abi::Request(encode(ObjectKind::Transfer, key))
}

#[inline]
pub(crate) fn as_transfer(r: abi::Request) -> Option<ReqId> {
    let key = decode(ObjectKind::Transfer, r.0)?;
    Some(ReqId {
        index: key.index,
        generation: key.generation,
    })
}

/// The status of a receive from `MPI_PROC_NULL` (MPI-5, 3.10).
pub const NOWHERE_STATUS: Status = Status::new(consts::PROC_NULL, consts::ANY_TAG, 0);

/// How a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// `MPI_REQUEST_NULL`, or persistent and not started.
    Inactive,
    /// Under way.
    Pending,
    /// Ready to be completed.
    Complete,
}

/// A completed operation.
#[derive(Debug)]
pub struct Done {
    /// Status without its error field.
    pub status: Status,
    /// What went wrong.
    pub error: Option<Error>,
}

impl Done {
    /// Done, with nothing to tell.
    pub const EMPTY: Done = Done {
        status: Status::empty(),
        error: None,
    };

    /// The status, or the error.
    ///
    /// # Errors
    /// That of the operation.
    pub fn into_result(self) -> Result<Status> {
        match self.error {
            None => Ok(self.status),
            Some(e) => Err(e),
        }
    }
}

impl From<Completion> for Done {
    #[inline]
    fn from(c: Completion) -> Self {
        let mut status = Status::new(c.source, c.tag, c.len);
        if c.cancelled {
            status.set_cancelled(true);
        }
        Done {
            status,
            error: c.error.map(|f| p2p::failure(&f)),
        }
    }
}

#[cold]
pub(crate) fn bad_request(r: abi::Request) -> Error {
    Error::new(
        Kind::Request,
        format!("{:#x} is not a request, or was completed or freed", r.0),
    )
}

/// Whether an operation is complete or under way.
pub(crate) fn when(done: bool) -> State {
    if done {
        State::Complete
    } else {
        State::Pending
    }
}
