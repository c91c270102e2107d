//! The loops over blocks. Lines that are written far apart are asked for some
//! blocks ahead.

use std::marker::PhantomData;

use super::block::{
    Block, Ends, Fixed, LONG, Line, Lines, Long, Sixteen, ThirtyTwo, ask, with_block,
};
use super::direction::Direction;
use super::grid::{Grid, LINE};
use super::transpose::{self, transpose};

/// Rows that are copied side by side where blocks of neighbouring rows share a
/// cache line.
const BAND: usize = 8;

/// Copies `rows` rows of `columns` blocks of `len` bytes.
///
/// # Safety
/// Every block is valid on both sides, and the sides do not overlap.
pub(super) unsafe fn grid<D: Direction>(
    user: Grid,
    packed: Grid,
    (rows, columns): (usize, usize),
    len: usize,
) {
    // SAFETY: the caller's promise, for parts of the same blocks.
    unsafe {
        if rows == 1 && columns <= FEW {
            let (to, from) = D::sides(user, packed);
            return with_block!(len, block => few(block, to, from, columns));
        }
        let span = user.width(columns, len);
        if transpose::suits(user, (rows, columns), len) {
            return transpose::<D>(user, packed, (rows, columns));
        }
        if rows == 1 || user.row.unsigned_abs() >= user.step.unsigned_abs() || span <= NEAR {
            return blocks::<D>(user, packed, (rows, columns), len);
        }
        for row in (0..rows).step_by(BAND) {
            let (user, packed) = (user.skip_rows(row), packed.skip_rows(row));
            let rows = BAND.min(rows - row);
            if D::WRITES {
                blocks::<D>(user.turned(), packed.turned(), (columns, rows), len);
                continue;
            }
            for column in (0..columns).step_by(TILE) {
                let (user, packed) = (user.skip(column), packed.skip(column));
                blocks::<D>(user, packed, (rows, TILE.min(columns - column)), len);
            }
        }
    }
}

/// Columns of a band that are read while their lines are in the first cache.
const TILE: usize = 512;

/// Bytes that stay in the first cache while they are gone through again and again.
const NEAR: usize = 16 << 10;

/// So few blocks are copied sooner than it is found out how to copy many.
const FEW: usize = 32;

/// Copies a row of a few blocks.
///
/// # Safety
/// As [`grid`].
#[inline(never)]
unsafe fn few<B: Block>(b: B, mut to: Grid, mut from: Grid, columns: usize) {
    // SAFETY: the caller's promise, for four blocks, then for each.
    unsafe {
        for _ in 0..columns / 4 {
            b.copy_four(to, from);
            (to.first, from.first) = (to.at(4), from.at(4));
        }
        for _ in 0..columns % 4 {
            b.copy(to.first, from.first);
            (to.first, from.first) = (to.at(1), from.at(1));
        }
    }
}

/// As [`grid`], row by row.
///
/// # Safety
/// As [`grid`].
unsafe fn blocks<D: Direction>(user: Grid, packed: Grid, shape: (usize, usize), len: usize) {
    let ahead = match D::WRITES && len < LONG {
        true => Ahead::of(user, shape, len),
        false => Ahead::NOTHING,
    };
    let (to, from) = D::sides(user, packed);
    // SAFETY: the caller's promise; the block is of `len` bytes.
    unsafe { with_block!(len, block => each(block, to, from, shape, ahead)) }
}

/// What is asked for before it is written.
#[derive(Clone, Copy)]
struct Ahead {
    /// Fetches the lines of a row, this many rows ahead.
    rows: usize,
    /// Fetches the lines of a block, this many blocks ahead.
    blocks: usize,
}

/// Bytes from what is written to what is asked for, about.
const AHEAD: usize = 512;

/// Bytes of a page.
const PAGE: usize = 4096;

impl Ahead {
    const NOTHING: Ahead = Ahead { rows: 0, blocks: 0 };

    /// What pays for such blocks: those that the processor does not foresee.
    fn of(grid: Grid, (rows, columns): (usize, usize), len: usize) -> Self {
        // What is in the first cache need not be asked for.
        if rows * columns * len.div_ceil(LINE) <= NEAR / LINE {
            return Ahead::NOTHING;
        }
        let distance = |step: isize, len: usize| {
            let step = step.unsigned_abs();
            // A page to be looked up for a few bytes costs more than it gains.
            let far = step >= LINE && (step < PAGE || len >= LINE);
            if far { (AHEAD / len).clamp(1, 8) } else { 0 }
        };
        if !grid.is_dense() {
            let blocks = distance(grid.step, len);
            return Ahead { rows: 0, blocks };
        }
        let rows = match rows {
            1 => 0,
            _ => distance(grid.row, grid.width(columns, len)),
        };
        Ahead { rows, blocks: 0 }
    }
}

/// Copies block after block.
///
/// # Safety
/// As [`grid`].
unsafe fn each<B: Block>(b: B, to: Grid, from: Grid, shape: (usize, usize), ahead: Ahead) {
    // SAFETY: the caller's promise.
    unsafe {
        match ahead.blocks {
            0 => each_by::<B, false>(b, to, from, shape, ahead),
            _ => each_by::<B, true>(b, to, from, shape, ahead),
        }
    }
}

/// `ASK` tells whether blocks are asked for. A function for each kind of block:
/// all in one, they would have too few registers.
///
/// # Safety
/// As [`grid`].
#[inline(never)]
unsafe fn each_by<B: Block, const ASK: bool>(
    b: B,
    to: Grid,
    from: Grid,
    (rows, columns): (usize, usize),
    ahead: Ahead,
) {
    let fours = if ASK { 0 } else { columns / 4 };
    for row in 0..rows {
        if ahead.rows > 0 {
            let later = to.skip_rows(row + ahead.rows).first;
            for line in (0..to.width(columns, b.len()).min(AHEAD)).step_by(LINE) {
                ask(later.wrapping_add(line));
            }
        }
        let (mut to, mut from) = (to.skip_rows(row), from.skip_rows(row));
        for _ in 0..fours {
            // SAFETY: the caller's promise, for four blocks.
            unsafe { b.copy_four(to, from) };
            (to.first, from.first) = (to.at(4), from.at(4));
        }
        for _ in 4 * fours..columns {
            // SAFETY: the caller's promise.
            unsafe {
                match ASK {
                    true => b.copy_asking(to.first, from.first, to.at(ahead.blocks as isize)),
                    false => b.copy(to.first, from.first),
                }
            }
            (to.first, from.first) = (to.at(1), from.at(1));
        }
    }
}

/// Copies rows of runs of `len` bytes at the places `at`; packed, they follow
/// each other.
///
/// # Safety
/// As [`grid`] for every run.
pub(super) unsafe fn scattered<D: Direction>(
    user: Grid,
    at: &[i64],
    packed: *mut u8,
    rows: usize,
    len: usize,
) {
    // SAFETY: the caller's promise; the block is of `len` bytes.
    unsafe { with_block!(len, block => scattered_of::<D, _>(block, user, at, packed, rows)) }
}

/// Runs from the one that is written to the one whose lines are asked for.
const SOON: usize = 8;

/// # Safety
/// As [`scattered`].
#[inline(always)]
unsafe fn scattered_of<D: Direction, B: Block>(
    b: B,
    user: Grid,
    at: &[i64],
    mut packed: *mut u8,
    rows: usize,
) {
    for row in 0..rows {
        let user = user.skip_rows(row).first;
        let place = |i: usize| user.wrapping_offset(at[i] as isize);
        for i in 0..at.len() {
            let (to, from) = D::sides(place(i), packed);
            // SAFETY: the caller's promise.
            unsafe {
                match D::WRITES && i + SOON < at.len() {
                    true => b.copy_asking(to, from, place(i + SOON)),
                    false => b.copy(to, from),
                }
            }
            packed = packed.wrapping_add(b.len());
        }
    }
}
