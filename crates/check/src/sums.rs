//! Sums of memory, by which a change of it is seen.

use crate::buffers::Piece;

/// Up to that many bytes all are summed; of more, some lines at even distances.
const WHOLE: usize = 1 << 20;

/// Bytes of a line.
const LINE: usize = 64;

/// A sum of the bytes of a piece; `None` if it was not found out which these are.
///
/// # Safety
/// The memory can be read.
pub unsafe fn sum(piece: &Piece) -> Option<u64> {
    let mut sum = 0x9e37_79b9_7f4a_7c15;
    if piece.is_solid {
        // SAFETY: the caller's promise.
        unsafe { add(&mut sum, piece.first, piece.len()) };
        return Some(sum);
    }
    for &(begin, end) in piece.runs.as_ref()?.iter() {
        let first = piece.base.wrapping_add(begin as usize);
        // SAFETY: the caller's promise.
        unsafe { add(&mut sum, first, (end - begin) as usize) };
    }
    Some(sum)
}

/// Adds memory to a sum.
///
/// # Safety
/// The memory can be read.
unsafe fn add(sum: &mut u64, first: usize, len: usize) {
    if len <= WHOLE {
        // SAFETY: the caller's promise.
        unsafe { lines(sum, first, len) };
        return;
    }
    let step = (len / (WHOLE / LINE)).next_multiple_of(LINE);
    let mut at = 0;
    while at < len {
        // SAFETY: the caller's promise.
        unsafe { lines(sum, first + at, LINE.min(len - at)) };
        at += step;
    }
}

/// # Safety
/// The memory can be read.
unsafe fn lines(sum: &mut u64, first: usize, len: usize) {
    const FACTOR: u64 = 0xff51_afd7_ed55_8ccd;
    let mut lanes = [*sum, *sum ^ 1, *sum ^ 2, *sum ^ 3];
    let words = len / 8;
    let at = first as *const u64;
    let mut i = 0;
    while i + 4 <= words {
        for (lane, state) in lanes.iter_mut().enumerate() {
            // SAFETY: the caller's promise; another thread may write it, which makes another sum.
            let word = unsafe { at.add(i + lane).read_unaligned() };
            *state = (*state ^ word).wrapping_mul(FACTOR).rotate_left(29);
        }
        i += 4;
    }
    for byte in i * 8..len {
        // SAFETY: the caller's promise.
        let byte = unsafe { *((first + byte) as *const u8) };
        lanes[0] = (lanes[0] ^ u64::from(byte))
            .wrapping_mul(FACTOR)
            .rotate_left(29);
    }
    let [a, b, c, d] = lanes;
    *sum = (a ^ b.rotate_left(17) ^ c.rotate_left(31) ^ d.rotate_left(47)).wrapping_mul(FACTOR);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> u64 {
        let piece = Piece::of_bytes(bytes.as_ptr().addr(), bytes.len()).unwrap();
        // SAFETY: bytes that live.
        unsafe { sum(&piece) }.unwrap()
    }

    #[test]
    fn a_sum_changes_with_each_byte() {
        let mut bytes: Vec<u8> = (0..1000).map(|i| (i % 251) as u8).collect();
        let before = of(&bytes);
        assert_eq!(of(&bytes), before);
        for i in 0..bytes.len() {
            bytes[i] ^= 0x10;
            assert_ne!(of(&bytes), before, "{i}");
            bytes[i] ^= 0x10;
        }
    }

    #[test]
    fn of_long_memory_the_first_line_counts() {
        let mut bytes = vec![0; 4 * WHOLE];
        let before = of(&bytes);
        bytes[7] = 1;
        assert_ne!(of(&bytes), before);
    }
}
