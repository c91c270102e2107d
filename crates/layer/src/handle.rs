//! Handles of the standard's interface and of a foreign one.

use catena_abi::{self as abi, consts};

/// A handle of the standard's interface.
pub trait Native: Copy + PartialEq {
    /// No call stores this, so what still has it was not written.
    const UNWRITTEN: Self;
    /// The handle of nothing.
    const NULL: Self;
    /// As a number.
    fn number(self) -> usize;
    /// From a number.
    fn of(number: usize) -> Self;
}

macro_rules! natives {
    ($($name:ident $null:ident)*) => {$(
        impl Native for abi::$name {
            const UNWRITTEN: Self = abi::$name(usize::MAX);
            const NULL: Self = consts::$null;
            #[inline]
            fn number(self) -> usize {
                self.0
            }
            #[inline]
            fn of(number: usize) -> Self {
                abi::$name(number)
            }
        }
    )*};
}

natives! {
    Comm COMM_NULL
    Datatype DATATYPE_NULL
    Op OP_NULL
    Group GROUP_NULL
    Win WIN_NULL
    File FILE_NULL
    Session SESSION_NULL
    Message MESSAGE_NULL
    Info INFO_NULL
    Errhandler ERRHANDLER_NULL
    Request REQUEST_NULL
}

/// Handles below are predefined.
pub const FIRST_DYNAMIC: usize = 0x1000;

/// A handle of a foreign interface.
pub trait Handle: Copy {
    /// The standard's.
    type Native: Native;
    /// The standard's handle. Of one that means nothing here it is one that means nothing
    /// there.
    fn native(self) -> Self::Native;
    /// The foreign handle of one of the standard's.
    fn foreign(native: Self::Native) -> Self;
    /// The foreign handle of one of the standard's that a function of the program is called with.
    /// Its object may have ended, and another may live in its place, which keeps its handle.
    fn lent(native: Self::Native) -> Self {
        Self::foreign(native)
    }
    /// The foreign handle of nothing.
    fn null() -> Self;
    /// As an integer, as Fortran has it.
    fn to_fortran(self) -> i32;
    /// From an integer.
    fn from_fortran(integer: i32) -> Self;
}
