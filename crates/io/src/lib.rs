//! Row 7: files (MPI-5, chapter 14), without their C interface.
//!
//! A call becomes an *access* (checked arguments), then a [`Transfer`] at a place of a view, which
//! a [`Driver`] carries out. Blocking independent calls run it at once, non-blocking ones give it
//! to a thread, and collective ones hand it to [`collective`].
//!
//! | module       | what                                                                  |
//! |--------------|-----------------------------------------------------------------------|
//! | `driver`     | what a file system is: the trait, POSIX, one that injects faults      |
//! | `open`       | opening, closing, deleting                                            |
//! | `file`       | an open file; its size, its hints, its view                           |
//! | `registry`   | files by their handles                                                |
//! | `amode`, `hints`, `hint_file` | what may be asked for when a file is opened          |
//! | `view`       | which bytes of a file a process sees                                  |
//! | `datarep`    | representations of data, conversion                                   |
//! | `access`     | from the arguments of a call to a transfer                            |
//! | `place`      | where a call works                                                    |
//! | `transfer`   | one transfer                                                          |
//! | `threads`    | threads that read and write while the program computes                |
//! | `request`    | independent calls that do not block                                   |
//! | `call`, `operation` | waiting for other members, in calls that block or were started |
//! | `nodes`      | which members share memory                                            |
//! | `pointer`    | individual file pointers                                              |
//! | `shared`, `shared_pointer`, `ordered` | shared file pointers                         |
//! | `lock`       | atomic mode                                                           |
//! | `common`     | what the members of a file share, on one node                         |
//! | `agent`     | the same on several hosts                                             |
//! | `collective`, `split` | calls of all members                                         |
//! | `agree`      | how they learn of each other                                          |
//! | `failure`    | errors of the system                                                  |
//! | `counters`, `variables` | what was done with files, counted, and listed for tools    |
//!
//! `crates/io/README.md` tells how files work.

#![allow(
    clippy::arc_with_non_send_sync,
    reason = "objects are shared under the library's lock, which the compiler cannot see"
)]

mod access;
mod agent;
mod agree;
mod amode;
mod call;
pub mod collective;
mod common;
mod counters;
mod datarep;
pub mod driver;
mod failure;
mod file;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod hint_file;
mod hints;
mod lock;
mod nodes;
mod open;
mod operation;
mod ordered;
mod place;
mod pointer;
pub mod registry;
mod request;
mod shared;
mod shared_pointer;
mod split;
mod threads;
mod transfer;
pub mod unseen;
mod variables;
mod view;

pub use access::{Buffer, straight};
pub use amode::Amode;
pub use datarep::{Conversion, Datarep, Registered, register as register_datarep};
pub use driver::{Direction, Driver};
pub use file::File;
pub use hints::{Choice, Hints};
pub use open::{Plan, close, delete, open};
pub use place::FilePosition;
pub use split::Form;
pub use transfer::{Memory, Transfer};
pub use view::{Run, View};

use catena_abi as abi;
use catena_core::Process;
use catena_core::listing::Listing;

/// What this crate lists.
pub const LISTING: Listing = Listing {
    variables: variables::list,
    ..Listing::NOTHING
};

/// Starts a transfer that goes on while the program computes; its request.
///
/// # Errors
/// `ProcAborted` in atomic mode, if the member that keeps who has which bytes is gone.
pub fn start(
    process: &Process,
    file: &File,
    mut transfer: Transfer,
) -> catena_objects::Result<abi::Request> {
    let locked = file.lock_alone(process, &mut transfer);
    locked.inspect_err(|_| file.settle_pointer(process, transfer.placed(), 0))?;
    Ok(request::start(process, transfer, file.handle.get()))
}
