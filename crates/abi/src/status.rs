//! The layout of `MPI_Status`.

/// `MPI_Status`: three public fields and 20 bytes for the library.
///
/// Use of `internal` by Catena:
///
/// | index | content                                      |
/// |-------|----------------------------------------------|
/// | 0, 1  | received bytes, low and high 32 bits         |
/// | 2     | 1 if the operation was cancelled, else 0     |
/// | 3, 4  | 0                                            |
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// `MPI_SOURCE`
    pub source: i32,
    /// `MPI_TAG`
    pub tag: i32,
    /// `MPI_ERROR`
    pub error: i32,
    /// `MPI_internal`
    pub internal: [i32; 5],
}

const _: () = assert!(size_of::<Status>() == 32 && align_of::<Status>() == 4);

impl Status {
    /// A status of `bytes` received bytes, not cancelled, error 0.
    #[inline]
    pub const fn new(source: i32, tag: i32, bytes: u64) -> Self {
        Self {
            source,
            tag,
            error: 0,
            internal: [bytes as i32, (bytes >> 32) as i32, 0, 0, 0],
        }
    }

    /// The empty status (MPI 5.0, 3.7.3): any source, any tag, nothing received.
    #[inline]
    pub const fn empty() -> Self {
        Self::new(crate::consts::ANY_SOURCE, crate::consts::ANY_TAG, 0)
    }

    /// Number of received bytes.
    #[inline]
    pub const fn bytes(&self) -> u64 {
        self.internal[0] as u32 as u64 | (self.internal[1] as u32 as u64) << 32
    }

    /// Sets the number of received bytes.
    #[inline]
    pub const fn set_bytes(&mut self, bytes: u64) {
        self.internal[0] = bytes as i32;
        self.internal[1] = (bytes >> 32) as i32;
    }

    /// True if the operation was cancelled.
    #[inline]
    pub const fn cancelled(&self) -> bool {
        self.internal[2] != 0
    }

    /// Sets whether the operation was cancelled.
    #[inline]
    pub const fn set_cancelled(&mut self, cancelled: bool) {
        self.internal[2] = cancelled as i32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_survives_all_64_bits() {
        for bytes in [0, 1, 0x7fff_ffff, 0x8000_0000, 1 << 32, u64::MAX] {
            let mut status = Status::new(3, 4, bytes);
            assert_eq!(status.bytes(), bytes);
            status.set_cancelled(true);
            status.set_bytes(!bytes);
            assert_eq!(status.bytes(), !bytes);
            assert!(status.cancelled());
            status.set_cancelled(false);
            assert!(!status.cancelled());
        }
    }

    #[test]
    fn empty_status_has_no_source() {
        let status = Status::empty();
        assert_eq!((status.source, status.tag, status.bytes()), (-1, -2, 0));
    }
}
