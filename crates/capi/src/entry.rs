//! How an MPI function is written: arguments are checked and handed to `core`,
//! an error goes to the error handler of the object that the call was made on.

/// Defines functions that return an error code; the body is a `Result<()>`.
///
/// `on object` names the argument whose error handler is called; without it
/// that is the one of `MPI_COMM_SELF` (MPI-5, chapter 9.3). A name given as
/// `Send | Send_c` makes two functions, in which `Num` is the type of counts
/// (`int` or `MPI_Count`) and `Disp` that of displacements (`int` or
/// `MPI_Aint`).
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
                $(let object = $on;)?
                let body = move || -> ::catena_objects::Result<()> { $body };
                match body() {
                    Ok(()) => 0,
                    Err(error) => $crate::errors::raise(
                        concat!("MPI_", stringify!($name)),
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
    (@object) => { $crate::errors::On::Nothing };
    (@object $on:ident $object:ident) => { $crate::errors::On::from($object) };
}

pub(crate) use mpi_fn;
