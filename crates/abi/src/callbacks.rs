//! Types of the functions that a program hands to MPI.
//!
//! All are `Option`s: C may pass a null pointer, which for copy and delete
//! callbacks is a predefined value. The other predefined value, `DUP_FN`, is
//! the address 1; compare with `consts` before a call, never call it.

use crate::{
    Aint, Comm, Count, Datatype, File, Offset, Session, Status, TEventInstance, TEventRegistration,
    Win,
};
use core::ffi::{c_int, c_void};

/// `MPI_User_function`: a reduction operation.
pub type UserFunction =
    Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut Datatype)>;
/// `MPI_User_function_c`: a reduction operation on large counts.
pub type UserFunctionC =
    Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *mut Count, *mut Datatype)>;

/// `MPI_Grequest_query_function`
pub type GrequestQueryFunction = Option<unsafe extern "C" fn(*mut c_void, *mut Status) -> c_int>;
/// `MPI_Grequest_free_function`
pub type GrequestFreeFunction = Option<unsafe extern "C" fn(*mut c_void) -> c_int>;
/// `MPI_Grequest_cancel_function`
pub type GrequestCancelFunction = Option<unsafe extern "C" fn(*mut c_void, c_int) -> c_int>;

/// Copies an attribute: object, key, extra state, old value, place of the new
/// value, place of the flag that keeps it.
pub type CopyAttrFunction<T> = Option<
    unsafe extern "C" fn(T, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int,
>;
/// Deletes an attribute: object, key, value, extra state.
pub type DeleteAttrFunction<T> =
    Option<unsafe extern "C" fn(T, c_int, *mut c_void, *mut c_void) -> c_int>;
/// `MPI_Comm_copy_attr_function` and `MPI_Copy_function`
pub type CommCopyAttrFunction = CopyAttrFunction<Comm>;
/// `MPI_Comm_delete_attr_function` and `MPI_Delete_function`
pub type CommDeleteAttrFunction = DeleteAttrFunction<Comm>;
/// `MPI_Type_copy_attr_function`
pub type TypeCopyAttrFunction = CopyAttrFunction<Datatype>;
/// `MPI_Type_delete_attr_function`
pub type TypeDeleteAttrFunction = DeleteAttrFunction<Datatype>;
/// `MPI_Win_copy_attr_function`
pub type WinCopyAttrFunction = CopyAttrFunction<Win>;
/// `MPI_Win_delete_attr_function`
pub type WinDeleteAttrFunction = DeleteAttrFunction<Win>;

/// An error handler of a kind of object: place of the handle, place of the code.
pub type ErrhandlerFunction<T> = Option<unsafe extern "C" fn(*mut T, *mut c_int, ...)>;
/// `MPI_Comm_errhandler_function` and `MPI_Handler_function`
pub type CommErrhandlerFunction = ErrhandlerFunction<Comm>;
/// `MPI_File_errhandler_function`
pub type FileErrhandlerFunction = ErrhandlerFunction<File>;
/// `MPI_Win_errhandler_function`
pub type WinErrhandlerFunction = ErrhandlerFunction<Win>;
/// `MPI_Session_errhandler_function`
pub type SessionErrhandlerFunction = ErrhandlerFunction<Session>;

/// `MPI_Datarep_extent_function`
pub type DatarepExtentFunction =
    Option<unsafe extern "C" fn(Datatype, *mut Aint, *mut c_void) -> c_int>;
/// `MPI_Datarep_conversion_function`
pub type DatarepConversionFunction = Option<
    unsafe extern "C" fn(*mut c_void, Datatype, c_int, *mut c_void, Offset, *mut c_void) -> c_int,
>;
/// `MPI_Datarep_conversion_function_c`
pub type DatarepConversionFunctionC = Option<
    unsafe extern "C" fn(*mut c_void, Datatype, Count, *mut c_void, Offset, *mut c_void) -> c_int,
>;

/// `MPI_T_cb_safety`: what a callback may do where it is called.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TCbSafety(pub u32);

impl TCbSafety {
    /// `MPI_T_CB_REQUIRE_NONE`
    pub const NONE: Self = Self(0x00);
    /// `MPI_T_CB_REQUIRE_MPI_RESTRICTED`
    pub const MPI_RESTRICTED: Self = Self(0x03);
    /// `MPI_T_CB_REQUIRE_THREAD_SAFE`
    pub const THREAD_SAFE: Self = Self(0x0f);
    /// `MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE`
    pub const ASYNC_SIGNAL_SAFE: Self = Self(0x3f);
}

/// `MPI_T_source_order`: 1 ordered, 2 unordered.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TSourceOrder(pub u32);

/// `MPI_T_event_cb_function`
pub type TEventCbFunction =
    Option<unsafe extern "C" fn(TEventInstance, TEventRegistration, TCbSafety, *mut c_void)>;
/// `MPI_T_event_free_cb_function`
pub type TEventFreeCbFunction =
    Option<unsafe extern "C" fn(TEventRegistration, TCbSafety, *mut c_void)>;
/// `MPI_T_event_dropped_cb_function`
pub type TEventDroppedCbFunction =
    Option<unsafe extern "C" fn(Count, TEventRegistration, c_int, TCbSafety, *mut c_void)>;
