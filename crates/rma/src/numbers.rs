//! Numbers in a circle, each with a round: a number that comes again has another round, and none is
//! given out that somebody has.

use catena_base::slab::Key;

/// Bits of the number of a window: as many as handles have for it.
const WIDTH: u32 = 27;

/// The numbers of `BITS` bits.
#[derive(Debug, Default)]
pub(crate) struct Numbers<const BITS: u32 = WIDTH> {
    /// How many have been given out or passed over.
    given: u64,
}

impl<const BITS: u32> Numbers<BITS> {
    /// The next number that is not taken, and its round; `None` if all are. Cost: a look at each
    /// number that is taken behind the last one.
    pub fn next(&mut self, is_taken: impl Fn(u32) -> bool) -> Option<Key> {
        for _ in 0..1u64 << BITS {
            let key = Key {
                index: (self.given & ((1 << BITS) - 1)) as u32,
                generation: (self.given >> BITS) as u32,
            };
            self.given += 1;
            if !is_taken(key.index) {
                return Some(key);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn a_number_that_is_taken_is_passed_over_and_one_that_comes_again_looks_otherwise() {
        let mut numbers = Numbers::<4>::default();
        let mut taken = HashMap::new();
        let mut seen = Vec::new();
        for turn in 0..1000 {
            let key = numbers
                .next(|it| taken.contains_key(&it))
                .expect("one is free");
            assert!(!seen.contains(&(key.index, key.generation)), "turn {turn}");
            seen.push((key.index, key.generation));
            assert_eq!(taken.insert(key.index, turn), None);
            // The first ones stay; of the others there are five at a time.
            if taken.len() > 10 {
                let oldest = *taken
                    .iter()
                    .filter(|it| *it.1 >= 5)
                    .min_by_key(|it| *it.1)
                    .unwrap()
                    .0;
                taken.remove(&oldest);
            }
        }
    }

    #[test]
    fn there_is_an_end_to_them() {
        let mut numbers = Numbers::<4>::default();
        let mut taken = Vec::new();
        while let Some(key) = numbers.next(|it| taken.contains(&it)) {
            taken.push(key.index);
        }
        assert_eq!(taken, (0..16).collect::<Vec<_>>());
        taken.remove(3);
        assert_eq!(
            numbers.next(|it| taken.contains(&it)).map(|key| key.index),
            Some(3)
        );
    }
}
