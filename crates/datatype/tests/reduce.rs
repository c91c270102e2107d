//! Every operation on every kind of element against a naive one.

use catena_datatype::{Basic, Datatype, OpKind, Scalar, reduce3, reducer, reducer_in_memory};

const ALL: [OpKind; 14] = [
    OpKind::Sum,
    OpKind::Min,
    OpKind::Max,
    OpKind::Prod,
    OpKind::Band,
    OpKind::Bor,
    OpKind::Bxor,
    OpKind::Land,
    OpKind::Lor,
    OpKind::Lxor,
    OpKind::MinLoc,
    OpKind::MaxLoc,
    OpKind::Replace,
    OpKind::NoOp,
];
const NUMBERS: [OpKind; 2] = [OpKind::Sum, OpKind::Prod];
const REALS: [OpKind; 4] = [OpKind::Sum, OpKind::Prod, OpKind::Min, OpKind::Max];
const BITS: [OpKind; 3] = [OpKind::Band, OpKind::Bor, OpKind::Bxor];
const TRUTHS: [OpKind; 3] = [OpKind::Land, OpKind::Lor, OpKind::Lxor];
const PLACES: [OpKind; 2] = [OpKind::MinLoc, OpKind::MaxLoc];

/// Operations that elements of a kind allow, besides replacing.
fn allowed(basic: Basic) -> Vec<OpKind> {
    use Scalar::*;
    let Basic::Scalar(scalar) = basic else {
        return PLACES.to_vec();
    };
    match scalar {
        Int8 | Int16 | Int32 | Int64 | Int128 | UInt8 | UInt16 | UInt32 | UInt64 | Long | ULong
        | Char => [&REALS[..], &BITS, &TRUTHS].concat(),
        Byte => BITS.to_vec(),
        Bool | Logical8 | Logical16 | Logical32 | Logical64 | Logical128 => TRUTHS.to_vec(),
        Float16 | Float32 | Float64 => REALS.to_vec(),
        LongDouble if cfg!(target_arch = "x86_64") => REALS.to_vec(),
        ComplexFloat16 | ComplexFloat32 | ComplexFloat64 => NUMBERS.to_vec(),
        ComplexLongDouble if cfg!(target_arch = "x86_64") => NUMBERS.to_vec(),
        _ => vec![],
    }
}

#[test]
fn only_what_the_standard_allows_is_defined() {
    for code in Datatype::predefined_codes() {
        let basic = Datatype::predefined(code).unwrap().basic().unwrap();
        let mut allowed = allowed(basic);
        allowed.extend([OpKind::Replace, OpKind::NoOp]);
        for op in ALL {
            let expected = allowed.contains(&op);
            assert_eq!(
                reducer(op, basic).is_some(),
                expected,
                "{op:?} on {basic:?}"
            );
            assert_eq!(
                reduce3(op, basic).is_some(),
                expected,
                "{op:?} on {basic:?}"
            );
        }
    }
}

/// Bytes of two elements.
type Operands<const N: usize> = ([u8; N], [u8; N]);

/// Runs both kernels over the elements, which start at an odd address, and
/// compares with the naive result for each number of elements.
fn check<const N: usize>(
    basic: Basic,
    op: OpKind,
    pairs: &[([u8; N], [u8; N])],
    naive: impl Fn([u8; N], [u8; N]) -> [u8; N],
) {
    assert_eq!(basic.size() as usize, N);
    let two = reducer(op, basic).unwrap_or_else(|| panic!("{op:?} on {basic:?}"));
    let three = reduce3(op, basic).unwrap();
    let lens = (0..pairs.len()).filter(|n| *n < 40 || n % 61 == 0);
    for n in lens.chain([pairs.len()]) {
        let lay = |of: fn(&Operands<N>) -> [u8; N]| {
            let elements = pairs[..n].iter().flat_map(of);
            [0xee]
                .into_iter()
                .chain(elements)
                .chain([0xee])
                .collect::<Vec<u8>>()
        };
        let (a, mut b) = (lay(|p| p.0), lay(|p| p.1));
        let mut out = vec![0xee; n * N + 2];
        // SAFETY: each has `n` elements behind its first byte.
        unsafe {
            three(
                a.as_ptr().add(1),
                b.as_ptr().add(1),
                out.as_mut_ptr().add(1),
                n,
            );
            two(a.as_ptr().add(1), b.as_mut_ptr().add(1), n);
        }
        let expected = pairs[..n].iter().flat_map(|(a, b)| naive(*a, *b));
        let expected: Vec<u8> = [0xee].into_iter().chain(expected).chain([0xee]).collect();
        assert_eq!(b, expected, "{op:?} on {n} {basic:?}");
        assert_eq!(out, expected, "{op:?} of three on {n} {basic:?}");
    }
}

/// A different pattern for every call and place.
fn pattern(seed: &mut u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) ^ (*seed << 7)
}

/// Pairs of values made from patterns; now and then both are the same.
fn values<T: Copy, const N: usize>(
    make: impl Fn(u64) -> T,
    bytes: impl Fn(T) -> [u8; N],
) -> Vec<([u8; N], [u8; N])> {
    let mut seed = N as u64;
    let pair = |i: u64| {
        let (a, b) = (pattern(&mut seed), pattern(&mut seed));
        let b = if i.is_multiple_of(7) { a } else { b };
        (bytes(make(a)), bytes(make(b)))
    };
    (0..300).map(pair).collect()
}

macro_rules! integers {
    ($($scalar:ident $t:ty),* $(,)?) => {$({
        let basic = Basic::Scalar(Scalar::$scalar);
        // Every fourth is zero, for the truth values.
        let make = |x: u64| if x % 4 == 0 { 0 } else
            { x.wrapping_mul(0x9e37_79b9_7f4a_7c15) as $t };
        let pairs = values(make, <$t>::to_ne_bytes);
        for op in allowed(basic) {
            check(basic, op, &pairs, |a, b| {
                let (a, b) = (<$t>::from_ne_bytes(a), <$t>::from_ne_bytes(b));
                let truth = |x: bool| <$t>::from(x);
                let c = match op {
                    OpKind::Sum => a.wrapping_add(b),
                    OpKind::Prod => a.wrapping_mul(b),
                    OpKind::Min => a.min(b),
                    OpKind::Max => a.max(b),
                    OpKind::Band => a & b,
                    OpKind::Bor => a | b,
                    OpKind::Bxor => a ^ b,
                    OpKind::Land => truth(a != 0 && b != 0),
                    OpKind::Lor => truth(a != 0 || b != 0),
                    _ => truth((a != 0) != (b != 0)),
                };
                c.to_ne_bytes()
            });
        }
    })*};
}

#[test]
fn integers_bytes_and_truth_values() {
    integers!(
        Int8 i8, Int16 i16, Int32 i32, Int64 i64, Int128 i128, UInt8 u8, UInt16 u16, UInt32 u32,
        UInt64 u64, Long i64, ULong u64, Char i8, Byte u8, Bool u8, Logical8 u8, Logical16 u16,
        Logical32 u32, Logical64 u64, Logical128 u128,
    );
}

/// What an operation does to real numbers.
fn real(op: OpKind, a: f64, b: f64) -> f64 {
    match op {
        OpKind::Sum => a + b,
        OpKind::Prod => a * b,
        OpKind::Min => a.min(b),
        _ => a.max(b),
    }
}

/// Small halves and whole numbers, exact in every format.
fn small(x: u64) -> f64 {
    (x % 41) as f64 / 2.0 - 10.0
}

/// The 80-bit form of a number, with nothing behind it.
fn extended(x: f64) -> [u8; 16] {
    let bits = x.to_bits();
    let sign = u128::from(bits >> 63) << 79;
    let exponent = u128::from(bits >> 52 & 0x7ff) + 16383 - 1023;
    let magnitude = match x == 0.0 {
        true => 0,
        false => exponent << 64 | 1 << 63 | u128::from(bits << 12 >> 1),
    };
    (sign | magnitude).to_le_bytes()
}

/// The number of an 80-bit form.
fn double(bytes: [u8; 16]) -> f64 {
    let bits = u128::from_le_bytes(bytes);
    let significand = bits as u64 as f64 / (1u64 << 63) as f64;
    let exponent = (bits >> 64 & 0x7fff) as i32 - 16383;
    let sign = if bits >> 79 & 1 == 1 { -1.0 } else { 1.0 };
    sign * significand * 2f64.powi(exponent.max(-100))
}

/// The 16-bit form of a small number.
fn half(x: f64) -> u16 {
    if x == 0.0 {
        return if x.is_sign_negative() { 0x8000 } else { 0 };
    }
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) + 15 - 1023;
    (bits >> 48 & 0x8000 | exponent << 10 | bits >> 42 & 0x3ff) as u16
}

/// The number of a normal 16-bit form or zero.
fn of_half(x: u16) -> f64 {
    let sign = if x >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(x >> 10 & 0x1f) - 15;
    if x & 0x7fff == 0 {
        return 0.0 * sign;
    }
    sign * (1.0 + f64::from(x & 0x3ff) / 1024.0) * 2f64.powi(exponent)
}

#[test]
fn real_numbers() {
    for op in REALS {
        let pairs = values(small, |x| x.to_ne_bytes());
        check(Scalar::Float64.into(), op, &pairs, |a, b| {
            real(op, f64::from_ne_bytes(a), f64::from_ne_bytes(b)).to_ne_bytes()
        });
        let pairs = values(small, |x| (x as f32).to_ne_bytes());
        check(Scalar::Float32.into(), op, &pairs, |a, b| {
            let (a, b) = (f32::from_ne_bytes(a), f32::from_ne_bytes(b));
            (real(op, a.into(), b.into()) as f32).to_ne_bytes()
        });
        let pairs = values(small, |x| half(x).to_ne_bytes());
        check(Scalar::Float16.into(), op, &pairs, |a, b| {
            let (a, b) = (u16::from_ne_bytes(a), u16::from_ne_bytes(b));
            half(real(op, of_half(a), of_half(b))).to_ne_bytes()
        });
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn long_doubles() {
    for op in REALS {
        check(
            Scalar::LongDouble.into(),
            op,
            &values(small, extended),
            |a, b| extended(real(op, double(a), double(b))),
        );
    }
    // One and the smallest larger number: no double holds their sum.
    let next = (u128::from_le_bytes(extended(1.0)) + 1).to_le_bytes();
    let sum = (u128::from_le_bytes(extended(4.0)) - (1 << 64)).to_le_bytes();
    let even = [(extended(1.0), extended(1.0)), (next, next)];
    check(
        Scalar::LongDouble.into(),
        OpKind::Sum,
        &even,
        |a, _| match a == next {
            false => extended(2.0),
            true => (u128::from_le_bytes(sum) + 1).to_le_bytes(),
        },
    );
    for op in NUMBERS {
        let join = |a: [u8; 16], b: [u8; 16]| <[u8; 32]>::try_from([a, b].concat()).unwrap();
        let make = |x: u64| (small(x), small(x / 50));
        let pairs = values(make, |(re, im)| join(extended(re), extended(im)));
        check(Scalar::ComplexLongDouble.into(), op, &pairs, |a, b| {
            let part = |x: [u8; 32], i: usize| double(x[i..i + 16].try_into().unwrap());
            let (a, b) = ((part(a, 0), part(a, 16)), (part(b, 0), part(b, 16)));
            let (re, im) = complex(op, a, b);
            join(extended(re), extended(im))
        });
    }
}

/// What an operation does to complex numbers.
fn complex(op: OpKind, a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    match op {
        OpKind::Sum => (a.0 + b.0, a.1 + b.1),
        _ => (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0),
    }
}

#[test]
fn complex_numbers() {
    for op in NUMBERS {
        let make = |x: u64| (small(x), small(x / 50));
        let double = |(re, im): (f64, f64)| {
            <[u8; 16]>::try_from([re, im].map(f64::to_ne_bytes).concat()).unwrap()
        };
        let part = |x: [u8; 16], i: usize| f64::from_ne_bytes(x[i..i + 8].try_into().unwrap());
        check(
            Scalar::ComplexFloat64.into(),
            op,
            &values(make, double),
            |a, b| {
                double(complex(
                    op,
                    (part(a, 0), part(a, 8)),
                    (part(b, 0), part(b, 8)),
                ))
            },
        );
        let single = |(re, im): (f64, f64)| {
            <[u8; 8]>::try_from([re as f32, im as f32].map(f32::to_ne_bytes).concat()).unwrap()
        };
        let part =
            |x: [u8; 8], i: usize| f64::from(f32::from_ne_bytes(x[i..i + 4].try_into().unwrap()));
        check(
            Scalar::ComplexFloat32.into(),
            op,
            &values(make, single),
            |a, b| {
                single(complex(
                    op,
                    (part(a, 0), part(a, 4)),
                    (part(b, 0), part(b, 4)),
                ))
            },
        );
    }
}

/// The pair that `op` chooses.
fn choose<V: PartialOrd, I: PartialOrd>(op: OpKind, a: (V, I), b: (V, I)) -> (V, I) {
    let first = match op {
        _ if a.0 == b.0 => a.1 < b.1,
        OpKind::MinLoc => a.0 < b.0,
        _ => a.0 > b.0,
    };
    if first { a } else { b }
}

macro_rules! pairs {
    ($($v:ident $vt:ty, $i:ident $it:ty, $n:literal;)*) => {$({
        const V: usize = size_of::<$vt>();
        let bytes = |(v, i): ($vt, $it)| {
            <[u8; $n]>::try_from([&v.to_ne_bytes()[..], &i.to_ne_bytes()].concat()).unwrap()
        };
        let parts = |x: [u8; $n]| {
            let (v, i) = x.split_at(V);
            (<$vt>::from_ne_bytes(v.try_into().unwrap()),
                <$it>::from_ne_bytes(i.try_into().unwrap()))
        };
        // Few values, so that there are ties.
        let all = values(|x| ((x % 5) as $vt, (x / 7 % 100) as $it), bytes);
        for op in PLACES {
            let basic = Basic::Pair(Scalar::$v, Scalar::$i);
            check(basic, op, &all, |a, b| bytes(choose(op, parts(a), parts(b))));
        }
    })*};
}

#[test]
fn values_with_an_index() {
    pairs! {
        Float32 f32, Int32 i32, 8;
        Float64 f64, Int32 i32, 12;
        Long i64, Int32 i32, 12;
        Int32 i32, Int32 i32, 8;
        Int16 i16, Int32 i32, 6;
        Float32 f32, Float32 f32, 8;
        Float64 f64, Float64 f64, 16;
        UInt8 u8, Int64 i64, 9;
    }
}

/// Elements with gaps: values of `value` bytes, indices of `index` bytes at `index_at`.
#[derive(Clone, Copy)]
struct Gapped {
    value: usize,
    index_at: usize,
    index: usize,
    extent: usize,
}

impl Gapped {
    /// The elements, with `fill` in their gaps.
    fn lay(self, packed: &[u8], fill: u8) -> Vec<u8> {
        let lay = |element: &[u8]| {
            let mut laid = vec![fill; self.extent];
            laid[..self.value].copy_from_slice(&element[..self.value]);
            laid[self.index_at..][..self.index].copy_from_slice(&element[self.value..]);
            laid
        };
        let elements = packed.chunks(self.value + self.index);
        elements.flat_map(lay).collect()
    }
}

#[test]
fn in_memory_gaps_stay_as_they_are() {
    use Scalar::*;
    let gapped = |value, index_at, index, extent| Gapped {
        value,
        index_at,
        index,
        extent,
    };
    let mut types = vec![
        (Basic::Pair(Float64, Int32), gapped(8, 8, 4, 16)),
        (Basic::Pair(Long, Int32), gapped(8, 8, 4, 16)),
        (Basic::Pair(Int16, Int32), gapped(2, 4, 4, 8)),
        (Basic::Pair(UInt64, Int32), gapped(8, 8, 4, 16)),
        (Basic::Pair(Float32, Int64), gapped(4, 8, 8, 16)),
        (Basic::Pair(UInt8, Int32), gapped(1, 4, 4, 8)),
        (Basic::Pair(Float32, Int32), gapped(4, 4, 4, 8)),
    ];
    if cfg!(target_arch = "x86_64") {
        types.push((Basic::Pair(LongDouble, Int32), gapped(16, 16, 4, 32)));
    }
    for (basic, gaps) in types {
        assert_eq!(basic.extent() as usize, gaps.extent);
        let size = basic.size() as usize;
        for op in [
            OpKind::MinLoc,
            OpKind::MaxLoc,
            OpKind::Replace,
            OpKind::NoOp,
        ] {
            // Few values, so that there are ties; negative ones, too.
            let some = |from: usize| {
                let byte = |at: usize| match (basic, at % size) {
                    // A number like any other.
                    (Basic::Pair(LongDouble, _), 7) => 0x80,
                    (Basic::Pair(LongDouble, _), 8) => 0xff,
                    (Basic::Pair(LongDouble, _), 9) => 0x3f,
                    (_, in_element) => [0, 0xbf, 7][(from + at / size * 5 + in_element) % 3],
                };
                (0..100 * size).map(byte).collect::<Vec<u8>>()
            };
            let (a, b) = (some(0), some(1));
            for n in [0, 1, 2, 3, 7, 100] {
                let (a, b) = (&a[..n * size], &b[..n * size]);
                let mut packed = b.to_vec();
                let (laid, mut both) = (gaps.lay(a, 0xaa), gaps.lay(b, 0x55));
                both.push(0xee);
                // SAFETY: all have `n` elements.
                unsafe {
                    reducer(op, basic).unwrap()(a.as_ptr(), packed.as_mut_ptr(), n);
                    reducer_in_memory(op, basic).unwrap()(laid.as_ptr(), both.as_mut_ptr(), n);
                }
                assert_eq!(both.pop(), Some(0xee), "behind the last element");
                assert_eq!(both, gaps.lay(&packed, 0x55), "{op:?} on {n} {basic:?}");
            }
        }
    }
}

#[test]
fn replacing_takes_one_operand() {
    for code in Datatype::predefined_codes() {
        let basic = Datatype::predefined(code).unwrap().basic().unwrap();
        let len = 3 * basic.size() as usize;
        let (a, b): (Vec<u8>, Vec<u8>) = (0..len).map(|i| (i as u8, 200 - i as u8)).unzip();
        for (op, expected) in [(OpKind::Replace, &a), (OpKind::NoOp, &b)] {
            let (mut two, mut three) = (b.clone(), vec![0; len]);
            // SAFETY: all have three elements.
            unsafe {
                reducer(op, basic).unwrap()(a.as_ptr(), two.as_mut_ptr(), 3);
                reduce3(op, basic).unwrap()(a.as_ptr(), b.as_ptr(), three.as_mut_ptr(), 3);
            }
            assert_eq!((&two, &three), (expected, expected), "{op:?} on {basic:?}");
        }
    }
}
