//! Truth values of a Fortran compiler (MPI-5, chapter 21.4.1). Unless the
//! program says otherwise they are those of C.

use std::sync::OnceLock;

use super::kernel::{Kernels, pick};
use super::op_kind::OpKind;
use super::ops::{self, Logic};

/// What `.TRUE.` and `.FALSE.` look like in the lowest bytes of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Booleans {
    /// Bytes of a `LOGICAL`.
    pub size: usize,
    /// `.TRUE.`
    pub truth: u128,
    /// `.FALSE.`
    pub falsehood: u128,
}

static BOOLEANS: OnceLock<Booleans> = OnceLock::new();

/// Says what the truth values are; false if it was said before.
pub fn set_booleans(booleans: Booleans) -> bool {
    BOOLEANS.set(booleans).is_ok()
}

/// What [`set_booleans`] said.
pub fn booleans() -> Option<Booleans> {
    BOOLEANS.get().copied()
}

/// A `LOGICAL` whose truth values are not those of C.
#[derive(Clone, Copy)]
struct Logical<T>(T);

/// An integer that a `LOGICAL` can be.
pub(super) trait Word: Logic + Eq {
    fn of_bits(bits: u128) -> Self;
}

macro_rules! words {
    ($($t:ty)*) => {$(
        impl Word for $t {
            fn of_bits(bits: u128) -> Self {
                bits as $t
            }
        }
    )*};
}

words!(u8 u16 u32 u64 u128);

impl<T: Word> Logic for Logical<T> {
    fn truth(self) -> bool {
        booleans().is_some_and(|b| self.0 != T::of_bits(b.falsehood))
    }

    fn of(truth: bool) -> Self {
        let b = booleans().expect("such elements exist only once it was said");
        Logical(T::of_bits(if truth { b.truth } else { b.falsehood }))
    }
}

/// The kernels for a `LOGICAL` of the size of `T`.
pub(super) fn logic<T: Word>(op: OpKind) -> Option<Kernels> {
    match booleans() {
        Some(b) if b.size == size_of::<T>() && (b.truth, b.falsehood) != (1, 0) => {
            logic_in_c::<Logical<T>>(op)
        }
        _ => logic_in_c::<T>(op),
    }
}

/// The kernels for truth values as C has them.
pub(super) fn logic_in_c<T: Logic>(op: OpKind) -> Option<Kernels> {
    match op {
        OpKind::Land => Some(pick::<T, ops::Land>()),
        OpKind::Lor => Some(pick::<T, ops::Lor>()),
        OpKind::Lxor => Some(pick::<T, ops::Lxor>()),
        _ => None,
    }
}
