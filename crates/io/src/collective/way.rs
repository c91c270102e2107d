//! From the transfers of all members to moved bytes.
//!
//! [`run`] is what every blocking collective call comes to, ordered ones as well, and [`start`]
//! every other one. Each member brings its transfer, or the error of its arguments, and all leave
//! together: with an error if one of them has failed. How the bytes move in between all members
//! choose alike ([`choice`]).

use std::cell::Cell;
use std::sync::Arc;

use catena_abi::{self as abi, Status};
use catena_core::Process;
use catena_core::request::{self, Done};
use catena_objects::error::Result;

use crate::agree;
use crate::call::{CollectiveCall, at_once};
use crate::collective::{choice, two_phase};
use crate::file::File;
use crate::operation::Operation;
use crate::transfer::Transfer;

/// A blocking collective call. Collective; all members have a transfer, all in one direction.
///
/// # Errors
/// That of the lowest member whose arguments are bad, at all members: no byte is moved then. Else
/// that of the lowest member whose transfer has failed, at all members; the text says how far it
/// came. It does not undo what others have moved.
pub fn run(process: &Process, file: &File, own: Result<Transfer>) -> Result<Status> {
    file.operations.settle(process);
    let placed = own.as_ref().ok().map(Transfer::placed);
    let moved = Cell::new(0);
    let done = at_once(work(
        &CollectiveCall::blocking(process, &file.comm),
        file,
        own,
        &moved,
    ));
    if let (Some(placed), true) = (placed, done.is_err()) {
        file.settle_pointer(process, placed, moved.get());
    }
    done
}

/// A collective call that goes on while the program computes; its request. The others learn of an
/// error of the arguments when they complete theirs.
///
/// # Errors
/// The error of the arguments, if they are wrong.
pub fn start(process: &Process, file: &Arc<File>, own: Result<Transfer>) -> Result<abi::Request> {
    let operation = begin(process, file, own)?;
    Ok(request::add(process, operation))
}

/// Starts the operation.
///
/// # Errors
/// The error of the arguments, if they are wrong.
pub(crate) fn begin(
    process: &Process,
    file: &Arc<File>,
    own: Result<Transfer>,
) -> Result<Arc<Operation>> {
    let wrong = own.as_ref().err().cloned();
    let (crew, own_file) = (CollectiveCall::started(process, &file.comm), file.clone());
    let operation = Operation::new(file.handle.get().into(), async move {
        match work(&crew, &own_file, own, &Cell::new(0)).await {
            Ok(status) => Done {
                status,
                error: None,
            },
            Err(error) => Done {
                status: Status::empty(),
                error: Some(error),
            },
        }
    });
    file.operations.start(process, operation.clone());
    wrong.map_or(Ok(operation), Err)
}

/// What the members do; `moved` is how many bytes in memory of this one have been moved, also if
/// that fails.
async fn work(
    crew: &CollectiveCall,
    file: &File,
    own: Result<Transfer>,
    moved: &Cell<u64>,
) -> Result<Status> {
    let (own, plan) = match file.atomic.get() {
        // Each member has its bytes to itself, and waits for nobody who waits for them.
        true => match own {
            Ok(mut transfer) => {
                let locked = file.lock_in_turn(crew, &mut transfer).await;
                (locked.map(|()| transfer), None)
            }
            Err(error) => (Err(error), None),
        },
        false => {
            let (transfer, plan) = choice::agree(crew, file, own).await?;
            (Ok(transfer), plan)
        }
    };
    let exchange = match plan {
        Some(plan) => two_phase::prepare(crew, file, plan).await?,
        None => None,
    };
    let done = match (own, exchange) {
        (Err(error), _) => Err(error),
        (Ok(transfer), Some(exchange)) => {
            let done = two_phase::run(crew, file, transfer, exchange).await;
            moved.set(done.status.bytes());
            done.into_result()
        }
        (Ok(mut transfer), None) => {
            let task = crew.begin(false, move || {
                transfer.run();
                transfer
            });
            let transfer = crew.end(task).await;
            let done = transfer.finish(crew.process());
            moved.set(done.status.bytes());
            done.into_result()
        }
    };
    agree::all_well_in(crew, done).await
}
