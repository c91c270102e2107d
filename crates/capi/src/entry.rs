//! How an MPI function is written: arguments are checked and handed to `core`,
//! an error goes to the error handler of the object that the call was made on.

use std::ffi::c_int;

use catena_abi::{Count, Message, Request};
use catena_objects::Result;

use crate::args::null_argument;

/// Defines functions that return an error code; the body is a `Result<()>`.
///
/// `on object` names the argument whose error handler is called; without it
/// that is the one of `MPI_COMM_SELF` (MPI-5, chapter 9.3). Where the call tells what it has begun
/// or found, in `request`, `message`, `flag`, `indx` or `outcount`, a null pointer is an error
/// before the body runs: nothing begins whose handle would be lost. A name given as `MPI_Send |
/// MPI_Send_c` makes two functions, in which `Num` is the type of counts (`int` or `MPI_Count`) and
/// `Disp` that of displacements (`int` or `MPI_Aint`).
macro_rules! mpi_fn {
    ($(
        $(#[$attr:meta])*
        fn $name:ident $(| $large:ident)? ($($arg:ident: $ty:ty),* $(,)?) $(on $on:ident)? $body:block
    )*) => {$(
        $crate::entry::mpi_fn!(@one [$($large)?] $(#[$attr])* $name ($($arg: $ty),*) [$($on)?] $body);
    )*};
    (@one [] $(#[$attr:meta])* $name:ident ($($arg:ident: $ty:ty),*) [$($on:ident)?] $body:block) => {
        $crate::export::export! {
            $(#[$attr])*
            fn $name($($arg: $ty),*) -> ::core::ffi::c_int {
                $crate::traced::traced!($name $($arg),*);
                $(let object = $on;)?
                let body = move || -> ::catena_objects::Result<()> {
                    $($crate::entry::mpi_fn!(@told $arg $arg);)*
                    $body
                };
                match body() {
                    Ok(()) => 0,
                    Err(error) => $crate::errors::raise(
                        stringify!($name),
                        $crate::entry::mpi_fn!(@object $($on object)?),
                        error,
                    ),
                }
            }
        }
    };
    (@one [$large:ident] $(#[$attr:meta])* $name:ident ($($arg:ident: $ty:ty),*) [$($on:ident)?] $body:block) => {
        #[allow(non_snake_case, reason = "the name of the function")]
        #[allow(clippy::useless_conversion, reason = "the body serves the large form, too")]
        mod $name {
            use super::*;
            #[allow(unused, reason = "not every function has both")]
            type Num = ::core::ffi::c_int;
            #[allow(unused, reason = "not every function has both")]
            type Disp = ::core::ffi::c_int;
            $crate::entry::mpi_fn!(@one [] $(#[$attr])* $name ($($arg: $ty),*) [$($on)?] $body);
        }
        #[allow(non_snake_case, reason = "the name of the function")]
        #[allow(clippy::useless_conversion, reason = "the body serves the small form, too")]
        mod $large {
            use super::*;
            #[allow(unused, reason = "not every function has both")]
            type Num = ::catena_abi::Count;
            #[allow(unused, reason = "not every function has both")]
            type Disp = ::catena_abi::Aint;
            $crate::entry::mpi_fn!(@one [] $(#[$attr])* $large ($($arg: $ty),*) [$($on)?] $body);
        }
    };
    (@told request $arg:ident) => { $crate::entry::OutArgument::check($arg, "request")?; };
    (@told message $arg:ident) => { $crate::entry::OutArgument::check($arg, "message")?; };
    (@told flag $arg:ident) => { $crate::entry::OutArgument::check($arg, "flag")?; };
    (@told indx $arg:ident) => { $crate::entry::OutArgument::check($arg, "index")?; };
    (@told outcount $arg:ident) => { $crate::entry::OutArgument::check($arg, "outcount")?; };
    (@told $other:ident $arg:ident) => {};
    (@object) => { $crate::errors::On::Nothing };
    (@object $on:ident $object:ident) => { $crate::errors::On::from($object) };
}

pub(crate) use mpi_fn;

/// An argument through which a call tells what it has begun or found, or a value of such a name.
pub(crate) trait OutArgument {
    /// Checks that something can be told.
    ///
    /// # Errors
    /// `Arg` for a null pointer; `name` is the argument's.
    fn check(self, name: &str) -> Result<()>;
}

impl<T> OutArgument for *mut T {
    #[inline(always)]
    fn check(self, name: &str) -> Result<()> {
        match self.is_null() {
            false => Ok(()),
            true => Err(null_argument(name)),
        }
    }
}

macro_rules! values {
    ($($ty:ty)*) => {$(
        impl OutArgument for $ty {
            #[inline(always)]
            fn check(self, _name: &str) -> Result<()> {
                Ok(())
            }
        }
    )*};
}

values! { c_int Count Message Request }
