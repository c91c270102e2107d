//! Row 7: processes that come and go (MPI-5, chapter 11): jobs that processes spawn, and
//! groups that connect at ports.
//!
//! The launcher starts the processes of a new job and knows the ports; the groups meet as
//! [`Comm::connect`](catena_core::comm::Comm::connect) describes.
//!
//! | module  | what                                                      |
//! |---------|-----------------------------------------------------------|
//! | `spawn` | `MPI_Comm_spawn` and its kind                             |
//! | `family` | those who have spawned this job, and its own states      |
//! | `port`  | ports, and those who connect and accept there             |
//! | `join`  | two processes that share a socket                         |
//! | `keys`  | what info objects say about it                            |
//! | `name`  | services that are published with their ports              |
//!
//! `crates/dynamic/README.md` tells how jobs spawn, meet and part, from the launcher to the
//! networks.

#![forbid(unsafe_code)]

mod family;
pub mod join;
mod keys;
pub mod name;
pub mod port;
pub mod spawn;

use catena_core::components::Component;

pub use family::parent;

/// What this crate does at moments that only `core` sees.
pub const COMPONENT: &dyn Component = &family::Jobs;
