//! How a function becomes a symbol of the library.

/// Defines functions and exports each three times, as `MPI_name`, as `PMPI_name`, and as
/// `catena_MPI_name` for the layers of other binary interfaces, which define the first two
/// themselves ([`crate::layers`]).
///
/// All symbols are plain functions that jump to one body, so a tool can
/// replace `MPI_name` and still reach the body by `PMPI_name`, and calls from
/// within the library never meet the tool. With link-time optimisation they
/// become one address. The body itself is `name` in the module, for callers
/// inside the library.
///
/// Types must be those of the C prototype in the layout of `catena_abi`.
macro_rules! export {
    ($(
        $(#[$attr:meta])*
        fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty $body:block
    )*) => {$(
        $(#[$attr])*
        #[allow(non_snake_case, clippy::too_many_arguments)]
        #[inline(never)]
        pub(crate) extern "C" fn $name($($arg: $ty),*) -> $ret $body

        const _: () = {
            // SAFETY: the table of functions has each name once, and no other
            // library may define names that begin with MPI_ or PMPI_.
            #[unsafe(export_name = stringify!($name))]
            extern "C" fn mpi($($arg: $ty),*) -> $ret {
                $name($($arg),*)
            }
            // SAFETY: as above.
            #[unsafe(export_name = concat!("P", stringify!($name)))]
            extern "C" fn pmpi($($arg: $ty),*) -> $ret {
                $name($($arg),*)
            }
            // SAFETY: as above; no other library has names that begin with catena_.
            #[unsafe(export_name = concat!("catena_", stringify!($name)))]
            extern "C" fn layered($($arg: $ty),*) -> $ret {
                $name($($arg),*)
            }
        };
    )*};
}

pub(crate) use export;
