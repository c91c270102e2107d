//! Row 1: what Catena uses of PMIx, opened at run time.
//!
//! Nothing of PMIx is needed to build this. The layouts are those of the binary
//! interface `libpmix.so.2`, which versions 2 to 6 share. Groups of PMIx are
//! not used: how reliable they are differs from version to version.
//!
//! | file      | what                                                        |
//! |-----------|-------------------------------------------------------------|
//! | `library` | finding and opening the library; the functions it exports   |
//! | `types`   | structures and constants                                    |
//! | `client`  | a process that a PMIx server serves                         |
//! | `server`  | a PMIx server                                               |
//! | `upcalls` | what the library calls in a server                          |
//! | `infos`   | lists of arguments                                          |

mod client;
mod infos;
mod library;
mod server;
mod types;
mod upcalls;

pub use catena_loader::NotFound;
pub use client::{Client, Fence};
pub use library::{Library, Status};
pub use server::{Job, Server};
pub use types::{Value, keys};
pub use upcalls::{GroupReply, Reply, Upcall};
