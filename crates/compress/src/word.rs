//! Words of 32 and 64 bits, and blocks of 256 of them in as few bits as they need.
//!
//! A packed block consists of rows of 32 bytes: 4 lanes of 64 bits, or 8 of 32. Lane `l` holds the
//! words `l`, `l + lanes`, `l + 2 * lanes`, ... of the block, `width` bits each, without gaps. So a
//! processor packs and unpacks all lanes of a row at once, and a block takes `32 * width` bytes
//! (D. Lemire and L. Boytsov, *Decoding billions of integers per second through vectorization*,
//! 2015).

/// Words of a block.
pub(crate) const WORDS: usize = 256;

/// Bytes that a bit of [`Word::pack`]'s width takes.
pub(crate) const ROW: usize = WORDS / 8;

/// A block of words.
pub(crate) type Block<W> = [W; WORDS];

/// A word of 32 or 64 bits. Arithmetic wraps.
pub(crate) trait Word: Copy + Default {
    const BITS: u32;
    const BYTES: usize;

    /// The word in the first bytes of `bytes`, little-endian.
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);

    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// Small numbers of either sign as small words: 0, -1, 1, -2, ...
    fn zigzag(self) -> Self;
    fn unzigzag(self) -> Self;
    /// Bits up to the highest one that is set.
    fn bits(self) -> u32;
    /// Sets bits from `width` on, fewer than [`Word::BITS`].
    fn add_above(&mut self, upper: u64, width: u32);

    fn to_u64(self) -> u64;
    fn from_u64(wide: u64) -> Self;
    /// As a number with a sign.
    fn to_i64(self) -> i64;

    /// IEEE 754 numbers in the order of integers with a sign, and back.
    fn order_float(self) -> Self;
    /// Without the lowest `shift` bits, rounded to the nearest; as a number with a sign.
    fn round(self, shift: u32) -> Self;
    fn shift_left(self, shift: u32) -> Self;
    /// The IEEE 754 number with these bits.
    fn to_float(self) -> f64;
    fn from_float(float: f64) -> Self;

    /// Writes the lowest `width` bits of each word, in [`ROW`] bytes for each of `width`.
    fn pack(block: &Block<Self>, width: u32, packed: &mut [u8]);
    /// Reverts [`Word::pack`]; `packed` has [`ROW`] bytes for each of `width`.
    fn unpack(packed: &[u8], width: u32, block: &mut Block<Self>);
}

macro_rules! word {
    ($word:ty, $signed:ty, $float:ty, $lanes:literal) => {
        impl Word for $word {
            const BITS: u32 = <$word>::BITS;
            const BYTES: usize = size_of::<$word>();

            #[inline]
            fn read(bytes: &[u8]) -> Self {
                let mut word = [0; size_of::<$word>()];
                word.copy_from_slice(&bytes[..size_of::<$word>()]);
                <$word>::from_le_bytes(word)
            }

            #[inline]
            fn write(self, bytes: &mut [u8]) {
                bytes[..size_of::<$word>()].copy_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline]
            fn zigzag(self) -> Self {
                (self << 1) ^ ((self as $signed) >> (<$word>::BITS - 1)) as $word
            }

            #[inline]
            fn unzigzag(self) -> Self {
                (self >> 1) ^ (self & 1).wrapping_neg()
            }

            #[inline]
            fn bits(self) -> u32 {
                <$word>::BITS - self.leading_zeros()
            }

            #[inline]
            fn add_above(&mut self, upper: u64, width: u32) {
                *self |= (upper as $word) << width;
            }

            #[inline]
            fn to_u64(self) -> u64 {
                u64::from(self)
            }

            #[inline]
            fn from_u64(wide: u64) -> Self {
                wide as $word
            }

            #[inline]
            fn to_i64(self) -> i64 {
                i64::from(self as $signed)
            }

            #[inline]
            fn order_float(self) -> Self {
                let negative = ((self as $signed) >> (<$word>::BITS - 1)) as $word;
                self ^ (negative >> 1)
            }

            #[inline]
            fn round(self, shift: u32) -> Self {
                let half = if shift == 0 { 0 } else { 1 << (shift - 1) };
                ((self.wrapping_add(half) as $signed) >> shift) as $word
            }

            #[inline]
            fn shift_left(self, shift: u32) -> Self {
                self << shift
            }

            #[inline]
            fn to_float(self) -> f64 {
                f64::from(<$float>::from_bits(self))
            }

            #[inline]
            fn from_float(float: f64) -> Self {
                (float as $float).to_bits()
            }

            fn pack(block: &Block<Self>, width: u32, packed: &mut [u8]) {
                let mask = match width {
                    0 => return,
                    width => <$word>::MAX >> (<$word>::BITS - width),
                };
                let mut lanes = [0; $lanes];
                let mut filled = 0;
                let mut rows = packed.as_chunks_mut::<ROW>().0.iter_mut();
                for words in block.as_chunks::<$lanes>().0 {
                    for (lane, word) in lanes.iter_mut().zip(words) {
                        *lane |= (word & mask) << filled;
                    }
                    filled += width;
                    if filled < <$word>::BITS {
                        continue;
                    }
                    filled -= <$word>::BITS;
                    let Some(row) = rows.next() else {
                        return;
                    };
                    for (bytes, lane) in row.as_chunks_mut().0.iter_mut().zip(lanes) {
                        *bytes = <$word>::to_le_bytes(lane);
                    }
                    // The bits that had no room begin the next row.
                    for (lane, word) in lanes.iter_mut().zip(words) {
                        *lane = if filled == 0 {
                            0
                        } else {
                            (word & mask) >> (width - filled)
                        };
                    }
                }
            }

            fn unpack(packed: &[u8], width: u32, block: &mut Block<Self>) {
                let mask = match width {
                    0 => return block.fill(0),
                    width => <$word>::MAX >> (<$word>::BITS - width),
                };
                let mut rows = packed.as_chunks::<ROW>().0.iter();
                let mut next = || {
                    let mut lanes = [0; $lanes];
                    if let Some(row) = rows.next() {
                        for (lane, bytes) in lanes.iter_mut().zip(row.as_chunks().0) {
                            *lane = <$word>::from_le_bytes(*bytes);
                        }
                    }
                    lanes
                };
                let (mut lanes, mut used) = (next(), 0);
                for words in block.as_chunks_mut::<$lanes>().0 {
                    let left = <$word>::BITS - used;
                    if left == 0 {
                        lanes = next();
                        used = 0;
                    }
                    if left == 0 || width <= left {
                        for (word, lane) in words.iter_mut().zip(lanes) {
                            *word = (lane >> used) & mask;
                        }
                        used += width;
                    } else {
                        let more = next();
                        for (word, (low, high)) in words.iter_mut().zip(lanes.into_iter().zip(more))
                        {
                            *word = ((low >> used) | (high << left)) & mask;
                        }
                        lanes = more;
                        used = width - left;
                    }
                }
            }
        }
    };
}

word!(u32, i32, f32, 8);
word!(u64, i64, f64, 4);

#[cfg(test)]
mod tests {
    use super::*;

    fn packs<W: Word + PartialEq + std::fmt::Debug>() {
        let mut seed = 1_u64;
        for width in 0..=W::BITS {
            let block: Block<W> = std::array::from_fn(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let any = seed ^ (seed >> 31);
                W::from_u64(if width == 0 {
                    0
                } else {
                    any << (64 - width) >> (64 - width)
                })
            });
            let mut packed = vec![0xaa; ROW * width as usize];
            W::pack(&block, width, &mut packed);
            let mut again = [W::default(); WORDS];
            W::unpack(&packed, width, &mut again);
            assert_eq!(again, block, "width {width}");
        }
    }

    #[test]
    fn every_width_comes_back() {
        packs::<u32>();
        packs::<u64>();
    }

    #[test]
    fn the_order_of_floats_is_that_of_integers() {
        let rising = [
            f64::NEG_INFINITY,
            -2.0,
            -1.5,
            -f64::MIN_POSITIVE,
            -0.0,
            0.0,
            1e-310,
            1.0,
            f64::INFINITY,
        ];
        let ordered = rising.map(|it| it.to_bits().order_float() as i64);
        assert!(ordered.is_sorted());
        assert_eq!(
            ordered.map(|it| (it as u64).order_float()),
            rising.map(f64::to_bits)
        );
    }

    #[test]
    fn zigzag_comes_back() {
        for word in [0, 1, u64::MAX, 1 << 63, i64::MAX as u64] {
            assert_eq!(word.zigzag().unzigzag(), word);
        }
        assert_eq!(
            [0, -1, 1, -2_i32].map(|it| (it as u32).zigzag()),
            [0, 1, 2, 3]
        );
    }
}
