//! How one block is copied, and which way suits its length.
//!
//! Stores go upwards: where a block lies across lines, those that go back and forth between two of
//! them take twice the time.
//!
//! What is short is moved by loads and stores of a fixed size, what is longer
//! by loops of vectors: for blocks of less than a few KiB, a call of `memcpy`
//! for each costs up to twice as much, most of all where they lie on pages of
//! their own.

use std::marker::PhantomData;
use std::ptr;

use super::direction::Direction;
use super::grid::{Grid, LINE};

/// Shortest block that `memcpy` moves.
pub(super) const LONG: usize = 4096;

/// Evaluates an expression with the [`Block`] that suits a length, which is
/// not zero.
macro_rules! with_block {
    ($len:expr, $block:ident => $body:expr) => {
        match $len {
            1 => with_block!(@ Fixed::<u8>(PhantomData), $block, $body),
            2 => with_block!(@ Fixed::<u16>(PhantomData), $block, $body),
            4 => with_block!(@ Fixed::<u32>(PhantomData), $block, $body),
            8 => with_block!(@ Fixed::<u64>(PhantomData), $block, $body),
            16 => with_block!(@ Fixed::<Sixteen>(PhantomData), $block, $body),
            32 => with_block!(@ Fixed::<ThirtyTwo>(PhantomData), $block, $body),
            LINE => with_block!(@ Line, $block, $body),
            len @ 0..4 => with_block!(@ Ends::<u16>(len, PhantomData), $block, $body),
            len @ 4..8 => with_block!(@ Ends::<u32>(len, PhantomData), $block, $body),
            len @ 8..16 => with_block!(@ Ends::<u64>(len, PhantomData), $block, $body),
            len @ 16..32 => with_block!(@ Ends::<Sixteen>(len, PhantomData), $block, $body),
            len @ 32..LINE => with_block!(@ Ends::<ThirtyTwo>(len, PhantomData), $block, $body),
            len @ LINE..LONG => with_block!(@ Lines(len), $block, $body),
            len => with_block!(@ Long(len), $block, $body),
        }
    };
    (@ $kind:expr, $block:ident, $body:expr) => {{
        let $block = $kind;
        $body
    }};
}
pub(super) use with_block;

/// How a block is copied.
pub(super) trait Block: Copy {
    /// Bytes.
    fn len(self) -> usize;

    /// Copies one.
    ///
    /// # Safety
    /// Both are valid for that many bytes and do not overlap.
    unsafe fn copy(self, to: *mut u8, from: *const u8);

    /// As [`Block::copy`], and asks for the lines of a block that is written
    /// later; its address may be any. Numbers mostly lie within a line, more
    /// may lie across two.
    ///
    /// # Safety
    /// As [`Block::copy`].
    #[inline(always)]
    unsafe fn copy_asking(self, to: *mut u8, from: *const u8, later: *mut u8) {
        ask(later);
        if self.len() > size_of::<u64>() {
            ask(later.wrapping_add(self.len() - 1));
        }
        // SAFETY: the caller's promise.
        unsafe { self.copy(to, from) }
    }

    /// Copies the first four of a row.
    ///
    /// # Safety
    /// As [`Block::copy`] for each.
    #[inline(always)]
    unsafe fn copy_four(self, to: Grid, from: Grid) {
        for i in 0..4 {
            // SAFETY: the caller's promise.
            unsafe { self.copy(to.at(i), from.at(i)) }
        }
    }
}

/// Asks for a line that will be written.
#[inline(always)]
pub(super) fn ask(at: *mut u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint for any address; processors that do not know it skip it.
    unsafe {
        std::arch::asm!(
            "prefetchw [{}]",
            in(reg) at,
            options(nostack, preserves_flags, readonly),
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// As many bytes as a `T`. Four loads and then four stores take two thirds of
/// the time that they take in turn.
#[derive(Clone, Copy)]
pub(super) struct Fixed<T>(pub(super) PhantomData<T>);

impl<T: Copy> Block for Fixed<T> {
    #[inline(always)]
    fn len(self) -> usize {
        size_of::<T>()
    }

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the caller's promise.
        unsafe { put::<T>(to, get(from)) }
    }

    #[inline(always)]
    unsafe fn copy_four(self, to: Grid, from: Grid) {
        // SAFETY: the caller's promise.
        unsafe {
            let (a, b) = (get::<T>(from.at(0)), get::<T>(from.at(1)));
            let (c, d) = (get::<T>(from.at(2)), get::<T>(from.at(3)));
            put(to.at(0), a);
            put(to.at(1), b);
            put(to.at(2), c);
            put(to.at(3), d);
        }
    }
}

/// From one `T` to two of them.
#[derive(Clone, Copy)]
pub(super) struct Ends<T>(pub(super) usize, pub(super) PhantomData<T>);

impl<T: Copy> Block for Ends<T> {
    #[inline(always)]
    fn len(self) -> usize {
        self.0
    }

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the caller's promise.
        unsafe { ends::<T>(to, from, self.0) }
    }
}

/// A line.
#[derive(Clone, Copy)]
pub(super) struct Line;

impl Block for Line {
    #[inline(always)]
    fn len(self) -> usize {
        LINE
    }

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the caller's promise.
        unsafe { line(to, from) }
    }
}

/// Copies as many bytes as a line has. (As one copy, the compiler would store the last ones first.)
///
/// # Safety
/// Both are valid for that many bytes and do not overlap.
#[inline(always)]
unsafe fn line(to: *mut u8, from: *const u8) {
    // SAFETY: the caller's promise.
    unsafe {
        let a = get::<Sixteen>(from);
        let b = get::<Sixteen>(from.add(16));
        let c = get::<Sixteen>(from.add(32));
        let d = get::<Sixteen>(from.add(48));
        put(to, a);
        put(to.add(16), b);
        put(to.add(32), c);
        put(to.add(48), d);
    }
}

/// Less than [`LONG`] bytes, by lines.
#[derive(Clone, Copy)]
pub(super) struct Lines(pub(super) usize);

impl Lines {
    /// Calls `copy` with the place of every line, of which the last two may
    /// overlap.
    #[inline(always)]
    fn each(self, mut copy: impl FnMut(usize)) {
        let mut at = 0;
        while at < self.0 - LINE {
            copy(at);
            at += LINE;
        }
        copy(self.0 - LINE);
    }
}

impl Block for Lines {
    #[inline(always)]
    fn len(self) -> usize {
        self.0
    }

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the caller's promise; every line lies within the block.
        self.each(|at| unsafe { line(to.add(at), from.add(at)) });
    }

    #[inline(always)]
    unsafe fn copy_asking(self, to: *mut u8, from: *const u8, later: *mut u8) {
        self.each(|at| {
            ask(later.wrapping_add(at));
            // SAFETY: as above.
            unsafe { line(to.add(at), from.add(at)) };
        });
        ask(later.wrapping_add(self.0 - 1));
    }
}

/// Any more.
#[derive(Clone, Copy)]
pub(super) struct Long(pub(super) usize);

impl Block for Long {
    #[inline(always)]
    fn len(self) -> usize {
        self.0
    }

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the caller's promise.
        unsafe { ptr::copy_nonoverlapping(from, to, self.0) }
    }
}

/// What a register holds; arrays of bytes would be copied through the stack.
#[cfg(target_arch = "x86_64")]
pub(super) type Sixteen = std::arch::x86_64::__m128i;
#[cfg(not(target_arch = "x86_64"))]
pub(super) type Sixteen = u128;

/// Two registers.
pub(super) type ThirtyTwo = (Sixteen, Sixteen);

/// Loads a `T` from any address.
///
/// # Safety
/// `from` is valid for reads of the bytes of a `T`.
#[inline(always)]
pub(super) unsafe fn get<T: Copy>(from: *const u8) -> T {
    // SAFETY: the caller's promise; any bytes make a `T` here.
    unsafe { from.cast::<T>().read_unaligned() }
}

/// Stores a `T` at any address.
///
/// # Safety
/// `to` is valid for writes of the bytes of a `T`.
#[inline(always)]
pub(super) unsafe fn put<T: Copy>(to: *mut u8, value: T) {
    // SAFETY: the caller's promise.
    unsafe { to.cast::<T>().write_unaligned(value) }
}

/// Copies the first and the last `T`, which may overlap.
///
/// # Safety
/// As [`Block::copy`] for `len` bytes, at least one `T`.
#[inline(always)]
unsafe fn ends<T: Copy>(to: *mut u8, from: *const u8, len: usize) {
    let last = len - size_of::<T>();
    // SAFETY: the caller's promise.
    unsafe {
        let (a, b) = (get::<T>(from), get::<T>(from.add(last)));
        put(to, a);
        put(to.add(last), b);
    }
}

/// Copies one run that is probably short.
///
/// # Safety
/// As [`Block::copy`].
#[inline(always)]
pub(super) unsafe fn run<D: Direction>(user: *mut u8, packed: *mut u8, len: usize) {
    let (to, from) = D::sides(user, packed);
    // SAFETY: the caller's promise; each arm stays within `len`.
    unsafe {
        if len > 2 * LINE {
            long(to, from, len);
        } else if len >= LINE {
            line(to, from);
            line(to.add(len - LINE), from.add(len - LINE));
        } else if len >= 32 {
            ends::<ThirtyTwo>(to, from, len);
        } else if len >= 16 {
            ends::<Sixteen>(to, from, len);
        } else if len >= 8 {
            ends::<u64>(to, from, len);
        } else if len >= 4 {
            ends::<u32>(to, from, len);
        } else if len >= 2 {
            ends::<u16>(to, from, len);
        } else if len > 0 {
            *to = *from;
        }
    }
}

/// As [`run`], by at most two vectors, of which the last one may overlap the first.
///
/// # Safety
/// As [`Block::copy`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
#[inline]
pub(super) unsafe fn masked<D: Direction>(user: *mut u8, packed: *mut u8, len: usize) {
    use std::arch::x86_64::{_bzhi_u64, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8};
    let (to, from) = D::sides(user, packed);
    // SAFETY: the caller's promise; what the mask leaves out is not touched.
    unsafe {
        if len > 2 * LINE {
            return long(to, from, len);
        }
        let mask = _bzhi_u64(!0, len as u32);
        _mm512_mask_storeu_epi8(to.cast(), mask, _mm512_maskz_loadu_epi8(mask, from.cast()));
        if len > LINE {
            line(to.add(len - LINE), from.add(len - LINE));
        }
    }
}

/// Copies a long run. A call within the loop over short ones would cost that its registers.
///
/// # Safety
/// As [`Block::copy`].
#[inline(never)]
unsafe fn long(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { ptr::copy_nonoverlapping(from, to, len) }
}
