//! From the transfers of all members to moved bytes.
//!
//! [`run`] is what every blocking collective call comes to, ordered and split ones as well. Each member
//! brings its transfer, or the error of its arguments, and all leave together: with an error if one of
//! them has failed. How the bytes move in between all members choose alike ([`choice`]).

use catena_abi::Status;
use catena_core::Process;
use catena_objects::error::Result;

use crate::agree;
use crate::collective::{choice, two_phase};
use crate::file::File;
use crate::transfer::Transfer;

/// A blocking collective call. Collective; all members have a transfer, all in one direction.
///
/// # Errors
/// That of the lowest member whose arguments are bad, at all members: no byte is moved then. Else that of the
/// lowest member whose transfer has failed, at all members; the text says how far it came. It does not undo
/// what others have moved.
pub fn run(process: &Process, file: &File, own: Result<Transfer>) -> Result<Status> {
    // In atomic mode a member may have its bytes to itself already: it waits for nobody who waits for them.
    let (own, plan) = match file.atomic.get() {
        true => (own, None),
        false => {
            let (transfer, plan) = choice::agree(process, file, own)?;
            (Ok(transfer), plan)
        }
    };
    let done = own.and_then(|mut transfer| {
        let done = match plan {
            Some(plan) => two_phase::run(process, file, transfer, plan),
            None => {
                transfer.run();
                transfer.finish(process)
            }
        };
        done.into_result()
    });
    agree::all_well(process, &file.comm, done)
}
