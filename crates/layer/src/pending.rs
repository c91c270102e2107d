//! Handles that the library writes when a request is complete, as that of `MPI_Comm_idup`.
//!
//! The library is given a cell instead of the program's variable. Calls that complete requests
//! look whether any cell has got its handle; there is one load for that when none is waited for.

use std::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use catena_abi::{Comm, consts};

use crate::handle::Handle;

/// A communicator that is being made.
struct Pending {
    /// Where the library writes its handle.
    cell: Box<AtomicUsize>,
    /// Gives it to the program.
    give: unsafe fn(usize, Comm),
    /// The program's variable.
    to: usize,
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
/// with the first call that completes requests thereafter. `start` says whether it is to be
/// waited for.
pub fn comm<H: Handle<Native = Comm>>(to: *mut H, start: impl FnOnce(*mut Comm) -> bool) {
    let cell = Box::new(AtomicUsize::new(consts::COMM_NULL.0));
    if start(cell.as_ptr().cast()) {
        let give = give::<H>;
        let to = to as usize;
        pending().push(Pending { cell, give, to });
        WAITED_FOR.fetch_add(1, Relaxed);
        deliver();
    }
}

/// Gives the program what has come.
#[inline]
pub fn deliver() {
    if WAITED_FOR.load(Relaxed) != 0 {
        deliver_slow();
    }
}

#[cold]
fn deliver_slow() {
    pending().retain(|one| {
        let comm = Comm(one.cell.load(Acquire));
        let there = comm != consts::COMM_NULL;
        if there {
            // SAFETY: the program's variable, which it lends until the request is complete.
            unsafe { (one.give)(one.to, comm) };
            WAITED_FOR.fetch_sub(1, Relaxed);
        }
        !there
    });
}
