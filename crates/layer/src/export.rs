//! How a function becomes two symbols of a layer.

/// Defines functions and exports each as `MPI_name` and `PMPI_name`.
///
/// Both are plain functions that jump to one body, so a tool can replace `MPI_name` and still
/// reach the body by `PMPI_name`. Types are those of the layer's interface.
#[macro_export]
macro_rules! export {
    ($(
        $(#[$attr:meta])*
        fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty $body:block
    )*) => {$(
        $(#[$attr])*
        #[allow(non_snake_case, unused_mut, clippy::too_many_arguments)]
        #[inline(never)]
        extern "C" fn $name($($arg: $ty),*) -> $ret $body

        const _: () = {
            // SAFETY: each name stands once, and no other library may define names that begin
            // with MPI_ or PMPI_.
            #[unsafe(export_name = concat!("MPI_", stringify!($name)))]
            extern "C" fn mpi($($arg: $ty),*) -> $ret {
                $name($($arg),*)
            }
            // SAFETY: as above.
            #[unsafe(export_name = concat!("PMPI_", stringify!($name)))]
            extern "C" fn pmpi($($arg: $ty),*) -> $ret {
                $name($($arg),*)
            }
        };
    )*};
}
