//! The basic elements that every type is made of (MPI-5, chapters 3.2.2,
//! 5.1.1 and 6.9.2): how they look in memory and in `external32`.

use std::fmt;

/// A value of one machine type.
///
/// Named after what lies in memory; types that only differ in name share an
/// entry, types that differ in their `external32` form (`long`) or in the
/// operations they allow do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Scalar {
    Int8,
    Int16,
    Int32,
    Int64,
    Int128,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    /// C `long`: 8 bytes here, 4 in `external32`.
    Long,
    /// C `unsigned long`: 8 bytes here, 4 in `external32`.
    ULong,
    /// A printable character, C `char` or Fortran `CHARACTER`.
    Char,
    /// C `wchar_t`: 4 bytes here, 2 in `external32`.
    WChar,
    /// Bytes without a meaning.
    Byte,
    /// Output of `MPI_Pack`.
    Packed,
    /// C `_Bool`, C++ `bool`.
    Bool,
    Logical8,
    Logical16,
    Logical32,
    Logical64,
    Logical128,
    Float16,
    Float32,
    Float64,
    /// C `long double`: 80 bits in 16 bytes on x86-64.
    LongDouble,
    /// IEEE binary128, Fortran `REAL*16`. Moved, not computed with.
    Float128,
    ComplexFloat16,
    ComplexFloat32,
    ComplexFloat64,
    ComplexLongDouble,
    ComplexFloat128,
}

impl Scalar {
    /// All of them, in the order of their numbers.
    pub const ALL: [Scalar; 31] = {
        use Scalar::*;
        [
            Int8,
            Int16,
            Int32,
            Int64,
            Int128,
            UInt8,
            UInt16,
            UInt32,
            UInt64,
            Long,
            ULong,
            Char,
            WChar,
            Byte,
            Packed,
            Bool,
            Logical8,
            Logical16,
            Logical32,
            Logical64,
            Logical128,
            Float16,
            Float32,
            Float64,
            LongDouble,
            Float128,
            ComplexFloat16,
            ComplexFloat32,
            ComplexFloat64,
            ComplexLongDouble,
            ComplexFloat128,
        ]
    };

    /// Bytes in memory.
    pub const fn size(self) -> u32 {
        use Scalar::*;
        match self {
            Int8 | UInt8 | Char | Byte | Packed | Bool | Logical8 => 1,
            Int16 | UInt16 | Logical16 | Float16 => 2,
            Int32 | UInt32 | WChar | Logical32 | Float32 | ComplexFloat16 => 4,
            Int64 | UInt64 | Long | ULong | Logical64 | Float64 | ComplexFloat32 => 8,
            Int128 | Logical128 | LongDouble | Float128 | ComplexFloat64 => 16,
            ComplexLongDouble | ComplexFloat128 => 32,
        }
    }

    /// What addresses of this type are multiples of.
    pub const fn align(self) -> u32 {
        match self.real_part() {
            Some(part) => part.size(),
            None => self.size(),
        }
    }

    /// The type of both parts of a complex number.
    pub const fn real_part(self) -> Option<Scalar> {
        use Scalar::*;
        match self {
            ComplexFloat16 => Some(Float16),
            ComplexFloat32 => Some(Float32),
            ComplexFloat64 => Some(Float64),
            ComplexLongDouble => Some(LongDouble),
            ComplexFloat128 => Some(Float128),
            _ => None,
        }
    }

    /// Bytes in `external32` (MPI-5, chapter 14.5.2).
    pub const fn external_size(self) -> u32 {
        match self {
            Scalar::Long | Scalar::ULong => 4,
            Scalar::WChar => 2,
            _ => self.size(),
        }
    }
}

/// An entry of a type map: one value, or a value with an index for the
/// operations `MPI_MINLOC` and `MPI_MAXLOC`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Basic {
    /// One value.
    Scalar(Scalar),
    /// Value and index. In memory they lie like the members of a C structure,
    /// in packed data without a gap.
    Pair(Scalar, Scalar),
}

impl Basic {
    /// Bytes in packed data.
    pub const fn size(self) -> u32 {
        match self {
            Basic::Scalar(s) => s.size(),
            Basic::Pair(v, i) => v.size() + i.size(),
        }
    }

    /// Bytes in memory, with gaps.
    pub const fn extent(self) -> u32 {
        match self {
            Basic::Scalar(s) => s.size(),
            Basic::Pair(_, i) => (self.index_at() + i.size()).next_multiple_of(self.align()),
        }
    }

    /// What addresses are multiples of.
    pub const fn align(self) -> u32 {
        match self {
            Basic::Scalar(s) => s.align(),
            Basic::Pair(v, i) if v.align() > i.align() => v.align(),
            Basic::Pair(_, i) => i.align(),
        }
    }

    /// Where the index of a pair lies in memory, as in a C structure.
    pub(crate) const fn index_at(self) -> u32 {
        match self {
            Basic::Scalar(_) => 0,
            Basic::Pair(v, i) => v.size().next_multiple_of(i.align()),
        }
    }

    /// Bytes in `external32`.
    pub const fn external_size(self) -> u32 {
        match self {
            Basic::Scalar(s) => s.external_size(),
            Basic::Pair(v, i) => v.external_size() + i.external_size(),
        }
    }

    /// Elements that `MPI_Get_elements` counts: a pair has two.
    pub const fn elements(self) -> u64 {
        match self {
            Basic::Scalar(_) => 1,
            Basic::Pair(..) => 2,
        }
    }
}

impl fmt::Debug for Basic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Basic::Scalar(s) => write!(f, "{s:?}"),
            Basic::Pair(v, i) => write!(f, "({v:?}, {i:?})"),
        }
    }
}

impl From<Scalar> for Basic {
    fn from(s: Scalar) -> Self {
        Basic::Scalar(s)
    }
}
