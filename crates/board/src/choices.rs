//! What a member prefers: the ring of the board, or the kernel's copies.
//!
//! Which takes less depends on the processor, on where the cores are, on how many copy at once, and
//! on who waits for whom, so it differs from one kind of operation to another, and from length to
//! length. The two ends of a ring copy at the same time, one ahead of the other; where the kernel
//! copies they show each other where, and wait at the end. What counts is how far apart operations
//! begin that follow each other closely: that is what one takes the program, by either way.

use std::time::Duration;

use catena_base::clock;
use catena_shm::{By, MARGIN, Trials};

use crate::board::{Asked, LongOp};
use crate::kind::OpKind;

/// Operations further apart than that, and than a byte takes at [`SLOWEST`], do not follow each
/// other closely.
const APART: Duration = Duration::from_millis(1);

/// Nanoseconds that a byte takes at most.
const SLOWEST: u64 = 2;

/// The mean distance of this many operations in a row counts as one measurement, since a member
/// that waits for nobody may be that many operations ahead.
const BURST: u32 = 15;

/// What a member knows of the operations of a board.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    known: Vec<((OpKind, u32), Trials)>,
    /// The last operation: which of those it is of, its way, its length, and when it began.
    last: Option<(usize, By, u64, u64)>,
}

impl Choices {
    /// An operation begins at the tick `now`. Whether the ring is preferred, for it or from the
    /// next one on, as it [asks](LongOp::asked).
    pub fn begin(&mut self, op: LongOp, now: u64) -> bool {
        self.record(now);
        let of = (op.kind.family(), op.bytes.ilog2());
        let at = self.known.iter().position(|(known, _)| *known == of);
        let at = at.unwrap_or_else(|| {
            self.known
                .push((of, Trials::new(By::of(op.in_ring), BURST, MARGIN)));
            self.known.len() - 1
        });
        let trials = &mut self.known[at].1;
        let prefers = match op.asked {
            Asked::Nothing => None,
            Asked::Now | Asked::Next => Some(trials.next(BURST)),
            Asked::InTurn(passed) => Some(trials.turn(passed, BURST)),
        };
        let by = match (op.asked, prefers) {
            (Asked::Now, Some(own)) => own,
            _ => By::of(op.in_ring),
        };
        self.last = Some((at, by, op.bytes as u64, now));
        prefers == Some(By::Ring)
    }

    /// A member that leads has gone that way in the operation that runs, which is gone here, too,
    /// in the next ones.
    pub fn follow(&mut self, in_ring: bool) {
        if let Some((at, ..)) = self.last {
            self.known[at].1.follow(By::of(in_ring));
        }
    }

    /// What the last operation took.
    fn record(&mut self, now: u64) {
        let Some((at, by, bytes, began)) = self.last else {
            return;
        };
        let took = now.saturating_sub(began);
        let most = APART + Duration::from_nanos(SLOWEST * bytes);
        if took < clock::ticks_in(most) {
            self.known[at].1.record(by, (took << 16) / bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 1 << 16;

    /// Runs `ops` operations, each of which goes the way that was preferred in the one before, and
    /// takes `ring` or `kernel` ticks. Returns how many went by the kernel.
    fn run(choices: &mut Choices, kind: OpKind, ops: u32, ring: u64, kernel: u64) -> u32 {
        let (mut now, mut in_ring, mut count) = (1_000_000, true, 0);
        for at in 0..ops {
            count += u32::from(!in_ring);
            let op = LongOp {
                kind,
                bytes: LEN,
                in_ring,
                asked: Asked::Next,
            };
            let next = choices.begin(op, now);
            now += if in_ring { ring } else { kernel };
            // A program that computes after some of them.
            now += if at % 100 == 99 { 1 << 40 } else { 0 };
            in_ring = next;
        }
        count
    }

    #[test]
    fn whole_operations_count() {
        let mut choices = Choices::default();
        run(&mut choices, OpKind::Alltoall, 1000, 10_000, 5000);
        assert!(run(&mut choices, OpKind::Alltoall, 10_000, 10_000, 5000) > 9000);
        let kernel = run(&mut choices, OpKind::Allgather, 100_000, 5000, 10_000);
        assert!(kernel < 3000, "another kind: {kernel}");
        assert!(run(&mut choices, OpKind::Alltoall, 10_000, 10_000, 5000) > 9000);
    }

    #[test]
    fn what_another_one_tries_is_tried() {
        let mut choices = Choices::default();
        let op = LongOp {
            kind: OpKind::Neighbors,
            bytes: LEN,
            in_ring: true,
            asked: Asked::Now,
        };
        assert!(choices.begin(op, 1000));
        choices.follow(false);
        assert!(!choices.begin(op, 2000));
    }

    #[test]
    fn who_is_asked_in_turn_alone_tries_then() {
        let mut choices = Choices::default();
        let op = |in_ring, asked| LongOp {
            kind: OpKind::Gather,
            bytes: LEN,
            in_ring,
            asked,
        };
        let mut now = 1_000_000;
        let mut pass = |choices: &mut Choices, in_ring, asked| {
            let prefers_ring = choices.begin(op(in_ring, asked), now);
            now += if in_ring { 10_000 } else { 5000 };
            prefers_ring
        };
        for _ in 0..100 {
            pass(&mut choices, true, Asked::Nothing);
        }
        assert!(!pass(&mut choices, false, Asked::InTurn(100)));
        for _ in 0..500 {
            assert!(!pass(&mut choices, false, Asked::Next), "it is better");
        }
    }

    /// While gathers go through the ring, the others hear the root once in `UNHEARD` of them. All
    /// the same the ring is tried no more often than where they hear it each time.
    #[test]
    fn what_is_asked_in_turn_is_tried_rarely() {
        const UNHEARD: u32 = 96;
        let mut choices = Choices::default();
        let (mut in_ring, mut unheard, mut now, mut late) = (true, 0, 1_000_000, 0);
        for at in 0..60_000 {
            let is_turn = in_ring && unheard == UNHEARD;
            let op = LongOp {
                kind: OpKind::Gather,
                bytes: LEN,
                in_ring: in_ring && !is_turn,
                asked: match unheard {
                    _ if in_ring && !is_turn => Asked::Nothing,
                    0 => Asked::Next,
                    passed => Asked::InTurn(passed),
                },
            };
            let prefers_ring = choices.begin(op, now);
            now += if op.in_ring { 10_000 } else { 5000 };
            if op.in_ring {
                unheard += 1;
                late += u32::from(at > 20_000);
            } else {
                (in_ring, unheard) = (prefers_ring, 0);
            }
        }
        assert!(late < 1000, "{late} of 40,000 through the ring");
    }
}
