//! Handles as integers, and other functions that need no state (MPI 5.0,
//! chapters 4.1.5, 9.6, 15.2.4 and 20).

use core::ffi::c_int;

use catena_abi::*;
use catena_objects::state::handed;

use crate::export::export;
use crate::hooks::{self, Kind};

/// Handles below are predefined and are their own integers.
const FIRST_DYNAMIC: usize = 0x1000;

/// The integer of a handle: its low 31 bits, which never clash within a kind.
const fn low(handle: usize) -> c_int {
    (handle & 0x7fff_ffff) as c_int
}

/// The handle of an integer that [`low`] gave, `null` if nothing lives there.
fn full(kind: Kind, low: c_int, null: usize) -> usize {
    match usize::try_from(low) {
        Ok(predefined) if predefined < FIRST_DYNAMIC => predefined,
        _ => hooks::widen(kind, low).unwrap_or(null),
    }
}

macro_rules! conversions {
    ($($toint:ident $fromint:ident $ty:ident $null:ident;)*) => {
        export! {$(
            fn $toint(handle: $ty) -> c_int {
                low(handle.0)
            }
            fn $fromint(handle: c_int) -> $ty {
                $ty(full(Kind::$ty, handle, consts::$null.0))
            }
        )*}
    };
}

conversions! {
    Comm_toint Comm_fromint Comm COMM_NULL;
    Errhandler_toint Errhandler_fromint Errhandler ERRHANDLER_NULL;
    File_toint File_fromint File FILE_NULL;
    Group_toint Group_fromint Group GROUP_NULL;
    Info_toint Info_fromint Info INFO_NULL;
    Message_toint Message_fromint Message MESSAGE_NULL;
    Op_toint Op_fromint Op OP_NULL;
    Session_toint Session_fromint Session SESSION_NULL;
    Type_toint Type_fromint Datatype DATATYPE_NULL;
    Win_toint Win_fromint Win WIN_NULL;
}

export! {
    fn Request_toint(handle: Request) -> c_int {
        if handle.0 >= FIRST_DYNAMIC {
            handed(handle.0);
        }
        low(handle.0)
    }

    fn Request_fromint(handle: c_int) -> Request {
        Request(full(Kind::Request, handle, consts::REQUEST_NULL.0))
    }

    fn Aint_add(base: Aint, disp: Aint) -> Aint {
        base.wrapping_add(disp)
    }

    fn Aint_diff(addr1: Aint, addr2: Aint) -> Aint {
        addr1.wrapping_sub(addr2)
    }

    /// Profiling is left to tools; without one every level is fine. C declares
    /// further arguments, which the calling conventions of Linux let us ignore.
    fn Pcontrol(_level: c_int) -> c_int {
        consts::SUCCESS
    }

    fn Wtime() -> f64 {
        let now = clock(libc::clock_gettime);
        now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
    }

    fn Wtick() -> f64 {
        let tick = clock(libc::clock_getres);
        tick.tv_sec as f64 + tick.tv_nsec as f64 * 1e-9
    }
}

/// Asks the steady clock of the node for its time or its resolution.
fn clock(
    ask: unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> c_int,
) -> libc::timespec {
    let mut answer = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `answer` is writable; the steady clock exists on every Linux, so
    // the call cannot fail.
    unsafe { ask(libc::CLOCK_MONOTONIC, &mut answer) };
    answer
}
