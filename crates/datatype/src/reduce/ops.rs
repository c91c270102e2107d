//! What the operations do to two elements.
//!
//! Operands may change places and not a bit of the result changes, whatever they are: so all
//! ranks of an allreduce get the same bits, although each combines the same vectors in its own
//! buffers, from either side, and perhaps with other instructions than its neighbour. No processor
//! promises that of a NaN, nor does the compiler; so a result that is a NaN is always the same one
//! (`docs/decisions/0013-one-result-for-all.md`).

use std::hint::select_unpredictable;

use super::kernel::Op;

/// What can be added and multiplied. Integers wrap around.
pub(super) trait Number: Copy {
    fn sum(self, other: Self) -> Self;
    fn difference(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;

    /// This number, or the one NaN that stands for all.
    #[inline(always)]
    fn canonical(self) -> Self {
        self
    }
}

/// A number with an order.
pub(super) trait Real: Number {
    /// Whether the processor chooses between two vectors by a mask, having no
    /// instruction for the smaller and the larger one.
    const MASKED: bool = false;

    /// The smaller one, as `minimum` of IEEE 754-2019: a NaN if either is one, canonical; -0 is
    /// smaller than +0.
    fn lower(self, other: Self) -> Self;

    /// The larger one, as `maximum` of IEEE 754-2019.
    fn upper(self, other: Self) -> Self;
}

/// A number that an index can belong to. The smaller one is the better, or the larger one if `MAX`.
pub(super) trait Located: Real {
    /// Whether either is a NaN.
    fn unordered(self, other: Self) -> bool;

    /// Whether it is better than the other one; of two that are no NaNs.
    fn beats<const MAX: bool>(self, other: Self) -> bool;

    /// Whether it is better than the other one, or alone a NaN.
    #[inline(always)]
    fn wins<const MAX: bool>(self, other: Self) -> bool {
        self.beats::<MAX>(other)
    }

    /// The [`lower`](Real::lower) or [`upper`](Real::upper) of two numbers.
    #[inline(always)]
    fn best<const MAX: bool>(self, other: Self) -> Self {
        if MAX {
            self.upper(other)
        } else {
            self.lower(other)
        }
    }

    /// The best of two numbers; with each, whether it wins.
    #[inline(always)]
    fn winner<const MAX: bool>(first: (Self, bool), second: (Self, bool)) -> Self {
        first.0.best::<MAX>(second.0)
    }
}

/// A pattern of bits.
pub(super) trait Bits: Copy {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
}

/// A truth value: 0 is false, all else true.
pub(super) trait Logic: Copy {
    fn truth(self) -> bool;
    fn of(truth: bool) -> Self;
}

/// An integer.
pub(super) trait Int: Real + Bits + Logic {}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn sum(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn difference(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn product(self, other: Self) -> Self { self.wrapping_mul(other) }
        }
        impl Real for $t {
            const MASKED: bool = size_of::<$t>() == 8;

            #[inline(always)]
            fn lower(self, other: Self) -> Self {
                select_unpredictable(self < other, self, other)
            }
            #[inline(always)]
            fn upper(self, other: Self) -> Self {
                select_unpredictable(other < self, self, other)
            }
        }
        impl Located for $t {
            #[inline(always)]
            fn unordered(self, _: Self) -> bool { false }
            #[inline(always)]
            fn beats<const MAX: bool>(self, other: Self) -> bool {
                if MAX { self > other } else { self < other }
            }
            #[inline(always)]
            fn winner<const MAX: bool>(first: (Self, bool), second: (Self, bool)) -> Self {
                select_unpredictable(first.1, first.0, second.0)
            }
        }
        impl Bits for $t {
            #[inline(always)]
            fn and(self, other: Self) -> Self { self & other }
            #[inline(always)]
            fn or(self, other: Self) -> Self { self | other }
            #[inline(always)]
            fn xor(self, other: Self) -> Self { self ^ other }
        }
        impl Logic for $t {
            #[inline(always)]
            fn truth(self) -> bool { self != 0 }
            #[inline(always)]
            fn of(truth: bool) -> Self { Self::from(truth) }
        }
        impl Int for $t {}
    )*};
}

integers!(i8 i16 i32 i64 i128 u8 u16 u32 u64 u128);

macro_rules! floats {
    ($($t:ident: $nan:literal;)*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn sum(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn difference(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn product(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn canonical(self) -> Self {
                $t::from_bits(if self.is_nan() { $nan } else { self.to_bits() })
            }
        }
        // The processor takes the second of equal operands. So both ways give the same bits,
        // but for zeros of different signs: of these, the bits of both make the one that is wanted.
        impl Real for $t {
            #[inline(always)]
            fn lower(self, other: Self) -> Self {
                let first = if self < other { self } else { other };
                let second = if other < self { other } else { self };
                let lower = first.to_bits() | second.to_bits();
                let nan = self.is_nan() | other.is_nan();
                $t::from_bits(if nan { $nan } else { lower })
            }
            #[inline(always)]
            fn upper(self, other: Self) -> Self {
                let first = if self > other { self } else { other };
                let second = if other > self { other } else { self };
                let upper = first.to_bits() & second.to_bits();
                let nan = self.is_nan() | other.is_nan();
                $t::from_bits(if nan { $nan } else { upper })
            }
        }
        impl Located for $t {
            #[inline(always)]
            fn unordered(self, other: Self) -> bool { self.is_nan() | other.is_nan() }
            #[inline(always)]
            fn beats<const MAX: bool>(self, other: Self) -> bool {
                if MAX { self > other } else { self < other }
            }
            #[inline(always)]
            fn wins<const MAX: bool>(self, other: Self) -> bool {
                let loses = if MAX { self <= other } else { self >= other };
                !loses & !other.is_nan()
            }
            // What is neither better nor worse differs in the sign of a zero at most.
            #[inline(always)]
            fn winner<const MAX: bool>(first: (Self, bool), second: (Self, bool)) -> Self {
                let nan = first.0.unordered(second.0);
                let ((a, a_wins), (b, b_wins)) = (first, second);
                let (a, b) = (a.to_bits(), b.to_bits());
                let bits = if MAX {
                    (if b_wins { !0 } else { a }) & (if a_wins { !0 } else { b })
                } else {
                    (if b_wins { 0 } else { a }) | (if a_wins { 0 } else { b })
                };
                $t::from_bits(if nan { $nan } else { bits })
            }
        }
    )*};
}

floats! {
    f32: 0x7fc0_0000;
    f64: 0x7ff8_0000_0000_0000;
}

/// Real and imaginary part.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Complex<T> {
    pub(super) re: T,
    pub(super) im: T,
}

impl<T: Number> Number for Complex<T> {
    #[inline(always)]
    fn sum(self, other: Self) -> Self {
        Complex {
            re: self.re.sum(other.re),
            im: self.im.sum(other.im),
        }
    }

    #[inline(always)]
    fn difference(self, other: Self) -> Self {
        Complex {
            re: self.re.difference(other.re),
            im: self.im.difference(other.im),
        }
    }

    #[inline(always)]
    fn product(self, other: Self) -> Self {
        let (a, b) = (self, other);
        Complex {
            re: a.re.product(b.re).difference(a.im.product(b.im)),
            im: a.re.product(b.im).sum(a.im.product(b.re)),
        }
    }

    #[inline(always)]
    fn canonical(self) -> Self {
        Complex {
            re: self.re.canonical(),
            im: self.im.canonical(),
        }
    }
}

macro_rules! operations {
    ($($name:ident <$t:ident: $bound:path> ($a:ident, $b:ident) $body:expr;)*) => {$(
        pub(super) struct $name;
        impl<$t: $bound> Op<$t> for $name {
            #[inline(always)]
            fn apply($a: $t, $b: $t) -> $t { $body }
        }
    )*};
}

operations! {
    Sum<T: Number>(a, b) a.sum(b).canonical();
    Prod<T: Number>(a, b) a.product(b).canonical();
    Band<T: Bits>(a, b) a.and(b);
    Bor<T: Bits>(a, b) a.or(b);
    Bxor<T: Bits>(a, b) a.xor(b);
    Land<T: Logic>(a, b) T::of(a.truth() & b.truth());
    Lor<T: Logic>(a, b) T::of(a.truth() | b.truth());
    Lxor<T: Logic>(a, b) T::of(a.truth() ^ b.truth());
    Replace<T: Copy>(a, _b) a;
    NoOp<T: Copy>(_a, b) b;
}

/// The smaller operand.
pub(super) struct Min;

/// The larger operand.
pub(super) struct Max;

impl<T: Real> Op<T> for Min {
    const CHOOSES: bool = T::MASKED;

    #[inline(always)]
    fn apply(a: T, b: T) -> T {
        a.lower(b)
    }
}

impl<T: Real> Op<T> for Max {
    const CHOOSES: bool = T::MASKED;

    #[inline(always)]
    fn apply(a: T, b: T) -> T {
        a.upper(b)
    }
}
