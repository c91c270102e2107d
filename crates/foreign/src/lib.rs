//! Row 8: what other binary interfaces of MPI look like, as data, and what is made from it: the
//! functions of the layers that offer them over Catena (`layer`, `mpich`, `openmpi`).
//!
//! `tables/*.tbl` has the constants of each; the functions and what their arguments mean are
//! those of [`catena_abi::table`]. This runs in build scripts, so nothing here is fast and
//! what is malformed panics.
//!
//! | module      | makes                                                                |
//! |-------------|----------------------------------------------------------------------|
//! | `constants` | the constants of an interface, and which of the standard's they are   |
//! | `functions` | a function for each of the standard that translates and calls it      |
//! | `objects`   | objects whose addresses are handles                                  |
//! | `link`      | a library to link the layers with, and the declarations of its symbols |

#![forbid(unsafe_code)]

mod constants;
mod functions;
mod link;
mod objects;

pub use constants::{Interface, constants};
pub use functions::{functions, persistent_collectives};
pub use link::{against_the_core, declarations};
pub use objects::object_statics;
