//! Row 0: what Catena uses of PMIx, opened at run time.
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

mod client;
mod library;
mod types;

pub use client::{Client, Fence};
pub use library::{Library, NotFound, Status};
pub use types::{Value, keys};
