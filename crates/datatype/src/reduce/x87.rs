//! Arithmetic of C's `long double`, which the compiler does not know: 80 bits
//! in 16 bytes.

use std::arch::asm;

use super::OpKind;
use super::kernel::Kernels;
use super::ops::{Float, Number};

/// A `long double`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct F80([u8; 16]);

/// Stores at `$out` the result of two numbers.
macro_rules! arithmetic {
    ($a:expr, $b:expr, $out:expr, $op:literal) => {
        asm!(
            "fld tbyte ptr [{a}]",
            "fld tbyte ptr [{b}]",
            $op,
            "fstp tbyte ptr [{out}]",
            a = in(reg) $a,
            b = in(reg) $b,
            out = in(reg) $out,
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
            // SAFETY: reads 10 bytes of each operand, writes 10 bytes of
            // `out`, and leaves the register stack as it was, empty.
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

impl Float for F80 {
    #[inline(always)]
    fn less(self, other: Self) -> bool {
        let above: u8;
        // SAFETY: reads 10 bytes of each operand and leaves the register
        // stack as it was, empty.
        unsafe {
            asm!(
                "fld tbyte ptr [{a}]",
                "fld tbyte ptr [{b}]",
                "fucomip st, st(1)",
                "seta {above}",
                "fstp st(0)",
                a = in(reg) &raw const self,
                b = in(reg) &raw const other,
                above = out(reg_byte) above,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack, readonly),
            );
        }
        above != 0
    }
}

/// Sums and products straight from memory to memory: to take numbers apart
/// from the bytes around them would cost more than the arithmetic. The six
/// bytes behind a number have no meaning and are copied from the left operand.
macro_rules! kernel {
    ($op:literal) => {{
        unsafe fn three(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
            for i in (0..16 * n).step_by(16) {
                // SAFETY: `i` is within `n` numbers, and the caller's promise.
                unsafe {
                    let tail = a.add(i + 10).cast::<[u8; 6]>().read();
                    arithmetic!(a.add(i), b.add(i), out.add(i), $op);
                    out.add(i + 10).cast::<[u8; 6]>().write(tail);
                }
            }
        }
        unsafe fn two(inp: *const u8, inout: *mut u8, n: usize) {
            for i in (0..16 * n).step_by(16) {
                // SAFETY: `i` is within `n` numbers, and the caller's promise.
                unsafe { arithmetic!(inp.add(i), inout.add(i), inout.add(i), $op) };
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
