//! Row 1: what tools that stand between a program and MPI have in common.
//!
//! Such a tool is a shared library that a process loads before all others: its functions are called
//! in the place of the library's (`MPI_Send`, and `catena_MPI_Send` for libraries with the ABIs of
//! other MPIs). [`stand_before_mpi`] makes them, from the table of `catena-abi`; all go to one
//! function of the tool, with their number, their arguments and the address that they return to.
//!
//! | file     | what                                              |
//! |----------|---------------------------------------------------|
//! | `entry`  | the functions under the names of MPI's            |
//! | `call`   | the table, and the arguments of a call            |
//! | `next`   | the functions behind                              |
//! | `mpi`    | what tools ask the library                        |
//! | `asking` | whether a tool has called the library for itself  |
//! | `object` | which file an address of code lies in             |
//! | `stack`  | the stack of a thread                             |
//! | `node`   | the memory that the processes of a node share     |

mod asking;
pub mod call;
mod entry;
pub mod mpi;
pub mod next;
pub mod node;
pub mod object;
pub mod stack;

pub use entry::{LAYER, PROFILED, REGISTERS, arguments, from};
