//! What a request is that is an object of its own, and not a plain transfer of `link`.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use catena_hang::WaitsFor;
use catena_link::Awaited;
use catena_objects::error::Result;
use catena_objects::error_place::ErrorPlace;
use catena_objects::fail;

use super::outcome::{Done, State};

/// A request that is not a plain transfer (MPI-5, chapters 3.7, 3.9 and 13.2). A new kind of
/// request is a type with this trait for the [`Process`](crate::Process), in any crate above this
/// one, whose values [`request::add`](crate::request::add) gives handles.
///
/// The life of a request, as calls of its methods:
///
/// | the program                   | the object                                                |
/// |-------------------------------|-----------------------------------------------------------|
/// | `MPI_Test`, `MPI_Wait`        | [`state`](Self::state), between rounds of progress        |
/// | is told of the completion     | [`complete`](Self::complete), once, after `state` said [`Complete`](State::Complete); then, unless it is persistent, the handle is dead and [`recycle`](Self::recycle) is called |
/// | `MPI_Request_get_status`      | [`peek`](Self::peek), after `state` said `Complete`       |
/// | `MPI_Start`                   | [`start`](Self::start), of a persistent one               |
/// | `MPI_Cancel`                  | [`cancel`](Self::cancel)                                  |
/// | `MPI_Request_free`            | [`check_free`](Self::check_free), then [`free`](Self::free), in any state |
///
/// All of it happens inside the library: under its lock if it has one. So an object needs
/// cells, but no lock of its own. Objects that the library only looks at (`state`, `place`,
/// `awaits`) may be in the middle of another method, where a callback of the program calls
/// MPI again; these three must not panic then.
///
/// What carries the request on is its own matter: `link`, if it is made of transfers; a
/// [hook](catena_process::Hook), or [`request::carry_on`](crate::request::carry_on), which has
/// progress call [`advance`](Self::advance).
///
/// # Examples
/// A request that is complete from the beginning:
/// ```
/// use catena_core::Process;
/// use catena_core::request::{Done, RequestObject, State};
/// use catena_objects::Result;
///
/// #[derive(Debug)]
/// struct Nothing;
///
/// impl RequestObject<Process> for Nothing {
///     fn state(&self, _: &Process) -> Result<State> {
///         Ok(State::Complete)
///     }
///
///     fn complete(&self, _: &Process) -> Done {
///         Done::EMPTY
///     }
/// }
/// ```
pub trait RequestObject<P>: Any + fmt::Debug {
    /// How it stands. Does not progress, wait, or call the program back. Once it has said
    /// `Complete` it says so until [`complete`](Self::complete) is called. Cost: small; it is
    /// asked in every round of a wait.
    ///
    /// # Errors
    /// If it is made of a request that is not there any more.
    fn state(&self, process: &P) -> Result<State>;

    /// Takes the result. A persistent request is inactive from now on; every other one is
    /// asked nothing more. An error that belongs nowhere will be that of [`place`](Self::place).
    fn complete(&self, process: &P) -> Done;

    /// The result, which stays.
    ///
    /// # Errors
    /// As for [`state`](Self::state).
    fn peek(&self, _process: &P) -> Result<Done> {
        Ok(Done::EMPTY)
    }

    /// The handle is dead and the result is taken: what the object needed may serve another.
    fn recycle(self: Arc<Self>, _process: &P) {}

    /// Whether it is one of `MPI_*_init`, which stays when it is complete. Always the same.
    fn is_persistent(&self) -> bool {
        false
    }

    /// Whether it is a persistent one of which [`start`](Self::start) and
    /// [`complete`](Self::complete) neither progress, nor call the program back, nor make or free
    /// requests that are objects: these two are then called without a reference of their own.
    /// Always the same.
    fn is_transfer(&self) -> bool {
        false
    }

    /// Starts a persistent one that is inactive.
    ///
    /// # Errors
    /// If it cannot be started; then it stays inactive.
    fn start(&self, _process: &P) -> Result<()> {
        fail!(Request, "the request is not persistent")
    }

    /// Cancels the operation if that is possible still; it becomes complete in any case.
    ///
    /// # Errors
    /// `Request` if operations of this kind cannot be cancelled.
    fn cancel(&self, _process: &P) -> Result<()> {
        fail!(Request, "an operation of this kind cannot be cancelled")
    }

    /// Checks that the program may give it up now; asked before [`free`](Self::free).
    ///
    /// # Errors
    /// `Request` if that is erroneous as it stands. The request stays.
    fn check_free(&self) -> Result<()> {
        Ok(())
    }

    /// The program gives it up. What is under way goes on without a name.
    ///
    /// # Errors
    /// If it is made of a request that is not there any more.
    fn free(&self, _process: &P) -> Result<()> {
        Ok(())
    }

    /// Whether its handle outlives [`free`](Self::free), as somebody has yet to name it. That
    /// one [removes](crate::request::remove) it.
    fn keeps_handle(&self) -> bool {
        false
    }

    /// The object that it works on: its errors belong there.
    fn place(&self) -> Option<ErrorPlace> {
        None
    }

    /// Adds the processes that it waits for, but for those that transfers of `link` wait for.
    /// They are asked for a sign of life while this process waits long, and its waiting names
    /// them.
    fn awaits(&self, _process: &P, _awaited: &mut Awaited) {}

    /// Adds what it waits for, in words for those who look at a job that hangs. Where nothing is
    /// added, that is whom it [awaits](Self::awaits).
    fn describe(&self, _process: &P, _waits: &mut WaitsFor) {}

    /// Whether [`advance`](Self::advance), which has just said false, will say so until a control
    /// message comes, or a death becomes known: then it is not asked before.
    fn waits_for_control(&self) -> bool {
        false
    }

    /// Does what can be done now; true when nothing is left to do. Asked by progress from
    /// [`request::carry_on`](crate::request::carry_on) on until it has said true, and never while
    /// it is in here. It may start transfers and test them, but neither progress nor wait.
    fn advance(&self, _process: &P) -> bool {
        true
    }
}
