//! Row 7: the tool information interface (MPI-5, chapter 15.3) without its C
//! form: what there is to know about a process, and who is looking at it.
//!
//! | module     | what                                                           |
//! |------------|----------------------------------------------------------------|
//! | `facts`    | values, and what variables are bound to                        |
//! | `catalog`  | everything that exists, in the order of its index              |
//! | `pvars`    | the performance variables of `core` and what lies below        |
//! | `users`    | how the interface is begun and ended                           |
//! | `cvar`     | handles of control variables: the settings                     |
//! | `session`  | handles of performance variables                               |
//! | `counts`   | what the library has counted, in words                         |
//! | `event`    | registrations of callbacks                                     |
//! | `telling`  | raising events: who is told, and the calls                     |
//! | `state`    | the interface's own state                                      |
//! | `handles`, `registration` | what programs have open, and want to be told of |
//!
//! Nothing here calls MPI or an error handler, and all of it works before
//! `MPI_Init` and after `MPI_Finalize`.

#![forbid(unsafe_code)]

mod catalog;
mod counts;
pub mod cvar;
pub mod event;
mod facts;
mod handles;
mod pvars;
mod registration;
pub mod session;
mod state;
mod telling;
mod users;

pub use catalog::{Catalog, Category, Cvar, Enumeration, EventType, catalog};
pub use catena_core::variables::{Audience, Bind, Class, Pvar, Type};
pub use catena_objects::table::ObjectKind;
pub use counts::counts;
pub use facts::{Bound, Value};
pub use users::{finalize, init, is_initialized};

/// Result of everything here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed; each is one return code of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The interface is not initialised.
    NotInitialized,
    /// An argument makes no sense.
    Invalid,
    /// There is nothing with that index.
    InvalidIndex,
    /// There is nothing of that name.
    InvalidName,
    /// The handle was freed or never was, or belongs to another session.
    InvalidHandle,
    /// The session was freed or never was.
    InvalidSession,
    /// The setting was read when MPI was initialised.
    CvarSetNever,
    /// The setting is being read just now.
    CvarSetNotNow,
    /// The variable can only be read.
    PvarNoWrite,
    /// The variable is always active.
    PvarNoStartStop,
    /// The variable cannot be read and reset at once.
    PvarNoAtomic,
}
