//! What MPICH's stand-alone Fortran binding asks of a library besides the standard's functions,
//! under MPICH's names: objects whose functions are called with a state that is freed with them
//! (`..._x`), and attributes as Fortran has them (`..._as_fortran`; MPI-5, chapter 19.3.7).
//!
//! An attribute that Fortran sets is an integer, and C gets a pointer to it: to a cell, and the
//! addresses of cells are kept. An attribute that C sets is an address, and so it is for Fortran.
//! The functions of a key that was made by `..._create_keyval_x` see integers.

use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use catena_abi::{Aint, Comm, Datatype, Errhandler, Op, Win, consts};
use catena_core::enter_any;
use catena_objects::attr::{Carrier, OnCopy};
use catena_objects::callback::{CopyFn, DeleteFn, Foreign, LayerFn, LayerHandler};
use catena_objects::state::{End, State};

use crate::args::{null_argument, put};
use crate::attr;
use crate::errors::{self, On};
use crate::layers;

/// The addresses of all cells. Each is a `Box<Aint>`.
static CELLS: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

fn cells() -> MutexGuard<'static, BTreeSet<usize>> {
    CELLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new cell with the integer that Fortran hands over in the place of an address.
fn new_cell(integer: *mut c_void) -> *mut c_void {
    let cell: *mut Aint = Box::into_raw(Box::new(integer as Aint));
    cells().insert(cell as usize);
    cell.cast()
}

fn is_cell(value: *mut c_void) -> bool {
    cells().contains(&(value as usize))
}

fn free_cell(value: *mut c_void) {
    if cells().remove(&(value as usize)) {
        // SAFETY: it was a cell until now, so `new_cell` made it, and nobody else frees it.
        drop(unsafe { Box::from_raw(value.cast::<Aint>()) });
    }
}

/// What Fortran sees of an attribute.
fn seen(value: *mut c_void) -> *mut c_void {
    if !is_cell(value) {
        return value;
    }
    // SAFETY: a cell lives until its attribute is deleted.
    unsafe { *value.cast::<*mut c_void>() }
}

/// The functions behind a key for Fortran.
struct Key {
    copy: OnCopy,
    delete: Option<Foreign<DeleteFn>>,
    state: *mut c_void,
    end: Option<End>,
}

/// # Safety
/// `state` is that of a key which [`create_keyval`] has made.
unsafe fn key<'a>(state: *mut c_void) -> &'a Key {
    // SAFETY: the caller's promise; the key lives as long as attributes under it do.
    unsafe { &*state.cast::<Key>() }
}

extern "C" fn copy(
    object: usize,
    keyval: c_int,
    state: *mut c_void,
    from: *mut c_void,
    to: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the library calls this for such keys alone.
    let key = unsafe { key(state) };
    let mut out = seen(from);
    let mut copied = 1;
    if let OnCopy::Call(function) = key.copy {
        copied = 0;
        let slot = (&raw mut out).cast();
        let code = function.call(|f| f(object, keyval, key.state, out, slot, &raw mut copied));
        if code != 0 {
            return code;
        }
    }
    // SAFETY: the library passes room for an address and a flag.
    unsafe {
        *flag = copied;
        if copied != 0 {
            // A copy of what C has set remains C's.
            let same = out == from && !is_cell(from);
            *to.cast() = if same { from } else { new_cell(out) };
        }
    }
    0
}

extern "C" fn delete(
    object: usize,
    keyval: c_int,
    value: *mut c_void,
    state: *mut c_void,
) -> c_int {
    // SAFETY: the library calls this for such keys alone.
    let key = unsafe { key(state) };
    let code = key.delete.map_or(0, |function| {
        function.call(|f| f(object, keyval, seen(value), key.state))
    });
    if code == 0 {
        free_cell(value);
    }
    code
}

extern "C" fn end_key(state: *mut c_void) {
    // SAFETY: `create_keyval` has made it, and a state ends once.
    let key = unsafe { Box::from_raw(state.cast::<Key>()) };
    if let Some(end) = key.end {
        end(key.state);
    }
}

fn create_keyval(
    carrier: Carrier,
    copy_fn: *const c_void,
    delete_fn: *const c_void,
    end: Option<End>,
    keyval: *mut c_int,
    state: *mut c_void,
) -> c_int {
    if keyval.is_null() {
        let error = null_argument("keyval");
        return errors::raise("MPIX_Comm_create_keyval_x", On::Nothing, error);
    }
    let copies = match copy_fn as usize {
        consts::NULL_COPY_FN => OnCopy::Drop,
        consts::DUP_FN => OnCopy::Keep,
        // SAFETY: the program's function; a handle is a `usize` in C's eyes.
        address => OnCopy::Call(unsafe { std::mem::transmute::<usize, CopyFn>(address) }.into()),
    };
    let on_copy = match copies {
        OnCopy::Drop => OnCopy::Drop,
        _ => OnCopy::Call(Foreign::new(copy)),
    };
    let delete_fn = match delete_fn as usize {
        consts::NULL_DELETE_FN => None,
        // SAFETY: as above.
        address => Some(unsafe { std::mem::transmute::<usize, DeleteFn>(address) }.into()),
    };
    let key = Key {
        copy: copies,
        delete: delete_fn,
        state,
        end,
    };
    let state = State::new(Box::into_raw(Box::new(key)).cast(), Some(end_key));
    let keyvals = &enter_any().keyvals;
    let id = keyvals.create(carrier, on_copy, Some(Foreign::new(delete)), state);
    put(keyval, id, "keyval").map_or(consts::ERR_ARG, |()| consts::SUCCESS)
}

/// What `get` finds, as Fortran has it.
fn as_fortran(
    key: c_int,
    to: *mut c_void,
    flag: *mut c_int,
    get: impl FnOnce(*mut c_void, *mut c_int) -> c_int,
) -> c_int {
    let (mut value, mut found): (*mut c_void, c_int) = (std::ptr::null_mut(), 0);
    if to.is_null() || flag.is_null() {
        let error = null_argument("attribute_val");
        return errors::raise("MPIX_Comm_get_attr_as_fortran", On::Nothing, error);
    }
    let code = get((&raw mut value).cast(), &raw mut found);
    if code != 0 {
        return code;
    }
    // SAFETY: the program passes room for an integer and a flag; predefined attributes are pointers
    // to their values.
    unsafe {
        *flag = found;
        if found != 0 {
            *to.cast::<Aint>() = match key {
                consts::WIN_BASE => value as Aint,
                consts::WIN_SIZE => *value.cast::<Aint>(),
                _ if attr::is_predefined(key) => *value.cast::<c_int>() as Aint,
                _ => seen(value) as Aint,
            };
        }
    }
    code
}

fn set_as_fortran(value: *mut c_void, set: impl FnOnce(*mut c_void) -> c_int) -> c_int {
    let cell = new_cell(value);
    let code = set(cell);
    if code != 0 {
        free_cell(cell);
    }
    code
}

/// Exports each function as `MPIX_name` and `PMPIX_name`.
macro_rules! export {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {$(
        #[allow(non_snake_case, reason = "the name of the function")]
        extern "C" fn $name($($arg: $ty),*) -> c_int $body
        export!(@one $name "" ($($arg: $ty),*));
        export!(@one $name "P" ($($arg: $ty),*));
    )*};
    (@one $name:ident $prefix:literal ($($arg:ident: $ty:ty),*)) => {
        const _: () = {
            // SAFETY: no other library may define names that begin so, and each is here once.
            #[unsafe(export_name = concat!($prefix, stringify!($name)))]
            extern "C" fn exported($($arg: $ty),*) -> c_int {
                $name($($arg),*)
            }
        };
    };
}

export! {
    fn MPIX_Op_create_x(function: LayerFn, end: Option<End>, commute: c_int, state: *mut c_void,
        op: *mut Op) {
        layers::catena_op_create(function, i64::MAX, state, end, commute, op)
    }

    fn MPIX_Comm_create_errhandler_x(function: LayerHandler, end: Option<End>, state: *mut c_void,
        errhandler: *mut Errhandler)
    {
        layers::catena_errhandler_create(0, function, state, end, errhandler)
    }

    fn MPIX_Win_create_errhandler_x(function: LayerHandler, end: Option<End>, state: *mut c_void,
        errhandler: *mut Errhandler)
    {
        layers::catena_errhandler_create(1, function, state, end, errhandler)
    }

    fn MPIX_File_create_errhandler_x(function: LayerHandler, end: Option<End>, state: *mut c_void,
        errhandler: *mut Errhandler)
    {
        layers::catena_errhandler_create(2, function, state, end, errhandler)
    }

    fn MPIX_Session_create_errhandler_x(function: LayerHandler, end: Option<End>,
        state: *mut c_void,
        errhandler: *mut Errhandler)
    {
        layers::catena_errhandler_create(3, function, state, end, errhandler)
    }

    fn MPIX_Comm_create_keyval_x(copy: *const c_void, delete: *const c_void, end: Option<End>,
        keyval: *mut c_int, state: *mut c_void)
    {
        create_keyval(Carrier::Comm, copy, delete, end, keyval, state)
    }

    fn MPIX_Type_create_keyval_x(copy: *const c_void, delete: *const c_void, end: Option<End>,
        keyval: *mut c_int, state: *mut c_void)
    {
        create_keyval(Carrier::Type, copy, delete, end, keyval, state)
    }

    fn MPIX_Win_create_keyval_x(copy: *const c_void, delete: *const c_void, end: Option<End>,
        keyval: *mut c_int, state: *mut c_void)
    {
        create_keyval(Carrier::Win, copy, delete, end, keyval, state)
    }

    fn MPIX_Comm_get_attr_as_fortran(comm: Comm, key: c_int, value: *mut c_void, flag: *mut c_int) {
        as_fortran(key, value, flag, |value, flag| attr::MPI_Comm_get_attr(comm, key, value, flag))
    }

    fn MPIX_Comm_set_attr_as_fortran(comm: Comm, key: c_int, value: *mut c_void) {
        set_as_fortran(value, |cell| attr::MPI_Comm_set_attr(comm, key, cell))
    }

    fn MPIX_Type_get_attr_as_fortran(datatype: Datatype, key: c_int, value: *mut c_void,
        flag: *mut c_int) {
        as_fortran(key, value, flag, |value, flag| attr::MPI_Type_get_attr(datatype, key, value,
            flag))
    }

    fn MPIX_Type_set_attr_as_fortran(datatype: Datatype, key: c_int, value: *mut c_void) {
        set_as_fortran(value, |cell| attr::MPI_Type_set_attr(datatype, key, cell))
    }

    fn MPIX_Win_get_attr_as_fortran(win: Win, key: c_int, value: *mut c_void, flag: *mut c_int) {
        as_fortran(key, value, flag, |value, flag| attr::MPI_Win_get_attr(win, key, value, flag))
    }

    fn MPIX_Win_set_attr_as_fortran(win: Win, key: c_int, value: *mut c_void) {
        set_as_fortran(value, |cell| attr::MPI_Win_set_attr(win, key, cell))
    }
}
