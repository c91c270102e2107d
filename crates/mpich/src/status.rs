//! The layout of `MPI_Status`.

use std::ffi::c_int;

use catena_layer::layout::{Fields, Foreign};

/// `MPI_Status`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    count_lo: c_int,
    /// The low bit tells whether it was cancelled.
    count_hi_and_cancelled: c_int,
    source: c_int,
    tag: c_int,
    error: c_int,
}

const _: () = assert!(size_of::<Status>() == 20 && align_of::<Status>() == 4);

impl Foreign for Status {
    #[inline]
    fn load(&self) -> Fields {
        let high = self.count_hi_and_cancelled as u32;
        Fields {
            source: self.source,
            tag: self.tag,
            error: self.error,
            bytes: u64::from(high >> 1) << 32 | u64::from(self.count_lo as u32),
            cancelled: high & 1 != 0,
        }
    }

    #[inline]
    fn store(&mut self, source: c_int, tag: c_int, bytes: u64, cancelled: bool) {
        self.count_lo = bytes as c_int;
        self.count_hi_and_cancelled = ((bytes >> 32) as c_int) << 1 | c_int::from(cancelled);
        self.source = source;
        self.tag = tag;
    }

    #[inline]
    fn store_error(&mut self, error: c_int) {
        self.error = error;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_cancellation_share_a_word() {
        // SAFETY: all of it are numbers.
        let mut status: Status = unsafe { std::mem::zeroed() };
        for bytes in [0, 1, 0x7fff_ffff, 0xffff_ffff, 1 << 32, (1 << 62) + 5] {
            for cancelled in [false, true] {
                status.store(3, 4, bytes, cancelled);
                let fields = status.load();
                assert_eq!((fields.bytes, fields.cancelled), (bytes, cancelled));
                assert_eq!((fields.source, fields.tag, fields.error), (3, 4, 0));
            }
        }
    }
}
