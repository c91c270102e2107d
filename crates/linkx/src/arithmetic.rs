//! Atomics on memory of this process, which peers ask for: those of the processor, element by
//! element, where an element is aligned.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

/// Bytes of one atomic, at most: operands, those that are compared with, and results each.
pub const MOST: usize = 4096;

/// Operations, numbered as `enum fi_op`.
mod op {
    use std::ffi::c_int;

    pub const MIN: c_int = 0;
    pub const MAX: c_int = 1;
    pub const SUM: c_int = 2;
    pub const PROD: c_int = 3;
    pub const LOR: c_int = 4;
    pub const LAND: c_int = 5;
    pub const BOR: c_int = 6;
    pub const BAND: c_int = 7;
    pub const LXOR: c_int = 8;
    pub const BXOR: c_int = 9;
    pub const READ: c_int = 10;
    pub const WRITE: c_int = 11;
    pub const CSWAP: c_int = 12;
    pub const CSWAP_NE: c_int = 13;
    pub const CSWAP_LE: c_int = 14;
    pub const CSWAP_LT: c_int = 15;
    pub const CSWAP_GE: c_int = 16;
    pub const CSWAP_GT: c_int = 17;
    pub const MSWAP: c_int = 18;
}

/// Which operations a call may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// It only changes memory.
    Plain,
    /// It gives what was there.
    Fetching,
    /// It compares, or has a mask, besides.
    Comparing,
}

/// Bytes of one element of a type, numbered as `enum fi_datatype`; `None` if there are no atomics
/// on it.
pub fn size(ty: c_int) -> Option<usize> {
    Some(match ty {
        0 | 1 => 1,
        2 | 3 => 2,
        4 | 5 | 8 => 4,
        6 | 7 | 9 => 8,
        _ => return None,
    })
}

/// Whether there is such an atomic.
pub fn is_valid(ty: c_int, operation: c_int, form: Form) -> bool {
    let is_float = ty == 8 || ty == 9;
    let takes_bits = matches!(operation, op::BOR | op::BAND | op::BXOR | op::MSWAP);
    let is_of_form = match form {
        Form::Plain => operation <= op::WRITE && operation != op::READ,
        Form::Fetching => operation <= op::WRITE,
        Form::Comparing => (op::CSWAP..=op::MSWAP).contains(&operation),
    };
    size(ty).is_some() && operation >= 0 && is_of_form && !(is_float && takes_bits)
}

/// Whether an operation needs no operands: it only tells what is there.
pub fn only_reads(operation: c_int) -> bool {
    operation == op::READ
}

/// What every type can do.
trait Element: Copy + PartialEq + PartialOrd {
    fn sum(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
    fn is_true(self) -> bool;
    fn truth(of: bool) -> Self;
    /// Joins bits; of the first what a mask has not.
    fn bits(self, other: Self, mask: Self, operation: c_int) -> Self;
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Element for $ty {
            fn sum(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn product(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn is_true(self) -> bool {
                self != 0
            }
            fn truth(of: bool) -> Self {
                of.into()
            }
            fn bits(self, other: Self, mask: Self, operation: c_int) -> Self {
                match operation {
                    op::BOR => self | other,
                    op::BAND => self & other,
                    op::BXOR => self ^ other,
                    _ => self & !mask | other & mask,
                }
            }
        }
    )*};
}

integers!(i8 u8 i16 u16 i32 u32 i64 u64);

macro_rules! floats {
    ($($ty:ty)*) => {$(
        impl Element for $ty {
            fn sum(self, other: Self) -> Self {
                self + other
            }
            fn product(self, other: Self) -> Self {
                self * other
            }
            fn is_true(self) -> bool {
                self != 0.0
            }
            fn truth(of: bool) -> Self {
                of.into()
            }
            fn bits(self, _other: Self, _mask: Self, _operation: c_int) -> Self {
                self
            }
        }
    )*};
}

floats!(f32 f64);

/// What an element is after an operation with `operand`, and with what it is compared.
fn result<T: Element>(old: T, operand: T, compare: T, operation: c_int) -> T {
    let if_so = |swaps: bool| if swaps { operand } else { old };
    match operation {
        op::MIN => if_so(operand < old),
        op::MAX => if_so(operand > old),
        op::SUM => old.sum(operand),
        op::PROD => old.product(operand),
        op::LOR => T::truth(old.is_true() || operand.is_true()),
        op::LAND => T::truth(old.is_true() && operand.is_true()),
        op::LXOR => T::truth(old.is_true() != operand.is_true()),
        op::READ => old,
        op::WRITE => operand,
        op::CSWAP => if_so(compare == old),
        op::CSWAP_NE => if_so(compare != old),
        op::CSWAP_LE => if_so(compare <= old),
        op::CSWAP_LT => if_so(compare < old),
        op::CSWAP_GE => if_so(compare >= old),
        op::CSWAP_GT => if_so(compare > old),
        _ => old.bits(operand, compare, operation),
    }
}

/// Carries an atomic out, and appends what was there to `before`. Operands, and what is compared
/// with, may be missing where the operation takes none.
///
/// # Safety
/// `at` leads to `len` bytes that may be read and written.
pub unsafe fn perform(
    (ty, operation): (c_int, c_int),
    (at, len): (*mut u8, usize),
    operands: &[u8],
    compare: &[u8],
    before: &mut Vec<u8>,
) {
    macro_rules! each {
        ($ty:ty, $atomic:ty) => {{
            const SIZE: usize = size_of::<$ty>();
            let read = |from: &[u8], number: usize| {
                let bytes = from
                    .get(number * SIZE..)
                    .and_then(|it| it.first_chunk::<SIZE>());
                bytes.map_or_else(<$ty>::default, |it| <$ty>::from_ne_bytes(*it))
            };
            for number in 0..len / SIZE {
                let (with, other) = (read(operands, number), read(compare, number));
                let after = |old: $ty| result(old, with, other, operation);
                let place = at.wrapping_add(number * SIZE);
                let old = if place.addr().is_multiple_of(SIZE) {
                    // SAFETY: within what was promised, and aligned. Processes that share the
                    // memory use atomics of the processor there, too.
                    let word = unsafe { <$atomic>::from_ptr(place.cast()) };
                    let bits = |it: $ty| it.to_ne_bytes();
                    let changed = word.fetch_update(SeqCst, SeqCst, |old| {
                        let old = <$ty>::from_ne_bytes(old.to_ne_bytes());
                        Some(FromBytes::from_bytes(bits(after(old))))
                    });
                    let (Ok(old) | Err(old)) = changed;
                    <$ty>::from_ne_bytes(old.to_ne_bytes())
                } else {
                    // SAFETY: within what was promised.
                    unsafe {
                        let place = place.cast::<$ty>();
                        let old = place.read_unaligned();
                        place.write_unaligned(after(old));
                        old
                    }
                };
                before.extend(old.to_ne_bytes());
            }
        }};
    }
    match ty {
        0 => each!(i8, AtomicU8),
        1 => each!(u8, AtomicU8),
        2 => each!(i16, AtomicU16),
        3 => each!(u16, AtomicU16),
        4 => each!(i32, AtomicU32),
        5 => each!(u32, AtomicU32),
        6 => each!(i64, AtomicU64),
        7 => each!(u64, AtomicU64),
        8 => each!(f32, AtomicU32),
        9 => each!(f64, AtomicU64),
        _ => {}
    }
}

/// A word of the processor's, from the bytes of an element that is as long.
trait FromBytes<const N: usize> {
    fn from_bytes(bytes: [u8; N]) -> Self;
}

macro_rules! words {
    ($($ty:ty)*) => {$(
        impl FromBytes<{ size_of::<$ty>() }> for $ty {
            fn from_bytes(bytes: [u8; size_of::<$ty>()]) -> Self {
                <$ty>::from_ne_bytes(bytes)
            }
        }
    )*};
}

words!(u8 u16 u32 u64);

#[cfg(test)]
mod tests {
    use super::*;

    fn one(ty: c_int, operation: c_int, old: i32, with: i32, compare: i32) -> (i32, i32) {
        let (mut word, mut before) = (old.to_ne_bytes(), Vec::new());
        let (with, compare) = (with.to_ne_bytes(), compare.to_ne_bytes());
        // SAFETY: four bytes.
        unsafe {
            perform(
                (ty, operation),
                (word.as_mut_ptr(), 4),
                &with,
                &compare,
                &mut before,
            );
        }
        let before = before.try_into().map_or(0, i32::from_ne_bytes);
        (i32::from_ne_bytes(word), before)
    }

    #[test]
    fn every_operation_does_what_it_says() {
        for (operation, old, with, compare, new) in [
            (op::MIN, 3, -5, 0, -5),
            (op::MAX, 3, -5, 0, 3),
            (op::SUM, i32::MAX, 1, 0, i32::MIN),
            (op::PROD, 6, 7, 0, 42),
            (op::LOR, 0, 9, 0, 1),
            (op::LAND, 4, 0, 0, 0),
            (op::LXOR, 4, 2, 0, 0),
            (op::BOR, 4, 3, 0, 7),
            (op::BAND, 6, 3, 0, 2),
            (op::BXOR, 6, 3, 0, 5),
            (op::READ, 6, 3, 0, 6),
            (op::WRITE, 6, 3, 0, 3),
            (op::CSWAP, 6, 3, 6, 3),
            (op::CSWAP, 6, 3, 5, 6),
            (op::CSWAP_NE, 6, 3, 5, 3),
            (op::CSWAP_LE, 6, 3, 6, 3),
            (op::CSWAP_LT, 6, 3, 6, 6),
            (op::CSWAP_GE, 6, 3, 6, 3),
            (op::CSWAP_GT, 6, 3, 6, 6),
            (op::MSWAP, 0b1100, 0b1010, 0b0110, 0b1010),
        ] {
            assert_eq!(
                one(4, operation, old, with, compare),
                (new, old),
                "{operation}"
            );
        }
        assert_eq!(one(5, op::MIN, 3, -5, 0).0, 3, "unsigned");
    }

    #[test]
    fn forms_have_their_operations() {
        assert!(is_valid(7, op::SUM, Form::Plain) && !is_valid(7, op::READ, Form::Plain));
        assert!(is_valid(7, op::READ, Form::Fetching) && !is_valid(9, op::BOR, Form::Plain));
        assert!(is_valid(7, op::CSWAP, Form::Comparing) && !is_valid(7, op::CSWAP, Form::Plain));
        assert!(!is_valid(12, op::SUM, Form::Plain) && !is_valid(7, -1, Form::Plain));
        assert!(!is_valid(7, 19, Form::Comparing));
    }
}
