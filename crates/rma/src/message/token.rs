//! Requests of operations (`MPI_Rput` and its relatives): they are complete when the buffers of the origin
//! are the program's again.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::sync::Arc;

use catena_abi as abi;
use catena_core::Process;
use catena_core::request::{Done, RequestObject, SENT, State};
use catena_fabric::Peer;
use catena_link::Awaited;
use catena_objects::error::Result;

thread_local! {
    /// The request of the operation that this thread is about to start.
    static NEXT: RefCell<Option<Arc<Token>>> = const { RefCell::new(None) };
}

/// The request of an operation.
#[derive(Debug, Default)]
pub(crate) struct Token {
    /// Parts that need the program's buffers.
    parts: Cell<u32>,
    /// The target.
    peer: Cell<Option<Peer>>,
}

impl Token {
    /// The token that the operation which this thread starts belongs to, with one part more.
    pub fn take(peer: Peer) -> Option<Arc<Token>> {
        let token = NEXT.with_borrow(Clone::clone);
        if let Some(token) = &token {
            token.parts.set(token.parts.get() + 1);
            token.peer.set(Some(peer));
        }
        token
    }

    /// A part needs them no more.
    pub fn part_done(&self) {
        self.parts.set(self.parts.get().saturating_sub(1));
    }
}

impl RequestObject for Token {
    fn state(&self, _: &Process) -> Result<State> {
        Ok(match self.parts.get() {
            0 => State::Complete,
            _ => State::Pending,
        })
    }

    fn complete(&self, _: &Process) -> Done {
        Done::EMPTY
    }

    fn awaits(&self, _: &Process, awaited: &mut Awaited) {
        awaited.named.extend(self.peer.get());
    }
}

/// Starts an operation and makes its request; that of one that is complete if nothing is left to do.
///
/// # Errors
/// Those of the operation.
pub fn requested<E: Deref<Target = Process>>(
    enter: impl FnOnce() -> Result<E>,
    operation: impl FnOnce() -> Result<()>,
) -> Result<abi::Request> {
    let token = Arc::new(Token::default());
    NEXT.replace(Some(token.clone()));
    let outcome = operation();
    NEXT.replace(None);
    outcome?;
    if token.parts.get() == 0 {
        return Ok(SENT);
    }
    Ok(enter()?.add_request(token))
}
