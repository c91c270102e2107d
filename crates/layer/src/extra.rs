//! What the libraries of both interfaces have besides the standard: handles and statuses for
//! Fortran, questions about devices, and names without a function behind them.

use std::ffi::c_int;

use catena_abi::consts;

use crate::abi::Abi;

/// Exports names that mean something in another library and nothing here. A call raises
/// `MPI_ERR_UNSUPPORTED_OPERATION` with the name.
#[macro_export]
macro_rules! unsupported {
    ($($name:ident)*) => {$(
        const _: () = {
            extern "C" fn unsupported() -> ::std::ffi::c_int {
                const NAME: &str = concat!(stringify!($name), "\0");
                // SAFETY: a text that ends with a zero and lives as long as the process.
                let rc = unsafe { $crate::core::catena_unsupported(NAME.as_ptr().cast()) };
                $crate::code::code::<A>(rc)
            }
            // SAFETY: no other library of the process has the name.
            #[unsafe(export_name = stringify!($name))]
            extern "C" fn plain() -> ::std::ffi::c_int {
                unsupported()
            }
            // SAFETY: as above.
            #[unsafe(export_name = concat!("P", stringify!($name)))]
            extern "C" fn profiled() -> ::std::ffi::c_int {
                unsupported()
            }
        };
    )*};
}

/// Exports functions under names that do not begin with `MPI_`, and as these with a `P`.
#[macro_export]
macro_rules! export_as {
    ($(
        $(#[$attr:meta])*
        fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty $body:block
    )*) => {$(
        const _: () = {
            $(#[$attr])*
            #[allow(non_snake_case, unused_mut, clippy::too_many_arguments)]
            extern "C" fn body($($arg: $ty),*) -> $ret $body

            // SAFETY: no other library of the process has the name.
            #[unsafe(export_name = stringify!($name))]
            extern "C" fn plain($($arg: $ty),*) -> $ret {
                body($($arg),*)
            }
            // SAFETY: as above.
            #[unsafe(export_name = concat!("P", stringify!($name)))]
            extern "C" fn profiled($($arg: $ty),*) -> $ret {
                body($($arg),*)
            }
        };
    )*};
}

/// Copies a status from C to Fortran or back; they have the same layout. `ignored` are the
/// addresses that mean that there is none.
///
/// # Safety
/// What is not ignored is readable and writable.
pub unsafe fn copy_status<A: Abi>(
    from: *const A::Status,
    to: *mut A::Status,
    ignored: &[usize],
) -> c_int {
    if from.is_null()
        || to.is_null()
        || from.addr() == A::STATUS_IGNORE
        || ignored.contains(&from.addr())
    {
        return A::code(consts::ERR_ARG);
    }
    // SAFETY: the caller's promise.
    unsafe { to.write(from.read()) };
    consts::SUCCESS
}

/// Exports `MPI_*_c2f` and `MPI_*_f2c`.
#[macro_export]
macro_rules! fortran_handles {
    ($($c2f:ident $f2c:ident $handle:ident;)*) => {
        $crate::export! {$(
            fn $c2f(handle: $handle) -> ::std::ffi::c_int {
                $crate::handle::Handle::to_fortran(handle)
            }
            fn $f2c(integer: ::std::ffi::c_int) -> $handle {
                <$handle as $crate::handle::Handle>::from_fortran(integer)
            }
        )*}
    };
}

/// Exports the conversions of statuses between C, `mpif.h` and `mpi_f08`, which all have one
/// layout. `$ignored` are the addresses that mean that there is none.
#[macro_export]
macro_rules! fortran_statuses {
    ($ignored:expr; $($name:ident)*) => {
        $crate::export! {$(
            fn $name(from: *const Status, to: *mut Status) -> ::std::ffi::c_int {
                // SAFETY: the program's statuses.
                unsafe { $crate::extra::copy_status::<A>(from, to, &$ignored) }
            }
        )*}
    };
}

/// Exports what both libraries have for programs that go on when processes die.
#[macro_export]
macro_rules! failures {
    () => {
        $crate::export_as! {
            /// Revokes a communicator.
            fn MPIX_Comm_revoke(comm: Comm) -> ::std::ffi::c_int {
                // SAFETY: a handle.
                let rc = unsafe { $crate::core::catena_MPIX_Comm_revoke($crate::handle::Handle::native(comm)) };
                $crate::code::code::<A>(rc)
            }
            /// Acknowledges all failures that are known.
            fn MPIX_Comm_failure_ack(comm: Comm) -> ::std::ffi::c_int {
                // SAFETY: a handle.
                let rc = unsafe { $crate::core::catena_MPIX_Comm_failure_ack($crate::handle::Handle::native(comm)) };
                $crate::code::code::<A>(rc)
            }
            /// Which are acknowledged.
            fn MPIX_Comm_failure_get_acked(comm: Comm, group: *mut Group) -> ::std::ffi::c_int {
                // SAFETY: the program's own arguments.
                unsafe {
                    let mut group = $crate::place::Out::new(group);
                    let comm = $crate::handle::Handle::native(comm);
                    let rc = $crate::core::catena_MPIX_Comm_failure_get_acked(comm, group.place());
                    group.finish();
                    $crate::code::code::<A>(rc)
                }
            }
            /// Which are known.
            fn MPIX_Comm_get_failed(comm: Comm, group: *mut Group) -> ::std::ffi::c_int {
                // SAFETY: the program's own arguments.
                unsafe {
                    let mut group = $crate::place::Out::new(group);
                    let comm = $crate::handle::Handle::native(comm);
                    let rc = $crate::core::catena_MPIX_Comm_get_failed(comm, group.place());
                    group.finish();
                    $crate::code::code::<A>(rc)
                }
            }
            /// Agrees on flags.
            fn MPIX_Comm_agree(comm: Comm, flag: *mut ::std::ffi::c_int) -> ::std::ffi::c_int {
                // SAFETY: the program's own arguments.
                let rc = unsafe { $crate::core::catena_MPIX_Comm_agree($crate::handle::Handle::native(comm), flag) };
                $crate::code::code::<A>(rc)
            }
            /// Makes a communicator of survivors.
            fn MPIX_Comm_shrink(comm: Comm, newcomm: *mut Comm) -> ::std::ffi::c_int {
                // SAFETY: the program's own arguments.
                unsafe {
                    let mut newcomm = $crate::place::Out::new(newcomm);
                    let comm = $crate::handle::Handle::native(comm);
                    let rc = $crate::core::catena_MPIX_Comm_shrink(comm, newcomm.place());
                    newcomm.finish();
                    $crate::code::code::<A>(rc)
                }
            }
        }
    };
}
