//! Copies any part of the packed bytes of a layout, in either direction.

use super::block::run as copy_run;
use super::direction::Direction;
use super::grid::Grid;
use super::kernel;
use super::runs::runs;
use super::{Layout, Node, Seq};

/// The packed side, and how much of it is left.
struct Cursor {
    at: *mut u8,
    left: u64,
}

impl Cursor {
    /// Moves on by `len` bytes.
    #[inline(always)]
    fn advance(&mut self, len: u64) {
        self.at = self.at.wrapping_add(len as usize);
        self.left -= len;
    }

    /// How many of `count` parts of `len` bytes fit; mostly all, which takes no division.
    #[inline(always)]
    fn whole(&self, len: u64, count: u64) -> u64 {
        match len * count <= self.left {
            true => count,
            false => self.left / len,
        }
    }
}

/// Copies bytes `[from, from + len)` of the packed form of `count` elements
/// of `layout` that lie `extent` bytes apart.
///
/// Cost: O(len), and O(height · log parts) to find `from`.
///
/// # Safety
/// `user` is the origin of the first element, and all bytes that the range
/// stands for are valid there; `packed` is valid for `len` bytes; they do not
/// overlap. The range is within the elements.
pub(crate) unsafe fn walk<D: Direction>(
    layout: &Layout,
    extent: i64,
    count: u64,
    user: *mut u8,
    from: u64,
    packed: *mut u8,
    len: usize,
) {
    let user = user.wrapping_offset(layout.at as isize);
    let mut cursor = Cursor {
        at: packed,
        left: len as u64,
    };
    // SAFETY: the caller's promise; `cursor` never goes beyond `len`.
    unsafe {
        match &layout.node {
            node if count == 1 && from == 0 && cursor.left == node.size() => {
                full::<D>(node, user, packed);
            }
            node if count == 1 => part::<D>(node, user, from, &mut cursor),
            Node::Run(len) => strided::<D>(count, *len, extent, user, from, &mut cursor),
            Node::Strided {
                count: c,
                len,
                stride,
            } if extent == stride.wrapping_mul(*c as i64) => {
                strided::<D>(c * count, *len, *stride, user, from, &mut cursor);
            }
            node => {
                let size = node.size();
                repeated::<D>(node, size, count, extent, user, from, &mut cursor);
            }
        }
    }
}

/// Copies of `node` what lies behind the first `skip` bytes, as far as
/// `cursor` reaches.
///
/// # Safety
/// As [`walk`]; `skip` is within the node.
unsafe fn part<D: Direction>(node: &Node, user: *mut u8, skip: u64, cursor: &mut Cursor) {
    // SAFETY: the caller's promise holds for every part.
    unsafe {
        match node {
            Node::Empty => {}
            Node::Run(len) => run::<D>(user, *len, skip, cursor),
            Node::Strided { count, len, stride } => {
                strided::<D>(*count, *len, *stride, user, skip, cursor);
            }
            Node::Loop {
                count,
                stride,
                inner,
            } => repeated::<D>(&inner.node, inner.size, *count, *stride, user, skip, cursor),
            Node::Even(e) => {
                let (mut i, mut skip) = ((skip / e.len) as usize, skip % e.len);
                while cursor.left > 0 && i < e.at.len() {
                    if skip == 0 && cursor.left >= e.len {
                        let whole = (cursor.left / e.len).min((e.at.len() - i) as u64) as usize;
                        cursor_even::<D>(user, &e.at[i..i + whole], e.len, cursor);
                        i += whole;
                    } else {
                        run::<D>(user.wrapping_offset(e.at[i] as isize), e.len, skip, cursor);
                        (i, skip) = (i + 1, 0);
                    }
                }
            }
            Node::Seq(s) => {
                let mut i = s.starts.partition_point(|start| *start <= skip) - 1;
                let mut skip = skip - s.starts[i];
                while cursor.left > 0 && i < s.len() {
                    if skip == 0 && s.nodes.is_empty() {
                        let end = s.starts[i] + cursor.left;
                        let whole = i..s.starts.partition_point(|start| *start <= end) - 1;
                        if !whole.is_empty() {
                            runs::<D>(s, whole.clone(), user, cursor.at);
                            cursor.advance(s.starts[whole.end] - s.starts[i]);
                            i = whole.end;
                            continue;
                        }
                    }
                    let user = user.wrapping_offset(s.at[i] as isize);
                    match s.nodes.get(i) {
                        None => {
                            let len = s.starts[i + 1] - s.starts[i];
                            run::<D>(user, len, skip, cursor);
                        }
                        Some(node) => part::<D>(node, user, skip, cursor),
                    }
                    (i, skip) = (i + 1, 0);
                }
            }
        }
    }
}

/// Copies a part of one run.
///
/// # Safety
/// As [`part`].
#[inline(always)]
unsafe fn run<D: Direction>(user: *mut u8, len: u64, skip: u64, cursor: &mut Cursor) {
    let n = (len - skip).min(cursor.left);
    // SAFETY: the caller's promise.
    unsafe { copy_run::<D>(user.wrapping_add(skip as usize), cursor.at, n as usize) };
    cursor.advance(n);
}

/// Copies a part of runs that are equally far apart.
///
/// # Safety
/// As [`part`].
#[inline]
unsafe fn strided<D: Direction>(
    count: u64,
    len: u64,
    stride: i64,
    user: *mut u8,
    skip: u64,
    cursor: &mut Cursor,
) {
    let place = |i: u64| user.wrapping_offset(stride.wrapping_mul(i as i64) as isize);
    let (mut i, within) = if skip == 0 {
        (0, 0)
    } else {
        (skip / len, skip % len)
    };
    // SAFETY: the caller's promise holds for every run.
    unsafe {
        if within > 0 {
            run::<D>(place(i), len, within, cursor);
            i += 1;
        }
        let whole = cursor.whole(len, count - i);
        let user = Grid::line(place(i), stride as isize);
        let packed = Grid::line(cursor.at, len as isize);
        kernel::grid::<D>(user, packed, (1, whole as usize), len as usize);
        cursor.advance(whole * len);
        i += whole;
        if cursor.left > 0 && i < count {
            run::<D>(place(i), len, 0, cursor);
        }
    }
}

/// Copies a part of a loop.
///
/// # Safety
/// As [`part`].
unsafe fn repeated<D: Direction>(
    node: &Node,
    size: u64,
    count: u64,
    stride: i64,
    user: *mut u8,
    skip: u64,
    cursor: &mut Cursor,
) {
    let place = |i: u64| user.wrapping_offset(stride.wrapping_mul(i as i64) as isize);
    let (mut i, within) = if skip == 0 {
        (0, 0)
    } else {
        (skip / size, skip % size)
    };
    // SAFETY: the caller's promise holds for every turn.
    unsafe {
        if within > 0 {
            part::<D>(node, place(i), within, cursor);
            i += 1;
        }
        let whole = cursor.whole(size, count - i);
        turns::<D>(node, size, whole, stride, place(i), cursor.at);
        cursor.advance(whole * size);
        i += whole;
        if cursor.left > 0 && i < count {
            part::<D>(node, place(i), 0, cursor);
        }
    }
}

/// Copies all turns of a loop.
///
/// # Safety
/// As [`walk`] for all of them.
unsafe fn turns<D: Direction>(
    node: &Node,
    size: u64,
    count: u64,
    stride: i64,
    user: *mut u8,
    packed: *mut u8,
) {
    let grid = |first, row: i64, step| Grid {
        first,
        step,
        row: row as isize,
    };
    // SAFETY: the caller's promise holds for every turn.
    unsafe {
        match node {
            Node::Strided {
                count: columns,
                len,
                stride: step,
            } => {
                let shape = (count as usize, *columns as usize);
                let user = grid(user, stride, *step as isize);
                let packed = grid(packed, size as i64, *len as isize);
                kernel::grid::<D>(user, packed, shape, *len as usize);
            }
            Node::Even(e) => {
                let user = grid(user, stride, 0);
                kernel::scattered::<D>(user, &e.at, packed, count as usize, e.len as usize);
            }
            Node::Seq(s) if s.nodes.is_empty() && s.len() <= FEW => {
                records::<D>(s, size, count, stride, user, packed);
            }
            node => {
                let mut packed = packed;
                for i in 0..count {
                    let user = user.wrapping_offset(stride.wrapping_mul(i as i64) as isize);
                    packed = full::<D>(node, user, packed);
                }
            }
        }
    }
}

/// So few runs are the members of a record.
const FEW: usize = 16;

/// Copies an array of records of a few runs, member by member: the loop over
/// one member has nothing to decide. Meanwhile a block of records stays in the
/// cache.
///
/// # Safety
/// As [`turns`].
unsafe fn records<D: Direction>(
    s: &Seq,
    size: u64,
    count: u64,
    stride: i64,
    user: *mut u8,
    packed: *mut u8,
) {
    let block = (8192 / size).max(1);
    for from in (0..count).step_by(block as usize) {
        let records = block.min(count - from) as usize;
        for (at, ends) in s.at.iter().zip(s.starts.windows(2)) {
            let at = at.wrapping_add(stride.wrapping_mul(from as i64));
            let user = Grid::line(user.wrapping_offset(at as isize), stride as isize);
            let packed = packed.wrapping_add((from * size + ends[0]) as usize);
            let packed = Grid::line(packed, size as isize);
            // SAFETY: the caller's promise.
            unsafe {
                kernel::grid::<D>(user, packed, (1, records), (ends[1] - ends[0]) as usize);
            }
        }
    }
}

/// Copies all of `node`; returns where the packed bytes end.
///
/// # Safety
/// As [`walk`] for the whole node.
unsafe fn full<D: Direction>(node: &Node, user: *mut u8, packed: *mut u8) -> *mut u8 {
    // SAFETY: the caller's promise holds for every part.
    unsafe {
        match node {
            Node::Empty => packed,
            Node::Run(len) => {
                copy_run::<D>(user, packed, *len as usize);
                packed.wrapping_add(*len as usize)
            }
            Node::Strided { count, len, stride } => {
                let (count, len) = (*count as usize, *len as usize);
                let user = Grid::line(user, *stride as isize);
                let to = Grid::line(packed, len as isize);
                kernel::grid::<D>(user, to, (1, count), len);
                packed.wrapping_add(count * len)
            }
            Node::Loop {
                count,
                stride,
                inner,
            } => {
                turns::<D>(&inner.node, inner.size, *count, *stride, user, packed);
                packed.wrapping_add((count * inner.size) as usize)
            }
            Node::Even(e) => {
                kernel::scattered::<D>(Grid::line(user, 0), &e.at, packed, 1, e.len as usize);
                packed.wrapping_add(e.at.len() * e.len as usize)
            }
            Node::Seq(s) => full_seq::<D>(s, user, packed),
        }
    }
}

/// Copies all of a sequence.
///
/// # Safety
/// As [`full`].
unsafe fn full_seq<D: Direction>(s: &Seq, user: *mut u8, mut packed: *mut u8) -> *mut u8 {
    let place = |at: i64| user.wrapping_offset(at as isize);
    // SAFETY: the caller's promise holds for every part.
    unsafe {
        if s.nodes.is_empty() {
            packed = runs::<D>(s, 0..s.len(), user, packed);
        } else {
            for (at, node) in s.at.iter().zip(&s.nodes) {
                packed = full::<D>(node, place(*at), packed);
            }
        }
    }
    packed
}

/// Copies whole runs of one length.
///
/// # Safety
/// As [`part`]; the cursor has room for all.
unsafe fn cursor_even<D: Direction>(user: *mut u8, at: &[i64], len: u64, cursor: &mut Cursor) {
    // SAFETY: the caller's promise.
    unsafe { kernel::scattered::<D>(Grid::line(user, 0), at, cursor.at, 1, len as usize) };
    cursor.advance(at.len() as u64 * len);
}
