//! Row 1: what Catena uses of UCX's communication layer (UCP), opened at run
//! time.
//!
//! Nothing of UCX is needed to build this. UCX keeps its binary interface: a
//! structure is told by a mask which of its fields count, and grows only at its
//! end. So the layouts here are the beginnings that version 1.13 has, and every
//! later version of the same library name understands them.
//!
//! | file      | what                                                        |
//! |-----------|-------------------------------------------------------------|
//! | `library` | finding and opening the library; the functions it exports   |
//! | `types`   | structures                                                  |
//! | `consts`  | masks, flags and status numbers                             |
//! | `signals` | UCX's signal handlers, which are taken back                 |

pub mod consts;
mod library;
mod signals;
mod types;

pub use catena_loader::NotFound;
pub use library::Library;
pub use types::*;
