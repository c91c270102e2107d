//! Requests of operations (`MPI_Rput` and its relatives): they are complete when the buffers of the
//! origin are the program's again.

use std::cell::Cell;
use std::ops::Deref;
use std::ptr;
use std::sync::Arc;

use catena_abi as abi;
use catena_core::Process;
use catena_core::request::{self, Done, RequestObject, SENT, State};
use catena_fabric::Peer;
use catena_link::Awaited;
use catena_objects::error::Result;

thread_local! {
    /// The request of the operation that this thread is about to start, which [`requested`] keeps;
    /// null if it makes none. Without anything to drop, so that it is there in handlers of
    /// `atexit`, too.
    static NEXT: Cell<*const Token> = const { Cell::new(ptr::null()) };
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
        let next = NEXT.get();
        if next.is_null() {
            return None;
        }
        // SAFETY: `requested` has stored it, and keeps the token until it stores null again.
        let token = unsafe {
            Arc::increment_strong_count(next);
            Arc::from_raw(next)
        };
        token.parts.set(token.parts.get() + 1);
        token.peer.set(Some(peer));
        Some(token)
    }

    /// A part needs them no more.
    pub fn part_done(&self) {
        self.parts.set(self.parts.get().saturating_sub(1));
    }
}

impl RequestObject<Process> for Token {
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

/// Starts an operation and makes its request; that of one that is complete if nothing is left to
/// do.
///
/// # Errors
/// Those of the operation.
pub fn requested<E: Deref<Target = Process>>(
    enter: impl FnOnce() -> Result<E>,
    operation: impl FnOnce() -> Result<()>,
) -> Result<abi::Request> {
    let token = Arc::new(Token::default());
    NEXT.set(Arc::as_ptr(&token));
    let outcome = operation();
    NEXT.set(ptr::null());
    outcome?;
    if token.parts.get() == 0 {
        return Ok(SENT);
    }
    Ok(request::add(&*enter()?, token))
}
