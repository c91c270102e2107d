//! IEEE binary16, computed with as `f32` and rounded once.
//!
//! The conversions compute every case and choose at the end, without a branch: so the compiler
//! makes vectors of them. They are faster than those of the crate `half`, which calls the
//! processor's own for eight numbers at a time. No `f32` here is subnormal, as a program may have
//! the processor take such numbers for zero.

use super::ops::{Number, Real};

/// A 16-bit floating point number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct F16(pub(super) u16);

impl F16 {
    /// Exact.
    #[inline(always)]
    pub(super) fn to_f32(self) -> f32 {
        let sign = u32::from(self.0 & 0x8000) << 16;
        let magnitude = u32::from(self.0 & 0x7fff);
        // Below the normal numbers, a multiple of 2^-24: the last place of 0.5.
        let tiny = f32::from_bits(0.5f32.to_bits() + magnitude) - 0.5;
        let normal = (magnitude << 13) + (112 << 23);
        let bits = match magnitude {
            0..0x400 => tiny.to_bits(),
            0x400..0x7c00 => normal,
            _ => normal + (112 << 23),
        };
        f32::from_bits(sign | bits)
    }

    /// The one NaN that stands for all.
    const NAN: Self = F16(0x7e00);

    /// Rounds to nearest, ties to even. Every NaN becomes the same one.
    #[inline(always)]
    pub(super) fn from_f32(x: f32) -> Self {
        let bits = x.to_bits();
        let sign = bits >> 16 & 0x8000;
        let magnitude = bits & 0x7fff_ffff;
        // Below the normal numbers; the addition rounds to multiples of
        // 2^-24 because its result has that unit in the last place.
        let tiny = (f32::from_bits(magnitude) + 0.5)
            .to_bits()
            .wrapping_sub(0.5f32.to_bits());
        let even = magnitude >> 13 & 1;
        let normal = ((magnitude + 0xfff + even) >> 13).wrapping_sub(112 << 10);
        match magnitude {
            0..0x3880_0000 => F16((sign | tiny) as u16),
            0x3880_0000..0x4780_0000 => F16((sign | normal) as u16),
            0x4780_0000..=0x7f80_0000 => F16((sign | 0x7c00) as u16),
            _ => F16::NAN,
        }
    }
}

impl Number for F16 {
    #[inline(always)]
    fn sum(self, other: Self) -> Self {
        F16::from_f32(self.to_f32() + other.to_f32())
    }

    #[inline(always)]
    fn difference(self, other: Self) -> Self {
        F16::from_f32(self.to_f32() - other.to_f32())
    }

    #[inline(always)]
    fn product(self, other: Self) -> Self {
        F16::from_f32(self.to_f32() * other.to_f32())
    }
}

impl F16 {
    fn is_nan(self) -> bool {
        self.0 & 0x7fff > 0x7c00
    }

    /// What is ordered as the numbers are, -0 below +0.
    fn key(self) -> i16 {
        let bits = self.0.cast_signed();
        bits ^ (bits >> 15 & 0x7fff)
    }
}

impl Real for F16 {
    #[inline]
    fn lower(self, other: Self) -> Self {
        let lower = if self.key() < other.key() {
            self
        } else {
            other
        };
        let nan = self.is_nan() | other.is_nan();
        if nan { F16::NAN } else { lower }
    }

    #[inline]
    fn upper(self, other: Self) -> Self {
        let upper = if self.key() > other.key() {
            self
        } else {
            other
        };
        let nan = self.is_nan() | other.is_nan();
        if nan { F16::NAN } else { upper }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_survives_the_way_through_f32() {
        for bits in 0..=u16::MAX {
            let x = F16(bits).to_f32();
            if x.is_nan() {
                assert_eq!(F16::from_f32(x), F16::NAN);
            } else {
                assert_eq!(F16::from_f32(x), F16(bits), "{x}");
            }
        }
    }

    #[test]
    fn rounding_is_to_nearest_and_even() {
        let next = f32::from_bits(0x3f80_2000); // 1 + 2^-10
        let half = f32::from_bits(0x3f80_1000);
        assert_eq!(F16::from_f32(next), F16(0x3c01));
        assert_eq!(F16::from_f32(half), F16(0x3c00));
        assert_eq!(F16::from_f32(half + f32::EPSILON), F16(0x3c01));
        assert_eq!(F16::from_f32(65519.0), F16(0x7bff));
        assert_eq!(F16::from_f32(-65520.0), F16(0xfc00));
        assert_eq!(F16::from_f32(1e30), F16(0x7c00));
        assert_eq!(F16::from_f32(0.5 / (1 << 24) as f32), F16(0));
        assert_eq!(F16::from_f32(1.5 / (1 << 24) as f32), F16(2));
    }
}
