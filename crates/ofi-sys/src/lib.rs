//! Row 1: what Catena uses of libfabric, opened at run time.
//!
//! Nothing of libfabric is needed to build this. The layouts are those of the
//! binary interface `FABRIC_1.3` with API 1.17, which every later version
//! keeps: [`Library::open`] asks for the symbols of that interface by version,
//! and everything that is allocated by one side and read by the other comes
//! from libfabric's own allocator (`fi_dupinfo`). Tables of functions may grow
//! at their ends, so only their beginnings are declared.
//!
//! | file      | what                                                        |
//! |-----------|-------------------------------------------------------------|
//! | `library` | finding and opening the library; the functions it exports   |
//! | `handlers` | the process's signal handlers, kept while providers load    |
//! | `types`   | structures and tables of functions                          |
//! | `consts`  | flags and enumerations                                      |
//! | `calls`   | the functions that C programs get inline from the headers   |

pub mod calls;
pub mod consts;
mod handlers;
mod library;
mod types;

pub use catena_loader::NotFound;
pub use library::Library;
pub use types::*;
