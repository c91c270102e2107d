//! The calls for which a member had no data, in one word that it publishes: the last one, and which
//! of the 12 before it.

/// Bits of the number of the call behind the last one; none was yet if it is 0. No number comes
/// again: that many calls of 30 ns each take four years.
const LAST: u32 = 52;
/// Calls before the last one that the word knows.
const BEFORE: u64 = (u64::BITS - LAST) as u64;

/// The word `lacks` with call `seq`, which is none before the last one.
pub fn add_lack(lacks: u64, seq: u64) -> u64 {
    let (last, before) = (lacks & ((1 << LAST) - 1), lacks >> LAST);
    let next = seq + 1;
    debug_assert!(next < 1 << LAST);
    let before = match next.wrapping_sub(last) {
        0 => before,
        _ if last == 0 => 0,
        n @ 1..=BEFORE => (before << n | 1 << (n - 1)) & ((1 << BEFORE) - 1),
        _ => 0,
    };
    before << LAST | next
}

/// Whether `lacks` has call `seq`; `None` if it is too long ago for the word to know.
#[inline]
pub fn has_lack(lacks: u64, seq: u64) -> Option<bool> {
    let last = lacks & ((1 << LAST) - 1);
    match last.checked_sub(seq + 1) {
        None => Some(false),
        Some(0) => Some(true),
        Some(n @ 1..=BEFORE) => Some(lacks >> LAST >> (n - 1) & 1 == 1),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_list() {
        let mut random = 5u64;
        for _ in 0..200 {
            let (mut lacks, mut list, mut seq) = (0, Vec::new(), 0);
            for _ in 0..30 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                seq += (random >> 40) % [3, 8, 40][(random >> 33) as usize % 3];
                lacks = add_lack(lacks, seq);
                list.push(seq);
                for asked in 0..seq + 50 {
                    let is_known = asked + BEFORE >= seq;
                    let is_listed = list.contains(&asked);
                    assert_eq!(has_lack(lacks, asked), is_known.then_some(is_listed));
                }
            }
        }
    }

    #[test]
    fn nobody_lacks_at_first() {
        assert!((0..100).all(|seq| has_lack(0, seq) == Some(false)));
    }
}
