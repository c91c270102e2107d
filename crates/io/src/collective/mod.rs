//! Collective access (MPI-5, chapter 14.4.3): the place where calls of all members become
//! transfers.
//!
//! | module      | what                                                    |
//! |-------------|---------------------------------------------------------|
//! | `way`       | how the members move their bytes, and leave together    |
//! | `choice`    | whether they exchange them first                        |
//! | `two_phase` | what exchange and access to the file are like           |
//! | `rounds`, `write`, `read` | its rounds                                |
//! | `across`, `parcel` | what nodes send each other in them               |
//! | `buffers`   | where they meet                                         |
//! | `pieces`    | the runs of one member, in the file and in memory       |
//! | `split`     | calls that begin and end                                |

mod across;
pub(crate) mod buffers;
pub(crate) mod choice;
mod parcel;
mod pieces;
mod read;
mod rounds;
mod split;
mod two_phase;
mod way;
mod write;

#[cfg(any(test, fuzzing))]
pub(crate) use parcel::fuzz;
pub use way::{run, start};
