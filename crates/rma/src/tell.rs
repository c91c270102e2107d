//! What the members of a communicator tell each other while a window is made over it.

use std::mem;
use std::sync::Arc;

use catena_abi::{Count, consts};
use catena_core::Process;
use catena_core::coll::{Caller, Data, Prepared};
use catena_core::comm::Comm;
use catena_objects::error::Result;

/// Tells all members a row of plain values, which has as many of them at each member; the rows of
/// all, by rank, one behind the other. Collective.
///
/// # Errors
/// It fails as the allgather does that carries the rows.
pub(crate) fn tell_all<T: Copy>(
    process: &Process,
    comm: &Arc<Comm>,
    row: Vec<T>,
) -> Result<Vec<T>> {
    let mut rows = row.repeat(comm.size() as usize);
    let data = |buf: *const T| Data {
        buf: buf.cast_mut().cast(),
        count: mem::size_of_val(&*row) as Count,
        ty: consts::BYTE,
    };
    let caller = Caller { process, now: true };
    let call = caller.allgather(comm, data(row.as_ptr()), data(rows.as_mut_ptr()));
    match call.and_then(|left| Prepared::run_rest(process, left)) {
        Ok(()) => Ok(rows),
        Err(error) => {
            // What a failed operation left behind may still use them.
            mem::forget((row, rows));
            Err(error)
        }
    }
}
