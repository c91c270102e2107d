//! The `external32` representation (MPI-5, chapter 14.5.2): big-endian, IEEE
//! formats, no gaps, and sizes that are the same on every machine.

use crate::basic::{Basic, Scalar};
use crate::datatype::Datatype;
use crate::error::{Result, TypeError};

/// Bytes that are converted at a time.
const CHUNK: usize = 4096;

impl Datatype {
    /// Bytes that `count` elements take in `external32`.
    ///
    /// # Errors
    /// `Overflow` beyond 63 bits.
    pub fn external_size(&self, count: u64) -> Result<u64> {
        let size = self.body.signature.external_size().checked_mul(count);
        let size = size.filter(|size| i64::try_from(*size).is_ok());
        size.ok_or(TypeError::Overflow {
            what: "size in external32",
        })
    }

    /// Converts `count` elements at `base` to the front of `out`; returns how
    /// many bytes were written.
    ///
    /// # Errors
    /// As [`Datatype::to_external`].
    ///
    /// # Safety
    /// As [`Datatype::pack`] for all of the elements.
    pub unsafe fn pack_external(&self, base: *const u8, count: u64, out: &mut [u8]) -> Result<u64> {
        self.to_external(count, out, |from, to| {
            // SAFETY: the caller's promise.
            unsafe { self.pack(base, count, from, to.as_mut_ptr(), to.len()) }
        })
    }

    /// Converts `count` elements, which `pack` packs part by part, to the front of `out`; returns
    /// how many bytes were written. `pack` is told where in the packed elements a part begins.
    ///
    /// # Errors
    /// `ShortBuffer` before anything is written; `Conversion` if a value does
    /// not fit, with unspecified bytes in `out`; `Overflow`.
    pub fn to_external(
        &self,
        count: u64,
        out: &mut [u8],
        mut pack: impl FnMut(u64, &mut [u8]),
    ) -> Result<u64> {
        let need = self.external_size(count)?;
        let have = out.len() as u64;
        if have < need {
            return Err(TypeError::ShortBuffer { need, have });
        }
        let mut native = [0u8; CHUNK];
        let (mut from, mut to, mut element) = (0u64, 0usize, 0u64);
        self.each_chunk(count, |basic, n| {
            let len = n * basic.size() as usize;
            let external = n * basic.external_size() as usize;
            pack(from, &mut native[..len]);
            encode(basic, &native[..len], &mut out[to..to + external]).map_err(|i| {
                TypeError::Conversion {
                    element: element + i,
                }
            })?;
            from += len as u64;
            to += external;
            element += n as u64;
            Ok(())
        })?;
        Ok(need)
    }

    /// Converts the front of `inp` to `count` elements at `base`; returns how
    /// many bytes were read.
    ///
    /// # Errors
    /// As [`Datatype::from_external`].
    ///
    /// # Safety
    /// As [`Datatype::unpack`] for all of the elements.
    pub unsafe fn unpack_external(&self, base: *mut u8, count: u64, inp: &[u8]) -> Result<u64> {
        self.from_external(count, inp, |to, part| {
            // SAFETY: the caller's promise.
            unsafe { self.unpack(base, count, to, part.as_ptr(), part.len()) }
        })
    }

    /// Converts the front of `inp` to `count` elements, which `unpack` unpacks part by part;
    /// returns how many bytes were read. `unpack` is told where in the packed elements a part
    /// begins.
    ///
    /// # Errors
    /// `ShortBuffer` before anything is written, `Overflow`.
    pub fn from_external(
        &self,
        count: u64,
        inp: &[u8],
        mut unpack: impl FnMut(u64, &[u8]),
    ) -> Result<u64> {
        let need = self.external_size(count)?;
        let have = inp.len() as u64;
        if have < need {
            return Err(TypeError::ShortBuffer { need, have });
        }
        let mut native = [0u8; CHUNK];
        let (mut from, mut at) = (0usize, 0u64);
        self.each_chunk(count, |basic, n| {
            let len = n * basic.size() as usize;
            let external = n * basic.external_size() as usize;
            decode(basic, &inp[from..from + external], &mut native[..len]);
            unpack(at, &native[..len]);
            from += external;
            at += len as u64;
            Ok(())
        })?;
        Ok(need)
    }

    /// Calls `f` with kind and number of the basic elements of `count`
    /// elements, as many at a time as a chunk holds.
    fn each_chunk(&self, count: u64, mut f: impl FnMut(Basic, usize) -> Result<()>) -> Result<()> {
        self.body.signature.repeat(count).each(&mut |basic, n| {
            let most = (CHUNK / basic.size() as usize) as u64;
            let mut left = n;
            while left > 0 {
                let now = left.min(most);
                f(basic, now as usize)?;
                left -= now;
            }
            Ok(())
        })
    }
}

/// Converts to `external32`.
///
/// # Errors
/// The number of the first element that does not fit.
fn encode(basic: Basic, src: &[u8], dst: &mut [u8]) -> std::result::Result<(), u64> {
    let (value, index) = match basic {
        Basic::Scalar(s) => return encode_scalars(s, src, dst),
        Basic::Pair(value, index) => (value, index),
    };
    let elements = src.chunks_exact(basic.size() as usize);
    let room = dst.chunks_exact_mut(basic.external_size() as usize);
    for (i, (from, to)) in elements.zip(room).enumerate() {
        let (a, b) = from.split_at(value.size() as usize);
        let (x, y) = to.split_at_mut(value.external_size() as usize);
        encode_scalars(value, a, x).map_err(|_| i as u64)?;
        encode_scalars(index, b, y).map_err(|_| i as u64)?;
    }
    Ok(())
}

/// Converts from `external32`.
fn decode(basic: Basic, src: &[u8], dst: &mut [u8]) {
    let (value, index) = match basic {
        Basic::Scalar(s) => return decode_scalars(s, src, dst),
        Basic::Pair(value, index) => (value, index),
    };
    let elements = src.chunks_exact(basic.external_size() as usize);
    let room = dst.chunks_exact_mut(basic.size() as usize);
    for (from, to) in elements.zip(room) {
        let (a, b) = from.split_at(value.external_size() as usize);
        let (x, y) = to.split_at_mut(value.size() as usize);
        decode_scalars(value, a, x);
        decode_scalars(index, b, y);
    }
}

/// Converts values of one kind; see [`encode`].
fn encode_scalars(s: Scalar, src: &[u8], dst: &mut [u8]) -> std::result::Result<(), u64> {
    match s {
        Scalar::Long => narrow(src, dst, |x| {
            Some(i32::try_from(i64::from_ne_bytes(x)).ok()?.to_be_bytes())
        }),
        Scalar::ULong => narrow(src, dst, |x| {
            Some(u32::try_from(u64::from_ne_bytes(x)).ok()?.to_be_bytes())
        }),
        Scalar::WChar => narrow(src, dst, |x| {
            Some(u16::try_from(u32::from_ne_bytes(x)).ok()?.to_be_bytes())
        }),
        #[cfg(target_arch = "x86_64")]
        Scalar::LongDouble | Scalar::ComplexLongDouble => narrow(src, dst, |x| {
            Some(quad_of(u128::from_ne_bytes(x)).to_be_bytes())
        }),
        _ => {
            swap(s, src, dst);
            Ok(())
        }
    }
}

/// Converts values of one kind; see [`decode`].
fn decode_scalars(s: Scalar, src: &[u8], dst: &mut [u8]) {
    match s {
        Scalar::Long => widen(src, dst, |x| i64::from(i32::from_be_bytes(x)).to_ne_bytes()),
        Scalar::ULong => widen(src, dst, |x| u64::from(u32::from_be_bytes(x)).to_ne_bytes()),
        Scalar::WChar => widen(src, dst, |x| u32::from(u16::from_be_bytes(x)).to_ne_bytes()),
        #[cfg(target_arch = "x86_64")]
        Scalar::LongDouble | Scalar::ComplexLongDouble => {
            widen(src, dst, |x| {
                extended_of(u128::from_be_bytes(x)).to_ne_bytes()
            });
        }
        _ => swap(s, src, dst),
    }
}

/// Converts values of `N` bytes to `M` bytes.
///
/// # Errors
/// The number of the first one that does not fit.
fn narrow<const N: usize, const M: usize>(
    src: &[u8],
    dst: &mut [u8],
    f: impl Fn([u8; N]) -> Option<[u8; M]>,
) -> std::result::Result<(), u64> {
    let pairs = src.as_chunks().0.iter().zip(dst.as_chunks_mut().0);
    for (i, (from, to)) in pairs.enumerate() {
        *to = f(*from).ok_or(i as u64)?;
    }
    Ok(())
}

/// Converts values of `M` bytes to `N` bytes.
fn widen<const N: usize, const M: usize>(
    src: &[u8],
    dst: &mut [u8],
    f: impl Fn([u8; M]) -> [u8; N],
) {
    let pairs = src.as_chunks().0.iter().zip(dst.as_chunks_mut().0);
    pairs.for_each(|(from, to)| *to = f(*from));
}

/// Converts between the byte order of this machine and big-endian.
fn swap(s: Scalar, src: &[u8], dst: &mut [u8]) {
    match s.real_part().unwrap_or(s).size() {
        2 => widen(src, dst, |x| u16::from_ne_bytes(x).to_be_bytes()),
        4 => widen(src, dst, |x| u32::from_ne_bytes(x).to_be_bytes()),
        8 => widen(src, dst, |x| u64::from_ne_bytes(x).to_be_bytes()),
        16 => widen(src, dst, |x| u128::from_ne_bytes(x).to_be_bytes()),
        _ => dst.copy_from_slice(src),
    }
}

/// Bits of the fraction that binary128 has and the 80-bit format has not.
#[cfg(target_arch = "x86_64")]
const MORE: u32 = 112 - 63;

/// An 80-bit floating point number as binary128: exact.
#[cfg(target_arch = "x86_64")]
fn quad_of(x: u128) -> u128 {
    let sign_exponent = x >> 64 & 0xffff;
    let significand = x as u64;
    let fraction = u128::from(significand << 1 >> 1) << MORE;
    // Of the smallest exponent only numbers without a leading one are usual.
    let lifted = u128::from(sign_exponent & 0x7fff == 0 && significand >> 63 == 1);
    (sign_exponent + lifted) << 112 | fraction
}

/// A binary128 number in the 80-bit format, to nearest, ties to even.
#[cfg(target_arch = "x86_64")]
fn extended_of(x: u128) -> u128 {
    const ONE: u128 = 1 << 63;
    let sign = x >> 127 << 79;
    let exponent = x >> 112 & 0x7fff;
    let fraction = x << 16 >> 16;
    if exponent == 0x7fff {
        let quiet = u128::from(fraction != 0) << 62;
        return sign | exponent << 64 | ONE | quiet | fraction >> MORE;
    }
    let even = fraction >> MORE & 1;
    // A carry out of the fraction makes the exponent one larger.
    let rounded = (exponent << 112 | fraction) + (1 << (MORE - 1)) - 1 + even;
    let exponent = rounded >> 112;
    let fraction = rounded << 16 >> 16 >> MORE;
    let leading = if exponent == 0 { 0 } else { ONE };
    let fraction = if exponent == 0x7fff { 0 } else { fraction };
    sign | exponent << 64 | leading | fraction
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// The 80-bit format of a double, whose value is exact.
    fn extended(x: f64) -> u128 {
        let bits = x.to_bits();
        let sign = u128::from(bits >> 63) << 79;
        if x == 0.0 {
            return sign;
        }
        let exponent = u128::from(bits >> 52 & 0x7ff) + 16383 - 1023;
        sign | exponent << 64 | 1 << 63 | u128::from(bits << 12 >> 1)
    }

    #[test]
    fn known_long_doubles_have_their_binary128_form() {
        assert_eq!(quad_of(extended(1.0)), 0x3fff << 112);
        assert_eq!(quad_of(extended(-2.5)), 0xc_0004 << 108);
        assert_eq!(quad_of(extended(0.0)), 0);
        let infinity = 0x7fff_8000_0000_0000_0000u128;
        assert_eq!(quad_of(infinity), 0x7fff << 112);
        let smallest = 1u128;
        assert_eq!(quad_of(smallest), 1 << MORE);
        for x in [
            extended(0.1),
            extended(-1e300),
            infinity,
            smallest,
            extended(-0.0),
        ] {
            assert_eq!(extended_of(quad_of(x)), x, "{x:x}");
        }
    }

    #[test]
    fn what_the_short_format_lacks_is_rounded_to_even() {
        let one = 0x3fffu128 << 112;
        let half = 1u128 << (MORE - 1);
        assert_eq!(extended_of(one + half), extended(1.0));
        assert_eq!(extended_of(one + half + 1), extended(1.0) + 1);
        assert_eq!(extended_of(one + 3 * half), extended(1.0) + 2);
        let below_two = (0x4000u128 << 112) - 1;
        assert_eq!(extended_of(below_two), extended(2.0));
        let below_infinity = (0x7fffu128 << 112) - 1;
        assert_eq!(extended_of(below_infinity), 0x7fff_8000_0000_0000_0000);
        let nan = (0x7fffu128 << 112) + 1;
        assert_eq!(extended_of(nan), 0x7fff_c000_0000_0000_0000);
    }

    #[test]
    fn a_number_of_the_smallest_exponent_with_a_leading_one_is_normal() {
        assert_eq!(quad_of(1 << 63), 1 << 112);
        assert_eq!(extended_of(1 << 112), 1 << 64 | 1 << 63);
    }
}
