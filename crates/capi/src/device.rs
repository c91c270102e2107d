//! What programs ask about memory of devices, by the names that libraries have agreed on.

use std::ffi::c_int;

/// Exports a question that takes nothing and answers yes (1) or no (0).
macro_rules! question {
    ($($(#[$attr:meta])* fn $name:ident() $body:block)+) => {$(
        $(#[$attr])*
        #[allow(non_snake_case, reason = "the name of the function")]
        fn $name() -> c_int {
            $body.into()
        }
        question!(@export $name "");
        question!(@export $name "P");
        question!(@export $name "catena_");
    )+};
    (@export $name:ident $prefix:literal) => {
        const _: () = {
            // SAFETY: no other library may define names that begin so, and each is here once.
            #[unsafe(export_name = concat!($prefix, stringify!($name)))]
            extern "C" fn exported() -> c_int {
                $name()
            }
        };
    };
}

question! {
    /// Whether buffers may lie in memory of CUDA devices, which may be asked before `MPI_Init` as
    /// well.
    fn MPIX_Query_cuda_support() { catena_core::takes_cuda() }
}
