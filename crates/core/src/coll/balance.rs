//! Which way long blocks go from rank to rank of a node: through the ring of a board, with two plain
//! copies, or from buffer to buffer, with one that the kernel makes.
//!
//! Which takes less depends on the processor, on where the cores are, and on how dear the kernel's
//! copies are, up to four times as dear as plain ones. Member 0 compares what it sees: what its own
//! copies into rings and out of them take, and what the kernel takes for memory of its own, where
//! the distance to other cores hardly matters. It says what it prefers with what it publishes
//! (`node`).

use std::sync::OnceLock;

use catena_base::clock;
use catena_shm::read_ticks;

/// Shortest copy that counts.
pub const COUNTED: usize = 16 << 10;

/// Copies of which the shortest counts: others may be interrupted.
const SAMPLES: u32 = 8;

/// Microseconds until the ring is tried again, at least.
const AGAIN_US: f64 = 10_000.0;
/// How many times as long at most: the longer, the more often in a row the ring was far behind.
const RARELY: u64 = 64;

/// What copies through rings take, and what follows. Ticks for 64 KiB.
#[derive(Debug)]
pub struct Balance {
    /// Into the own ring, and out of others'; 0 if there were none.
    into: u64,
    out: u64,
    samples: u32,
    /// Whether long blocks had better go through the ring.
    pub prefers_ring: bool,
    /// Whether that may change.
    weighs: bool,
    /// When the ring is tried again, if it is not preferred.
    due: u64,
    rarer: u64,
}

/// The less of two costs of which either may be unknown.
fn least(a: u64, b: u64) -> u64 {
    if a == 0 || b == 0 { a.max(b) } else { a.min(b) }
}

impl Balance {
    /// Nothing was copied yet. The ring comes first, if the two are weighed at all.
    pub fn new(weighs: bool) -> Self {
        Balance {
            into: 0,
            out: 0,
            samples: 0,
            prefers_ring: weighs,
            weighs,
            due: 0,
            rarer: 1,
        }
    }

    /// `len` bytes were copied into the own ring in `ticks`.
    pub fn copied_in(&mut self, len: usize, ticks: u64) {
        self.into = least(self.into, per_block(len, ticks));
        self.count();
    }

    /// `len` bytes were copied or combined out of a ring in `ticks`.
    pub fn copied_out(&mut self, len: usize, ticks: u64) {
        self.out = least(self.out, per_block(len, ticks));
        self.count();
    }

    fn count(&mut self) {
        self.samples += 1;
        if self.samples == SAMPLES && self.weighs {
            static KERNEL: OnceLock<u64> = OnceLock::new();
            self.judge(*KERNEL.get_or_init(read_ticks), clock::ticks());
        }
    }

    /// Tries the ring again when that is due.
    pub fn look(&mut self) {
        let is_due = || (clock::ticks().wrapping_sub(self.due) as i64) >= 0;
        if self.weighs && !self.prefers_ring && is_due() {
            self.begin(true);
        }
    }

    /// Compares what was seen with what the `kernel` takes.
    fn judge(&mut self, kernel: u64, now: u64) {
        // Who only writes, or only reads, takes the other end for as quick.
        let ring = self.into.max(self.out) + least(self.into, self.out);
        // The two ends of a ring copy at the same time, those of the kernel disturb each other.
        let is_better = 4 * ring <= 5 * kernel;
        if !is_better && self.prefers_ring {
            self.rarer = match ring > 2 * kernel {
                true => (2 * self.rarer).min(RARELY),
                false => 1,
            };
            let pause = AGAIN_US * clock::ticks_per_us() * self.rarer as f64;
            self.due = now.wrapping_add(pause as u64);
        }
        self.begin(is_better);
    }

    fn begin(&mut self, prefers_ring: bool) {
        (self.into, self.out, self.samples) = (0, 0, 0);
        self.prefers_ring = prefers_ring;
    }
}

/// What 64 KiB take if `len` bytes take `ticks`.
fn per_block(len: usize, ticks: u64) -> u64 {
    ((ticks << 16) / len.max(1) as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: u64 = 16_000;

    /// What is preferred after copies of which 64 KiB take so many ticks.
    fn after(balance: &mut Balance, into: &[u64], out: &[u64]) -> bool {
        for &ticks in into {
            balance.into = least(balance.into, per_block(1 << 16, ticks));
        }
        for &ticks in out {
            balance.out = least(balance.out, per_block(1 << 15, ticks / 2));
        }
        balance.judge(KERNEL, 1000);
        balance.prefers_ring
    }

    #[test]
    fn the_ring_is_preferred_while_its_two_copies_take_less() {
        let mut balance = Balance::new(true);
        assert!(balance.prefers_ring, "to find out");
        assert!(after(&mut balance, &[9000; 4], &[9000; 4]));
        assert!(!after(&mut balance, &[30_000; 4], &[9000; 4]));
        assert!(
            after(&mut balance, &[9000; 4], &[9000; 4]),
            "shorter blocks tell"
        );
    }

    #[test]
    fn one_side_stands_for_both_and_interruptions_do_not_count() {
        let mut balance = Balance::new(true);
        assert!(after(&mut balance, &[1_000_000, 9000], &[]));
        assert!(!after(&mut balance, &[], &[12_000; 8]));
    }

    #[test]
    fn it_is_tried_again_less_often_the_more_it_is_behind() {
        let mut balance = Balance::new(true);
        let mut pauses = Vec::new();
        for _ in 0..9 {
            balance.begin(true);
            assert!(!after(&mut balance, &[30_000; 8], &[30_000; 8]));
            pauses.push(balance.due - 1000);
        }
        assert!(pauses.is_sorted() && pauses[7] == pauses[8] && pauses[7] > 30 * pauses[0]);
        balance.look();
        assert_eq!(balance.prefers_ring, clock::ticks() >= balance.due);
        balance.due = clock::ticks();
        balance.look();
        assert!(balance.prefers_ring);
        after(&mut balance, &[11_000; 8], &[11_000; 8]);
        assert!(balance.due - 1000 < pauses[0]);
    }

    #[test]
    fn nothing_changes_where_they_are_not_weighed() {
        let mut balance = Balance::new(false);
        for _ in 0..2 * SAMPLES {
            balance.copied_in(1 << 16, 1);
            balance.look();
        }
        assert!(!balance.prefers_ring);
    }
}
