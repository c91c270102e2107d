//! Addresses with a meaning, which programs find in variables of the library.

use std::ffi::c_int;

use catena_abi::consts;

/// An address that the program compares with and hands over.
#[repr(transparent)]
struct Address(*const c_int);

// SAFETY: nobody follows it.
unsafe impl Sync for Address {}

/// What the addresses point to.
static PLACES: [c_int; 9] = [0; 9];

macro_rules! addresses {
    ($($name:ident $index:literal;)*) => {$(
        #[unsafe(no_mangle)]
        static $name: Address = Address(&raw const PLACES[$index]);
    )*};
}

addresses! {
    MPI_UNWEIGHTED 0;
    MPI_WEIGHTS_EMPTY 1;
    MPI_T_PVAR_ALL_HANDLES 2;
    MPI_F_STATUS_IGNORE 3;
    MPI_F_STATUSES_IGNORE 4;
    MPI_F08_STATUS_IGNORE 5;
    MPI_F08_STATUSES_IGNORE 6;
    MPI_F_ARGVS_NULL 7;
    MPI_F_ERRCODES_IGNORE 8;
}

/// Where `MPI_UNWEIGHTED` and `MPI_WEIGHTS_EMPTY` point to.
pub(crate) fn weights() -> [usize; 2] {
    [0, 1].map(|i| (&raw const PLACES[i]).addr())
}

/// The standard's handle for all performance variables.
pub(crate) fn pvar_handle(handle: usize) -> usize {
    if handle == (&raw const PLACES[2]).addr() {
        return consts::T_PVAR_ALL_HANDLES.0;
    }
    handle
}

/// The addresses that stand for no status.
pub(crate) fn no_status() -> [usize; 4] {
    let at = |i: usize| (&raw const PLACES[i]).addr();
    [at(3), at(4), at(5), at(6)]
}
