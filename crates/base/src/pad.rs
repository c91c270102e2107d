//! Cache lines.

use std::ops::{Deref, DerefMut};

/// Bytes that travel between cores as one.
pub const LINE: usize = 64;

/// Distance at which two cores do not disturb each other: two lines, because
/// many processors fetch lines in pairs.
pub const APART: usize = 128;

/// Keeps its content on cache lines of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(128))]
pub struct CachePadded<T>(T);

const _: () = assert!(align_of::<CachePadded<u8>>() == APART);

impl<T> CachePadded<T> {
    /// Pads `value`.
    pub const fn new(value: T) -> Self {
        CachePadded(value)
    }

    /// Takes the content out.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for CachePadded<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for CachePadded<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
