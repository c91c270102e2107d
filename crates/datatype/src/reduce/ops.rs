//! What the operations do to two elements.

use std::hint::select_unpredictable;

use super::kernel::Op;

/// What can be added and multiplied. Integers wrap around.
pub(super) trait Number: Copy {
    fn sum(self, other: Self) -> Self;
    fn difference(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
}

/// A number with an order.
pub(super) trait Float: Number {
    /// Whether the processor chooses between two vectors by a mask, having no
    /// instruction for the smaller and the larger one.
    const MASKED: bool = false;

    fn less(self, other: Self) -> bool;

    /// The smaller one. Of a number and a NaN, either.
    #[inline(always)]
    fn lower(self, other: Self) -> Self {
        select_unpredictable(self.less(other), self, other)
    }

    /// The larger one. Of a number and a NaN, either.
    #[inline(always)]
    fn upper(self, other: Self) -> Self {
        select_unpredictable(other.less(self), self, other)
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
pub(super) trait Int: Float + Bits + Logic {}

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
        impl Float for $t {
            const MASKED: bool = size_of::<$t>() == 8;

            #[inline(always)]
            fn less(self, other: Self) -> bool { self < other }
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
    ($($t:ty)*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn sum(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn difference(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn product(self, other: Self) -> Self { self * other }
        }
        impl Float for $t {
            #[inline(always)]
            fn less(self, other: Self) -> bool { self < other }
        }
    )*};
}

floats!(f32 f64);

/// Real and imaginary part.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Complex<T> {
    re: T,
    im: T,
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
    Sum<T: Number>(a, b) a.sum(b);
    Prod<T: Number>(a, b) a.product(b);
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

impl<T: Float> Op<T> for Min {
    const CHOOSES: bool = T::MASKED;

    #[inline(always)]
    fn apply(a: T, b: T) -> T {
        a.lower(b)
    }
}

impl<T: Float> Op<T> for Max {
    const CHOOSES: bool = T::MASKED;

    #[inline(always)]
    fn apply(a: T, b: T) -> T {
        a.upper(b)
    }
}
