//! Numbers of 64 bits in columns side by side: packing them transposes a matrix. It is done two by
//! two numbers at a time, which takes half the loads and stores of one after the other.

use super::block::{Sixteen, get, put};
use super::direction::Direction;
use super::grid::{Grid, LINE};

/// Bytes of a number.
const NUMBER: usize = 8;

/// Pairs of rows that are copied side by side: the numbers in a line.
const PAIRS: usize = LINE / NUMBER / 2;

/// Whether [`transpose`] copies such blocks.
pub(super) fn suits(user: Grid, (rows, columns): (usize, usize), len: usize) -> bool {
    len == NUMBER && user.row == NUMBER as isize && rows > 1 && columns > 1
}

/// Copies `rows` rows of `columns` numbers. In memory a row starts one number after the last one;
/// packed, the numbers of a row follow each other.
///
/// What is left of an odd number of rows or columns is copied together with what is next to it,
/// once more.
///
/// # Safety
/// Every number is valid on both sides, and the sides do not overlap; there are two rows and two
/// columns at least.
pub(super) unsafe fn transpose<D: Direction>(
    user: Grid,
    packed: Grid,
    (rows, columns): (usize, usize),
) {
    let whole = rows - rows % (2 * PAIRS);
    // SAFETY: the caller's promise, for parts of the same blocks.
    unsafe {
        for row in (0..whole).step_by(2 * PAIRS) {
            let (user, packed) = (user.skip_rows(row), packed.skip_rows(row));
            band::<D, PAIRS>(user, packed, columns);
        }
        for row in (whole..rows).step_by(2) {
            let row = row.min(rows - 2);
            let (user, packed) = (user.skip_rows(row), packed.skip_rows(row));
            band::<D, 1>(user, packed, columns);
        }
    }
}

/// Transposes a band of `PAIRS` pairs of rows.
///
/// # Safety
/// As [`transpose`].
#[inline(never)]
unsafe fn band<D: Direction, const PAIRS: usize>(user: Grid, packed: Grid, columns: usize) {
    for column in (0..columns).step_by(2) {
        let column = column.min(columns - 2);
        let (first, second) = (user.skip(column).first, user.skip(column + 1).first);
        let line = packed.first.wrapping_add(column * NUMBER);
        for pair in 0..PAIRS {
            let user = [first, second].map(|at| at.wrapping_add(2 * pair * NUMBER));
            let row = |i| line.wrapping_offset(packed.row.wrapping_mul(i as isize));
            let (to, from) = D::sides(user, [row(2 * pair), row(2 * pair + 1)]);
            // SAFETY: the caller's promise: each is the place of two numbers.
            unsafe {
                let (first, second) = turned(get(from[0]), get(from[1]));
                put(to[0], first);
                put(to[1], second);
            }
        }
    }
}

/// The first numbers of both pairs, and the second ones.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn turned(a: Sixteen, b: Sixteen) -> (Sixteen, Sixteen) {
    use std::arch::x86_64::{_mm_unpackhi_epi64, _mm_unpacklo_epi64};
    // SAFETY: every processor of this kind has SSE2.
    unsafe { (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn turned(a: Sixteen, b: Sixteen) -> (Sixteen, Sixteen) {
    let (a, b, low) = (a.to_le(), b.to_le(), Sixteen::from(u64::MAX));
    let (first, second) = (a & low | b << 64, a >> 64 | b & !low);
    (first.to_le(), second.to_le())
}
