//! Messages between a matched probe and their receive (MPI-5, chapter 3.8.2).

use std::cell::Cell;

use catena_link::{Envelope, MessageId};

/// A message between `MPI_Mprobe` and `MPI_Mrecv`.
#[derive(Debug)]
pub struct Message {
    pub(crate) id: Cell<Option<MessageId>>,
    /// Who and how long, for errors.
    pub envelope: Envelope,
}
