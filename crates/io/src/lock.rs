//! Atomic mode (MPI-5, chapter 14.6.1): a transfer has the bytes from its first to its last one to
//! itself.

use std::sync::Arc;

use crate::agent::Claimed;
use crate::common::{Span, Ticket};
use crate::shared::Shared;

/// What a transfer needs before it moves a byte.
#[derive(Debug)]
pub(crate) enum RangeLock {
    /// It asks in memory that all members map, when it runs.
    Mapped(Arc<Shared>, Span),
    /// It has been granted by the member that keeps what is shared, until this is dropped.
    Kept(
        #[expect(
            dead_code,
            reason = "it is held, and gives back what it claimed when it goes"
        )]
        Claimed,
    ),
}

/// The right to bytes, until it is dropped.
#[derive(Debug)]
pub(crate) struct Held<'l>(Option<(&'l Shared, Ticket)>);

impl RangeLock {
    /// Waits until nobody else uses the bytes.
    pub(crate) fn hold(&self) -> Held<'_> {
        Held(match self {
            RangeLock::Mapped(shared, span) => Some((shared, shared.common().claim(*span))),
            RangeLock::Kept(_) => None,
        })
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some((shared, ticket)) = self.0 {
            shared.common().release(ticket);
        }
    }
}
