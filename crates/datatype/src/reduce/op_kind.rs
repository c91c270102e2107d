//! The predefined operations, and what computes one.

/// Computes `inout[i] = inp[i] op inout[i]` for `n` packed elements.
///
/// # Safety
/// Both are valid for `n` elements and do not overlap.
pub type Reduce = unsafe fn(inp: *const u8, inout: *mut u8, n: usize);

/// Computes `out[i] = a[i] op b[i]` for `n` packed elements.
///
/// # Safety
/// All are valid for `n` elements, and `out` overlaps neither `a` nor `b`.
pub type Reduce3 = unsafe fn(a: *const u8, b: *const u8, out: *mut u8, n: usize);

/// A predefined operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum OpKind {
    Sum,
    Min,
    Max,
    Prod,
    Band,
    Bor,
    Bxor,
    Land,
    Lor,
    Lxor,
    MinLoc,
    MaxLoc,
    /// The left operand.
    Replace,
    /// The right operand.
    NoOp,
}

impl OpKind {
    /// The name of the operation in C.
    pub const fn name(self) -> &'static str {
        match self {
            OpKind::Sum => "MPI_SUM",
            OpKind::Min => "MPI_MIN",
            OpKind::Max => "MPI_MAX",
            OpKind::Prod => "MPI_PROD",
            OpKind::Band => "MPI_BAND",
            OpKind::Bor => "MPI_BOR",
            OpKind::Bxor => "MPI_BXOR",
            OpKind::Land => "MPI_LAND",
            OpKind::Lor => "MPI_LOR",
            OpKind::Lxor => "MPI_LXOR",
            OpKind::MinLoc => "MPI_MINLOC",
            OpKind::MaxLoc => "MPI_MAXLOC",
            OpKind::Replace => "MPI_REPLACE",
            OpKind::NoOp => "MPI_NO_OP",
        }
    }
}
