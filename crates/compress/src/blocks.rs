//! A codec of numbers: differences of neighbours, in as few bits as nearly all of a block need.
//!
//! A block of 256 numbers becomes integers ([`Mapping`]), which are replaced by their differences
//! of some order, up to the seventh: the smoother a field is, the higher the order that leaves the
//! least. The order is found on one block of 16. A block is its
//!
//! | bytes | what                                                           |
//! |-------|----------------------------------------------------------------|
//! | 1     | order; [`EXACT`] if the block is exact although a bound is given |
//! | 1     | width in bits                                                  |
//! | 1     | how many differences are wider                                 |
//! | some  | the first integers, one for each order, as numbers of 1 to 10 bytes |
//! | 32 for each bit of the width | the differences                         |
//! | some  | of those that are wider: a byte that says which, and the upper bits, as a number |
//!
//! Where a field jumps, at the end of a row, a few differences are wide, which need not make all
//! others so (M. Zukowski et al., *Super-scalar RAM-CPU cache compression*, 2006). The last block
//! is filled up. Bytes behind the last whole number follow as they are.

use crate::cursor::{Reader, Writer};
use crate::mapping::Mapping;
use crate::word::{Block, ROW, WORDS, Word};
use crate::{Bound, Element};

/// The highest order of differences.
const ORDERS: usize = 7;
/// The order is found again after this many blocks.
const FOLLOW: usize = 16;
/// Differences that are wider than the others, at most.
const WIDER: usize = 64;
/// In a block's first byte: its numbers are exact.
const EXACT: u8 = 0x80;

/// `None` if `out` is too short.
pub(crate) fn encode<W: Word>(
    element: Element,
    bound: Bound,
    raw: &[u8],
    out: &mut Writer<'_>,
) -> Option<()> {
    let mapping = Mapping::new(element, bound, W::BITS);
    mapping.write(out)?;
    let whole = raw.len() / W::BYTES * W::BYTES;
    let (mut words, mut integers) = ([W::default(); WORDS], [W::default(); WORDS]);
    // Of bounded and of exact blocks.
    let mut orders = [None; 2];
    for (number, bytes) in raw[..whole].chunks(WORDS * W::BYTES).enumerate() {
        let mut last = W::default();
        let mut there = bytes.chunks_exact(W::BYTES);
        for word in &mut words {
            last = there.next().map_or(last, W::read);
            *word = last;
        }
        let exact = !mapping.bounded(&words, &mut integers);
        if exact {
            mapping.exact(&words, &mut integers);
        }
        let known = &mut orders[usize::from(exact)];
        if number % FOLLOW == 0 {
            *known = None;
        }
        let order = *known.get_or_insert_with(|| best_order(&integers));
        let flag = if exact && !mapping.is_exact() {
            EXACT
        } else {
            0
        };
        block(&mut integers, order, flag, out)?;
    }
    out.put(&raw[whole..])
}

/// Fills `raw`; `None` if the bytes are none that [`encode`] writes for as many.
pub(crate) fn decode<W: Word>(from: &mut Reader<'_>, raw: &mut [u8]) -> Option<()> {
    let mapping = Mapping::read(from, W::BITS)?;
    let whole = raw.len() / W::BYTES * W::BYTES;
    let (numbers, tail) = raw.split_at_mut(whole);
    let mut integers = [W::default(); WORDS];
    for bytes in numbers.chunks_mut(WORDS * W::BYTES) {
        if restore(from, &mut integers)? {
            mapping.restore_exact(&mut integers);
        } else {
            mapping.restore_bounded(&mut integers);
        }
        for (bytes, word) in bytes.chunks_exact_mut(W::BYTES).zip(&integers) {
            word.write(bytes);
        }
    }
    tail.copy_from_slice(from.take(tail.len())?);
    Some(())
}

/// The order of differences that needs the fewest bytes.
fn best_order<W: Word>(integers: &Block<W>) -> usize {
    let mut differences = *integers;
    let mut best = (usize::MAX, 0);
    for order in 0..=ORDERS {
        if order > 0 {
            difference(&mut differences, order);
        }
        let small: Block<W> = differences.map(W::zigzag);
        best = best.min((Fit::of(&small[order..]).bytes + W::BYTES * order, order));
    }
    best.1
}

/// The width of a block's words that needs the fewest bytes.
#[derive(Clone, Copy, Debug)]
struct Fit {
    width: u32,
    /// Words that are wider.
    wider: usize,
    /// Bytes of them all, about.
    bytes: usize,
}

impl Fit {
    fn of<W: Word>(words: &[W]) -> Fit {
        let mut counts = [0_u32; 65];
        for word in words {
            counts[word.bits() as usize] += 1;
        }
        let widest = counts.iter().rposition(|&it| it > 0).unwrap_or(0);
        let (mut wider, mut best) = (0, None);
        for width in (0..=widest).rev() {
            let bytes = ROW * width + wider * (2 + (widest - width) / 7);
            if best.is_none_or(|it: Fit| bytes < it.bytes) {
                best = Some(Fit {
                    width: width as u32,
                    wider,
                    bytes,
                });
            }
            wider += counts[width] as usize;
            if wider > WIDER {
                break;
            }
        }
        best.unwrap_or(Fit {
            width: 0,
            wider: 0,
            bytes: 0,
        })
    }
}

/// From differences of one order less to those of `order`; the first `order` integers stay.
#[inline]
fn difference<W: Word>(integers: &mut Block<W>, order: usize) {
    let before = *integers;
    for (it, pair) in integers[order..]
        .iter_mut()
        .zip(before[order - 1..].windows(2))
    {
        *it = pair[1].minus(pair[0]);
    }
}

/// Reverts [`difference`].
#[inline]
fn sum<W: Word>(integers: &mut Block<W>, order: usize) {
    let mut last = integers[order - 1];
    for it in &mut integers[order..] {
        last = last.plus(*it);
        *it = last;
    }
}

/// Writes a block.
fn block<W: Word>(
    integers: &mut Block<W>,
    order: usize,
    flag: u8,
    out: &mut Writer<'_>,
) -> Option<()> {
    for order in 1..=order {
        difference(integers, order);
    }
    for it in integers.iter_mut() {
        *it = it.zigzag();
    }
    let Fit { width, wider, .. } = Fit::of(&integers[order..]);
    out.put(&[order as u8 | flag, width as u8, wider as u8])?;
    for first in &mut integers[..order] {
        out.varint(first.to_u64())?;
        *first = W::default();
    }
    W::pack(integers, width, out.room(ROW * width as usize)?);
    if wider > 0 {
        for (at, word) in integers.iter().enumerate() {
            if word.bits() > width {
                out.put(&[at as u8])?;
                out.varint(word.to_u64() >> width)?;
            }
        }
    }
    Some(())
}

/// Reads a block; whether its numbers are exact.
fn restore<W: Word>(from: &mut Reader<'_>, integers: &mut Block<W>) -> Option<bool> {
    let [head, width, wider] = from.array()?;
    let (order, width) = (usize::from(head & !EXACT), u32::from(width));
    if order > ORDERS || width > W::BITS || (width == W::BITS && wider > 0) {
        return None;
    }
    let mut firsts = [0; ORDERS];
    for first in &mut firsts[..order] {
        *first = from.varint()?;
    }
    W::unpack(from.take(ROW * width as usize)?, width, integers);
    for _ in 0..wider {
        let [at] = from.array()?;
        integers[usize::from(at)].add_above(from.varint()?, width);
    }
    for (it, first) in integers.iter_mut().zip(&firsts[..order]) {
        *it = W::from_u64(*first);
    }
    for it in integers.iter_mut() {
        *it = it.unzigzag();
    }
    for order in (1..=order).rev() {
        sum(integers, order);
    }
    Some(head & EXACT != 0)
}
