//! Kernels for values with an index (`MPI_MINLOC`, `MPI_MAXLOC`).
//!
//! In packed data value and index have no gap; in memory they lie like the members of a C
//! structure. Gaps there stay as they are.

use std::marker::PhantomData;

use super::kernel::{Kernels, Op, pick};
use super::op_kind::{OpKind, Reduce};
use super::ops::{Located, NoOp, Real, Replace};
#[cfg(target_arch = "x86_64")]
use super::x87;
use crate::basic::Scalar;

/// An operation on two values with their indices.
trait Choice {
    fn choose<V: Located, I: Real>(a: (V, I), b: (V, I)) -> (V, I);

    /// The choice between values that are no NaNs, one at a time.
    #[inline(always)]
    fn choose_number<V: Located, I: Real>(a: (V, I), b: (V, I)) -> (V, I) {
        Self::choose(a, b)
    }
}

/// The smaller value, or the larger one if `MAX`. Its index is the smallest one at which it is
/// found, be it as a zero of the other sign; if it is a NaN, the smallest one at which a NaN is.
struct Loc<const MAX: bool>;

impl<const MAX: bool> Choice for Loc<MAX> {
    #[inline(always)]
    fn choose<V: Located, I: Real>(a: (V, I), b: (V, I)) -> (V, I) {
        let (first, second) = (a.0.wins::<MAX>(b.0), b.0.wins::<MAX>(a.0));
        let value = V::winner::<MAX>((a.0, first), (b.0, second));
        (value, index((a.1, first), (b.1, second)))
    }

    #[inline(always)]
    fn choose_number<V: Located, I: Real>(a: (V, I), b: (V, I)) -> (V, I) {
        let (first, second) = (a.0.beats::<MAX>(b.0), b.0.beats::<MAX>(a.0));
        let value = a.0.best::<MAX>(b.0);
        (value, index((a.1, first), (b.1, second)))
    }
}

/// The index of the winner of two; the smaller one, if neither wins.
#[inline(always)]
fn index<I: Real>(first: (I, bool), second: (I, bool)) -> I {
    let lower = first.0.lower(second.0);
    let others = if second.1 { second.0 } else { lower };
    if first.1 { first.0 } else { others }
}

impl Choice for Replace {
    #[inline(always)]
    fn choose<V: Located, I: Real>(a: (V, I), _: (V, I)) -> (V, I) {
        a
    }
}

impl Choice for NoOp {
    #[inline(always)]
    fn choose<V: Located, I: Real>(_: (V, I), b: (V, I)) -> (V, I) {
        b
    }
}

/// The choice between two values one at a time: NaNs are rare, and without them it is half the
/// work.
#[inline(always)]
fn choose_one<O: Choice, V: Located, I: Real>(a: (V, I), b: (V, I)) -> (V, I) {
    #[cold]
    #[inline(never)]
    fn choose_nan<O: Choice, V: Located, I: Real>(a: (V, I), b: (V, I)) -> (V, I) {
        O::choose(a, b)
    }
    if a.0.unordered(b.0) {
        return choose_nan::<O, _, _>(a, b);
    }
    O::choose_number(a, b)
}

/// A value and its index in some form.
trait Pair: Copy {
    type Value: Located;
    type Index: Real;

    /// Whether the compiler can make vectors of it: all that is compared has as many bits.
    const VECTORS: bool;

    fn parts(self) -> (Self::Value, Self::Index);
    /// Others instead, around the gap of this one.
    fn with(self, parts: (Self::Value, Self::Index)) -> Self;
}

/// A choice as an operation on pairs.
struct Chosen<O>(O);

impl<P: Pair, O: Choice> Op<P> for Chosen<O> {
    #[inline(always)]
    fn apply(a: P, b: P) -> P {
        let (x, y) = (a.parts(), b.parts());
        b.with(if P::VECTORS {
            O::choose(x, y)
        } else {
            choose_one::<O, _, _>(x, y)
        })
    }
}

/// As it lies in packed data.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Packed<V, I> {
    value: V,
    index: I,
}

impl<V: Located, I: Real> Pair for Packed<V, I> {
    type Value = V;
    type Index = I;

    const VECTORS: bool = size_of::<V>() == size_of::<I>();

    #[inline(always)]
    fn parts(self) -> (V, I) {
        (self.value, self.index)
    }

    #[inline(always)]
    fn with(self, (value, index): (V, I)) -> Self {
        Packed { value, index }
    }
}

/// With a value of 64 bits, in memory. The index is compared as one of 64 bits.
#[derive(Clone, Copy)]
#[repr(C)]
struct Wide<V> {
    value: V,
    /// The index, and above it the gap.
    rest: u64,
}

const UPPER: u64 = !0 << 32;

impl<V: Located> Pair for Wide<V> {
    type Value = V;
    type Index = i64;

    const VECTORS: bool = true;

    #[inline(always)]
    fn parts(self) -> (V, i64) {
        (self.value, (self.rest << 32).cast_signed())
    }

    #[inline(always)]
    fn with(self, (value, index): (V, i64)) -> Self {
        let rest = self.rest & UPPER | index.cast_unsigned() >> 32;
        Wide { value, rest }
    }
}

/// A value of at most 32 bits in the lower half, and an index in the upper.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Word<V>(u64, PhantomData<V>);

macro_rules! words {
    ($($t:ty: $value:ty, $mask:literal, $x:ident, $of:expr, $bits:expr;)*) => {$(
        impl Pair for Word<$t> {
            type Value = $value;
            type Index = i64;

            const VECTORS: bool = true;

            #[inline(always)]
            fn parts(self) -> ($value, i64) {
                let $x = self.0;
                ($of, ($x & UPPER).cast_signed())
            }

            #[inline(always)]
            fn with(self, ($x, index): ($value, i64)) -> Self {
                let gap = self.0 & !UPPER & !$mask;
                Word(index.cast_unsigned() | gap | $bits, PhantomData)
            }
        }
    )*};
}

words! {
    i16: i64, 0xffff, x, (x << 48).cast_signed(), x.cast_unsigned() >> 48;
    i32: i64, 0xffff_ffff, x, (x << 32).cast_signed(), x.cast_unsigned() >> 32;
    f32: f32, 0xffff_ffff, x, f32::from_bits(x as u32), u64::from(x.to_bits());
}

/// Value by value and index by index, in memory, where each lies at a multiple of its size.
///
/// # Safety
/// As [`Reduce`].
unsafe fn each<V: Located, I: Real, O: Choice>(inp: *const u8, inout: *mut u8, n: usize) {
    let (value, index) = (size_of::<V>(), size_of::<I>());
    let index_at = value.next_multiple_of(index);
    let extent = (index_at + index).next_multiple_of(value.max(index));
    for at in (0..n * extent).step_by(extent) {
        // SAFETY: within `n` elements, and the caller's promise.
        unsafe {
            let new = (inp.add(at).cast::<V>(), inp.add(at + index_at).cast::<I>());
            let new = (new.0.read_unaligned(), new.1.read_unaligned());
            let (value, index) = (
                inout.add(at).cast::<V>(),
                inout.add(at + index_at).cast::<I>(),
            );
            let old = (value.read_unaligned(), index.read_unaligned());
            let chosen = choose_one::<O, _, _>(new, old);
            value.write_unaligned(chosen.0);
            index.write_unaligned(chosen.1);
        }
    }
}

/// What is made of the types of a pair.
trait Make {
    type Made;

    fn make<V: Located, I: Real>(op: OpKind) -> Option<Self::Made>;
}

struct OfPacked;

impl Make for OfPacked {
    type Made = Kernels;

    fn make<V: Located, I: Real>(op: OpKind) -> Option<Kernels> {
        chosen::<Packed<V, I>>(op)
    }
}

struct InMemory;

impl Make for InMemory {
    type Made = Reduce;

    fn make<V: Located, I: Real>(op: OpKind) -> Option<Reduce> {
        match op {
            OpKind::MinLoc => Some(each::<V, I, Loc<false>>),
            OpKind::MaxLoc => Some(each::<V, I, Loc<true>>),
            OpKind::Replace => Some(each::<V, I, Replace>),
            OpKind::NoOp => Some(each::<V, I, NoOp>),
            _ => None,
        }
    }
}

fn chosen<P: Pair>(op: OpKind) -> Option<Kernels> {
    match op {
        OpKind::MinLoc => Some(pick::<P, Chosen<Loc<false>>>()),
        OpKind::MaxLoc => Some(pick::<P, Chosen<Loc<true>>>()),
        _ => None,
    }
}

/// The kernels for packed pairs.
pub(super) fn packed(op: OpKind, value: Scalar, index: Scalar) -> Option<Kernels> {
    match (value, index) {
        (Scalar::Int32, Scalar::Int32) => chosen::<Word<i32>>(op),
        (Scalar::Float32, Scalar::Int32) => chosen::<Word<f32>>(op),
        _ => of::<OfPacked>(op, value, index),
    }
}

/// The kernel for pairs in memory.
pub(super) fn in_memory(op: OpKind, value: Scalar, index: Scalar) -> Option<Reduce> {
    let fast = match (value, index) {
        (Scalar::Float64, Scalar::Int32) => chosen::<Wide<f64>>(op),
        (Scalar::Int64 | Scalar::Long, Scalar::Int32) => chosen::<Wide<i64>>(op),
        (Scalar::Int16, Scalar::Int32) => chosen::<Word<i16>>(op),
        _ => None,
    };
    let simple = || of::<InMemory>(op, value, index);
    fast.map(|kernels| kernels.two).or_else(simple)
}

fn of<M: Make>(op: OpKind, value: Scalar, index: Scalar) -> Option<M::Made> {
    match (value, index) {
        (Scalar::Float32, Scalar::Float32) => M::make::<f32, f32>(op),
        (Scalar::Float64, Scalar::Float64) => M::make::<f64, f64>(op),
        (Scalar::Int8, _) => indexed::<M, i8>(op, index),
        (Scalar::Int16, _) => indexed::<M, i16>(op, index),
        (Scalar::Int32, _) => indexed::<M, i32>(op, index),
        (Scalar::Int64 | Scalar::Long, _) => indexed::<M, i64>(op, index),
        (Scalar::UInt8, _) => indexed::<M, u8>(op, index),
        (Scalar::UInt16, _) => indexed::<M, u16>(op, index),
        (Scalar::UInt32, _) => indexed::<M, u32>(op, index),
        (Scalar::UInt64 | Scalar::ULong, _) => indexed::<M, u64>(op, index),
        (Scalar::Float32, _) => indexed::<M, f32>(op, index),
        (Scalar::Float64, _) => indexed::<M, f64>(op, index),
        #[cfg(target_arch = "x86_64")]
        (Scalar::LongDouble, _) => indexed::<M, x87::F80>(op, index),
        _ => None,
    }
}

fn indexed<M: Make, V: Located>(op: OpKind, index: Scalar) -> Option<M::Made> {
    match index {
        Scalar::Int32 => M::make::<V, i32>(op),
        Scalar::Int64 | Scalar::Long => M::make::<V, i64>(op),
        _ => None,
    }
}
