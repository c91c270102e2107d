//! Collective access (MPI-5, chapter 14.4.3): the place where calls of all members become transfers.
//!
//! | module  | what                                                    |
//! |---------|---------------------------------------------------------|
//! | `way`   | how the members move their bytes, and leave together    |
//! | `split` | calls that begin and end                                |

mod split;
mod way;

pub use way::{Way, run};
