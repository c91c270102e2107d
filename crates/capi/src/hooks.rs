//! Where the generated and stateless functions meet the rest of the library.

use core::ffi::c_int;

use catena_abi::Comm;
use catena_core::{look, process, request};
use catena_objects::Error;
use catena_objects::table::ObjectKind;

use crate::errors::{self, On};

/// Kinds of objects whose handles have an integer form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Comm,
    Datatype,
    Errhandler,
    File,
    Group,
    Info,
    Message,
    Op,
    Request,
    Session,
    Win,
}

/// The handle of the live object of `kind` whose low 31 bits are `low`. Fortran asks for the same
/// few in each of its calls.
pub(crate) fn widen(kind: Kind, low: c_int) -> Option<usize> {
    let object = match kind {
        Kind::Comm => Some(ObjectKind::Comm),
        Kind::Datatype => Some(ObjectKind::Datatype),
        Kind::Group => Some(ObjectKind::Group),
        Kind::Op => Some(ObjectKind::Op),
        _ => None,
    };
    if let Some(handle) = object.and_then(|kind| process::widened(kind, low)) {
        return Some(handle);
    }
    widen_slow(kind, low)
}

#[inline(never)]
fn widen_slow(kind: Kind, low: c_int) -> Option<usize> {
    let objects = look();
    match kind {
        Kind::Comm => objects.comms.widen(low),
        Kind::Datatype => objects.types.table.widen(low),
        Kind::Errhandler => objects.errhandlers.table.widen(low),
        Kind::Group => objects.groups.table.widen(low),
        Kind::Info => objects.infos.table.widen(low),
        Kind::Message => objects.messages.widen(low),
        Kind::Op => objects.ops.table.widen(low),
        Kind::Request => {
            let transfer = || request::widen_transfer(&*process::look_at_process()?, low);
            objects.requests.widen(low).or_else(transfer)
        }
        Kind::Session => objects.sessions.widen(low),
        Kind::Win => catena_rma::registry::widen(low),
        Kind::File => catena_io::registry::widen(low),
    }
}

/// The function `name` is not there: reports it to the error handler of `comm`,
/// or of the default communicator, and returns the error code.
pub(crate) fn unsupported(name: &'static str, comm: Option<Comm>) -> c_int {
    let text = "Catena does not have this function yet";
    let error = Error::new(catena_objects::Kind::Unsupported, text);
    errors::raise(name, comm.map_or(On::Nothing, On::from), error)
}
