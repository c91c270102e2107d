//! Kernels of the predefined reduction operations (MPI-5, chapter 6.9.2).
//!
//! Operands are packed elements of any alignment. Which operations a kind of
//! element allows follows the table of the standard; beyond it, `MPI_CHAR`
//! counts as an 8-bit integer, because programs use it as one.
//!
//! On x86-64 every kernel exists twice, for the baseline and for AVX2, and those of
//! pairs that vectors are made of for AVX-512, too; which one fits is decided when a
//! kernel is asked for, not when it runs. All give the same bits, whichever operand
//! comes first (see `ops`).

mod fortran;
mod half;
mod kernel;
mod op_kind;
mod ops;
mod pair;
#[cfg(target_arch = "x86_64")]
mod x87;

use crate::basic::{Basic, Scalar};
use fortran::logic_in_c;
pub use fortran::{Booleans, booleans, set_booleans};
use half::F16;
use kernel::{Kernels, pick};
pub use op_kind::{OpKind, Reduce, Reduce3};
use ops::{Bits, Complex, Int, Max, Min, Number, Real};

/// The kernel that computes `inout = inp op inout`; none if `op` is not
/// defined on such elements.
pub fn reducer(op: OpKind, b: Basic) -> Option<Reduce> {
    Some(kernels(op, b)?.two)
}

/// The kernel that computes `out = a op b`; none if `op` is not defined on
/// such elements.
pub fn reduce3(op: OpKind, b: Basic) -> Option<Reduce3> {
    Some(kernels(op, b)?.three)
}

/// The kernel that computes `inout = inp op inout` of elements that lie in memory one behind the
/// other, so that a pair may have gaps: these stay as they are. None if `op` is not defined on such
/// elements.
pub fn reducer_in_memory(op: OpKind, b: Basic) -> Option<Reduce> {
    match b {
        Basic::Pair(v, i) if b.size() != b.extent() => pair::in_memory(op, v, i),
        _ => reducer(op, b),
    }
}

/// Both kernels.
fn kernels(op: OpKind, b: Basic) -> Option<Kernels> {
    match (op, b) {
        (OpKind::Replace | OpKind::NoOp, _) => moves(op, b.size()),
        (_, Basic::Scalar(s)) => scalar(op, s),
        (OpKind::MinLoc | OpKind::MaxLoc, Basic::Pair(v, i)) => pair::packed(op, v, i),
        (_, Basic::Pair(..)) => None,
    }
}

/// Operations on single values.
fn scalar(op: OpKind, s: Scalar) -> Option<Kernels> {
    match s {
        Scalar::Int8 | Scalar::Char => int::<i8>(op),
        Scalar::Int16 => int::<i16>(op),
        Scalar::Int32 => int::<i32>(op),
        Scalar::Int64 | Scalar::Long => int::<i64>(op),
        Scalar::Int128 => int::<i128>(op),
        Scalar::UInt8 => int::<u8>(op),
        Scalar::UInt16 => int::<u16>(op),
        Scalar::UInt32 => int::<u32>(op),
        Scalar::UInt64 | Scalar::ULong => int::<u64>(op),
        Scalar::Byte => bits::<u8>(op),
        Scalar::Bool => logic_in_c::<u8>(op),
        Scalar::Logical8 => fortran::logic::<u8>(op),
        Scalar::Logical16 => fortran::logic::<u16>(op),
        Scalar::Logical32 => fortran::logic::<u32>(op),
        Scalar::Logical64 => fortran::logic::<u64>(op),
        Scalar::Logical128 => fortran::logic::<u128>(op),
        Scalar::Float16 => real::<F16>(op),
        Scalar::Float32 => real::<f32>(op),
        Scalar::Float64 => real::<f64>(op),
        Scalar::ComplexFloat16 => number::<Complex<F16>>(op),
        Scalar::ComplexFloat32 => number::<Complex<f32>>(op),
        Scalar::ComplexFloat64 => number::<Complex<f64>>(op),
        #[cfg(target_arch = "x86_64")]
        Scalar::LongDouble => x87::kernels(op).or_else(|| real::<x87::F80>(op)),
        #[cfg(target_arch = "x86_64")]
        Scalar::ComplexLongDouble => number::<Complex<x87::F80>>(op),
        _ => None,
    }
}

fn number<T: Number>(op: OpKind) -> Option<Kernels> {
    match op {
        OpKind::Sum => Some(pick::<T, ops::Sum>()),
        OpKind::Prod => Some(pick::<T, ops::Prod>()),
        _ => None,
    }
}

fn real<T: Real>(op: OpKind) -> Option<Kernels> {
    match op {
        OpKind::Min => Some(pick::<T, Min>()),
        OpKind::Max => Some(pick::<T, Max>()),
        _ => number::<T>(op),
    }
}

fn int<T: Int>(op: OpKind) -> Option<Kernels> {
    real::<T>(op)
        .or_else(|| bits::<T>(op))
        .or_else(|| logic_in_c::<T>(op))
}

fn bits<T: Bits>(op: OpKind) -> Option<Kernels> {
    match op {
        OpKind::Band => Some(pick::<T, ops::Band>()),
        OpKind::Bor => Some(pick::<T, ops::Bor>()),
        OpKind::Bxor => Some(pick::<T, ops::Bxor>()),
        _ => None,
    }
}

/// Operations that do not look at the elements.
fn moves(op: OpKind, size: u32) -> Option<Kernels> {
    fn of<const N: usize>(op: OpKind) -> Kernels {
        match op {
            OpKind::Replace => pick::<[u8; N], ops::Replace>(),
            _ => pick::<[u8; N], ops::NoOp>(),
        }
    }
    match size {
        1 => Some(of::<1>(op)),
        2 => Some(of::<2>(op)),
        4 => Some(of::<4>(op)),
        5 => Some(of::<5>(op)),
        6 => Some(of::<6>(op)),
        8 => Some(of::<8>(op)),
        9 => Some(of::<9>(op)),
        10 => Some(of::<10>(op)),
        12 => Some(of::<12>(op)),
        16 => Some(of::<16>(op)),
        20 => Some(of::<20>(op)),
        24 => Some(of::<24>(op)),
        32 => Some(of::<32>(op)),
        _ => None,
    }
}
