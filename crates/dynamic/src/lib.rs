//! Row 7: processes that come and go (MPI-5, chapter 11): jobs that processes spawn, and
//! groups that connect at ports.
//!
//! The launcher starts the processes of a new job and knows the ports; the groups meet as
//! [`Process::connect`](catena_core::Process::connect) describes.
//!
//! | module  | what                                                      |
//! |---------|-----------------------------------------------------------|
//! | `spawn` | `MPI_Comm_spawn` and its kind                             |
//! | `port`  | ports, and those who connect and accept there             |
//! | `join`  | two processes that share a socket                         |
//! | `keys`  | what info objects say about it                            |
//! | `name`  | services that are published with their ports              |
//!
//! `crates/dynamic/README.md` tells how jobs spawn, meet and part, from the launcher to the
//! networks.

#![forbid(unsafe_code)]

pub mod join;
mod keys;
pub mod name;
pub mod port;
pub mod spawn;
