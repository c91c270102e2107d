//! Copies.
//!
//! [`small`] and [`plain`] go through the cache. [`stream`] writes around it
//! (non-temporal stores): the reader then takes the bytes from memory instead
//! of the writer's cache, which wins where the two cores are far apart or the
//! data exceeds the caches, and loses elsewhere. Who uses both should measure.

use std::ptr;

/// Copies up to 32 bytes without calling anything.
///
/// # Safety
/// Both ranges must be valid for `len` bytes and must not overlap.
#[inline(always)]
pub unsafe fn small(dst: *mut u8, src: *const u8, len: usize) {
    debug_assert!(len <= 32);
    /// Copies the first and the last `T` of the range; they may overlap.
    #[inline(always)]
    unsafe fn ends<T: Copy>(dst: *mut u8, src: *const u8, len: usize) {
        let last = len - size_of::<T>();
        // SAFETY: the caller guarantees size_of::<T>() <= len.
        unsafe {
            let (a, b) = (
                src.cast::<T>().read_unaligned(),
                src.add(last).cast::<T>().read_unaligned(),
            );
            dst.cast::<T>().write_unaligned(a);
            dst.add(last).cast::<T>().write_unaligned(b);
        }
    }
    // SAFETY: each arm reads and writes inside [0, len).
    unsafe {
        match len {
            8 => ends::<u64>(dst, src, 8),
            0 => {}
            1..=3 => {
                let (a, b, c) = (*src, *src.add(len / 2), *src.add(len - 1));
                *dst = a;
                *dst.add(len / 2) = b;
                *dst.add(len - 1) = c;
            }
            4..=7 => ends::<u32>(dst, src, len),
            9..=16 => ends::<u64>(dst, src, len),
            _ => ends::<u128>(dst, src, len),
        }
    }
}

/// Shortest copy for which a loop of vector moves is worth its call.
const LOOP: usize = 512;

/// Copies through the cache.
///
/// Between cores a loop of vector moves that reads ahead beats the string
/// instructions that the C library's `memcpy` uses from 2 KiB on: measured
/// here, 8 KiB between two ranks take 480 instead of 560 ns.
///
/// # Safety
/// Both ranges must be valid for `len` bytes and must not overlap.
#[inline]
pub unsafe fn plain(dst: *mut u8, src: *const u8, len: usize) {
    #[cfg(target_arch = "x86_64")]
    if len >= LOOP && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: as the caller promised; AVX2 was detected.
        return unsafe { x86::plain_avx2(dst, src, len) };
    }
    // SAFETY: as the caller promised.
    unsafe { ptr::copy_nonoverlapping(src, dst, len) }
}

/// Copies around the cache, where the processor can; later stores of this
/// thread are seen after the copied bytes.
///
/// # Safety
/// Both ranges must be valid for `len` bytes and must not overlap.
#[inline]
pub unsafe fn stream(dst: *mut u8, src: *const u8, len: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as the caller promised; AVX2 is only used where it was detected.
    unsafe {
        if std::arch::is_x86_feature_detected!("avx2") {
            x86::stream_avx2(dst, src, len);
        } else {
            x86::stream_sse2(dst, src, len);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: as the caller promised.
    unsafe {
        plain(dst, src, len)
    }
}

/// Asks for the line at `at` to be brought near for writing. Any address will
/// do.
#[inline(always)]
pub fn prefetch_for_writing(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect that a program could see; processors
    // that do not know it take it for a no-op.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) at, options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::ptr;

    /// Splits `len` bytes into a head up to the next `align`, whole `block`s,
    /// and a tail.
    #[inline(always)]
    fn split(dst: *mut u8, len: usize, align: usize, block: usize) -> (usize, usize) {
        let head = dst.align_offset(align).min(len);
        (head, (len - head) / block * block)
    }

    /// How far ahead of the copy lines are asked for, in bytes.
    const AHEAD: usize = 512;

    /// # Safety
    /// As for [`super::plain`], with at least 128 bytes; the processor must
    /// have AVX2.
    #[target_feature(enable = "avx2")]
    pub unsafe fn plain_avx2(dst: *mut u8, src: *const u8, len: usize) {
        /// Moves 128 bytes.
        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn block(dst: *mut u8, src: *const u8) {
            // SAFETY: both are valid for 128 bytes.
            unsafe {
                let (from, to) = (src.cast::<__m256i>(), dst.cast::<__m256i>());
                let a = _mm256_loadu_si256(from);
                let b = _mm256_loadu_si256(from.add(1));
                let c = _mm256_loadu_si256(from.add(2));
                let d = _mm256_loadu_si256(from.add(3));
                _mm256_storeu_si256(to, a);
                _mm256_storeu_si256(to.add(1), b);
                _mm256_storeu_si256(to.add(2), c);
                _mm256_storeu_si256(to.add(3), d);
            }
        }
        let last = len - 128;
        let mut at = 0;
        // SAFETY: blocks start at 0 to `last`; a prefetch may go anywhere.
        unsafe {
            while at < last {
                let next = src.wrapping_add(at + AHEAD).cast();
                _mm_prefetch::<_MM_HINT_T0>(next);
                _mm_prefetch::<_MM_HINT_T0>(next.wrapping_add(64));
                block(dst.add(at), src.add(at));
                at += 128;
            }
            block(dst.add(last), src.add(last));
        }
    }

    /// # Safety
    /// As for [`super::stream`]; the processor must have AVX2.
    #[target_feature(enable = "avx2")]
    pub unsafe fn stream_avx2(mut dst: *mut u8, mut src: *const u8, mut len: usize) {
        let (head, body) = split(dst, len, 64, 128);
        // SAFETY: head + body <= len; after `head` bytes `dst` is aligned.
        unsafe {
            ptr::copy_nonoverlapping(src, dst, head);
            (dst, src, len) = (dst.add(head), src.add(head), len - head);
            let end = dst.add(body);
            while dst < end {
                let from = src.cast::<__m256i>();
                let a = _mm256_loadu_si256(from);
                let b = _mm256_loadu_si256(from.add(1));
                let c = _mm256_loadu_si256(from.add(2));
                let d = _mm256_loadu_si256(from.add(3));
                let to = dst.cast::<__m256i>();
                _mm256_stream_si256(to, a);
                _mm256_stream_si256(to.add(1), b);
                _mm256_stream_si256(to.add(2), c);
                _mm256_stream_si256(to.add(3), d);
                (dst, src) = (dst.add(128), src.add(128));
            }
            ptr::copy_nonoverlapping(src, dst, len - body);
            _mm_sfence();
        }
    }

    /// # Safety
    /// As for [`super::stream`].
    pub unsafe fn stream_sse2(mut dst: *mut u8, mut src: *const u8, mut len: usize) {
        let (head, body) = split(dst, len, 64, 64);
        // SAFETY: head + body <= len; after `head` bytes `dst` is aligned.
        unsafe {
            ptr::copy_nonoverlapping(src, dst, head);
            (dst, src, len) = (dst.add(head), src.add(head), len - head);
            let end = dst.add(body);
            while dst < end {
                let from = src.cast::<__m128i>();
                let to = dst.cast::<__m128i>();
                for i in 0..4 {
                    _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i)));
                }
                (dst, src) = (dst.add(64), src.add(64));
            }
            ptr::copy_nonoverlapping(src, dst, len - body);
            _mm_sfence();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Copy = unsafe fn(*mut u8, *const u8, usize);

    /// Copies every length at several misalignments and looks at the bytes
    /// around the target too.
    fn check(copy: Copy, lens: &[usize]) {
        for &len in lens {
            for (to, from) in [(0, 0), (1, 0), (0, 3), (17, 40), (63, 1)] {
                let src: Vec<u8> = (0..len + 64).map(|i| (i * 31 + 7) as u8).collect();
                let mut dst = vec![0xee; len + 128];
                // SAFETY: both vectors are longer than offset + len.
                unsafe { copy(dst.as_mut_ptr().add(to), src.as_ptr().add(from), len) };
                assert_eq!(dst[to..to + len], src[from..from + len], "len {len}");
                assert!(dst[..to].iter().chain(&dst[to + len..]).all(|b| *b == 0xee));
            }
        }
    }

    #[test]
    fn all_copies_copy_exactly() {
        let lens: Vec<usize> = (0..300).chain([511, 512, 4095, 4096, 10_000]).collect();
        check(small, &lens[..33]);
        check(plain, &lens);
        check(stream, &lens);
        #[cfg(target_arch = "x86_64")]
        check(x86::stream_sse2, &lens);
    }
}
