//! Where the bytes of a step lie.

use std::fmt;

/// One of the three buffers of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buf {
    /// The send buffer. No step writes it.
    Input,
    /// The receive buffer; with `MPI_IN_PLACE` it also holds the input, and no
    /// step mentions [`Buf::Input`].
    Output,
    /// Memory that lives as long as one execution. Its contents are undefined
    /// at the start.
    Scratch,
}

/// `len` bytes at `offset` of a buffer of packed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// Which buffer.
    pub buf: Buf,
    /// First byte.
    pub offset: usize,
    /// Number of bytes; may be 0.
    pub len: usize,
}

impl Region {
    /// `len` bytes at `offset` of `buf`.
    #[inline]
    pub const fn new(buf: Buf, offset: usize, len: usize) -> Self {
        Region { buf, offset, len }
    }

    /// `len` bytes at `offset` of the send buffer.
    #[inline]
    pub const fn input(offset: usize, len: usize) -> Self {
        Region::new(Buf::Input, offset, len)
    }

    /// `len` bytes at `offset` of the receive buffer.
    #[inline]
    pub const fn output(offset: usize, len: usize) -> Self {
        Region::new(Buf::Output, offset, len)
    }

    /// The byte behind the last one.
    #[inline]
    pub const fn end(&self) -> usize {
        self.offset + self.len
    }

    /// Whether it has no bytes.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The part of `len` bytes that starts `from` bytes into this region.
    ///
    /// # Panics
    /// If it would reach beyond the region.
    #[inline]
    #[must_use]
    pub const fn part(&self, from: usize, len: usize) -> Self {
        assert!(
            from <= self.len && len <= self.len - from,
            "part reaches beyond its region"
        );
        Region {
            buf: self.buf,
            offset: self.offset + from,
            len,
        }
    }

    /// Whether the two share a byte.
    #[inline]
    pub fn overlaps(&self, other: &Region) -> bool {
        self.buf == other.buf
            && !self.is_empty()
            && !other.is_empty()
            && self.offset < other.end()
            && other.offset < self.end()
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let buf = match self.buf {
            Buf::Input => "in",
            Buf::Output => "out",
            Buf::Scratch => "tmp",
        };
        write!(f, "{buf}[{}..{}]", self.offset, self.end())
    }
}
