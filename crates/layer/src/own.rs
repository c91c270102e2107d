//! Functions that do more than translate their arguments. `catena_foreign` names them.
//!
//! Their names, parameters and results are those of the standard's functions in C, with the
//! types of the interface; functions of the program are addresses.
#![allow(non_snake_case, reason = "the names of the functions")]
#![allow(
    clippy::missing_safety_doc,
    reason = "arguments are as the standard says"
)]
#![allow(missing_docs, reason = "the standard says what they do")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use catena_abi::{Comm, Count, consts};

use crate::abi::Abi;
use crate::callback::{self, Datarep, Grequest, Keyval};
use crate::code::{code, code_in, code_out};
use crate::core;
use crate::handle::Handle;
use crate::number::{entries, foreign_named, foreign_rank, keyval, named};
use crate::pending;
use crate::place::{HandleArray, InOut, Out};
use crate::text::Text;

mod attribute;
mod contents;
mod integer;
mod split;
mod structure;
mod tool;

pub use attribute::*;
pub use contents::*;
pub use integer::*;
pub use split::*;
pub use structure::*;
pub use tool::*;

/// There is no standard ABI behind a foreign one.
pub unsafe fn Abi_get_version<A: Abi>(major: *mut c_int, minor: *mut c_int) -> c_int {
    for at in [major, minor] {
        if !at.is_null() {
            // SAFETY: the program's variable.
            unsafe { *at = -1 };
        }
    }
    consts::SUCCESS
}

/// The version of the standard that the interface has: programs ask for what came later than that
/// without looking whether their header knows it.
pub unsafe fn Get_version<A: Abi>(version: *mut c_int, subversion: *mut c_int) -> c_int {
    // SAFETY: the program's variables.
    let rc = unsafe { core::MPI_Get_version(version, subversion) };
    if let (consts::SUCCESS, Some((major, minor))) = (rc, A::VERSION) {
        // SAFETY: as above; the call has stored both.
        unsafe { (*version, *subversion) = (major, minor) };
    }
    code::<A>(rc)
}

/// Of a class that only the interface has the class is itself.
pub unsafe fn Error_class<A: Abi>(errorcode: c_int, errorclass: *mut c_int) -> c_int {
    // SAFETY: the program's variable.
    let rc = unsafe { core::MPI_Error_class(code_in::<A>(errorcode), errorclass) };
    // SAFETY: as above; the call has stored the class if it succeeded.
    unsafe {
        if rc == consts::SUCCESS && A::is_own_class(errorcode) {
            *errorclass = errorcode;
        } else {
            code_out::<A>(rc, errorclass);
        }
    }
    code::<A>(rc)
}

/// Says also which interface the program uses.
pub unsafe fn Get_library_version<A: Abi>(version: *mut c_char, resultlen: *mut c_int) -> c_int {
    const MOST: usize = consts::MAX_LIBRARY_VERSION_STRING as usize;
    let mut text = Text::<MOST>::new(version);
    // SAFETY: the library writes at most that many characters; the program's arguments.
    unsafe {
        let rc = core::MPI_Get_library_version(text.place(), resultlen);
        if rc == consts::SUCCESS && !text.place().is_null() {
            let end = CStr::from_ptr(text.place()).count_bytes();
            let more = format!(", through the ABI of {}\0", A::NAME);
            if end + more.len() <= MOST {
                ptr::copy_nonoverlapping(more.as_ptr(), text.place().add(end).cast(), more.len());
            }
        }
        text.finish(A::MAX_LIBRARY_VERSION_STRING, resultlen);
        code::<A>(rc)
    }
}

/// C declares further arguments, which mean nothing here.
pub unsafe fn Pcontrol<A: Abi>(level: c_int) -> c_int {
    // SAFETY: a number.
    unsafe { core::MPI_Pcontrol(level) }
}

/// Starts a duplicate whose handle is known when the request is complete.
unsafe fn idup<A: Abi>(
    newcomm: *mut A::Comm,
    request: *mut A::Request,
    start: impl FnOnce(*mut Comm, *mut catena_abi::Request) -> c_int,
) -> c_int {
    let mut request = Out::new(request);
    if newcomm.is_null() {
        return code::<A>(start(ptr::null_mut(), request.place()));
    }
    let mut rc = consts::SUCCESS;
    // SAFETY: the program's variable, not null.
    unsafe { newcomm.write(A::Comm::foreign(consts::COMM_NULL)) };
    pending::comm(newcomm, |cell| {
        rc = start(cell, request.place());
        (rc == consts::SUCCESS).then_some(request.stored())?
    });
    // SAFETY: the program's variable.
    unsafe { request.finish() };
    code::<A>(rc)
}

pub unsafe fn Comm_idup<A: Abi>(
    comm: A::Comm,
    newcomm: *mut A::Comm,
    request: *mut A::Request,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe {
        idup::<A>(newcomm, request, |new, r| {
            core::MPI_Comm_idup(comm.native(), new, r)
        })
    }
}

pub unsafe fn Comm_idup_with_info<A: Abi>(
    comm: A::Comm,
    info: A::Info,
    newcomm: *mut A::Comm,
    request: *mut A::Request,
) -> c_int {
    let (comm, info) = (comm.native(), info.native());
    // SAFETY: the program's arguments.
    unsafe {
        idup::<A>(newcomm, request, |new, r| {
            core::MPI_Comm_idup_with_info(comm, info, new, r)
        })
    }
}

unsafe fn op<A: Abi>(
    function: core::LayerFn,
    longest: Count,
    user_fn: usize,
    commute: c_int,
    op: *mut A::Op,
) -> c_int {
    let mut op = Out::new(op);
    let state = user_fn as *mut c_void;
    // SAFETY: the program's arguments; the function takes such a state.
    unsafe {
        let rc = core::catena_op_create(function, longest, state, None, commute, op.place());
        op.finish();
        code::<A>(rc)
    }
}

pub unsafe fn Op_create<A: Abi>(user_fn: usize, commute: c_int, op_: *mut A::Op) -> c_int {
    // SAFETY: the program's arguments; the library refuses a null function.
    unsafe {
        match user_fn {
            0 => code::<A>(core::MPI_Op_create(0, commute, Out::new(op_).place())),
            _ => op::<A>(callback::op::<A>, c_int::MAX.into(), user_fn, commute, op_),
        }
    }
}

pub unsafe fn Op_create_c<A: Abi>(user_fn: usize, commute: c_int, op_: *mut A::Op) -> c_int {
    // SAFETY: as above.
    unsafe {
        match user_fn {
            0 => code::<A>(core::MPI_Op_create_c(0, commute, Out::new(op_).place())),
            _ => op::<A>(callback::op_c::<A>, Count::MAX, user_fn, commute, op_),
        }
    }
}

pub unsafe fn Grequest_start<A: Abi>(
    query: usize,
    free: usize,
    cancel: usize,
    extra_state: *mut c_void,
    request: *mut A::Request,
) -> c_int {
    let mut request = Out::new(request);
    let state = Grequest {
        query,
        free,
        cancel,
        extra_state,
    };
    let state = Box::into_raw(Box::new(state)).cast();
    // SAFETY: the program's arguments; the functions take such a state.
    unsafe {
        let rc = core::MPI_Grequest_start(
            callback::grequest_query::<A> as *const () as usize,
            callback::grequest_free::<A> as *const () as usize,
            callback::grequest_cancel::<A> as *const () as usize,
            state,
            request.place(),
        );
        if rc != consts::SUCCESS {
            callback::end::<Grequest>(state);
        }
        request.finish();
        code::<A>(rc)
    }
}

/// The address of a function from here if the program has one.
fn instead_of(program: usize, ours: *const ()) -> usize {
    if program == 0 { 0 } else { ours as usize }
}

pub unsafe fn Register_datarep<A: Abi>(
    name: *const c_char,
    read: usize,
    write: usize,
    extent: usize,
    extra_state: *mut c_void,
) -> c_int {
    let state = Datarep {
        read,
        write,
        extent,
        extra_state,
    };
    let state = Box::into_raw(Box::new(state)).cast();
    // SAFETY: the program's arguments; the functions take such a state.
    let rc = unsafe {
        core::MPI_Register_datarep(
            name,
            instead_of(read, callback::datarep_read::<A, c_int> as *const ()),
            instead_of(write, callback::datarep_write::<A, c_int> as *const ()),
            instead_of(extent, callback::datarep_extent::<A> as *const ()),
            state,
        )
    };
    if rc != consts::SUCCESS {
        // SAFETY: the box from above, which nobody was given.
        unsafe { callback::end::<Datarep>(state) };
    }
    code::<A>(rc)
}

pub unsafe fn Register_datarep_c<A: Abi>(
    name: *const c_char,
    read: usize,
    write: usize,
    extent: usize,
    extra_state: *mut c_void,
) -> c_int {
    let state = Datarep {
        read,
        write,
        extent,
        extra_state,
    };
    let state = Box::into_raw(Box::new(state)).cast();
    // SAFETY: the program's arguments; the functions take such a state.
    let rc = unsafe {
        core::MPI_Register_datarep_c(
            name,
            instead_of(read, callback::datarep_read::<A, Count> as *const ()),
            instead_of(write, callback::datarep_write::<A, Count> as *const ()),
            instead_of(extent, callback::datarep_extent::<A> as *const ()),
            state,
        )
    };
    if rc != consts::SUCCESS {
        // SAFETY: the box from above, which nobody was given.
        unsafe { callback::end::<Datarep>(state) };
    }
    code::<A>(rc)
}

unsafe fn errhandler<A: Abi, H: Handle>(
    target: c_int,
    function: usize,
    to: *mut A::Errhandler,
    refuse: unsafe extern "C" fn(usize, *mut catena_abi::Errhandler) -> c_int,
) -> c_int {
    let mut to = Out::new(to);
    // SAFETY: the program's arguments; the function takes such a state. The library refuses a
    // null function.
    unsafe {
        if function == 0 {
            return code::<A>(refuse(0, to.place()));
        }
        let state = function as *mut c_void;
        let call = callback::errhandler::<A, H>;
        let rc = core::catena_errhandler_create(target, call, state, None, to.place());
        to.finish();
        code::<A>(rc)
    }
}

macro_rules! errhandlers {
    ($($name:ident $target:literal $handle:ident $refuse:ident;)*) => {$(
        pub unsafe fn $name<A: Abi>(function: usize, to: *mut A::Errhandler) -> c_int {
            // SAFETY: the program's arguments.
            unsafe { errhandler::<A, A::$handle>($target, function, to, core::$refuse) }
        }
    )*};
}

errhandlers! {
    Comm_create_errhandler 0 Comm MPI_Comm_create_errhandler;
    Errhandler_create 0 Comm MPI_Errhandler_create;
    Win_create_errhandler 1 Win MPI_Win_create_errhandler;
    File_create_errhandler 2 File MPI_File_create_errhandler;
    Session_create_errhandler 3 Session MPI_Session_create_errhandler;
}

/// `MPI_BUFFER_AUTOMATIC` has another address in the interface.
unsafe fn detached<A: Abi>(rc: c_int, buffer_addr: *mut c_void) -> c_int {
    if rc == consts::SUCCESS && !buffer_addr.is_null() {
        let at = buffer_addr.cast::<usize>();
        // SAFETY: the program's variable.
        unsafe {
            if *at == consts::BUFFER_AUTOMATIC {
                *at = A::BUFFER_AUTOMATIC;
            }
        }
    }
    code::<A>(rc)
}

macro_rules! detach {
    ($($name:ident $core:ident ($($handle:ident)?) $number:ty;)*) => {$(
        pub unsafe fn $name<A: Abi>(
            $(of: A::$handle,)? buffer_addr: *mut c_void, size: *mut $number,
        ) -> c_int {
            // SAFETY: the program's arguments.
            unsafe {
                let rc = core::$core($(<A::$handle as Handle>::native(of),)? buffer_addr, size);
                detached::<A>(rc, buffer_addr)
            }
        }
    )*};
}

detach! {
    Buffer_detach MPI_Buffer_detach () c_int;
    Buffer_detach_c MPI_Buffer_detach_c () Count;
    Comm_detach_buffer MPI_Comm_detach_buffer (Comm) c_int;
    Comm_detach_buffer_c MPI_Comm_detach_buffer_c (Comm) Count;
    Session_detach_buffer MPI_Session_detach_buffer (Session) c_int;
    Session_detach_buffer_c MPI_Session_detach_buffer_c (Session) Count;
}
