//! Atomic mode (MPI-5, chapter 14.6.1): a transfer has the bytes from its first to its last one to itself.

use std::sync::Arc;

use crate::common::{Span, Ticket};
use crate::shared::Shared;

/// What a transfer asks for before it moves a byte.
#[derive(Debug)]
pub(crate) struct RangeLock {
    shared: Arc<Shared>,
    span: Span,
}

/// The right to bytes, until it is dropped.
#[derive(Debug)]
pub(crate) struct Held<'l> {
    lock: &'l RangeLock,
    ticket: Ticket,
}

impl RangeLock {
    pub(crate) fn new(shared: Arc<Shared>, span: Span) -> Self {
        RangeLock { shared, span }
    }

    /// Waits until nobody else uses the bytes.
    pub(crate) fn hold(&self) -> Held<'_> {
        Held {
            lock: self,
            ticket: self.shared.common().claim(self.span),
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.lock.shared.common().release(self.ticket);
    }
}
