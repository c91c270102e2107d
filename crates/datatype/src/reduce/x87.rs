//! Arithmetic of C's `long double`, which the compiler does not know: 80 bits
//! in 16 bytes.

use std::arch::asm;
use std::cmp::Ordering;
use std::hint::select_unpredictable;

use super::kernel::Kernels;
use super::op_kind::OpKind;
use super::ops::{Located, Number, Real};

/// A `long double`. The six bytes behind the 80 bits have no meaning; they are 0 in every result.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct F80([u8; 16]);

/// The one NaN that stands for all.
static NAN: F80 = F80([0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0x7f, 0, 0, 0, 0, 0, 0]);

/// Bytes of a number that count.
const SIGNIFICANT: usize = 10;

/// Stores at `$out` the result of two numbers.
macro_rules! arithmetic {
    ($a:expr, $b:expr, $out:expr, $op:literal) => {
        asm!(
            "fld tbyte ptr [{a}]",
            "fld tbyte ptr [{b}]",
            $op,
            "fucomi st, st(0)",
            "jnp 2f",
            "fstp st(0)",
            "fld tbyte ptr [{nan}]",
            "2:",
            "fstp tbyte ptr [{out}]",
            a = in(reg) $a,
            b = in(reg) $b,
            out = in(reg) $out,
            nan = in(reg) &raw const NAN,
            out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
            out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
            options(nostack),
        )
    };
}

macro_rules! operation {
    ($name:ident, $op:literal) => {
        #[inline(always)]
        fn $name(self, other: Self) -> Self {
            let mut out = F80([0; 16]);
            // SAFETY: reads 10 bytes of each operand and of the NaN, writes 10 bytes
            // of `out`, and leaves the register stack as it was, empty.
            unsafe { arithmetic!(&raw const self, &raw const other, &raw mut out, $op) };
            out
        }
    };
}

impl Number for F80 {
    operation!(sum, "faddp st(1), st");
    operation!(difference, "fsubp st(1), st");
    operation!(product, "fmulp st(1), st");
}

impl F80 {
    /// How two numbers compare; `None` if one is a NaN, or no number that the processor knows.
    #[inline(always)]
    fn compare(self, other: Self) -> Option<Ordering> {
        let (above, not_below, unordered): (u8, u8, u8);
        // SAFETY: reads 10 bytes of each operand and leaves the register
        // stack as it was, empty.
        unsafe {
            asm!(
                "fld tbyte ptr [{b}]",
                "fld tbyte ptr [{a}]",
                "fucomip st, st(1)",
                "seta {above}",
                "setae {not_below}",
                "setp {unordered}",
                "fstp st(0)",
                a = in(reg) &raw const self,
                b = in(reg) &raw const other,
                above = out(reg_byte) above,
                not_below = out(reg_byte) not_below,
                unordered = out(reg_byte) unordered,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack, readonly),
            );
        }
        match (unordered, above, not_below) {
            (0, 0, 0) => Some(Ordering::Less),
            (0, 0, _) => Some(Ordering::Equal),
            (0, _, _) => Some(Ordering::Greater),
            _ => None,
        }
    }

    /// The bits that count, the sign uppermost.
    #[inline(always)]
    fn bits(self) -> u128 {
        u128::from_le_bytes(self.0) & !(!0 << (8 * SIGNIFICANT))
    }
}

// Equal numbers may differ in their bits: zeros in the sign, and the smallest normal numbers
// have a second form.
impl Real for F80 {
    #[inline(always)]
    fn lower(self, other: Self) -> Self {
        let (a, b) = (self.bits(), other.bits());
        match self.compare(other) {
            None => NAN,
            Some(Ordering::Equal) => F80(a.max(b).to_le_bytes()),
            Some(order) => F80(select_unpredictable(order.is_lt(), a, b).to_le_bytes()),
        }
    }

    #[inline(always)]
    fn upper(self, other: Self) -> Self {
        let (a, b) = (self.bits(), other.bits());
        match self.compare(other) {
            None => NAN,
            Some(Ordering::Equal) => F80(a.min(b).to_le_bytes()),
            Some(order) => F80(select_unpredictable(order.is_gt(), a, b).to_le_bytes()),
        }
    }
}

impl Located for F80 {
    #[inline(always)]
    fn unordered(self, other: Self) -> bool {
        self.compare(other).is_none()
    }

    #[inline(always)]
    fn beats<const MAX: bool>(self, other: Self) -> bool {
        let better = if MAX {
            Ordering::Greater
        } else {
            Ordering::Less
        };
        self.compare(other) == Some(better)
    }

    #[inline(always)]
    fn wins<const MAX: bool>(self, other: Self) -> bool {
        self.beats::<MAX>(other) || (self.unordered(self) && !other.unordered(other))
    }
}

/// Sums and products straight from memory to memory: to take numbers apart
/// from the bytes around them would cost more than the arithmetic.
macro_rules! kernel {
    ($op:literal) => {{
        unsafe fn three(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
            for i in (0..16 * n).step_by(16) {
                // SAFETY: `i` is within `n` numbers, and the caller's promise.
                unsafe {
                    arithmetic!(a.add(i), b.add(i), out.add(i), $op);
                    out.add(i + SIGNIFICANT).write_bytes(0, 16 - SIGNIFICANT);
                }
            }
        }
        unsafe fn two(inp: *const u8, inout: *mut u8, n: usize) {
            for i in (0..16 * n).step_by(16) {
                // SAFETY: `i` is within `n` numbers, and the caller's promise.
                unsafe {
                    arithmetic!(inp.add(i), inout.add(i), inout.add(i), $op);
                    inout.add(i + SIGNIFICANT).write_bytes(0, 16 - SIGNIFICANT);
                }
            }
        }
        Some(Kernels { two, three })
    }};
}

/// Kernels for sums and products.
pub(super) fn kernels(op: OpKind) -> Option<Kernels> {
    match op {
        OpKind::Sum => kernel!("faddp st(1), st"),
        OpKind::Prod => kernel!("fmulp st(1), st"),
        _ => None,
    }
}
