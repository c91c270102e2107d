//! What basic elements a type has, in a number: what members of a collective, or both ends of a
//! message, compare.
//!
//! The standard compares *signatures*: the basic elements in packing order, however the type was
//! built and however many of it a call names. So four of `MPI_INT` have the signature of one
//! `MPI_Type_contiguous(4, MPI_INT)`.
//!
//! | number | of what | for whom |
//! |---|---|---|
//! | [`Kinds`] | a type, and any number of it | collectives, beside a number of bytes |
//! | [`Fingerprint`] | the kinds of the first bytes of a message | messages, in checked mode |
//!
//! Both are made of one hash, a polynomial over a prime field: that of two rows one behind the
//! other follows from theirs, so it costs as much as the type has parts, not elements. Divided by
//! *base^length − 1* it is the same for a row and for any repetition of it, as the sum of a
//! geometric series is. Two rows of which one repetition is the other have the same elements; with
//! as many bytes they have as many.

use std::fmt;

use crate::basic::{Basic, Scalar};

/// 2⁶¹ − 1.
const PRIME: u64 = (1 << 61) - 1;
/// Any number that is of high order.
const BASE: u64 = 0x0123_4567_89ab_cdef % PRIME;

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    plus((product as u64) & PRIME, (product >> 61) as u64)
}

fn plus(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= PRIME { sum - PRIME } else { sum }
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut all = 1;
    while exponent != 0 {
        if exponent & 1 != 0 {
            all = times(all, base);
        }
        base = times(base, base);
        exponent >>= 1;
    }
    all
}

/// The hash of a row of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    hash: u64,
    /// [`BASE`] to the power of its length.
    shift: u64,
}

impl Row {
    const EMPTY: Row = Row { hash: 0, shift: 1 };

    /// Of one number.
    fn of(number: u64) -> Self {
        Row {
            // Numbers that differ by little are far apart.
            hash: times(number, 0x9e37_79b9_7f4a_7c15 % PRIME),
            shift: BASE,
        }
    }

    /// This row, and another one behind it.
    fn then(self, next: Row) -> Row {
        Row {
            hash: plus(times(self.hash, next.shift), next.hash),
            shift: times(self.shift, next.shift),
        }
    }

    /// This row that many times. Cost: the logarithm of that.
    fn repeat(self, mut n: u64) -> Row {
        let (mut all, mut some) = (Row::EMPTY, self);
        while n != 0 {
            if n & 1 != 0 {
                all = all.then(some);
            }
            some = some.then(some);
            n >>= 1;
        }
        all
    }

    /// A number that this row and all its repetitions have.
    fn period(self) -> u64 {
        times(self.hash, power(plus(self.shift, PRIME - 1), PRIME - 2))
    }
}

/// What a basic element is to a machine, apart from how large a number may be that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Class {
    /// One byte, of whatever meaning: programs move anything as bytes.
    Byte = 1,
    Int16,
    Int32,
    Int64,
    Int128,
    Float16,
    Float32,
    Float64,
    LongDouble,
    Float128,
}

impl Class {
    /// That of an element, and of each of its parts if it is a complex number.
    fn of(scalar: Scalar) -> (Class, u64) {
        use Scalar::*;
        match scalar {
            Int8 | UInt8 | Char | Byte | Packed | Bool | Logical8 => (Class::Byte, 1),
            Int16 | UInt16 | Logical16 => (Class::Int16, 1),
            Int32 | UInt32 | WChar | Logical32 => (Class::Int32, 1),
            Int64 | UInt64 | Long | ULong | Logical64 => (Class::Int64, 1),
            Int128 | Logical128 => (Class::Int128, 1),
            Float16 => (Class::Float16, 1),
            Float32 => (Class::Float32, 1),
            Float64 => (Class::Float64, 1),
            LongDouble => (Class::LongDouble, 1),
            Float128 => (Class::Float128, 1),
            ComplexFloat16 => (Class::Float16, 2),
            ComplexFloat32 => (Class::Float32, 2),
            ComplexFloat64 => (Class::Float64, 2),
            ComplexLongDouble => (Class::LongDouble, 2),
            ComplexFloat128 => (Class::Float128, 2),
        }
    }
}

/// What can be said of the elements of a row, whatever their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alike<T> {
    Nothing,
    All(T),
    Mixed,
}

impl<T: Copy + PartialEq> Alike<T> {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Alike::Nothing, it) | (it, Alike::Nothing) => it,
            (Alike::All(a), Alike::All(b)) if a == b => self,
            _ => Alike::Mixed,
        }
    }

    fn if_any(self, n: u64) -> Self {
        if n == 0 { Alike::Nothing } else { self }
    }
}

/// What is kept of a row of basic elements: hashes by their classes and by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elements {
    class: Alike<Class>,
    classes: Row,
    scalar: Alike<Scalar>,
    scalars: Row,
}

impl Elements {
    pub(crate) const EMPTY: Elements = Elements {
        class: Alike::Nothing,
        classes: Row::EMPTY,
        scalar: Alike::Nothing,
        scalars: Row::EMPTY,
    };

    fn of(scalar: Scalar) -> Self {
        let (class, parts) = Class::of(scalar);
        Elements {
            class: Alike::All(class),
            classes: Row::of(class as u64).repeat(parts),
            scalar: Alike::All(scalar),
            scalars: Row::of(scalar as u64 + 1),
        }
    }

    /// Of one basic element. A value with an index is two (MPI-5, chapter 6.9.4).
    pub(crate) fn basic(basic: Basic) -> Self {
        match basic {
            Basic::Scalar(scalar) => Elements::of(scalar),
            Basic::Pair(value, index) => Elements::of(value).then(Elements::of(index)),
        }
    }

    pub(crate) fn then(self, next: Elements) -> Self {
        Elements {
            class: self.class.and(next.class),
            classes: self.classes.then(next.classes),
            scalar: self.scalar.and(next.scalar),
            scalars: self.scalars.then(next.scalars),
        }
    }

    pub(crate) fn repeat(self, n: u64) -> Self {
        Elements {
            class: self.class.if_any(n),
            classes: self.classes.repeat(n),
            scalar: self.scalar.if_any(n),
            scalars: self.scalars.repeat(n),
        }
    }

    pub(crate) fn kinds(self) -> Kinds {
        match self.class {
            Alike::Nothing => Kinds::ANY,
            Alike::All(class) => Kinds((class as u32) << Kinds::CLASS),
            Alike::Mixed => {
                let period = self.classes.period();
                let class = Kinds::MIXED + (period % u64::from(16 - Kinds::MIXED)) as u32;
                let hash = (period >> 20) as u32 & ((1 << Kinds::HASH_BITS) - 1);
                Kinds(class << Kinds::CLASS | hash << Kinds::HASH)
            }
        }
    }

    pub(crate) fn fingerprint(self) -> Fingerprint {
        let scalar = match self.scalar {
            Alike::Nothing | Alike::All(Scalar::Packed) => return Fingerprint::ANY,
            Alike::All(scalar) => scalar as u64 + 1,
            Alike::Mixed => 0,
        };
        let hash = self.scalars.hash >> (61 - Fingerprint::SCALAR);
        Fingerprint(scalar << Fingerprint::SCALAR | hash.max(1))
    }
}

/// What kinds of basic elements a type has, in packing order, whatever their number: signed and
/// unsigned numbers of as many bytes, truth values and letters count alike, and a complex number as
/// its two parts. So calls of which one computes with what the other one has can be told from those
/// that only name it otherwise.
///
/// 4 bits of 31 are a class: one of [`Kinds::ANY`], the classes of elements, and [`Kinds::MIXED`]
/// and above for types of several; 12 below are a hash of those.
///
/// # Examples
/// ```
/// use catena_datatype::{Datatype, Kinds};
///
/// let [int, unsigned, float] = [0x209, 0x20d, 0x210].map(|code| Datatype::predefined(code).unwrap());
/// let row = Datatype::vector(2, 3, 4, int)?;
/// assert_eq!((row.kinds(), unsigned.kinds()), (int.kinds(), int.kinds()));
/// assert_ne!(int.kinds(), float.kinds());
/// assert_eq!(int.kinds().to_string(), "4-byte integers");
/// assert_eq!(Kinds::from_bits(float.kinds().bits()), Some(float.kinds()));
/// # Ok::<(), catena_datatype::TypeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kinds(u32);

impl Kinds {
    /// Those of no elements, or unknown ones.
    pub const ANY: Kinds = Kinds(0);
    /// The lowest bit of the class.
    pub const CLASS: u32 = 27;
    /// The first class of types with elements of several classes.
    pub const MIXED: u32 = 11;
    const HASH: u32 = 15;
    const HASH_BITS: u32 = Kinds::CLASS - Kinds::HASH;

    /// As a number of 31 bits, whose lowest 15 are zero.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Those that are such a number; `None` if none are.
    pub fn from_bits(bits: u32) -> Option<Kinds> {
        let class = bits >> Kinds::CLASS;
        let unused = match class {
            Kinds::MIXED.. => (1 << Kinds::HASH) - 1,
            _ => (1 << Kinds::CLASS) - 1,
        };
        (class < 16 && bits & unused == 0).then_some(Kinds(bits))
    }

    /// The class alone, 4 bits.
    #[inline]
    pub const fn class(self) -> u32 {
        self.0 >> Kinds::CLASS
    }

    /// What is known of kinds of which only the class is.
    pub fn of_class(class: u32) -> Kinds {
        Kinds((class & 15) << Kinds::CLASS)
    }

    /// Whether data of all kinds can be moved to or from such elements: bytes, or nothing is known
    /// of them.
    #[inline]
    pub const fn take_all(self) -> bool {
        self.0 >> Kinds::CLASS <= Class::Byte as u32
    }
}

/// As in "4-byte integers".
impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.class() {
            0 => "no elements",
            1 => "bytes",
            2 => "2-byte integers",
            3 => "4-byte integers",
            4 => "8-byte integers",
            5 => "16-byte integers",
            6 => "2-byte floating-point numbers",
            7 => "4-byte floating-point numbers",
            8 => "8-byte floating-point numbers",
            9 => "long doubles",
            10 => "16-byte floating-point numbers",
            _ => "elements of several kinds",
        })
    }
}

/// What the first bytes of some elements are, basic element by basic element, as the standard
/// compares both ends of a message: equal if they have the same elements in the same order. It
/// depends on their number, too.
///
/// 56 bits are a hash, and 8 the element if all are alike.
///
/// # Examples
/// ```
/// use catena_datatype::{Datatype, Fingerprint};
///
/// let [int, float] = [0x209, 0x210].map(|code| Datatype::predefined(code).unwrap());
/// let both = Datatype::structure(&[1, 1], &[0, 4], &[int.clone(), float.clone()])?;
/// // The first element of a pair is a whole message, too; half of an element is none.
/// assert_eq!(both.fingerprint(4), int.fingerprint(4));
/// assert_ne!(both.fingerprint(8), int.fingerprint(8));
/// assert_eq!(both.fingerprint(6), None);
/// assert_eq!(int.fingerprint(8).unwrap().to_string(), "Int32");
/// # Ok::<(), catena_datatype::TypeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// That of nothing, and of `MPI_PACKED`: it fits all.
    pub const ANY: Fingerprint = Fingerprint(0);
    /// Bits of the hash.
    const SCALAR: u32 = 56;

    /// As a number.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// What a number says that another process has sent.
    pub const fn from_bits(bits: u64) -> Self {
        Fingerprint(bits)
    }

    /// Whether data that one of both describes may be taken for what the other one does.
    pub fn fits(self, other: Fingerprint) -> bool {
        self == other || self == Fingerprint::ANY || other == Fingerprint::ANY
    }

    /// The basic element, if all are alike.
    pub fn scalar(self) -> Option<Scalar> {
        let number = (self.0 >> Fingerprint::SCALAR).checked_sub(1)?;
        Scalar::ALL.get(number as usize).copied()
    }
}

/// The basic element in Catena's words, as `Int32`.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.scalar(), *self) {
            (Some(scalar), _) => write!(f, "{scalar:?}"),
            (None, Fingerprint::ANY) => f.write_str("anything"),
            (None, _) => f.write_str("elements of several kinds"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Datatype;
    use crate::datatype::TypeRef;

    fn of(code: u16) -> &'static TypeRef {
        Datatype::predefined(code).expect("it has a name")
    }

    fn pair(a: &TypeRef, b: &TypeRef) -> TypeRef {
        let at = [0, 64];
        Datatype::structure(&[1, 1], &at, &[a.clone(), b.clone()]).unwrap()
    }

    #[test]
    fn elements_count_and_not_how_they_were_put_together() {
        let (int, float, double) = (of(0x209), of(0x210), of(0x214));
        let both = pair(int, float);
        let four = Datatype::contiguous(2, &both).unwrap();
        let odd = Datatype::indexed(&[1, 0, 3], &[9, 4, 2], &both).unwrap();
        assert_eq!(both.kinds(), four.kinds());
        assert_eq!(both.kinds(), odd.kinds());
        assert_eq!(four.fingerprint(16), odd.fingerprint(16));
        assert_eq!(four.fingerprint(12), odd.fingerprint(12));
        let turned = pair(float, int);
        let longer = pair(&both, int);
        let wide = pair(int, double);
        for other in [&turned, &longer, &wide, int, float] {
            assert_ne!(both.kinds(), other.kinds());
            assert_ne!(both.fingerprint(20), other.fingerprint(20));
        }
        // A value with an index is as a structure of both.
        assert_eq!(of(0x228).kinds(), pair(float, int).kinds());
        assert_eq!(of(0x228).fingerprint(8), turned.fingerprint(8));
        assert_eq!(of(0x22b).kinds(), int.kinds(), "MPI_2INT");
        assert_eq!(of(0x22b).fingerprint(8), int.fingerprint(8));
    }

    #[test]
    fn deep_types_are_compared_without_being_laid_out() {
        let (int, float) = (of(0x209), of(0x210));
        let mut deep = pair(int, float);
        let once = deep.kinds();
        for _ in 0..20 {
            deep = Datatype::hvector(3, 1, 0, &pair(&deep, &deep)).unwrap();
        }
        assert_eq!(deep.kinds(), once);
        let flat = pair(int, float);
        let len = 8 * 1_000_000_007;
        assert_eq!(deep.fingerprint(len), flat.fingerprint(len));
        assert_eq!(deep.fingerprint(len + 4), flat.fingerprint(len + 4));
        assert_ne!(deep.fingerprint(len), flat.fingerprint(len + 8));
    }

    #[test]
    fn what_differs_in_name_alone_is_alike_for_collectives() {
        for alike in [
            &[0x209, 0x20d, 0x219, 0x218, 0x23c][..],
            &[0x20a, 0x20b, 0x20e, 0x258, 0x201],
            &[0x207, 0x243, 0x247, 0x238, 0x21e],
            &[0x214, 0x21c, 0x216, 0x21d],
        ] {
            let first = of(alike[0]).kinds();
            assert!(alike.iter().all(|&code| of(code).kinds() == first));
        }
        assert_ne!(of(0x20a).fingerprint(8), of(0x20b).fingerprint(8));
        let bytes = pair(of(0x243), of(0x247));
        assert!(bytes.kinds().take_all() && Kinds::ANY.take_all());
        assert!(!of(0x209).kinds().take_all());
    }

    #[test]
    fn each_class_has_words_and_is_read_again() {
        let mut words = std::collections::BTreeSet::new();
        for code in Datatype::predefined_codes() {
            let kinds = of(code).kinds();
            assert_eq!(Kinds::from_bits(kinds.bits()), Some(kinds));
            words.insert(kinds.to_string());
            let size = of(code).size();
            let print = of(code).fingerprint(size).expect("a whole element");
            assert_eq!(Fingerprint::from_bits(print.bits()), print);
            if let Some(Basic::Scalar(scalar)) = of(code).basic()
                && scalar != Scalar::Packed
            {
                assert_eq!(print.scalar(), Some(scalar));
            }
        }
        assert_eq!(words.len(), 11);
        assert_eq!(Kinds::from_bits(1), None);
        assert_eq!(Kinds::from_bits(3 << Kinds::CLASS | 1 << 20), None);
        assert_eq!(Kinds::from_bits(1 << 31), None);
    }

    #[test]
    fn what_is_empty_or_packed_fits_all() {
        let none = Datatype::contiguous(0, of(0x209)).unwrap();
        assert_eq!(none.kinds(), Kinds::ANY);
        assert_eq!(none.fingerprint(0), Some(Fingerprint::ANY));
        assert_eq!(none.fingerprint(4), None);
        let (packed, int) = (of(0x207).fingerprint(4), of(0x209).fingerprint(4));
        assert!(packed.unwrap().fits(int.unwrap()) && int.unwrap().fits(packed.unwrap()));
        let float = of(0x210).fingerprint(4);
        assert!(!int.unwrap().fits(float.unwrap()));
        assert_eq!(of(0x209).fingerprint(6), None, "half an element");
        let pair = of(0x229);
        assert!(pair.fingerprint(8).is_some() && pair.fingerprint(12).is_some());
        assert_eq!(pair.fingerprint(10), None);
    }
}
