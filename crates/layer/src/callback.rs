//! Calls of the program's functions, which expect the handles and codes of their interface.
//!
//! The library is given a function from here, and as its state what that needs to call the
//! program's: its address, or a [`Box`] that ends with the object.

#![allow(
    clippy::missing_safety_doc,
    reason = "the library calls them with the state that it was given for them"
)]

use std::ffi::{c_int, c_void};
use std::mem::transmute;

use catena_abi::{Aint, Count, Datatype, Offset, Status};

use crate::abi::Abi;
use crate::code::{code, code_in};
use crate::handle::{Handle, Native};
use crate::status;

/// An operation with `int` counts; the state is its address.
pub unsafe extern "C" fn op<A: Abi>(
    input: *mut c_void,
    inout: *mut c_void,
    count: Count,
    ty: Datatype,
    state: *mut c_void,
) {
    type Function<A> =
        extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut <A as Abi>::Datatype);
    // SAFETY: the program registered it as such a function.
    let f: Function<A> = unsafe { transmute(state) };
    // The library calls with at most `i32::MAX` elements.
    let (mut count, mut ty) = (count as c_int, A::Datatype::lent(ty));
    f(input, inout, &raw mut count, &raw mut ty);
}

/// An operation with `MPI_Count` counts; the state is its address.
pub unsafe extern "C" fn op_c<A: Abi>(
    input: *mut c_void,
    inout: *mut c_void,
    mut count: Count,
    ty: Datatype,
    state: *mut c_void,
) {
    type Function<A> =
        extern "C" fn(*mut c_void, *mut c_void, *mut Count, *mut <A as Abi>::Datatype);
    // SAFETY: the program registered it as such a function.
    let f: Function<A> = unsafe { transmute(state) };
    let mut ty = A::Datatype::lent(ty);
    f(input, inout, &raw mut count, &raw mut ty);
}

/// An error handler of objects with handles `H`; the state is its address. C declares further
/// arguments, which nobody passes. It may change the code, which the call returns.
pub unsafe extern "C" fn errhandler<A: Abi, H: Handle>(
    handle: usize,
    native: c_int,
    state: *mut c_void,
) -> c_int {
    // SAFETY: the program registered it as such a function.
    let f: extern "C" fn(*mut H, *mut c_int) = unsafe { transmute(state) };
    let (mut handle, mut error) = (H::lent(H::Native::of(handle)), code::<A>(native));
    let before = error;
    f(&raw mut handle, &raw mut error);
    if error == before {
        // Several of the standard's codes may be one here.
        return native;
    }
    code_in::<A>(error)
}

/// The program's functions of a key of attributes.
#[derive(Debug)]
pub struct Keyval {
    /// The address of the one that copies, 0 if there is none.
    pub copy: usize,
    /// The address of the one that deletes, 0 if there is none.
    pub delete: usize,
    /// What they are given.
    pub extra_state: *mut c_void,
}

/// Ends a `Box<T>` that a state is.
pub unsafe extern "C" fn end<T>(state: *mut c_void) {
    // SAFETY: the state was made from such a box, and nobody is given it any more.
    drop(unsafe { Box::from_raw(state.cast::<T>()) });
}

/// Copies an attribute of an object with handles `H`; the state is a [`Keyval`].
pub unsafe extern "C" fn copy<A: Abi, H: Handle>(
    handle: usize,
    key: c_int,
    state: *mut c_void,
    value: *mut c_void,
    to: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    type Function<H> =
        extern "C" fn(H, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
    // SAFETY: the state of this function, whose address the program registered as such.
    let (keyval, f) = unsafe {
        let keyval = &*state.cast::<Keyval>();
        (keyval, transmute::<usize, Function<H>>(keyval.copy))
    };
    let handle = H::lent(H::Native::of(handle));
    code_in::<A>(f(handle, key, keyval.extra_state, value, to, flag))
}

/// Deletes an attribute of an object with handles `H`; the state is a [`Keyval`].
pub unsafe extern "C" fn delete<A: Abi, H: Handle>(
    handle: usize,
    key: c_int,
    value: *mut c_void,
    state: *mut c_void,
) -> c_int {
    type Function<H> = extern "C" fn(H, c_int, *mut c_void, *mut c_void) -> c_int;
    // SAFETY: the state of this function, whose address the program registered as such.
    let (keyval, f) = unsafe {
        let keyval = &*state.cast::<Keyval>();
        (keyval, transmute::<usize, Function<H>>(keyval.delete))
    };
    let handle = H::lent(H::Native::of(handle));
    code_in::<A>(f(handle, key, value, keyval.extra_state))
}

/// The program's functions of a generalized request, by their addresses.
#[derive(Debug)]
pub struct Grequest {
    /// Fills the status, 0 if there is none.
    pub query: usize,
    /// Frees the extra state, 0 if there is none.
    pub free: usize,
    /// Cancels, 0 if there is none.
    pub cancel: usize,
    /// What they are given.
    pub extra_state: *mut c_void,
}

/// The state of a generalized request.
fn grequest<'a>(state: *mut c_void) -> &'a Grequest {
    // SAFETY: the state of these functions, which `grequest_free` ends.
    unsafe { &*state.cast::<Grequest>() }
}

/// `query_fn`
pub unsafe extern "C" fn grequest_query<A: Abi>(state: *mut c_void, to: *mut Status) -> c_int {
    let it = grequest(state);
    if it.query == 0 {
        return 0;
    }
    // SAFETY: the library passes a status; the address is that of such a function, which fills
    // what it is given.
    unsafe {
        let mut foreign: A::Status = std::mem::zeroed();
        status::store::<A>(&raw mut foreign, &*to);
        let f: extern "C" fn(*mut c_void, *mut A::Status) -> c_int = transmute(it.query);
        let rc = f(it.extra_state, &raw mut foreign);
        let error = (*to).error;
        *to = status::native::<A>(&foreign);
        (*to).error = error;
        code_in::<A>(rc)
    }
}

/// `free_fn`, the last that is called.
pub unsafe extern "C" fn grequest_free<A: Abi>(state: *mut c_void) -> c_int {
    // SAFETY: the state was made from such a box, and this is called once.
    let it = unsafe { Box::from_raw(state.cast::<Grequest>()) };
    if it.free == 0 {
        return 0;
    }
    // SAFETY: the address is that of such a function.
    let f: extern "C" fn(*mut c_void) -> c_int = unsafe { transmute(it.free) };
    code_in::<A>(f(it.extra_state))
}

/// `cancel_fn`
pub unsafe extern "C" fn grequest_cancel<A: Abi>(state: *mut c_void, complete: c_int) -> c_int {
    let it = grequest(state);
    if it.cancel == 0 {
        return 0;
    }
    // SAFETY: the address is that of such a function.
    let f: extern "C" fn(*mut c_void, c_int) -> c_int = unsafe { transmute(it.cancel) };
    code_in::<A>(f(it.extra_state, complete))
}

/// The program's functions of a representation of data, by their addresses. These live as long
/// as the process.
#[derive(Debug)]
pub struct Datarep {
    /// Reads.
    pub read: usize,
    /// Writes.
    pub write: usize,
    /// Tells extents.
    pub extent: usize,
    /// What they are given.
    pub extra_state: *mut c_void,
}

/// Converts what was read or is to be written; `N` is the type of counts.
fn convert<A: Abi, N>(
    f: usize,
    at: (*mut c_void, *mut c_void),
    ty: Datatype,
    count: N,
    position: Offset,
    extra_state: *mut c_void,
) -> c_int {
    type Function<A, N> = extern "C" fn(
        *mut c_void,
        <A as Abi>::Datatype,
        N,
        *mut c_void,
        Offset,
        *mut c_void,
    ) -> c_int;
    // SAFETY: the program registered it as such a function.
    let f: Function<A, N> = unsafe { transmute(f) };
    let ty = A::Datatype::lent(ty);
    code_in::<A>(f(at.0, ty, count, at.1, position, extra_state))
}

/// The state of the functions of a representation.
fn datarep<'a>(state: *mut c_void) -> &'a Datarep {
    // SAFETY: the state of these functions, which is never freed.
    unsafe { &*state.cast::<Datarep>() }
}

/// `read_conversion_fn`
pub unsafe extern "C" fn datarep_read<A: Abi, N>(
    user: *mut c_void,
    ty: Datatype,
    count: N,
    file: *mut c_void,
    position: Offset,
    state: *mut c_void,
) -> c_int {
    let it = datarep(state);
    convert::<A, N>(it.read, (user, file), ty, count, position, it.extra_state)
}

/// `write_conversion_fn`
pub unsafe extern "C" fn datarep_write<A: Abi, N>(
    user: *mut c_void,
    ty: Datatype,
    count: N,
    file: *mut c_void,
    position: Offset,
    state: *mut c_void,
) -> c_int {
    let it = datarep(state);
    convert::<A, N>(it.write, (user, file), ty, count, position, it.extra_state)
}

/// `dtype_file_extent_fn`
pub unsafe extern "C" fn datarep_extent<A: Abi>(
    ty: Datatype,
    extent: *mut Aint,
    state: *mut c_void,
) -> c_int {
    let it = datarep(state);
    type Function<A> = extern "C" fn(<A as Abi>::Datatype, *mut Aint, *mut c_void) -> c_int;
    // SAFETY: the program registered it as such a function.
    let f: Function<A> = unsafe { transmute(it.extent) };
    code_in::<A>(f(A::Datatype::lent(ty), extent, it.extra_state))
}
