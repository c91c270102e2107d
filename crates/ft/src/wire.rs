//! Messages of an agreement as words, and back.
//!
//! | words               | what                              |
//! |---------------------|-----------------------------------|
//! | 1                   | number of the agreement           |
//! | 1                   | 0: a contribution, 1: a decision  |
//! | 1                   | flags                             |
//! | 1                   | which agreements are behind       |
//! | 3 times size / 32   | covered, failed, acknowledged     |
//! | 3 for each row      | its rank, and what that has told  |

use std::rc::Rc;

use crate::agreement::{Contribution, Message};
use crate::ranks::Ranks;

/// Words before the sets.
const HEAD: usize = 4;

/// A message as words.
pub fn encode(number: u32, message: &Message) -> Vec<u32> {
    let (kind, it) = match message {
        Message::Up(it) => (0, it),
        Message::Decided(it) => (1, &**it),
    };
    let mut words = vec![number, kind, it.flags, it.behind];
    for set in [&it.covered, &it.failed, &it.acknowledged] {
        words.extend_from_slice(set.words());
    }
    for (rank, [a, b]) in &it.rows {
        words.extend([*rank, *a, *b]);
    }
    words
}

/// What the words say among `size` processes; `None` if they make no sense.
pub fn decode(size: u32, words: &[u32]) -> Option<(u32, Message)> {
    let width = Ranks::words_of(size);
    let (head, rest) = words.split_at_checked(HEAD)?;
    let (sets, rows) = rest.split_at_checked(3 * width)?;
    let set = |n: usize| Ranks::from_words(size, &sets[n * width..][..width]);
    let (rows, []) = rows.as_chunks::<3>() else {
        return None;
    };
    if rows.iter().any(|row| row[0] >= size) {
        return None;
    }
    let contribution = Contribution {
        flags: head[2],
        behind: head[3],
        covered: set(0),
        failed: set(1),
        acknowledged: set(2),
        rows: rows.iter().map(|&[rank, a, b]| (rank, [a, b])).collect(),
    };
    let message = match head[1] {
        0 => Message::Up(contribution),
        1 => Message::Decided(Rc::new(contribution)),
        _ => return None,
    };
    Some((head[0], message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_was_meant() {
        for size in [1, 31, 32, 33, 100] {
            let mut own = Contribution::of(size - 1, size, 0xdead_beef);
            own.failed.add(0);
            own.acknowledged = Ranks::all(size);
            own.rows.push((size - 1, [4, 5]));
            for message in [Message::Up(own.clone()), Message::Decided(Rc::new(own))] {
                let words = encode(77, &message);
                assert_eq!(decode(size, &words), Some((77, message)));
                assert_eq!(decode(size, &words[..words.len() - 1]), None);
                assert_eq!(decode(size, &words[..3]), None);
            }
        }
    }
}
