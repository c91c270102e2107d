//! From the transfers of all members to moved bytes.
//!
//! [`run`] is what every blocking collective call comes to, ordered and split ones as well. Each member
//! brings its transfer, or the error of its arguments, and all leave together: with an error if one of
//! them has failed. How the bytes move in between is chosen by [`way`].

use catena_abi::Status;
use catena_core::Process;
use catena_core::request::Done;
use catena_objects::error::Result;

use crate::agree;
use crate::file::File;
use crate::transfer::Transfer;

/// Moves the bytes of all members; how it went for this one, which another one need not know. Collective:
/// all members have a transfer, all in one direction.
pub type Way = fn(&Process, &File, Transfer) -> Done;

/// How the members of a file move their bytes. All members choose alike.
fn way(_file: &File) -> Way {
    independently
}

/// Each member moves its own bytes.
fn independently(process: &Process, _file: &File, mut transfer: Transfer) -> Done {
    transfer.run();
    transfer.finish(process)
}

/// A blocking collective call. Collective; nobody waits for a member whose arguments are bad.
///
/// # Errors
/// That of this member's arguments or transfer, else that of the lowest member that has one. A transfer that
/// fails at one member does not undo those of others; the text says how far it came.
pub fn run(process: &Process, file: &File, own: Result<Transfer>) -> Result<Status> {
    let done = match own {
        Ok(transfer) => way(file)(process, file, transfer).into_result(),
        Err(error) => Err(error),
    };
    agree::all_well(process, &file.comm, done)
}
