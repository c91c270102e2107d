//! Collective access (MPI-5, chapter 14.4.3): the place where calls of all members become transfers.
//!
//! | module      | what                                                    |
//! |-------------|---------------------------------------------------------|
//! | `way`       | how the members move their bytes, and leave together    |
//! | `choice`    | whether they exchange them first                        |
//! | `two_phase` | rounds of exchange and of access to the file            |
//! | `buffers`   | where they meet                                         |
//! | `pieces`    | the runs of one member, in the file and in memory       |
//! | `split`     | calls that begin and end                                |

pub(crate) mod buffers;
pub(crate) mod choice;
mod pieces;
mod split;
mod two_phase;
mod way;

pub use way::run;
