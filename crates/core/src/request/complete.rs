//! Completing requests, and waiting for them (MPI-5, chapter 3.7.3).

use catena_abi::{self as abi, Status, consts};
use catena_hang::WaitsFor;
use catena_link::ReqId;

use super::standing::state;
use super::table::{object, placed};
use super::{Done, NOWHERE, NOWHERE_STATUS, RequestObject, SENT, State, as_transfer, bad_request};
use crate::needs;
use crate::process::Process;
use catena_objects::error::{Error, Result};

/// Takes the result of an object, whose errors belong to its place.
#[inline]
fn complete_object(process: &Process, object: &dyn RequestObject<Process>) -> Done {
    let mut done = object.complete(process);
    if let Some(error) = done.error.take() {
        done.error = Some(placed(error, object.place()));
    }
    done
}

/// Completes a request that is complete or inactive: frees it and sets the
/// handle to `MPI_REQUEST_NULL`, or makes a persistent one inactive.
#[inline]
pub fn complete(process: &Process, r: &mut abi::Request) -> Done {
    match as_transfer(*r) {
        Some(id) => {
            if process.is_troubled()
                && let Some(error) = interruption_of(process, *r, id)
            {
                return Done {
                    status: Status::empty(),
                    error: Some(error),
                };
            }
            let was = std::mem::replace(r, consts::REQUEST_NULL);
            complete_transfer(process, was, id)
        }
        None => complete_slow(process, r),
    }
}

/// Why a receive cannot be waited for that is still under way, and stays so.
#[cold]
fn interruption_of(process: &Process, r: abi::Request, id: ReqId) -> Option<Error> {
    if matches!(r, SENT | NOWHERE) {
        return None;
    }
    let cid = process.link(|link| link.is_under_way(id).then(|| link.cid(id)))?;
    let comm = process.comms.at(cid)?;
    Some(comm.interruption(process, true))
}

/// Completes a part of a call that ends with it: a receive that cannot be waited for is taken
/// back.
pub fn complete_whole(process: &Process, r: &mut abi::Request) -> Done {
    let done = complete(process, r);
    let Some(id) = as_transfer(*r) else {
        return done;
    };
    process.link(|link| link.interrupt(id));
    complete(process, r)
}

#[inline]
fn complete_transfer(process: &Process, r: abi::Request, id: ReqId) -> Done {
    match r {
        SENT => Done::EMPTY,
        NOWHERE => Done {
            status: NOWHERE_STATUS,
            error: None,
        },
        _ => {
            let (cid, completion) = process.link(|link| (link.cid(id), link.take(id)));
            let mut done = Done::from(completion);
            if let Some(e) = done.error.take() {
                done.error = Some(match process.comms.handle_once(cid) {
                    Some(comm) => e.on(comm),
                    None => e,
                });
            }
            done
        }
    }
}

fn complete_slow(process: &Process, r: &mut abi::Request) -> Done {
    let requests = &process.objects.requests;
    // SAFETY: the borrow ends before anything else is called, unless it is of a transfer, which
    // promises to touch no request of the table.
    let borrowed = unsafe { requests.borrow(r.0) };
    if let Some(transfer) = borrowed.filter(|it| it.is_transfer()) {
        return complete_object(process, &**transfer);
    }
    let stays = borrowed.is_some_and(|it| it.is_persistent());
    let object = match stays {
        true => requests.get(r.0),
        false => requests.remove(r.0),
    };
    let Some(object) = object else {
        return Done::EMPTY;
    };
    if !stays {
        *r = consts::REQUEST_NULL;
    }
    let done = complete_object(process, &*object);
    if !stays {
        object.recycle(process);
    }
    done
}

/// The status of a complete request, which stays (`MPI_Request_get_status`).
///
/// # Errors
/// `Request` for freed and made-up handles.
pub fn peek(process: &Process, r: abi::Request) -> Result<Done> {
    match as_transfer(r) {
        Some(_) if r == SENT => return Ok(Done::EMPTY),
        Some(_) if r == NOWHERE => {
            return Ok(Done {
                status: NOWHERE_STATUS,
                error: None,
            });
        }
        Some(id) => {
            if let Some(error) = process
                .is_troubled()
                .then(|| interruption_of(process, r, id))
                .flatten()
            {
                return Ok(Done {
                    status: Status::empty(),
                    error: Some(error),
                });
            }
            return process.link(|link| match link.valid(id) {
                false => Err(bad_request(r)),
                true => Ok(link.peek(id).map_or(Done::EMPTY, Done::from)),
            });
        }
        None if r == consts::REQUEST_NULL => return Ok(Done::EMPTY),
        None => {}
    }
    object(process, r)?.peek(process)
}

/// `MPI_Wait`.
///
/// # Errors
/// `Request` for freed and made-up handles; the operation's own error is in
/// the result.
pub fn wait(process: &Process, r: &mut abi::Request) -> Result<Done> {
    block_on(process, *r)?;
    Ok(complete(process, r))
}

/// Progresses until a request is not pending; how it stands then.
///
/// # Errors
/// `Request` for freed and made-up handles.
#[inline]
pub fn block_on(process: &Process, r: abi::Request) -> Result<State> {
    let now = state(process, r)?;
    if now != State::Pending {
        return Ok(now);
    }
    let describe = |process: &Process, waits: &mut WaitsFor| {
        needs::describe_request(process, r, waits);
    };
    match process.objects.requests.get(r.0) {
        // Looked up once.
        Some(object) => {
            process.block(describe, |process| {
                !matches!(object.state(process), Ok(State::Pending))
            });
        }
        None => process.block(describe, |process| {
            !matches!(state(process, r), Ok(State::Pending))
        }),
    }
    Ok(State::Complete)
}
