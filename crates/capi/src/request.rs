//! Completion of requests (MPI-5, chapters 3.7.3 to 3.7.6, 3.8.4 and 3.9).

use std::ffi::c_int;

use catena_abi::{Request, Status, consts};
use catena_core::request::{self, Among, Done, State};
use catena_core::{Process, enter};
use catena_objects::{Error, Kind, Result};

use crate::args::{self, array, array_mut, put, put_status};
use crate::entry::mpi_fn;
use crate::errors;

/// Stores the empty status, whose error field is set too (MPI-5, 3.7.3).
fn put_empty(status: *mut Status) {
    if !status.is_null() {
        // SAFETY: not null (`MPI_STATUS_IGNORE`); the program vouches for the
        // rest.
        unsafe { status.write(Status::empty()) };
    }
}

/// Stores the empty status if nothing is under way, and tells so.
#[inline]
fn is_idle(process: &Process, request: Request, status: *mut Status) -> bool {
    let idle = request::is_idle(process, request);
    if idle {
        put_empty(status);
    }
    idle
}

/// A request argument that is passed by address.
#[inline]
fn one<'a>(request: *mut Request) -> Result<&'a mut Request> {
    // SAFETY: the program passes the address of a handle, ours for the call.
    unsafe { request.as_mut() }.ok_or_else(|| args::null_argument("request"))
}

/// An array of requests that is changed.
#[inline]
fn requests<'a>(count: c_int, requests: *mut Request) -> Result<&'a mut [Request]> {
    array_mut(
        requests,
        args::count(count.into())? as usize,
        "array_of_requests",
    )
}

/// An array of requests that is looked at.
fn requests_const<'a>(count: c_int, requests: *const Request) -> Result<&'a [Request]> {
    array(
        requests,
        args::count(count.into())? as usize,
        "array_of_requests",
    )
}

/// The place of one status of an array, null if they are to be ignored.
#[inline]
fn at(statuses: *mut Status, index: usize) -> *mut Status {
    if statuses.is_null() {
        statuses
    } else {
        statuses.wrapping_add(index)
    }
}

/// Sets the error field of a status, for `MPI_ERR_IN_STATUS`.
fn put_error(status: *mut Status, code: c_int) {
    if !status.is_null() {
        // SAFETY: not null; the program vouches for the rest.
        unsafe { (*status).error = code };
    }
}

#[inline]
fn finish(done: Done, status: *mut Status) -> Result<()> {
    put_status(status, &done.status);
    match done.error {
        None => Ok(()),
        Some(e) => Err(e),
    }
}

/// The error of a call that completed several requests, of which `index` is
/// the first that failed.
#[cold]
fn in_status(index: usize, e: &Error) -> Error {
    let text = format!("array_of_requests[{index}]: {}", e.text());
    e.reworded(Kind::InStatus, text)
}

/// Ends `MPI_Waitall` when the request `failed` has: those before it are
/// complete, those behind it are completed if they can be at once.
#[cold]
fn rest(
    process: &Process,
    requests: &mut [Request],
    statuses: *mut Status,
    failed: usize,
    error: &Error,
) -> Result<()> {
    for i in 0..failed {
        put_error(at(statuses, i), consts::SUCCESS);
    }
    put_error(at(statuses, failed), errors::code_of(error));
    for (i, request) in requests.iter_mut().enumerate().skip(failed + 1) {
        let status = at(statuses, i);
        if request::state(process, *request)? == State::Pending {
            put_error(status, consts::ERR_PENDING);
            continue;
        }
        let done = request::complete(process, request);
        put_status(status, &done.status);
        put_error(
            status,
            done.error.as_ref().map_or(consts::SUCCESS, errors::code_of),
        );
    }
    Err(in_status(failed, error))
}

/// Completes the requests of these indices, for the calls of "some".
fn complete_some(
    process: &Process,
    requests: &mut [Request],
    indices: &[c_int],
    statuses: *mut Status,
) -> Result<()> {
    let mut first: Option<(usize, Error)> = None;
    for (n, &i) in indices.iter().enumerate() {
        let done = request::complete(process, &mut requests[i as usize]);
        put_status(at(statuses, n), &done.status);
        if let Some(e) = done.error {
            if first.is_none() {
                (0..n).for_each(|k| put_error(at(statuses, k), consts::SUCCESS));
            }
            put_error(at(statuses, n), errors::code_of(&e));
            first.get_or_insert((i as usize, e));
        } else if first.is_some() {
            put_error(at(statuses, n), consts::SUCCESS);
        }
    }
    match first {
        None => Ok(()),
        Some((index, e)) => Err(in_status(index, &e)),
    }
}

/// Stores what a call of "some" found and completes it.
fn put_some(
    process: &Process,
    requests: &mut [Request],
    found: Option<usize>,
    outcount: *mut c_int,
    indices: &[c_int],
    statuses: *mut Status,
) -> Result<()> {
    match found {
        None => put(outcount, consts::UNDEFINED, "outcount"),
        Some(n) => {
            put(outcount, n as c_int, "outcount")?;
            complete_some(process, requests, &indices[..n], statuses)
        }
    }
}

mpi_fn! {
    fn MPI_Wait(request: *mut Request, status: *mut Status) {
        let process = enter()?;
        let request = one(request)?;
        match request::block_on(&process, *request)? {
            State::Inactive => put_empty(status),
            _ => return finish(request::complete(&process, request), status),
        }
        Ok(())
    }

    fn MPI_Test(request: *mut Request, flag: *mut c_int, status: *mut Status) {
        let process = enter()?;
        let request = one(request)?;
        let ready = request::poll(&process, *request)? != State::Pending;
        put(flag, ready.into(), "flag")?;
        if !ready || is_idle(&process, *request, status) {
            return Ok(());
        }
        finish(request::complete(&process, request), status)
    }

    fn MPI_Waitall(count: c_int, array_of_requests: *mut Request, array_of_statuses: *mut Status) {
        let process = enter()?;
        let requests = requests(count, array_of_requests)?;
        // Nothing is completed if one is none. Of one alone its wait says so.
        if requests.len() > 1 {
            request::check_all(&process, requests)?;
        }
        for i in 0..requests.len() {
            let status = at(array_of_statuses, i);
            if request::block_on(&process, requests[i])? == State::Inactive {
                put_empty(status);
                continue;
            }
            let done = request::complete(&process, &mut requests[i]);
            put_status(status, &done.status);
            if let Some(e) = done.error {
                return rest(&process, requests, array_of_statuses, i, &e);
            }
        }
        Ok(())
    }

    fn MPI_Testall(count: c_int, array_of_requests: *mut Request, flag: *mut c_int,
        array_of_statuses: *mut Status)
    {
        let process = enter()?;
        let requests = requests(count, array_of_requests)?;
        let ready = request::poll_all(&process, requests)?;
        put(flag, ready.into(), "flag")?;
        if !ready {
            return Ok(());
        }
        for i in 0..requests.len() {
            let status = at(array_of_statuses, i);
            if is_idle(&process, requests[i], status) {
                continue;
            }
            let done = request::complete(&process, &mut requests[i]);
            put_status(status, &done.status);
            if let Some(e) = done.error {
                return rest(&process, requests, array_of_statuses, i, &e);
            }
        }
        Ok(())
    }

    fn MPI_Waitany(count: c_int, array_of_requests: *mut Request, indx: *mut c_int,
        status: *mut Status)
    {
        let process = enter()?;
        let requests = requests(count, array_of_requests)?;
        match request::wait_any(&process, requests)? {
            Among::At(i) => {
                put(indx, i as c_int, "index")?;
                finish(request::complete(&process, &mut requests[i]), status)
            }
            Among::Inactive | Among::Pending => {
                put_empty(status);
                put(indx, consts::UNDEFINED, "index")
            }
        }
    }

    fn MPI_Testany(count: c_int, array_of_requests: *mut Request, indx: *mut c_int,
        flag: *mut c_int,
        status: *mut Status)
    {
        let process = enter()?;
        let requests = requests(count, array_of_requests)?;
        let found = request::poll_any(&process, requests)?;
        put(flag, (found != Among::Pending).into(), "flag")?;
        match found {
            Among::At(i) => {
                put(indx, i as c_int, "index")?;
                finish(request::complete(&process, &mut requests[i]), status)
            }
            Among::Inactive => {
                put_empty(status);
                put(indx, consts::UNDEFINED, "index")
            }
            Among::Pending => put(indx, consts::UNDEFINED, "index"),
        }
    }

    fn MPI_Waitsome(incount: c_int, array_of_requests: *mut Request, outcount: *mut c_int,
        array_of_indices: *mut c_int, array_of_statuses: *mut Status)
    {
        let process = enter()?;
        let requests = requests(incount, array_of_requests)?;
        let indices = array_mut(array_of_indices, requests.len(), "array_of_indices")?;
        let found = request::wait_some(&process, requests, indices)?;
        put_some(&process, requests, found, outcount, indices, array_of_statuses)
    }

    fn MPI_Testsome(incount: c_int, array_of_requests: *mut Request, outcount: *mut c_int,
        array_of_indices: *mut c_int, array_of_statuses: *mut Status)
    {
        let process = enter()?;
        let requests = requests(incount, array_of_requests)?;
        let indices = array_mut(array_of_indices, requests.len(), "array_of_indices")?;
        let found = request::poll_some(&process, requests, indices)?;
        put_some(&process, requests, found, outcount, indices, array_of_statuses)
    }

    fn MPI_Request_get_status(request: Request, flag: *mut c_int, status: *mut Status) {
        let process = enter()?;
        let ready = request::poll(&process, request)? != State::Pending;
        if ready && !is_idle(&process, request, status) {
            put_status(status, &request::peek(&process, request)?.status);
        }
        put(flag, ready.into(), "flag")
    }

    fn MPI_Request_get_status_all(count: c_int, array_of_requests: *const Request, flag: *mut c_int,
        array_of_statuses: *mut Status)
    {
        let process = enter()?;
        let requests = requests_const(count, array_of_requests)?;
        let ready = request::poll_all(&process, requests)?;
        if ready {
            for (i, &request) in requests.iter().enumerate() {
                let status = at(array_of_statuses, i);
                if !is_idle(&process, request, status) {
                    put_status(status, &request::peek(&process, request)?.status);
                }
            }
        }
        put(flag, ready.into(), "flag")
    }

    fn MPI_Request_get_status_any(count: c_int, array_of_requests: *const Request, indx: *mut c_int,
        flag: *mut c_int, status: *mut Status)
    {
        let process = enter()?;
        let requests = requests_const(count, array_of_requests)?;
        let found = request::poll_any(&process, requests)?;
        put(flag, (found != Among::Pending).into(), "flag")?;
        match found {
            Among::At(i) => {
                put_status(status, &request::peek(&process, requests[i])?.status);
                put(indx, i as c_int, "index")
            }
            Among::Inactive => {
                put_empty(status);
                put(indx, consts::UNDEFINED, "index")
            }
            Among::Pending => put(indx, consts::UNDEFINED, "index"),
        }
    }

    fn MPI_Request_get_status_some(incount: c_int, array_of_requests: *const Request,
        outcount: *mut c_int, array_of_indices: *mut c_int, array_of_statuses: *mut Status)
    {
        let process = enter()?;
        let requests = requests_const(incount, array_of_requests)?;
        let indices = array_mut(array_of_indices, requests.len(), "array_of_indices")?;
        match request::poll_some(&process, requests, indices)? {
            None => put(outcount, consts::UNDEFINED, "outcount"),
            Some(n) => {
                for (k, &i) in indices[..n].iter().enumerate() {
                    put_status(at(array_of_statuses, k), &request::peek(&process,
                        requests[i as usize])?.status);
                }
                put(outcount, n as c_int, "outcount")
            }
        }
    }

    fn MPI_Request_free(request: *mut Request) {
        request::free(&*enter()?, one(request)?)
    }

    fn MPI_Cancel(request: *mut Request) {
        request::cancel(&*enter()?, *one(request)?)
    }

    fn MPI_Start(request: *mut Request) {
        request::start(&*enter()?, *one(request)?)
    }

    fn MPI_Startall(count: c_int, array_of_requests: *mut Request) {
        request::start_all(&*enter()?, requests_const(count, array_of_requests)?)
    }
}
