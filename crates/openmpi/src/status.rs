//! The layout of `MPI_Status`.

use std::ffi::c_int;

use catena_layer::layout::{Fields, Foreign};

/// `MPI_Status`. In C it is aligned like its last field, in Fortran like an integer.
#[repr(C, packed(4))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    source: c_int,
    tag: c_int,
    error: c_int,
    cancelled: c_int,
    count: usize,
}

const _: () = assert!(size_of::<Status>() == 24 && align_of::<Status>() == 4);

impl Foreign for Status {
    #[inline]
    fn load(&self) -> Fields {
        Fields {
            source: self.source,
            tag: self.tag,
            error: self.error,
            bytes: self.count as u64,
            cancelled: self.cancelled != 0,
        }
    }

    #[inline]
    fn store(&mut self, source: c_int, tag: c_int, bytes: u64, cancelled: bool) {
        self.source = source;
        self.tag = tag;
        self.cancelled = cancelled.into();
        self.count = bytes as usize;
    }

    #[inline]
    fn store_error(&mut self, error: c_int) {
        self.error = error;
    }
}
