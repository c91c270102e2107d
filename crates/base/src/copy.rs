//! Copies.
//!
//! [`small`], [`plain`], [`claiming`], [`taking`] and [`string`] go through the cache. [`stream`]
//! writes around it (non-temporal stores): the reader then takes the bytes from memory instead of
//! the writer's cache, which wins where the two cores are far apart or the data exceeds the caches,
//! and loses elsewhere. Who uses both should measure. [`bulk`] is for memory that no other core is
//! using.

use std::ptr;

/// Asks the processor for the instructions that copies choose from, so that the first of them need
/// not. Each question leads to the host of a virtual machine: measured here, all of them take 55
/// µs, as much as a dozen messages of 8 KiB. For those who begin to use this library.
pub fn start() {
    #[cfg(target_arch = "x86_64")]
    // One answer brings all others with it.
    let _ = std::hint::black_box(std::arch::is_x86_feature_detected!("avx2"));
}

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
/// instructions that the C library's `memcpy` uses from 2 KiB on, and several
/// pages at once beat one after the other: the processor looks ahead within a
/// page only. Measured here, 64 KiB out of a far core's cache take 3.2 instead
/// of 4.4 µs.
///
/// # Safety
/// Both ranges must be valid for `len` bytes and must not overlap.
#[inline]
pub unsafe fn plain(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: as the caller promised.
    unsafe { through_cache::<PLAIN>(dst, src, len) }
}

/// [`plain`] into memory that another core was the last to use: asks for the
/// lines of `dst` before it writes them. Measured here, 64 KiB into a far
/// core's cache take 3.1 instead of 4.2 µs.
///
/// # Safety
/// As for [`plain`].
#[inline]
pub unsafe fn claiming(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: as the caller promised.
    unsafe { through_cache::<CLAIM>(dst, src, len) }
}

/// [`plain`] out of memory that another core wrote and will write again: from 512 bytes on each
/// line of `src` is written, too, with what it says.
///
/// So a line has one owner at any time. One that both cores have only read since must be taken
/// away from the reader before it can be written, which here takes longer than to fetch it:
/// messages of 64 KiB through a ring pass at 20 instead of 5 GB/s, at 8 instead of 1.6 if the
/// cores are far apart.
///
/// # Safety
/// As for [`plain`], and `src` may be written, too.
#[inline]
pub unsafe fn taking(dst: *mut u8, src: *mut u8, len: usize) {
    // SAFETY: as the caller promised.
    unsafe { through_cache::<TAKE>(dst, src, len) }
}

/// Writes to the line at `at` what it says there.
///
/// # Safety
/// `at` is valid for reads and writes.
#[inline(always)]
unsafe fn rewrite(at: *mut u8) {
    // SAFETY: the caller's promise. Volatile: the store is all that is wanted.
    unsafe { at.write_volatile(at.read()) };
}

/// Takes lines that were read otherwise, as [`taking`] does.
///
/// # Safety
/// `len` bytes at `at` are valid for reads and writes.
#[inline]
pub unsafe fn take(at: *mut u8, len: usize) {
    for line in (0..len).step_by(64) {
        // SAFETY: the caller's promise.
        unsafe { rewrite(at.add(line)) };
    }
}

/// Whether [`string`] is worth a trial here: the processor says that its string instructions are
/// fast. Cost: a load.
#[inline]
pub fn has_fast_strings() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("ermsb")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// Whether [`string`] is a good way for `len` bytes into memory that another process reads, or out
/// of it. It does not matter then who had the lines last. Shorter copies are over before a string
/// has begun.
#[inline(always)]
pub fn suits_string(len: usize) -> bool {
    len >= STRINGS && has_fast_strings()
}

/// Copies by the processor's string instruction, which knows from the beginning how much is to
/// come: it fetches no line that it writes as a whole, and many at once. To begin takes as long as
/// some hundred bytes by vectors.
///
/// Measured here (AMD EPYC, near cores), 64 KiB in pieces of 16 KiB into memory that another core
/// reads then pass at 61 GB/s, by vectors at 45. Asking for the lines ahead ([`claim`]) makes it
/// slower.
///
/// # Safety
/// Both ranges must be valid for `len` bytes and must not overlap.
#[inline]
pub unsafe fn string(dst: *mut u8, src: *const u8, len: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as the caller promised; the direction flag is clear, as every function may expect.
    unsafe {
        std::arch::asm!(
            "rep movsb",
            inout("rdi") dst => _,
            inout("rsi") src => _,
            inout("rcx") len => _,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: as the caller promised.
    unsafe {
        plain(dst, src, len)
    }
}

/// Shortest copy between processes for which [`string`] is worth a trial.
pub const STRINGS: usize = 8 << 10;
/// From here on the string instructions of the C library's `memcpy` are the fastest where no other
/// core has the lines: they fetch none that is written as a whole.
const STRING: usize = 2 << 10;
/// From here on both sides exceed the nearest caches, and what is written goes around them.
const AROUND: usize = 1 << 20;

/// Copies between memory that no other core is using: a window's, whose owner takes no part.
///
/// Measured here (AMD EPYC), into 64 places in turn: 64 KiB at 121 GB/s instead of 64 by a loop of
/// vector moves, 1 MiB at 42 instead of 28.
///
/// # Safety
/// Both ranges must be valid for `len` bytes and must not overlap.
#[inline]
pub unsafe fn bulk(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: as the caller promised.
    unsafe {
        if len < STRING {
            plain(dst, src, len);
        } else if len < AROUND {
            ptr::copy_nonoverlapping(src, dst, len);
        } else {
            stream(dst, src, len);
        }
    }
}

/// What is done besides to each line that is copied through the cache: nothing,
const PLAIN: u8 = 0;
/// the one to be written is asked for,
const CLAIM: u8 = 1;
/// the one that was read is written.
const TAKE: u8 = 2;

#[inline(always)]
unsafe fn through_cache<const HOW: u8>(dst: *mut u8, src: *const u8, len: usize) {
    #[cfg(target_arch = "x86_64")]
    if len >= LOOP {
        // Processors that have the later parts of AVX-512 do not slow down
        // when they use it.
        if std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512vbmi2")
        {
            // SAFETY: as the caller promised; the feature was detected.
            return unsafe { x86::avx512::pages::<HOW>(dst, src, len) };
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: as the caller promised; the feature was detected.
            return unsafe { x86::avx2::pages::<HOW>(dst, src, len) };
        }
    }
    // SAFETY: as the caller promised.
    unsafe { ptr::copy_nonoverlapping(src, dst, len) }
}

/// Asks for the cache line at `at`, which will be written soon. `at` may be
/// any address: it is a hint.
#[inline(always)]
pub fn claim(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: touches no memory, raises no exception. (The intrinsic would ask
    // for a line to read unless the whole program were compiled for newer
    // processors; older ones take this for a no-op.)
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
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

/// Asks for the line at `at` to be brought near. Any address will do.
#[inline(always)]
pub fn prefetch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect that a program could see.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
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

    /// Columns of pages that are copied side by side are that long, bytes.
    const PAGE: usize = 4096;

    /// Copies through the cache for one set of instructions, given how 64
    /// bytes are moved with it.
    macro_rules! through_cache {
        ($name:ident, $feature:literal, |$to:ident, $from:ident| $line:block) => {
            pub mod $name {
                use super::PAGE;
                use crate::copy::{CLAIM, TAKE, claim, rewrite};
                use std::arch::x86_64::*;

                #[inline]
                #[target_feature(enable = $feature)]
                unsafe fn line($to: *mut u8, $from: *const u8) $line

                /// Copies 64 bytes, and does what else is to be done.
                #[inline]
                #[target_feature(enable = $feature)]
                unsafe fn line_how<const HOW: u8>(to: *mut u8, from: *const u8, ahead: usize) {
                    if HOW == CLAIM {
                        claim(to.wrapping_add(ahead));
                    }
                    // SAFETY: the caller vouches for 64 bytes of both, and for writing to those
                    // that are taken.
                    unsafe {
                        line(to, from);
                        if HOW == TAKE {
                            rewrite(from.cast_mut());
                        }
                    }
                }

                /// Copies `WIDE` pages side by side.
                #[inline]
                #[target_feature(enable = $feature)]
                unsafe fn columns<const WIDE: usize, const HOW: u8>(dst: *mut u8, src: *const u8) {
                    for row in (0..PAGE).step_by(64) {
                        for column in 0..WIDE {
                            let at = column * PAGE + row;
                            // SAFETY: at + 64 <= WIDE * PAGE, for which the
                            // caller vouches.
                            unsafe { line_how::<HOW>(dst.add(at), src.add(at), 1024 / WIDE) };
                        }
                    }
                }

                /// # Safety
                /// As for `plain` or `taking`, with at least 64 bytes; the processor must
                /// have the feature.
                #[target_feature(enable = $feature)]
                pub unsafe fn pages<const HOW: u8>(
                    mut dst: *mut u8,
                    mut src: *const u8,
                    mut len: usize,
                ) {
                    // SAFETY: every part is as long as what is left, or
                    // shorter, and the last line overlaps what was copied.
                    unsafe {
                        while len >= 2 * PAGE {
                            // Lines that are taken come from one core's cache, which two
                            // streams keep busy.
                            let four = len >= 4 * PAGE && HOW != TAKE;
                            let n = if four { 4 * PAGE } else { 2 * PAGE };
                            if four {
                                columns::<4, HOW>(dst, src);
                            } else {
                                columns::<2, HOW>(dst, src);
                            }
                            (dst, src, len) = (dst.add(n), src.add(n), len - n);
                        }
                        if len < 64 {
                            std::ptr::copy_nonoverlapping(src, dst, len);
                            return;
                        }
                        let last = len - 64;
                        for at in (0..last).step_by(64) {
                            // What lies behind may be another's to write.
                            let ahead = (at + 512).min(last);
                            _mm_prefetch::<_MM_HINT_T0>(src.add(ahead).cast());
                            line_how::<HOW>(dst.add(at), src.add(at), 1024);
                        }
                        line_how::<HOW>(dst.add(last), src.add(last), 0);
                    }
                }
            }
        };
    }

    through_cache!(avx512, "avx512f", |to, from| {
        // SAFETY: both are valid for 64 bytes.
        unsafe { _mm512_storeu_si512(to.cast(), _mm512_loadu_si512(from.cast())) }
    });

    through_cache!(avx2, "avx2", |to, from| {
        // SAFETY: both are valid for 64 bytes.
        unsafe {
            let (to, from) = (to.cast::<__m256i>(), from.cast::<__m256i>());
            let (a, b) = (_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)));
            _mm256_storeu_si256(to, a);
            _mm256_storeu_si256(to.add(1), b);
        }
    });

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

    /// [`taking`] out of a copy of `src`, which stays as it is.
    unsafe fn take_all(dst: *mut u8, src: *const u8, len: usize) {
        // SAFETY: the caller vouches for both.
        unsafe {
            let src = std::slice::from_raw_parts(src, len);
            let mut copy = src.to_vec();
            taking(dst, copy.as_mut_ptr(), len);
            take(copy.as_mut_ptr(), len);
            assert_eq!(copy, src);
        }
    }

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
        let long = [
            511, 512, 575, 4095, 4096, 8191, 8192, 10_000, 16_384, 25_000, 30_000,
        ];
        let lens: Vec<usize> = (0..300).chain(long).collect();
        check(small, &lens[..33]);
        check(plain, &lens);
        check(claiming, &lens);
        check(take_all, &lens);
        check(stream, &lens);
        #[cfg(target_arch = "x86_64")]
        {
            check(x86::stream_sse2, &lens);
            let lens = &lens[64..];
            if std::arch::is_x86_feature_detected!("avx2") {
                check(x86::avx2::pages::<PLAIN>, lens);
                check(x86::avx2::pages::<CLAIM>, lens);
            }
        }
    }
}
