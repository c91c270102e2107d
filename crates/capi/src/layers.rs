//! What the layers of other binary interfaces ask for besides the functions of the standard:
//! objects whose functions are called with a state, and lengths that only the library knows.
//!
//! A layer gives a function of its own in the place of the program's, and as the state what that
//! needs to call the program's. So each object keeps the interface of the one who made it. The
//! names begin with `catena_`; they are no part of any interface, and each layer belongs to the
//! library of its own version.

use std::ffi::{CStr, c_char, c_int, c_void};

use catena_abi::{Comm, Count, Datatype, Errhandler, Op, consts};
use catena_core::{any_time, enter, enter_any};
use catena_objects::attr::{Carrier, OnCopy};
use catena_objects::callback::{CopyFn, DeleteFn, Foreign, LayerFn, LayerHandler};
use catena_objects::errhandler::Errhandler as Handler;
use catena_objects::error_place::Target;
use catena_objects::op::{Op as OpObj, UserFn};
use catena_objects::state::{End, Freed, State, when_freed, when_handed};
use catena_objects::{Result, fail};

use crate::args::put;
use crate::datatype;
use crate::errors::{self, On};
use crate::hooks;

/// Ends as the public function of that name would.
fn answer(function: &'static str, result: Result<()>) -> c_int {
    match result {
        Ok(()) => consts::SUCCESS,
        Err(error) => errors::raise(function, On::Nothing, error),
    }
}

/// `MPI_Op_create` of a function that is given `state` and at most `longest` elements at once.
// SAFETY: no other library has names that begin with catena_.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn catena_op_create(
    function: LayerFn,
    longest: Count,
    state: *mut c_void,
    end: Option<End>,
    commute: c_int,
    op: *mut Op,
) -> c_int {
    let function = UserFn::Layer {
        function: function.into(),
        longest: longest.max(1),
        state: State::new(state, end).into(),
    };
    let new = OpObj::User {
        function,
        commutative: commute != 0,
    };
    let handle = || Op(enter_any().ops.table.insert(new.into()));
    answer("MPI_Op_create", put_new(op, handle, "op"))
}

/// Gives the function of an operation that [`catena_op_create`] has made, and nobody has used,
/// another state.
// SAFETY: no other library has names that begin with catena_.
#[unsafe(no_mangle)]
extern "C" fn catena_op_set_state(op: Op, state: *mut c_void) -> c_int {
    let set = || match enter_any().ops.table.get(op.0).as_deref() {
        Some(OpObj::User {
            function: UserFn::Layer { state: there, .. },
            ..
        }) => {
            there.replace(state);
            Ok(())
        }
        _ => fail!(Op, "{:#x} is no operation of a layer's function", op.0),
    };
    answer("MPI_Op_create", set())
}

/// `MPI_Comm_create_errhandler` and its relatives, by `target`: 0 for communicators, 1 for
/// windows, 2 for files, 3 for sessions.
// SAFETY: no other library has names that begin with catena_.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn catena_errhandler_create(
    target: c_int,
    function: LayerHandler,
    state: *mut c_void,
    end: Option<End>,
    errhandler: *mut Errhandler,
) -> c_int {
    let (on, name) = match target {
        0 => (Target::Comm, "MPI_Comm_create_errhandler"),
        1 => (Target::Win, "MPI_Win_create_errhandler"),
        2 => (Target::File, "MPI_File_create_errhandler"),
        _ => (Target::Session, "MPI_Session_create_errhandler"),
    };
    let new = Handler::Layer {
        on,
        function: function.into(),
        state: State::new(state, end),
    };
    let handle = || any_time().errhandlers.add(new.into());
    answer(name, put_new(errhandler, handle, "errhandler"))
}

/// `MPI_Comm_create_keyval` and its relatives, by `carrier`: 0 for communicators, 1 for
/// datatypes, 2 for windows.
// SAFETY: no other library has names that begin with catena_.
#[unsafe(no_mangle)]
extern "C" fn catena_keyval_create(
    carrier: c_int,
    copy: Option<CopyFn>,
    delete: Option<DeleteFn>,
    state: *mut c_void,
    end: Option<End>,
    keyval: *mut c_int,
) -> c_int {
    let (carrier, name) = match carrier {
        0 => (Carrier::Comm, "MPI_Comm_create_keyval"),
        1 => (Carrier::Type, "MPI_Type_create_keyval"),
        _ => (Carrier::Win, "MPI_Win_create_keyval"),
    };
    let copy = copy.map_or(OnCopy::Drop, |copy| OnCopy::Call(copy.into()));
    let delete = delete.map(Foreign::from);
    let state = State::new(state, end);
    let id = || enter_any().keyvals.create(carrier, copy, delete, state);
    answer(name, put_new(keyval, id, "keyval"))
}

/// `MPI_Type_create_struct` without the entries of the markers `MPI_LB` and `MPI_UB`, which stand
/// at `lb` and `ub`; either is null if there is no such marker.
// SAFETY: no other library has names that begin with catena_.
#[unsafe(no_mangle)]
extern "C" fn catena_type_struct(
    count: c_int,
    lens: *const c_int,
    displs: *const Count,
    types: *const Datatype,
    lb: *const Count,
    ub: *const Count,
    newtype: *mut Datatype,
) -> c_int {
    // SAFETY: the layer's promise.
    let (lb, ub) = unsafe { (lb.as_ref(), ub.as_ref()) };
    let made = datatype::marked_structure(
        count,
        (lens, displs, types),
        (lb.copied(), ub.copied()),
        newtype,
    );
    answer("MPI_Type_create_struct", made)
}

/// Names the functions that are told the handle of each object that ends, before another may get
/// its integer, and of each request that is handed over as an integer: see `catena_objects::state`.
// SAFETY: no other library has names that begin with catena_.
#[unsafe(no_mangle)]
extern "C" fn catena_when_freed(function: Freed, request_handed: Freed) {
    when_freed(function);
    when_handed(request_handed);
}

/// Makes an object, if its handle has a place to go to.
fn put_new<T>(to: *mut T, make: impl FnOnce() -> T, name: &str) -> Result<()> {
    if to.is_null() {
        fail!(Arg, "the argument {name} is a null pointer");
    }
    put(to, make(), name)
}

/// Ends as a function does that Catena does not have: `name`, which ends with a zero and lives as
/// long as the process.
// SAFETY: no other library has names that begin with catena_.
#[unsafe(no_mangle)]
extern "C" fn catena_unsupported(name: *const c_char) -> c_int {
    // SAFETY: the layer's promise.
    let name: &'static CStr = unsafe { CStr::from_ptr(name) };
    hooks::unsupported(name.to_str().unwrap_or("MPI"), None)
}

/// How many entries an argument has whose length a communicator tells: of `what` 0 those of a
/// collective, with one entry for each rank (of the remote group, if there is one), 1 for each
/// neighbour that sends to this rank, 2 for each that it sends to; of 3 the rank itself. −1 if
/// the handle is no good, or has no neighbours: the function that is about to be called says so.
// SAFETY: no other library has names that begin with catena_.
#[unsafe(no_mangle)]
extern "C" fn catena_entries(comm: Comm, what: c_int) -> c_int {
    let entries = || -> Result<usize> {
        let world = enter()?;
        let comm = world.comms.find(comm)?;
        Ok(match what {
            0 => comm.peers as usize,
            1 => comm.degrees()?.0,
            3 => comm.rank as usize,
            _ => comm.degrees()?.1,
        })
    };
    entries().map_or(-1, |n| n as c_int)
}
