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
    MPI_Comm_toint MPI_Comm_fromint Comm COMM_NULL;
    MPI_Errhandler_toint MPI_Errhandler_fromint Errhandler ERRHANDLER_NULL;
    MPI_File_toint MPI_File_fromint File FILE_NULL;
    MPI_Group_toint MPI_Group_fromint Group GROUP_NULL;
    MPI_Info_toint MPI_Info_fromint Info INFO_NULL;
    MPI_Message_toint MPI_Message_fromint Message MESSAGE_NULL;
    MPI_Op_toint MPI_Op_fromint Op OP_NULL;
    MPI_Session_toint MPI_Session_fromint Session SESSION_NULL;
    MPI_Type_toint MPI_Type_fromint Datatype DATATYPE_NULL;
    MPI_Win_toint MPI_Win_fromint Win WIN_NULL;
}

export! {
    fn MPI_Request_toint(handle: Request) -> c_int {
        if handle.0 >= FIRST_DYNAMIC {
            handed(handle.0);
        }
        low(handle.0)
    }

    fn MPI_Request_fromint(handle: c_int) -> Request {
        Request(full(Kind::Request, handle, consts::REQUEST_NULL.0))
    }

    fn MPI_Aint_add(base: Aint, disp: Aint) -> Aint {
        base.wrapping_add(disp)
    }

    fn MPI_Aint_diff(addr1: Aint, addr2: Aint) -> Aint {
        addr1.wrapping_sub(addr2)
    }

    /// Profiling is left to tools; without one every level is fine. C declares
    /// further arguments, which the calling conventions of Linux let us ignore.
    fn MPI_Pcontrol(_level: c_int) -> c_int {
        consts::SUCCESS
    }

    fn MPI_Wtime() -> f64 {
        let now = clock(libc::clock_gettime);
        now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
    }

    fn MPI_Wtick() -> f64 {
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
