//! The predefined types, by their handles in the MPI-5 ABI.

use std::sync::atomic::{AtomicPtr, Ordering};

use crate::basic::Basic;
use crate::basic::Scalar::{self, *};
use crate::body::Body;
use crate::datatype::{Datatype, TypeRef};
use crate::spec::Spec;

/// First handle of a datatype (`MPI_DATATYPE_NULL`).
const FIRST: u16 = 0x200;

/// Handles of single values.
const SCALARS: &[(u16, Scalar)] = &[
    (0x201, Int64),             // AINT
    (0x202, Int64),             // COUNT
    (0x203, Int64),             // OFFSET
    (0x207, Packed),            // PACKED
    (0x208, Int16),             // SHORT
    (0x209, Int32),             // INT
    (0x20a, Long),              // LONG
    (0x20b, Int64),             // LONG_LONG
    (0x20c, UInt16),            // UNSIGNED_SHORT
    (0x20d, UInt32),            // UNSIGNED
    (0x20e, ULong),             // UNSIGNED_LONG
    (0x20f, UInt64),            // UNSIGNED_LONG_LONG
    (0x210, Float32),           // FLOAT
    (0x212, ComplexFloat32),    // C_FLOAT_COMPLEX
    (0x213, ComplexFloat32),    // CXX_FLOAT_COMPLEX
    (0x214, Float64),           // DOUBLE
    (0x216, ComplexFloat64),    // C_DOUBLE_COMPLEX
    (0x217, ComplexFloat64),    // CXX_DOUBLE_COMPLEX
    (0x218, Logical32),         // LOGICAL
    (0x219, Int32),             // INTEGER
    (0x21a, Float32),           // REAL
    (0x21b, ComplexFloat32),    // COMPLEX
    (0x21c, Float64),           // DOUBLE_PRECISION
    (0x21d, ComplexFloat64),    // DOUBLE_COMPLEX
    (0x21e, Char),              // CHARACTER
    (0x220, LongDouble),        // LONG_DOUBLE
    (0x224, ComplexLongDouble), // C_LONG_DOUBLE_COMPLEX
    (0x225, ComplexLongDouble), // CXX_LONG_DOUBLE_COMPLEX
    (0x238, Bool),              // C_BOOL
    (0x239, Bool),              // CXX_BOOL
    (0x23c, WChar),             // WCHAR
    (0x240, Int8),              // INT8_T
    (0x241, UInt8),             // UINT8_T
    (0x243, Char),              // CHAR
    (0x244, Int8),              // SIGNED_CHAR
    (0x245, UInt8),             // UNSIGNED_CHAR
    (0x247, Byte),              // BYTE
    (0x248, Int16),             // INT16_T
    (0x249, UInt16),            // UINT16_T
    (0x250, Int32),             // INT32_T
    (0x251, UInt32),            // UINT32_T
    (0x258, Int64),             // INT64_T
    (0x259, UInt64),            // UINT64_T
    (0x2c0, Logical8),          // LOGICAL1
    (0x2c1, Int8),              // INTEGER1
    (0x2c8, Logical16),         // LOGICAL2
    (0x2c9, Int16),             // INTEGER2
    (0x2ca, Float16),           // REAL2
    (0x2d0, Logical32),         // LOGICAL4
    (0x2d1, Int32),             // INTEGER4
    (0x2d2, Float32),           // REAL4
    (0x2d3, ComplexFloat16),    // COMPLEX4
    (0x2d8, Logical64),         // LOGICAL8
    (0x2d9, Int64),             // INTEGER8
    (0x2da, Float64),           // REAL8
    (0x2db, ComplexFloat32),    // COMPLEX8
    (0x2e0, Logical128),        // LOGICAL16
    (0x2e1, Int128),            // INTEGER16
    (0x2e2, Float128),          // REAL16
    (0x2e3, ComplexFloat64),    // COMPLEX16
    (0x2eb, ComplexFloat128),   // COMPLEX32
];

/// Handles of values with an index, and of both parts.
const PAIRS: &[(u16, u16, u16)] = &[
    (0x228, 0x210, 0x209), // FLOAT_INT
    (0x229, 0x214, 0x209), // DOUBLE_INT
    (0x22a, 0x20a, 0x209), // LONG_INT
    (0x22b, 0x209, 0x209), // 2INT
    (0x22c, 0x208, 0x209), // SHORT_INT
    (0x22d, 0x220, 0x209), // LONG_DOUBLE_INT
    (0x230, 0x21a, 0x21a), // 2REAL
    (0x231, 0x21c, 0x21c), // 2DOUBLE_PRECISION
    (0x232, 0x219, 0x219), // 2INTEGER
];

/// Bytes of Fortran's types, as a compiler has them by its options (MPI-5, chapter 20.4).
///
/// # Examples
/// ```
/// use catena_datatype::FortranSizes;
///
/// assert!(FortranSizes { integer: 8, ..FortranSizes::default() }.are_known());
/// assert!(!FortranSizes { real: 10, ..FortranSizes::default() }.are_known());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FortranSizes {
    /// Of a `LOGICAL`: 4 or 8.
    pub logical: usize,
    /// Of an `INTEGER`: 4 or 8.
    pub integer: usize,
    /// Of a `REAL`, and of each part of a `COMPLEX`: 4 or 8.
    pub real: usize,
    /// Of a `DOUBLE PRECISION`, and of each part of a `DOUBLE COMPLEX`: 8 or 16.
    pub double_precision: usize,
}

impl Default for FortranSizes {
    fn default() -> Self {
        FortranSizes {
            logical: 4,
            integer: 4,
            real: 4,
            double_precision: 8,
        }
    }
}

impl FortranSizes {
    /// Whether there are elements of these sizes.
    pub fn are_known(self) -> bool {
        [self.logical, self.integer, self.real]
            .iter()
            .all(|n| [4, 8].contains(n))
            && [8, 16].contains(&self.double_precision)
    }

    /// The element of a type in [`SCALARS`].
    fn scalar(self, code: u16) -> Option<Scalar> {
        let found = SCALARS.iter().find(|entry| entry.0 == code)?;
        Some(match code {
            0x218 if self.logical == 8 => Logical64,
            0x219 if self.integer == 8 => Int64,
            0x21a if self.real == 8 => Float64,
            0x21b if self.real == 8 => ComplexFloat64,
            0x21c if self.double_precision == 16 => Float128,
            0x21d if self.double_precision == 16 => ComplexFloat128,
            _ => found.1,
        })
    }
}

type Table = [Option<TypeRef>; 256];

/// The types in use. A table lives as long as the process, for types lead into it.
static TABLE: AtomicPtr<Table> = AtomicPtr::new(std::ptr::null_mut());

fn make(sizes: FortranSizes) -> Box<Table> {
    let mut table = Box::new([const { None }; 256]);
    let scalars = SCALARS
        .iter()
        .filter_map(|&(code, _)| Some((code, Basic::Scalar(sizes.scalar(code)?))));
    let pairs = PAIRS
        .iter()
        .filter_map(|&(code, v, i)| Some((code, Basic::Pair(sizes.scalar(v)?, sizes.scalar(i)?))));
    for (code, basic) in scalars.chain(pairs) {
        // The bounds of a basic element always fit.
        if let Ok(ty) = Datatype::make(Body::basic(basic), Spec::Named(code)) {
            ty.commit();
            table[usize::from(code - FIRST)] = Some(ty);
        }
    }
    table
}

#[cold]
fn first_table() -> *mut Table {
    let mine = Box::into_raw(make(FortranSizes::default()));
    let null = std::ptr::null_mut();
    match TABLE.compare_exchange(null, mine, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => mine,
        Err(theirs) => {
            // SAFETY: `mine` was made above and nobody has seen it.
            drop(unsafe { Box::from_raw(mine) });
            theirs
        }
    }
}

impl Datatype {
    /// The predefined type with this handle of the MPI-5 ABI (0x201..0x2ff),
    /// as in 0x209 for `MPI_INT`; none for `MPI_DATATYPE_NULL` and handles
    /// without a meaning.
    #[inline]
    pub fn predefined(code: u16) -> Option<&'static TypeRef> {
        let mut table = TABLE.load(Ordering::Acquire);
        if table.is_null() {
            table = first_table();
        }
        // SAFETY: tables are complete when they appear in `TABLE`, and never freed nor changed
        // after.
        let table: &'static Table = unsafe { &*table };
        table.get(usize::from(code.wrapping_sub(FIRST)))?.as_ref()
    }

    /// Gives Fortran's types other sizes, for handles that are used from now on. Sizes that are not
    /// [known](FortranSizes::are_known) leave a type as it is.
    pub fn set_fortran_sizes(sizes: FortranSizes) {
        TABLE.store(Box::into_raw(make(sizes)), Ordering::Release);
    }

    /// All handles that [`Datatype::predefined`] knows, in no order.
    pub fn predefined_codes() -> impl Iterator<Item = u16> {
        let scalars = SCALARS.iter().map(|&(code, _)| code);
        scalars.chain(PAIRS.iter().map(|&(code, ..)| code))
    }
}

/// The named pair of two named types, if there is one.
pub(crate) fn named_pair(value: u16, index: u16) -> Option<&'static TypeRef> {
    let found = PAIRS.iter().find(|p| (p.1, p.2) == (value, index))?;
    Datatype::predefined(found.0)
}
