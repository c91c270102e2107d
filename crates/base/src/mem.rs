//! Views of memory that is shared with another process, or with the user.
//!
//! A peer may write its memory at any time, so no `&[u8]` is ever formed over
//! it: bytes are copied out first and judged afterwards.

use std::marker::PhantomData;
use std::ptr;

use crate::copy;

/// Bytes that somebody else may be writing while we read them.
#[derive(Clone, Copy, Debug)]
pub struct PeerBytes<'a> {
    ptr: *const u8,
    len: usize,
    how: How,
    life: PhantomData<&'a ()>,
}

/// How bytes are copied to where they go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// By vectors.
    Plain,
    /// See [`PeerBytes::to_be_taken`].
    Taken,
    /// See [`PeerBytes::by_string`].
    String,
}

impl<'a> PeerBytes<'a> {
    /// No bytes at all.
    pub const EMPTY: PeerBytes<'static> = PeerBytes {
        ptr: ptr::null(),
        len: 0,
        how: How::Plain,
        life: PhantomData,
    };

    /// Views `len` bytes at `ptr`.
    ///
    /// # Safety
    /// The range must stay mapped and readable for `'a`. Its contents may
    /// change at any time.
    #[inline]
    pub const unsafe fn new(ptr: *const u8, len: usize) -> Self {
        PeerBytes {
            ptr,
            len,
            how: How::Plain,
            life: PhantomData,
        }
    }

    /// These bytes as a source whose lines the copying core takes over: their writer gets them back
    /// from there sooner, see [`copy::taking`].
    ///
    /// # Safety
    /// The range may be written until `'a` ends, by who copies it.
    #[inline]
    pub const unsafe fn to_be_taken(self) -> Self {
        PeerBytes {
            how: How::Taken,
            ..self
        }
    }

    /// These bytes as a source that is copied by [`copy::string`].
    #[inline]
    pub const fn by_string(self) -> Self {
        PeerBytes {
            how: How::String,
            ..self
        }
    }

    /// Number of bytes.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address, for copy routines of their own.
    #[inline]
    pub const fn as_ptr(&self) -> *const u8 {
        self.ptr
    }

    /// The part `[from, from + len)`, clipped to what there is.
    #[inline]
    pub fn part(&self, from: usize, len: usize) -> PeerBytes<'a> {
        let from = from.min(self.len);
        let len = len.min(self.len - from);
        PeerBytes {
            ptr: self.ptr.wrapping_add(from),
            len,
            ..*self
        }
    }

    /// Copies all bytes to `dst`.
    ///
    /// # Safety
    /// `dst` must be valid for `self.len()` bytes and not overlap the view.
    #[inline]
    pub unsafe fn copy_to(&self, dst: *mut u8) {
        // SAFETY: `new` and `to_be_taken` vouch for the source, the caller for `dst`.
        unsafe {
            if self.len <= 32 {
                return copy::small(dst, self.ptr, self.len);
            }
            match self.how {
                How::Plain => copy::plain(dst, self.ptr, self.len),
                How::Taken => copy::taking(dst, self.ptr.cast_mut(), self.len),
                How::String => copy::string(dst, self.ptr, self.len),
            }
        }
    }

    /// Copies the first `dst.len()` bytes into `dst`, or fewer if there are
    /// fewer; returns how many.
    #[inline]
    pub fn read(&self, dst: &mut [u8]) -> usize {
        let n = self.len.min(dst.len());
        // SAFETY: `n` bytes are valid in both, and `dst` is exclusively ours.
        unsafe { ptr::copy_nonoverlapping(self.ptr, dst.as_mut_ptr(), n) };
        n
    }

    /// A private copy of all bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len);
        // SAFETY: capacity was just reserved, and the copy initialises it.
        unsafe {
            self.copy_to(out.as_mut_ptr());
            out.set_len(self.len);
        }
        out
    }
}

impl<'a> From<&'a [u8]> for PeerBytes<'a> {
    #[inline]
    fn from(bytes: &'a [u8]) -> Self {
        // SAFETY: a shared borrow is valid for 'a.
        unsafe { PeerBytes::new(bytes.as_ptr(), bytes.len()) }
    }
}

/// Room inside a transport, or in memory of this process, for one payload; write-only.
#[derive(Debug)]
pub struct PayloadRoom<'a> {
    ptr: *mut u8,
    len: usize,
    life: PhantomData<&'a mut ()>,
}

impl<'a> PayloadRoom<'a> {
    /// Offers `len` bytes at `ptr`.
    ///
    /// # Safety
    /// The range must be writable for `'a`, and nobody but its consumer, who
    /// waits until it is published, may read it.
    #[inline]
    pub const unsafe fn new(ptr: *mut u8, len: usize) -> Self {
        PayloadRoom {
            ptr,
            len,
            life: PhantomData,
        }
    }

    /// Number of bytes offered.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is offered.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address, for copy and pack routines of their own.
    #[inline]
    pub const fn as_mut_ptr(&mut self) -> *mut u8 {
        self.ptr
    }

    /// Writes `bytes` at `offset`.
    ///
    /// # Panics
    /// If they do not fit.
    #[inline]
    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        assert!(
            offset <= self.len && bytes.len() <= self.len - offset,
            "payload overruns its room"
        );
        // SAFETY: in bounds as just checked; `new` vouches for the range.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.ptr.add(offset), bytes.len()) }
    }
}

impl<'a> From<&'a mut [u8]> for PayloadRoom<'a> {
    #[inline]
    fn from(bytes: &'a mut [u8]) -> Self {
        // SAFETY: an exclusive borrow is writable for 'a, and nobody else reads it meanwhile.
        unsafe { PayloadRoom::new(bytes.as_mut_ptr(), bytes.len()) }
    }
}
