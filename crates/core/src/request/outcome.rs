//! How a request stands, and what it comes to.

use catena_abi::Status;
use catena_link::Completion;
use catena_objects::error::{Error, Result};

use crate::failure::failure;

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
            error: c.error.map(|f| failure(&f)),
        }
    }
}

/// Whether an operation is complete or under way.
pub(crate) fn when(done: bool) -> State {
    if done {
        State::Complete
    } else {
        State::Pending
    }
}
