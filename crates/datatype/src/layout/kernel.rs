//! The loops that move the bytes.

use std::ptr;

use super::walk::Direction;

/// Copies `count` blocks of `len` bytes between two strided places.
///
/// Short blocks are copied by loads and stores of a fixed size; a call of
/// `memcpy` for each would cost more than the copy.
///
/// # Safety
/// Every block is valid on both sides, and the sides do not overlap.
#[inline]
pub(super) unsafe fn strided(
    dst: *mut u8,
    dst_stride: isize,
    src: *const u8,
    src_stride: isize,
    count: usize,
    len: usize,
) {
    let (d, s) = (dst_stride, src_stride);
    // SAFETY: the caller's promise; each arm copies `len` bytes per block.
    unsafe {
        match len {
            1 => fixed::<1>(dst, d, src, s, count),
            2 => fixed::<2>(dst, d, src, s, count),
            4 => fixed::<4>(dst, d, src, s, count),
            8 => fixed::<8>(dst, d, src, s, count),
            12 => fixed::<12>(dst, d, src, s, count),
            16 => fixed::<16>(dst, d, src, s, count),
            24 => fixed::<24>(dst, d, src, s, count),
            32 => fixed::<32>(dst, d, src, s, count),
            40 => fixed::<40>(dst, d, src, s, count),
            48 => fixed::<48>(dst, d, src, s, count),
            64 => fixed::<64>(dst, d, src, s, count),
            _ => {
                let (mut dst, mut src) = (dst, src);
                for _ in 0..count {
                    block(dst, src, len);
                    dst = dst.wrapping_offset(d);
                    src = src.wrapping_offset(s);
                }
            }
        }
    }
}

/// Copies blocks of `N` bytes.
///
/// # Safety
/// As [`strided`].
#[inline(never)]
unsafe fn fixed<const N: usize>(
    mut dst: *mut u8,
    d: isize,
    mut src: *const u8,
    s: isize,
    count: usize,
) {
    // SAFETY: the caller's promise, for four blocks at a time and the rest.
    unsafe {
        for _ in 0..count / 4 {
            let a = src.cast::<[u8; N]>().read();
            let b = src.wrapping_offset(s).cast::<[u8; N]>().read();
            let c = src.wrapping_offset(2 * s).cast::<[u8; N]>().read();
            let e = src.wrapping_offset(3 * s).cast::<[u8; N]>().read();
            dst.cast::<[u8; N]>().write(a);
            dst.wrapping_offset(d).cast::<[u8; N]>().write(b);
            dst.wrapping_offset(2 * d).cast::<[u8; N]>().write(c);
            dst.wrapping_offset(3 * d).cast::<[u8; N]>().write(e);
            dst = dst.wrapping_offset(4 * d);
            src = src.wrapping_offset(4 * s);
        }
        for _ in 0..count % 4 {
            dst.cast::<[u8; N]>().write(src.cast::<[u8; N]>().read());
            dst = dst.wrapping_offset(d);
            src = src.wrapping_offset(s);
        }
    }
}

/// Copies one block of any length.
///
/// # Safety
/// Both sides are valid for `len` bytes and do not overlap.
#[inline(always)]
unsafe fn block(dst: *mut u8, src: *const u8, len: usize) {
    /// Copies the first and the last `N` bytes, which may overlap.
    #[inline(always)]
    unsafe fn ends<const N: usize>(dst: *mut u8, src: *const u8, len: usize) {
        let last = len - N;
        // SAFETY: N <= len.
        unsafe {
            let a = src.cast::<[u8; N]>().read();
            let b = src.add(last).cast::<[u8; N]>().read();
            dst.cast::<[u8; N]>().write(a);
            dst.add(last).cast::<[u8; N]>().write(b);
        }
    }
    // SAFETY: the caller's promise; each arm stays within `len`.
    unsafe {
        match len {
            0 => {}
            1 => *dst = *src,
            2..=3 => ends::<2>(dst, src, len),
            4..=7 => ends::<4>(dst, src, len),
            8..=15 => ends::<8>(dst, src, len),
            16..=31 => ends::<16>(dst, src, len),
            32..=63 => ends::<32>(dst, src, len),
            _ => ptr::copy_nonoverlapping(src, dst, len),
        }
    }
}

/// Copies one run that is probably short.
///
/// # Safety
/// As [`Direction::copy`].
#[inline(always)]
pub(super) unsafe fn short<D: Direction>(user: *mut u8, packed: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match len {
            2 => D::copy(user, packed, 2),
            4 => D::copy(user, packed, 4),
            8 => D::copy(user, packed, 8),
            16 => D::copy(user, packed, 16),
            _ => D::copy(user, packed, len),
        }
    }
}

/// Copies runs of `len` bytes at the places `at`.
///
/// # Safety
/// As [`Direction::copy`] for every run.
#[inline]
pub(super) unsafe fn scattered<D: Direction>(
    user: *mut u8,
    at: &[i64],
    packed: *mut u8,
    len: usize,
) {
    // SAFETY: the caller's promise; each arm copies `len` bytes per run.
    unsafe {
        match len {
            1 => scattered_by::<D>(user, at, packed, 1),
            2 => scattered_by::<D>(user, at, packed, 2),
            4 => scattered_by::<D>(user, at, packed, 4),
            8 => scattered_by::<D>(user, at, packed, 8),
            16 => scattered_by::<D>(user, at, packed, 16),
            24 => scattered_by::<D>(user, at, packed, 24),
            32 => scattered_by::<D>(user, at, packed, 32),
            _ => scattered_by::<D>(user, at, packed, len),
        }
    }
}

/// The loop of [`scattered`]; `len` is a constant after inlining.
///
/// # Safety
/// As [`scattered`].
#[inline(always)]
unsafe fn scattered_by<D: Direction>(user: *mut u8, at: &[i64], mut packed: *mut u8, len: usize) {
    for x in at {
        // SAFETY: the caller's promise.
        unsafe { D::copy(user.wrapping_offset(*x as isize), packed, len) };
        packed = packed.wrapping_add(len);
    }
}
