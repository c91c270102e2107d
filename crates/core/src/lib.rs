//! Row 6: communicators, requests, progress, and running schedules. The MPI library
//! without its C interface, above the objects that are mere data.

#![allow(
    clippy::arc_with_non_send_sync,
    reason = "objects are shared under the library's lock, which the compiler cannot see"
)]

mod attached;
pub mod bsend;
pub mod buffer;
pub mod coll;
pub mod comm;
#[cfg(test)]
mod device;
pub mod events;
mod failure;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
pub mod init;
pub mod life;
mod memory_kinds;
mod message;
pub mod object;
pub mod p2p;
pub mod peers;
mod phase;
pub mod process;
mod reduce_local;
pub mod request;
pub mod session;
mod session_object;
pub mod settings;
pub mod topology;
pub mod wait;

pub use process::{Process, enter, enter_any, observe};
pub use reduce_local::reduce_local;
