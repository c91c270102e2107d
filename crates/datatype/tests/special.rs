//! NaNs, infinities, zeros of both signs, subnormal numbers, and truth values other than 0 and 1:
//! no bit of a result depends on which operand comes first, on the length of the vectors, or on the
//! form of the kernel; and every result is the one of `docs/decisions/0013-one-result-for-all.md`.

use catena_datatype::{Basic, OpKind, Scalar, reduce3, reducer, reducer_in_memory};

/// A kind of floating-point number.
#[derive(Clone, Copy)]
struct Format {
    scalar: Scalar,
    /// Bytes in memory, and bits of these that count.
    bytes: usize,
    bits: u32,
    /// Bits below the exponent.
    fraction: u32,
    /// Whether the uppermost of those says that a number is normal.
    explicit: bool,
    /// The NaN that stands for all.
    nan: u128,
}

const F16: Format = Format {
    scalar: Scalar::Float16,
    bytes: 2,
    bits: 16,
    fraction: 10,
    explicit: false,
    nan: 0x7e00,
};
const F32: Format = Format {
    scalar: Scalar::Float32,
    bytes: 4,
    bits: 32,
    fraction: 23,
    explicit: false,
    nan: 0x7fc0_0000,
};
const F64: Format = Format {
    scalar: Scalar::Float64,
    bytes: 8,
    bits: 64,
    fraction: 52,
    explicit: false,
    nan: 0x7ff8_0000_0000_0000,
};
const F80: Format = Format {
    scalar: Scalar::LongDouble,
    bytes: 16,
    bits: 80,
    fraction: 64,
    explicit: true,
    nan: 0x7fff_c000_0000_0000_0000,
};

fn formats() -> Vec<Format> {
    let mut all = vec![F16, F32, F64];
    if cfg!(target_arch = "x86_64") {
        all.push(F80);
    }
    all
}

impl Format {
    fn sign(self) -> u128 {
        1 << (self.bits - 1)
    }

    fn infinity(self) -> u128 {
        let integer = u128::from(self.explicit) << (self.fraction - 1);
        (self.sign() - 1) >> self.fraction << self.fraction | integer
    }

    /// One, whose exponent is all ones but the uppermost.
    fn one(self) -> u128 {
        let integer = u128::from(self.explicit) << (self.fraction - 1);
        (self.sign() - 1) >> (self.fraction + 1) << self.fraction | integer
    }

    /// Each of both signs; the last ones are NaNs, the first two of which signal.
    fn specials(self) -> Vec<u128> {
        let quiet = 1 << (self.fraction - 1 - u32::from(self.explicit));
        let least_normal = match self.explicit {
            true => 3 << (self.fraction - 1),
            false => 1 << self.fraction,
        };
        let inf = self.infinity();
        let mut all = vec![
            0,
            1,
            least_normal - 1,
            least_normal,
            self.one(),
            self.one() + 1,
            inf - 1,
            inf,
            inf | 1,
            inf | quiet >> 1,
            inf | quiet,
            inf | quiet | 0x15,
        ];
        if self.explicit {
            // The largest finite number; what the processor takes for no number at all; and a
            // second form of the smallest normal number.
            all[6] = (inf | ((1 << 64) - 1)) - (1 << 64);
            all.extend([self.one() & !(1 << 63), inf & !(1 << 63), 1 << 63]);
        }
        all.iter().flat_map(|x| [*x, *x | self.sign()]).collect()
    }

    fn is_nan(self, x: u128) -> bool {
        let magnitude = x & !self.sign();
        let exponent = magnitude >> self.fraction;
        let normal = magnitude >> (self.fraction - 1) & 1 == 1;
        magnitude > self.infinity() || self.explicit && exponent > 0 && !normal
    }

    /// Grows with the number; that of -0 is just below that of +0.
    fn key(self, x: u128) -> i128 {
        let magnitude = x & !self.sign();
        // The second form of the smallest normal number.
        let second = self.explicit && magnitude == 1 << 63;
        let magnitude = if second { 3 << 63 } else { magnitude } as i128;
        if x & self.sign() == 0 {
            magnitude
        } else {
            -1 - magnitude
        }
    }

    /// As that, of zeros without their sign.
    fn value(self, x: u128) -> i128 {
        let is_zero = x & !self.sign() == 0;
        if is_zero { 0 } else { self.key(x) }
    }

    /// The element. What is behind the bits that count is different wherever it is no result.
    fn bytes(self, x: u128) -> Vec<u8> {
        let mut bytes = x.to_le_bytes()[..self.bytes].to_vec();
        bytes[self.bits as usize / 8..].fill(x as u8 ^ 0x5a);
        bytes
    }

    fn result(self, x: u128) -> Vec<u8> {
        x.to_le_bytes()[..self.bytes].to_vec()
    }

    fn of(self, bytes: &[u8]) -> u128 {
        let mut all = [0; 16];
        all[..self.bytes].copy_from_slice(bytes);
        u128::from_le_bytes(all)
    }
}

type Operands = (Vec<u8>, Vec<u8>);

fn all_pairs(elements: &[Vec<u8>]) -> Vec<Operands> {
    let pair = |a: &Vec<u8>| {
        elements
            .iter()
            .map(move |b| (a.clone(), b.clone()))
            .collect()
    };
    elements
        .iter()
        .flat_map(|a| -> Vec<Operands> { pair(a) })
        .collect()
}

/// One element at a time.
fn single(op: OpKind, basic: Basic, a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut out = b.to_vec();
    // SAFETY: both have one element.
    unsafe { reducer(op, basic).unwrap()(a.as_ptr(), out.as_mut_ptr(), 1) };
    out
}

/// Whether all pairs give what `expected` says (`None` for anything that is the same both ways), in
/// every place of vectors of every length, by both kernels.
fn check(
    op: OpKind,
    basic: Basic,
    pairs: &[Operands],
    expected: impl Fn(&[u8], &[u8]) -> Option<Vec<u8>>,
) {
    let size = basic.size() as usize;
    let results: Vec<Vec<u8>> = pairs.iter().map(|(a, b)| single(op, basic, a, b)).collect();
    for ((a, b), result) in pairs.iter().zip(&results) {
        let name = format!("{op:?} on {basic:?} of {a:02x?} and {b:02x?}");
        assert_eq!(
            &single(op, basic, b, a),
            result,
            "{name}: not the same both ways"
        );
        if let Some(expected) = expected(a, b) {
            assert_eq!(result, &expected, "{name}");
        }
    }
    let (two, three) = (reducer(op, basic).unwrap(), reduce3(op, basic).unwrap());
    let mut from = 0;
    for len in (1..=67).chain([128, 200]).cycle() {
        let these = || (from..from + len).map(|i| i % pairs.len());
        // Elements begin at odd addresses.
        let lay = |of: &dyn Fn(usize) -> Vec<u8>| {
            let elements = these().flat_map(of);
            [0xee]
                .into_iter()
                .chain(elements)
                .chain([0xee])
                .collect::<Vec<u8>>()
        };
        let (a, mut b) = (lay(&|i| pairs[i].0.clone()), lay(&|i| pairs[i].1.clone()));
        let expected = lay(&|i| results[i].clone());
        let mut out = vec![0xee; len * size + 2];
        // SAFETY: each has `len` elements behind its first byte.
        unsafe {
            let (a, b) = (a.as_ptr().add(1), b.as_mut_ptr().add(1));
            three(a, b, out.as_mut_ptr().add(1), len);
            two(a, b, len);
        }
        assert!(out == expected, "{op:?} of three on {len} {basic:?}");
        assert!(b == expected, "{op:?} of two on {len} {basic:?}");
        from += len;
        if from > 3 * pairs.len() && from > 5000 {
            break;
        }
    }
}

/// Minimum and maximum of IEEE 754-2019.
fn best(f: Format, op: OpKind, a: u128, b: u128) -> u128 {
    let first = match op {
        OpKind::Min | OpKind::MinLoc => f.key(a) < f.key(b),
        _ => f.key(a) > f.key(b),
    };
    match f.is_nan(a) || f.is_nan(b) {
        true => f.nan,
        false if first => a,
        false => b,
    }
}

#[test]
fn extremes_are_those_of_the_standard_for_numbers() {
    for f in formats() {
        let elements: Vec<Vec<u8>> = f.specials().iter().map(|x| f.bytes(*x)).collect();
        for op in [OpKind::Min, OpKind::Max] {
            check(op, f.scalar.into(), &all_pairs(&elements), |a, b| {
                let count = (1u128 << (f.bits - 1) << 1).wrapping_sub(1);
                let (a, b) = (f.of(a) & count, f.of(b) & count);
                let two_forms = a != b && f.key(a) == f.key(b);
                (!two_forms).then(|| f.result(best(f, op, a, b)))
            });
        }
    }
}

#[test]
fn sums_and_products_have_one_nan() {
    for f in formats() {
        let elements: Vec<Vec<u8>> = f.specials().iter().map(|x| f.bytes(*x)).collect();
        for op in [OpKind::Sum, OpKind::Prod] {
            check(op, f.scalar.into(), &all_pairs(&elements), |a, b| {
                let count = (1u128 << (f.bits - 1) << 1).wrapping_sub(1);
                let (a, b) = (f.of(a) & count, f.of(b) & count);
                let is_infinite = |x| x & !f.sign() == f.infinity();
                let is_zero = |x| x & !f.sign() == 0;
                let invalid = match op {
                    OpKind::Sum => is_infinite(a) && is_infinite(b) && a != b,
                    _ => is_infinite(a) && is_zero(b) || is_zero(a) && is_infinite(b),
                };
                let nan = f.is_nan(a) || f.is_nan(b) || invalid;
                nan.then(|| f.result(f.nan))
            });
        }
    }
}

#[test]
fn a_table_of_results() {
    const NAN: u64 = 0x7ff8_0000_0000_0000;
    let bits = f64::to_bits;
    let signalling = 0x7ff0_0000_0000_0001;
    let negative = 0xfff8_0000_0000_1234;
    use OpKind::{Max, Min, Prod, Sum};
    for (op, a, b, expected) in [
        (Min, bits(2.0), NAN, NAN),
        (Min, bits(f64::NEG_INFINITY), negative, NAN),
        (Max, bits(f64::INFINITY), signalling, NAN),
        (Max, negative, signalling, NAN),
        (Min, bits(-0.0), bits(0.0), bits(-0.0)),
        (Max, bits(-0.0), bits(0.0), bits(0.0)),
        (Min, bits(-0.0), bits(-0.0), bits(-0.0)),
        (Max, bits(-0.0), bits(-0.0), bits(-0.0)),
        (Min, 1, 2, 1),
        (Max, 1, bits(-1.0), 1),
        (Sum, NAN, negative, NAN),
        (Sum, bits(f64::INFINITY), bits(f64::NEG_INFINITY), NAN),
        (Sum, bits(-0.0), bits(0.0), bits(0.0)),
        (Sum, bits(-0.0), bits(-0.0), bits(-0.0)),
        (Prod, bits(f64::INFINITY), bits(-0.0), NAN),
        (Prod, signalling, bits(1.0), NAN),
    ] {
        let result = |a: u64, b: u64| {
            let result = single(
                op,
                Scalar::Float64.into(),
                &a.to_le_bytes(),
                &b.to_le_bytes(),
            );
            u64::from_le_bytes(result.try_into().unwrap())
        };
        assert_eq!(result(a, b), expected, "{op:?} of {a:x} and {b:x}");
        assert_eq!(result(b, a), expected, "{op:?} of {b:x} and {a:x}");
    }
}

#[test]
fn complex_numbers_have_one_nan_in_each_part() {
    let kinds = [
        (Scalar::ComplexFloat16, F16),
        (Scalar::ComplexFloat32, F32),
        (Scalar::ComplexFloat64, F64),
        (Scalar::ComplexLongDouble, F80),
    ];
    let there = if cfg!(target_arch = "x86_64") { 4 } else { 3 };
    for (scalar, f) in &kinds[..there] {
        let inf = f.infinity();
        let parts = [0, f.sign(), f.one(), inf, f.nan, inf | f.sign() | 5];
        let parts = parts.map(|x| f.bytes(x));
        let number = |(re, im): Operands| [re, im].concat();
        let numbers: Vec<Vec<u8>> = all_pairs(&parts).into_iter().map(number).collect();
        for op in [OpKind::Sum, OpKind::Prod] {
            let pairs = all_pairs(&numbers);
            check(op, (*scalar).into(), &pairs, |_, _| None);
            for (a, b) in &pairs {
                for part in single(op, (*scalar).into(), a, b).chunks(f.bytes) {
                    let part = f.of(part);
                    assert!(
                        !f.is_nan(part) || part == f.nan,
                        "{op:?} on {scalar:?}: {part:x}"
                    );
                }
            }
        }
    }
}

/// A value that is a number, with the index, in packed data and in memory.
fn located(f: Format, index: Scalar, indices: &[Vec<u8>], lower: impl Fn(&[u8], &[u8]) -> Vec<u8>) {
    let basic = Basic::Pair(f.scalar, index);
    let values: Vec<u128> = f.specials();
    let element = |x: &u128| -> Vec<Vec<u8>> {
        indices
            .iter()
            .map(|i| [f.bytes(*x), i.clone()].concat())
            .collect()
    };
    let elements: Vec<Vec<u8>> = values.iter().flat_map(element).collect();
    let pairs = all_pairs(&elements);
    let count = (1u128 << (f.bits - 1) << 1).wrapping_sub(1);
    for op in [OpKind::MinLoc, OpKind::MaxLoc] {
        check(op, basic, &pairs, |a, b| {
            let ((u, i), (v, j)) = (a.split_at(f.bytes), b.split_at(f.bytes));
            let (u, v) = (f.of(u) & count, f.of(v) & count);
            if u != v && f.key(u) == f.key(v) {
                return None;
            }
            // How good: a NaN is the best.
            let rate = |x| match op {
                _ if f.is_nan(x) => i128::MAX,
                OpKind::MinLoc => -f.value(x),
                _ => f.value(x),
            };
            let index = match rate(u).cmp(&rate(v)) {
                std::cmp::Ordering::Less => j.to_vec(),
                std::cmp::Ordering::Equal => lower(i, j),
                std::cmp::Ordering::Greater => i.to_vec(),
            };
            Some([f.result(best(f, op, u, v)), index].concat())
        });
        in_memory(op, basic, f.bytes, &pairs);
    }
}

/// Whether elements in memory give the packed results, and keep their gaps.
fn in_memory(op: OpKind, basic: Basic, value: usize, pairs: &[Operands]) {
    let (size, extent) = (basic.size() as usize, basic.extent() as usize);
    let index = size - value;
    let index_at = value.next_multiple_of(index);
    let lay = |packed: &[u8], fill| {
        let mut laid = vec![fill; extent];
        laid[..value].copy_from_slice(&packed[..value]);
        laid[index_at..][..index].copy_from_slice(&packed[value..]);
        laid
    };
    for pairs in pairs.chunks(61) {
        let a: Vec<u8> = pairs.iter().flat_map(|(a, _)| lay(a, 0xaa)).collect();
        let mut b: Vec<u8> = pairs.iter().flat_map(|(_, b)| lay(b, 0x55)).collect();
        // SAFETY: both have as many elements.
        unsafe { reducer_in_memory(op, basic).unwrap()(a.as_ptr(), b.as_mut_ptr(), pairs.len()) };
        for ((x, y), laid) in pairs.iter().zip(b.chunks(extent)) {
            let expected = lay(&single(op, basic, x, y), 0x55);
            assert_eq!(
                laid, expected,
                "{op:?} on {basic:?} in memory of {x:02x?}, {y:02x?}"
            );
        }
    }
}

#[test]
fn of_equal_values_and_of_nans_the_lowest_index_counts() {
    let ints = [0i32, -3, i32::MAX].map(|i| i.to_le_bytes().to_vec());
    let longs = [0i64, -3, 1 << 40].map(|i| i.to_le_bytes().to_vec());
    let int = |a: &[u8]| i32::from_le_bytes(a.try_into().unwrap());
    let long = |a: &[u8]| i64::from_le_bytes(a.try_into().unwrap());
    let lower = |first: bool, a: &[u8], b: &[u8]| if first { a.to_vec() } else { b.to_vec() };
    for f in formats() {
        if f.bytes == 2 {
            continue; // no type has such a value and an index
        }
        located(f, Scalar::Int32, &ints, |a, b| lower(int(a) < int(b), a, b));
        located(f, Scalar::Int64, &longs, |a, b| {
            lower(long(a) < long(b), a, b)
        });
    }
    // Indices that are numbers like the values: of two that are to be compared, the minimum.
    for f in [F32, F64] {
        let inf = f.infinity();
        let indices = [0, f.sign(), f.one(), f.nan, inf | f.sign() | 9].map(|x| f.bytes(x));
        located(f, f.scalar, &indices, |a, b| {
            f.result(best(f, OpKind::Min, f.of(a), f.of(b)))
        });
    }
}

#[test]
fn truth_values_other_than_0_and_1_are_true() {
    use Scalar::*;
    let kinds = [
        Int8, Int16, Int32, Int64, Int128, UInt8, UInt16, UInt32, UInt64, Long, ULong, Char, Bool,
        Logical8, Logical16, Logical32, Logical64, Logical128,
    ];
    for scalar in kinds {
        let size = scalar.size() as usize;
        let all: [u128; 7] = [0, 1, 2, 4, 0x80, 0xff, 1 << (8 * size - 1)];
        let elements = all.map(|x| x.to_le_bytes()[..size].to_vec());
        let truth = |x: &[u8]| x.iter().any(|byte| *byte != 0);
        for op in [OpKind::Land, OpKind::Lor, OpKind::Lxor] {
            check(op, scalar.into(), &all_pairs(&elements), |a, b| {
                let (a, b) = (truth(a), truth(b));
                let result = match op {
                    OpKind::Land => a && b,
                    OpKind::Lor => a || b,
                    _ => a != b,
                };
                Some(u128::from(result).to_le_bytes()[..size].to_vec())
            });
        }
    }
}
