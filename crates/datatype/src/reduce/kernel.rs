//! The loops over elements.

use std::mem::MaybeUninit;
use std::ptr;

use super::op_kind::{Reduce, Reduce3};
#[cfg(target_arch = "x86_64")]
use crate::processor::has_masks;

/// An operation on two elements.
pub(super) trait Op<T> {
    /// Whether vectors of results are chosen from the operands by a mask.
    const CHOOSES: bool = false;

    /// `a` is the left operand.
    fn apply(a: T, b: T) -> T;
}

/// Both forms of a kernel.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    pub(super) two: Reduce,
    pub(super) three: Reduce3,
}

/// The kernels that suit this machine. Measured here (Intel Xeon), sums of 16 KiB of floats take
/// 0.12 µs by vectors of 64 bytes and 0.21 by such of 32, of 64 KiB that are not aligned 1.4 and
/// 1.7.
pub(super) fn pick<T: Copy, O: Op<T>>() -> Kernels {
    #[cfg(target_arch = "x86_64")]
    if has_masks() {
        return Kernels {
            two: two_avx512::<T, O>,
            three: three_avx512::<T, O>,
        };
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        return Kernels {
            two: two_avx2::<T, O>,
            three: three_avx2::<T, O>,
        };
    }
    Kernels {
        two: two::<T, O>,
        three: three::<T, O>,
    }
}

/// # Safety
/// As [`Reduce`].
#[inline(always)]
unsafe fn two<T: Copy, O: Op<T>>(inp: *const u8, inout: *mut u8, n: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if O::CHOOSES && n >= BLOCK {
            chosen::<T, O>(inp, inout, n);
        } else {
            in_place::<T, O>(inp, inout, n);
        }
    }
}

/// # Safety
/// As [`Reduce`].
#[inline(always)]
unsafe fn in_place<T: Copy, O: Op<T>>(inp: *const u8, inout: *mut u8, n: usize) {
    let (inp, inout) = (inp.cast::<T>(), inout.cast::<T>());
    for i in 0..n {
        // SAFETY: `i < n`, and the caller's promise.
        unsafe {
            let at = inout.add(i);
            at.write_unaligned(O::apply(inp.add(i).read_unaligned(), at.read_unaligned()));
        }
    }
}

/// Elements that are set aside at a time.
const BLOCK: usize = 128;

/// In place, the compiler would make of a choice between old and new a masked
/// store, which is several times slower than the copy made here.
///
/// # Safety
/// As [`Reduce`].
#[inline(always)]
unsafe fn chosen<T: Copy, O: Op<T>>(inp: *const u8, inout: *mut u8, n: usize) {
    let mut old = [const { MaybeUninit::<T>::uninit() }; BLOCK];
    let old = old.as_mut_ptr().cast::<u8>();
    for i in (0..n).step_by(BLOCK) {
        let now = BLOCK.min(n - i);
        // SAFETY: `i + now <= n`, `old` has room for a block, and the caller's
        // promise.
        unsafe {
            let at = inout.add(i * size_of::<T>());
            ptr::copy_nonoverlapping(at, old, now * size_of::<T>());
            three::<T, O>(inp.add(i * size_of::<T>()), old, at, now);
        }
    }
}

/// # Safety
/// As [`Reduce3`].
#[inline(always)]
unsafe fn three<T: Copy, O: Op<T>>(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
    let (a, b, out) = (a.cast::<T>(), b.cast::<T>(), out.cast::<T>());
    for i in 0..n {
        // SAFETY: `i < n`, and the caller's promise.
        unsafe {
            let (a, b) = (a.add(i).read_unaligned(), b.add(i).read_unaligned());
            out.add(i).write_unaligned(O::apply(a, b));
        }
    }
}

/// # Safety
/// As [`Reduce`]; the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn two_avx2<T: Copy, O: Op<T>>(inp: *const u8, inout: *mut u8, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { two::<T, O>(inp, inout, n) }
}

/// # Safety
/// As [`Reduce3`]; the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn three_avx2<T: Copy, O: Op<T>>(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { three::<T, O>(a, b, out, n) }
}

/// # Safety
/// As [`Reduce`]; the processor [has masks](has_masks).
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq")]
unsafe fn two_avx512<T: Copy, O: Op<T>>(inp: *const u8, inout: *mut u8, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { two::<T, O>(inp, inout, n) }
}

/// # Safety
/// As [`Reduce3`]; the processor [has masks](has_masks).
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq")]
unsafe fn three_avx512<T: Copy, O: Op<T>>(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { three::<T, O>(a, b, out, n) }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::half::F16;
    use super::super::ops::{Complex, Max, Min, Prod, Sum};
    use super::*;

    /// The results of every pair of operands by the instructions of each kind that is here.
    fn results<T: Copy, O: Op<T>>(operands: &[T]) -> Vec<Vec<u8>> {
        let pairs = || {
            operands
                .iter()
                .flat_map(|a| operands.iter().map(|b| (*a, *b)))
        };
        let (a, b): (Vec<T>, Vec<T>) = pairs().unzip();
        let mut kinds: Vec<Reduce3> = vec![three::<T, O>];
        if std::arch::is_x86_feature_detected!("avx2") {
            kinds.push(three_avx2::<T, O>);
        }
        if has_masks() {
            kinds.push(three_avx512::<T, O>);
        }
        let run = |kernel: Reduce3| {
            let mut out = vec![0; size_of_val(&a[..])];
            // SAFETY: all have as many elements, and the processor has what the kernel needs.
            unsafe {
                kernel(
                    a.as_ptr().cast(),
                    b.as_ptr().cast(),
                    out.as_mut_ptr(),
                    a.len(),
                )
            };
            out
        };
        kinds.into_iter().map(run).collect()
    }

    /// Ranks of one job may run on different processors.
    #[test]
    fn all_processors_have_the_same_results() {
        fn same<T: Copy, O: Op<T>>(operands: &[T]) {
            let results = results::<T, O>(operands);
            assert!(results.windows(2).all(|r| r[0] == r[1]));
        }
        macro_rules! all {
            ($($t:ident $nan:literal $signalling:literal;)*) => {$({
                let nan = $t::from_bits($nan);
                let signalling = $t::from_bits($signalling);
                let tiny = $t::from_bits(1);
                let some = [0.0, 1.5, tiny, $t::MAX, $t::INFINITY, nan, signalling];
                let some: Vec<$t> = some.iter().flat_map(|x| [*x, -*x]).collect();
                same::<$t, Sum>(&some);
                same::<$t, Prod>(&some);
                same::<$t, Min>(&some);
                same::<$t, Max>(&some);
                let number = |re: $t| some.iter().map(move |im| Complex { re, im: *im });
                let complex: Vec<Complex<$t>> = some.iter().flat_map(|re| number(*re)).collect();
                same::<Complex<$t>, Sum>(&complex);
                same::<Complex<$t>, Prod>(&complex);
            })*};
        }
        all! {
            f32 0x7fc0_1234 0x7f80_0001;
            f64 0x7ff8_0000_0000_1234 0x7ff0_0000_0000_0001;
        }
        let regular = (0..=u16::MAX).step_by(0x155);
        let special = [1, 0x3ff, 0x400, 0x7bff, 0x7c00, 0x7c01, 0x8000, 0xfc00];
        let some: Vec<F16> = regular.chain(special).map(F16).collect();
        same::<F16, Sum>(&some);
        same::<F16, Prod>(&some);
        same::<F16, Min>(&some);
        same::<F16, Max>(&some);
    }
}
