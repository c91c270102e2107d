//! Handles that the library writes when a request is complete, as that of `MPI_Comm_idup`.
//!
//! The library is given a cell instead of the program's variable. Calls that complete requests
//! look whether any cell has got its handle; there is one load for that when none is waited for.

use std::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::sync::{Mutex, MutexGuard, PoisonError};

use catena_abi::{Comm, Request, consts};

use crate::core;
use crate::handle::Handle;

/// A communicator that is being made.
struct Pending {
    /// Where the library writes its handle.
    cell: Box<AtomicUsize>,
    /// Gives it to the program.
    give: unsafe fn(usize, Comm),
    /// The program's variable.
    to: usize,
    /// The request whose end is waited for.
    request: Request,
}

static PENDING: Mutex<Vec<Pending>> = Mutex::new(Vec::new());
/// How many there are.
static WAITED_FOR: AtomicUsize = AtomicUsize::new(0);

fn pending() -> MutexGuard<'static, Vec<Pending>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// # Safety
/// `to` is the address of a variable of that type, which the program lends until its handle is
/// there.
unsafe fn give<H: Handle<Native = Comm>>(to: usize, comm: Comm) {
    // SAFETY: the caller's promise.
    unsafe { (to as *mut H).write(H::foreign(comm)) };
}

/// A place for the library to write the handle of a new communicator to, which goes on to `to`
/// with the first call that completes requests thereafter. `start` returns the request that is to
/// be waited for, if any.
pub fn comm<H: Handle<Native = Comm>>(
    to: *mut H,
    start: impl FnOnce(*mut Comm) -> Option<Request>,
) {
    let cell = Box::new(AtomicUsize::new(consts::COMM_NULL.0));
    if let Some(request) = start(cell.as_ptr().cast()) {
        pending().push(Pending {
            cell,
            give: give::<H>,
            to: to as usize,
            request,
        });
        WAITED_FOR.fetch_add(1, Relaxed);
        deliver();
    }
}

/// Gives the program what has come.
#[inline]
pub fn deliver() {
    // Another thread may have given the program this one's.
    if WAITED_FOR.load(Acquire) != 0 {
        deliver_slow();
    }
}

#[cold]
fn deliver_slow() {
    // The library is asked without the lock, as it may wait for a thread that comes here. It writes
    // the handle before the request ends, so this is asked first.
    let requests: Vec<Request> = pending().iter().map(|one| one.request).collect();
    let ended: Vec<Request> = requests.into_iter().filter(|&it| has_ended(it)).collect();
    let mut all = pending();
    for at in (0..all.len()).rev() {
        let has_ended = ended.contains(&all[at].request);
        let comm = Comm(all[at].cell.load(Acquire));
        let there = comm != consts::COMM_NULL;
        if !there && !has_ended {
            continue;
        }
        let one = all.swap_remove(at);
        if there {
            // SAFETY: the program's variable, which it lends until the request is complete.
            unsafe { (one.give)(one.to, comm) };
        } else {
            // It has failed, or was freed before it is complete: then the library may still write
            // there.
            Box::leak(one.cell);
        }
        WAITED_FOR.fetch_sub(1, Release);
    }
}

/// Whether a request is gone: it was completed, or freed.
fn has_ended(request: Request) -> bool {
    // SAFETY: a number; the library looks whether there is such a request.
    unsafe { core::MPI_Request_fromint(core::MPI_Request_toint(request)) != request }
}
