//! How bytes get into rings, out of them, and from buffer to buffer of one member.
//!
//! All copies of a [`View`](crate::View) that the kernel does not make are chosen here.
//!
//! | copy | below | from there on |
//! |---|---|---|
//! | into a ring | vectors | [`STRINGS`]: strings, which fetch no line that is written as a whole |
//! | out of one, whose lines are taken | vectors that take them | [`LONG_STRINGS`]: strings, as those of the owner fetch no lines either |
//! | out of one otherwise | vectors | [`STRINGS`]: strings |
//! | between own buffers | vectors | [`OWN_STRINGS`]: strings |
//!
//! Measured on an AMD EPYC (Turin) with near cores, 64 KiB in and out at the same time: vectors that claim and take 44,
//! strings in and out 56 GB/s.

use std::ptr;

use catena_base::copy;

/// Shortest payload that strings write to a ring, or read from one in which lines stay where they are.
const STRINGS: usize = 8 << 10;

/// Shortest payload in a ring that strings read instead of vectors that take its lines.
const LONG_STRINGS: usize = 32 << 10;

/// Shortest block that strings copy between buffers of this member.
const OWN_STRINGS: usize = 2 << 10;

/// Copies into this member's ring.
///
/// # Safety
/// Both ranges are valid for `len` bytes and do not overlap.
#[inline(always)]
pub(crate) unsafe fn into_ring(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if len < STRINGS {
            few(to, from, len);
        } else {
            string(to, from, len);
        }
    }
}

/// Copies out of a ring, whose lines had better be taken if it `takes` them.
///
/// # Safety
/// As [`into_ring`]; what is taken may be written.
#[inline(always)]
pub(crate) unsafe fn out_of_ring(to: *mut u8, from: *mut u8, len: usize, takes: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        match (len, takes) {
            (0..LONG_STRINGS, true) => copy::taking(to, from, len),
            (0..STRINGS, false) => few(to, from, len),
            _ => string(to, from, len),
        }
    }
}

/// Copies between buffers of this member.
///
/// # Safety
/// As [`into_ring`].
#[inline(always)]
pub(crate) unsafe fn between(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if len < OWN_STRINGS {
            few(to, from, len);
        } else {
            string(to, from, len);
        }
    }
}

/// Copies what fits into a record fast, and more in the usual way.
///
/// # Safety
/// As [`into_ring`].
#[inline(always)]
pub(crate) unsafe fn few(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if len <= 32 {
            copy::small(to, from, len);
        } else {
            copy::plain(to, from, len);
        }
    }
}

/// Copies by the string instructions that the C library's `memcpy` uses for that many bytes, where the processor has quick ones.
///
/// # Safety
/// As [`into_ring`].
#[inline(always)]
unsafe fn string(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { ptr::copy_nonoverlapping(from, to, len) }
}
