//! Status objects (MPI-5, chapters 3.2.5, 3.8.4, 5.1.11 and 13.3).

use std::ffi::c_int;

use catena_abi::{Count, Datatype, Status, consts};
use catena_core::enter_any;
use catena_objects::{Result, fail};

use crate::args::{self, get, put};
use crate::entry::mpi_fn;

/// Whole elements of the type that were received; `None` if there is a rest.
fn whole(status: *const Status, datatype: Datatype) -> Result<Option<u64>> {
    let bytes = get(status, "status")?.bytes();
    let objects = enter_any();
    Ok(match objects.types.layout(datatype)?.size() {
        0 => (bytes == 0).then_some(0),
        size => (bytes % size == 0).then_some(bytes / size),
    })
}

/// Basic elements that were received; `None` if there is a rest.
fn basic(status: *const Status, datatype: Datatype) -> Result<Option<u64>> {
    let bytes = get(status, "status")?.bytes();
    Ok(enter_any().types.layout(datatype)?.elements_in(bytes))
}

/// Stores a number of elements, `MPI_UNDEFINED` if there is none or it is too
/// large.
fn put_count<N: TryFrom<u64> + From<c_int>>(to: *mut N, number: Option<u64>) -> Result<()> {
    let number = number.and_then(|n| N::try_from(n).ok());
    put(to, number.unwrap_or(consts::UNDEFINED.into()), "count")
}

/// Changes a status of the program.
fn change(status: *mut Status, f: impl FnOnce(&mut Status)) -> Result<()> {
    // SAFETY: null or a status of the program, ours for the call.
    match unsafe { status.as_mut() } {
        Some(status) => {
            f(status);
            Ok(())
        }
        None => Err(args::null_argument("status")),
    }
}

/// Makes `MPI_Get_elements` return `count`.
fn set_elements(status: *mut Status, datatype: Datatype, count: Count) -> Result<()> {
    let count = args::count(count)?;
    let bytes = enter_any().types.layout(datatype)?.bytes_of(count);
    let Some(bytes) = bytes else {
        fail!(Count, "{count} elements do not fit into a message");
    };
    change(status, |s| s.set_bytes(bytes))
}

mpi_fn! {
    fn MPI_Get_count | MPI_Get_count_c(status: *const Status, datatype: Datatype, count: *mut Num) {
        put_count(count, whole(status, datatype)?)
    }

    fn MPI_Get_elements | MPI_Get_elements_c(status: *const Status, datatype: Datatype,
        count: *mut Num)
    {
        put_count(count, basic(status, datatype)?)
    }

    fn MPI_Get_elements_x(status: *const Status, datatype: Datatype, count: *mut Count) {
        put_count(count, basic(status, datatype)?)
    }

    fn MPI_Status_set_elements | MPI_Status_set_elements_c(status: *mut Status, datatype: Datatype,
        count: Num)
    {
        set_elements(status, datatype, count.into())
    }

    fn MPI_Status_set_elements_x(status: *mut Status, datatype: Datatype, count: Count) {
        set_elements(status, datatype, count)
    }

    fn MPI_Test_cancelled(status: *const Status, flag: *mut c_int) {
        put(flag, get(status, "status")?.cancelled().into(), "flag")
    }

    fn MPI_Status_set_cancelled(status: *mut Status, flag: c_int) {
        change(status, |s| s.set_cancelled(flag != 0))
    }

    fn MPI_Status_set_source(status: *mut Status, source: c_int) {
        change(status, |s| s.source = source)
    }

    fn MPI_Status_set_tag(status: *mut Status, tag: c_int) {
        change(status, |s| s.tag = tag)
    }

    fn MPI_Status_set_error(status: *mut Status, error: c_int) {
        change(status, |s| s.error = error)
    }

    fn MPI_Status_get_source(status: *const Status, source: *mut c_int) {
        put(source, get(status, "status")?.source, "source")
    }

    fn MPI_Status_get_tag(status: *const Status, tag: *mut c_int) {
        put(tag, get(status, "status")?.tag, "tag")
    }

    fn MPI_Status_get_error(status: *const Status, error: *mut c_int) {
        put(error, get(status, "status")?.error, "error")
    }
}
