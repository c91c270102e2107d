//! Barriers that are started again and again: members of a board count their rounds.
//!
//! Each member has a number of its own for each such operation, beside its counter of other ones,
//! in which it alone writes the round that it has begun. A round is over when all numbers have come
//! to it. Nobody begins the next one before this one is over for it, so no number is more than one
//! ahead, and operations need no order among each other, nor among those of the board.

use std::sync::atomic::Ordering::{Acquire, Release};

use catena_shm::Bell;

use crate::area::Area;

/// One operation, as a member sees it.
#[derive(Debug)]
pub struct Rounds {
    area: Area,
    rank: u32,
    /// Which operation it is.
    place: usize,
    round: u32,
    bells: Box<[Bell]>,
}

impl Rounds {
    /// That of member `rank`, at a place below [`ROUNDS`](crate::ROUNDS) that no other operation
    /// has. `bells` are those of the others.
    pub(crate) fn new(area: Area, rank: u32, place: usize, bells: Box<[Bell]>) -> Self {
        Rounds {
            area,
            rank,
            place,
            round: 0,
            bells,
        }
    }

    /// This member begins its next round. The last one is over.
    pub fn begin(&mut self) {
        self.round = self.round.wrapping_add(1);
        // What this member wrote before is seen by those who find the number (`missing`).
        self.area
            .round(self.rank, self.place)
            .store(self.round, Release);
        self.bells.iter().for_each(Bell::ring);
    }

    /// The first member that has not begun the round, if the round is not over.
    #[inline]
    pub fn missing(&self) -> Option<u32> {
        let has_come = |rank| {
            let theirs = self.area.round(rank, self.place).load(Acquire);
            theirs.wrapping_sub(self.round) as i32 >= 0
        };
        (0..self.area.shape.size as u32).find(|&rank| !has_come(rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::area::BoardShape;
    use crate::limits::ROUNDS;

    /// A board of `size` members that nobody else sees.
    fn board(size: u32) -> (Vec<[u64; 8]>, Area) {
        let shape = BoardShape::new(size, false);
        let mut memory = vec![[0; 8]; shape.bytes().div_ceil(64) + 1];
        let base = memory.as_mut_ptr().cast::<u8>();
        // SAFETY: the vector has one line more than is needed, and outlives the area.
        let area = unsafe { Area::new(base.add(base.align_offset(64)), shape) };
        (memory, area)
    }

    fn members(area: Area, size: u32, place: usize) -> Vec<Rounds> {
        let member = |rank| Rounds::new(area, rank, place, Box::default());
        (0..size).map(member).collect()
    }

    #[test]
    fn a_round_is_over_when_all_have_begun_it() {
        let (_memory, area) = board(3);
        let mut all = members(area, 3, 0);
        for round in 0..1000 {
            // Each member is the last one at times.
            for turn in 0..3 {
                let rank = (turn + round) % 3;
                all[rank].begin();
                let last = turn == 2;
                assert_eq!(all[rank].missing().is_none(), last);
            }
            assert!(all.iter().all(|it| it.missing().is_none()));
        }
    }

    #[test]
    fn one_that_is_ahead_is_not_missed() {
        let (_memory, area) = board(2);
        let mut all = members(area, 2, ROUNDS - 1);
        all[0].begin();
        all[1].begin();
        assert_eq!(all[0].missing(), None);
        all[0].begin();
        assert_eq!(all[1].missing(), None, "of the round that it is in");
        assert_eq!(all[0].missing(), Some(1));
    }

    #[test]
    fn operations_have_nothing_to_do_with_each_other() {
        let (_memory, area) = board(2);
        let (mut a, mut b) = (members(area, 2, 0), members(area, 2, 1));
        a[0].begin();
        b[1].begin();
        assert_eq!((a[0].missing(), b[1].missing()), (Some(1), Some(0)));
        b[0].begin();
        assert_eq!((a[0].missing(), b[1].missing()), (Some(1), None));
        a[1].begin();
        assert_eq!(a[0].missing(), None);
    }

    #[test]
    fn rounds_go_on_when_their_number_begins_anew() {
        let (_memory, area) = board(2);
        let mut all = members(area, 2, 3);
        for it in &mut all {
            it.round = u32::MAX - 1;
            area.round(it.rank, it.place).store(it.round, Release);
        }
        for _ in 0..4 {
            all[0].begin();
            assert_eq!(all[0].missing(), Some(1));
            all[1].begin();
            assert_eq!((all[0].missing(), all[1].missing()), (None, None));
        }
    }
}
