//! Letters that have come before the context that they are for. They wait for that, and nobody
//! looks at them meanwhile: however many there are, they cost progress nothing.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use catena_link::Cid;

use crate::letter::Letter;

/// Letters that are kept; the oldest are forgotten.
const MOST: usize = 1024;

/// By the slot of this process's number for a context, and in which order they have come.
type EarlyKey = (u32, u64);

/// Letters that wait for their contexts.
#[derive(Debug, Default)]
pub(crate) struct Early {
    letters: BTreeMap<EarlyKey, Letter>,
    /// Their places, the oldest first, and those of some that are gone.
    order: VecDeque<EarlyKey>,
    came: u64,
}

impl Early {
    /// Keeps a letter.
    pub fn keep(&mut self, letter: Letter) {
        self.came += 1;
        let place = (letter.ours.slot(), self.came);
        self.letters.insert(place, letter);
        self.order.push_back(place);
        while self.letters.len() > MOST {
            let oldest = self.order.pop_front();
            oldest.and_then(|place| self.letters.remove(&place));
        }
        if self.order.len() > 2 * MOST {
            let letters = &self.letters;
            self.order.retain(|place| letters.contains_key(place));
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// Those for a context, in the order in which they have come; those for earlier ones of its
    /// slot go. Cost: O(log of all), and those.
    pub fn take(&mut self, of: Cid) -> Vec<Letter> {
        if self.letters.is_empty() {
            return Vec::new();
        }
        let mut rest = self.letters.split_off(&(of.slot(), 0));
        let mut behind = rest.split_off(&(of.slot() + 1, 0));
        self.letters.append(&mut behind);
        rest.into_values().filter(|it| it.ours == of).collect()
    }

    /// Forgets what some peers have sent.
    pub fn forget(&mut self, peers: &Range<u32>) {
        self.letters.retain(|_, it| !peers.contains(&it.from.0));
    }
}

#[cfg(test)]
mod tests {
    use catena_fabric::Peer;

    use super::*;
    use crate::letter::Kind;

    fn letter(from: u32, ours: u32, word: u32) -> Letter {
        Letter {
            from: Peer(from),
            kind: Kind::Agreement,
            ours: Cid(ours),
            theirs: Cid(9),
            words: vec![word],
        }
    }

    fn words(letters: &[Letter]) -> Vec<u32> {
        letters.iter().map(|it| it.words[0]).collect()
    }

    #[test]
    fn each_context_gets_its_own_in_order() {
        let mut early = Early::default();
        for n in 0..30 {
            early.keep(letter(n % 2, [5, Cid::SLOTS - 1, 6][n as usize % 3], n));
        }
        assert_eq!(
            words(&early.take(Cid(5))),
            (0..30).step_by(3).collect::<Vec<_>>()
        );
        assert!(early.take(Cid(5)).is_empty() && early.take(Cid(7)).is_empty());
        early.forget(&(1..2));
        assert_eq!(words(&early.take(Cid(Cid::SLOTS - 1))), [4, 10, 16, 22, 28]);
        assert!(early.take(Cid::new(6, 1)).is_empty(), "not for a later one");
        assert!(early.letters.is_empty());
    }

    #[test]
    fn the_oldest_of_too_many_are_forgotten() {
        let mut early = Early::default();
        for n in 0..5 * MOST as u32 {
            early.keep(letter(0, n % 2, n));
            // One context comes again and again.
            early.take(Cid(1));
            assert!(early.letters.len() <= MOST && early.order.len() <= 2 * MOST);
        }
        let kept = words(&early.take(Cid(0)));
        // The last one of the other context took the place of one.
        let last: Vec<u32> = (3 * MOST as u32..5 * MOST as u32).step_by(2).collect();
        assert_eq!(kept, last[1..]);
    }
}
