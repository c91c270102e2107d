//! Kernels for values with an index (`MPI_MINLOC`, `MPI_MAXLOC`).
//!
//! In packed data value and index have no gap; in memory they lie like the members of a C
//! structure. Gaps there stay as they are.

use std::hint::select_unpredictable;

use super::kernel::{Kernels, Op, pick};
use super::ops::{Float, NoOp, Replace};
#[cfg(target_arch = "x86_64")]
use super::x87;
use super::{OpKind, Reduce};
use crate::basic::Scalar;

/// An operation that chooses one of two values with their indices.
trait Choice {
    /// Whether it takes the first.
    fn takes_first<V: Float, I: Float>(a: (V, I), b: (V, I)) -> bool;
}

macro_rules! choices {
    ($($name:ident ($a:ident, $b:ident) $body:expr;)*) => {$(
        impl Choice for $name {
            #[inline(always)]
            fn takes_first<V: Float, I: Float>($a: (V, I), $b: (V, I)) -> bool { $body }
        }
    )*};
}

/// The smaller value; of equal ones, the smaller index.
struct MinLoc;

/// The larger value; of equal ones, the smaller index.
struct MaxLoc;

choices! {
    MinLoc(a, b) a.0.less(b.0) | (!b.0.less(a.0) & a.1.less(b.1));
    MaxLoc(a, b) b.0.less(a.0) | (!a.0.less(b.0) & a.1.less(b.1));
    Replace(_a, _b) true;
    NoOp(_a, _b) false;
}

/// A value and its index in some form.
trait Pair: Copy {
    type Value: Float;
    type Index: Float;

    fn parts(self) -> (Self::Value, Self::Index);
    /// This one, or the other instead, in the gap of this one.
    fn replaced(self, other: Self, is: bool) -> Self;
}

/// A choice as an operation on pairs.
struct Chosen<O>(O);

impl<P: Pair, O: Choice> Op<P> for Chosen<O> {
    const COMPARES: bool = true;

    #[inline(always)]
    fn apply(a: P, b: P) -> P {
        b.replaced(a, O::takes_first(a.parts(), b.parts()))
    }
}

/// As it lies in packed data.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Packed<V, I> {
    value: V,
    index: I,
}

impl<V: Float, I: Float> Pair for Packed<V, I> {
    type Value = V;
    type Index = I;

    #[inline(always)]
    fn parts(self) -> (V, I) {
        (self.value, self.index)
    }

    #[inline(always)]
    fn replaced(self, other: Self, is: bool) -> Self {
        if is { other } else { self }
    }
}

/// With a value of 64 bits, in memory. All that is compared has 64 bits: so the compiler can make
/// vectors of it.
#[derive(Clone, Copy)]
#[repr(C)]
struct Wide<V> {
    value: V,
    /// The index, and above it the gap.
    rest: u64,
}

const UPPER: u64 = !0 << 32;
const LOWER: u64 = !UPPER;

/// The bits of `a` where `mask` has ones, else those of `b`.
#[inline(always)]
fn mix(a: u64, b: u64, mask: u64) -> u64 {
    a & mask | b & !mask
}

macro_rules! wide {
    ($($t:ty: $bits:expr, $of:expr;)*) => {$(
        impl Pair for Wide<$t> {
            type Value = $t;
            type Index = i64;

            #[inline(always)]
            fn parts(self) -> ($t, i64) {
                (self.value, (self.rest << 32) as i64)
            }

            #[inline(always)]
            fn replaced(self, other: Self, is: bool) -> Self {
                let mask = if is { !0 } else { 0 };
                Wide {
                    value: $of(mix($bits(other.value), $bits(self.value), mask)),
                    rest: mix(other.rest, self.rest, mask & LOWER),
                }
            }
        }
    )*};
}

wide! {
    f64: f64::to_bits, f64::from_bits;
    i64: i64::cast_unsigned, u64::cast_signed;
}

/// A value of 16 bits, a gap of as many, and an index of 32, in memory.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Narrow(u64);

impl Pair for Narrow {
    type Value = i64;
    type Index = i64;

    #[inline(always)]
    fn parts(self) -> (i64, i64) {
        ((self.0 << 48) as i64, (self.0 & UPPER) as i64)
    }

    #[inline(always)]
    fn replaced(self, other: Self, is: bool) -> Self {
        let mask = if is { UPPER | 0xffff } else { 0 };
        Narrow(mix(other.0, self.0, mask))
    }
}

/// Value by value and index by index, in memory, where each lies at a multiple of its size.
///
/// # Safety
/// As [`Reduce`].
unsafe fn each<V: Float, I: Float, O: Choice>(inp: *const u8, inout: *mut u8, n: usize) {
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
            let first = O::takes_first(new, old);
            value.write_unaligned(select_unpredictable(first, new.0, old.0));
            index.write_unaligned(select_unpredictable(first, new.1, old.1));
        }
    }
}

/// What is made of the types of a pair.
trait Make {
    type Made;

    fn make<V: Float, I: Float>(op: OpKind) -> Option<Self::Made>;
}

struct OfPacked;

impl Make for OfPacked {
    type Made = Kernels;

    fn make<V: Float, I: Float>(op: OpKind) -> Option<Kernels> {
        chosen::<Packed<V, I>>(op)
    }
}

struct InMemory;

impl Make for InMemory {
    type Made = Reduce;

    fn make<V: Float, I: Float>(op: OpKind) -> Option<Reduce> {
        match op {
            OpKind::MinLoc => Some(each::<V, I, MinLoc>),
            OpKind::MaxLoc => Some(each::<V, I, MaxLoc>),
            OpKind::Replace => Some(each::<V, I, Replace>),
            OpKind::NoOp => Some(each::<V, I, NoOp>),
            _ => None,
        }
    }
}

fn chosen<P: Pair>(op: OpKind) -> Option<Kernels> {
    match op {
        OpKind::MinLoc => Some(pick::<P, Chosen<MinLoc>>()),
        OpKind::MaxLoc => Some(pick::<P, Chosen<MaxLoc>>()),
        _ => None,
    }
}

/// The kernels for packed pairs.
pub(super) fn packed(op: OpKind, value: Scalar, index: Scalar) -> Option<Kernels> {
    of::<OfPacked>(op, value, index)
}

/// The kernel for pairs in memory.
pub(super) fn in_memory(op: OpKind, value: Scalar, index: Scalar) -> Option<Reduce> {
    let fast = match (value, index) {
        (Scalar::Float64, Scalar::Int32) => chosen::<Wide<f64>>(op),
        (Scalar::Int64 | Scalar::Long, Scalar::Int32) => chosen::<Wide<i64>>(op),
        (Scalar::Int16, Scalar::Int32) => chosen::<Narrow>(op),
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

fn indexed<M: Make, V: Float>(op: OpKind, index: Scalar) -> Option<M::Made> {
    match index {
        Scalar::Int32 => M::make::<V, i32>(op),
        Scalar::Int64 | Scalar::Long => M::make::<V, i64>(op),
        _ => None,
    }
}
