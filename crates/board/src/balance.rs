//! Which way long blocks go from rank to rank of a node: through the ring of a board, with two
//! plain copies, or from buffer to buffer, with one that the kernel makes.
//!
//! Which takes less depends on the processor, on where the cores are, and on how expensive the
//! kernel's copies are, up to four times as expensive as plain ones. Each member compares what it
//! sees: what its own copies into rings and out of them take, and what the kernel takes, as far as
//! it saw that, or else about for memory of its own. The ring comes first, and is left for the
//! kernel on trial. It says what it prefers with what it publishes, and all do what follows from
//! that (`member`, "Long payloads").

use catena_base::clock;
use catena_shm::read_ticks;

/// Shortest copy that counts.
pub const COUNTED: usize = 16 << 10;

/// The least number of copies after which they are compared; a member of more pairs waits for one
/// of each.
const SAMPLES: u32 = 8;

/// How many of the last copies weigh most, at least.
const LAST: u64 = 4;

/// Copies that are enough if the ring takes more than three times as long.
const FEWEST: u32 = 3;

/// Copies that do not count when the ring is tried, which comes from memory then.
const COLD: u32 = 8;

/// Microseconds until the ring is tried again: twice as long each time that it was behind, within
/// these limits.
const AGAIN_US: [f64; 2] = [500.0, 16_000.0];

/// How much longer that is where the ring was far behind.
const RARELY: f64 = 32.0;

/// What copies through rings take, and what follows. Ticks for 64 KiB.
#[derive(Debug)]
pub struct Balance {
    /// Into this member's ring, and out of others'.
    into: Copies,
    out: Copies,
    samples: u32,
    /// Copies to come that do not count.
    cold: u32,
    /// Of the kernel, and how many since the ring was left.
    direct: Copies,
    trials: u32,
    /// What the ring took when it was left.
    left: u64,
    /// Whether long blocks had better go through the ring.
    pub prefers_ring: bool,
    /// Whether that may change.
    weighs: bool,
    /// Pairs that the member is one of.
    pairs: u32,
    /// When the ring is tried next, if it is not preferred.
    due: u64,
    /// Microseconds that this was put off for.
    pause: f64,
}

/// Copies one way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Copies {
    /// What they take on average, ticks for 64 KiB. The last ones weigh most, and one that was
    /// interrupted no more than two others.
    pub ticks: u64,
    bytes: u64,
    copies: u64,
}

impl Copies {
    /// One of `len` bytes took so many ticks.
    pub fn record(&mut self, len: usize, ticks: u64) {
        self.record_among(len, ticks, LAST);
    }

    /// [`Copies::record`] where the last `most` copies weigh most.
    fn record_among(&mut self, len: usize, ticks: u64, most: u64) {
        let ticks = (ticks << 16) / len.max(1) as u64;
        self.copies += 1;
        let last = self.copies.clamp(LAST, most);
        self.ticks = match self.bytes {
            0 => ticks,
            // Those before were interrupted.
            _ if 4 * ticks < self.ticks => ticks,
            _ => ((last - 1) * self.ticks + ticks.min(2 * self.ticks)) / last,
        };
        self.bytes += len as u64;
    }
}

impl Balance {
    /// Nothing was copied yet by a member of that number of pairs. The ring comes first, unless
    /// nothing is weighed.
    pub fn new(weighs: bool, pairs: u32) -> Self {
        Balance {
            into: Copies::default(),
            out: Copies::default(),
            samples: 0,
            cold: COLD,
            direct: Copies::default(),
            trials: 0,
            left: 0,
            prefers_ring: weighs,
            weighs,
            pairs,
            due: 0,
            pause: 0.0,
        }
    }

    /// `len` bytes were copied into this member's ring in `ticks`.
    pub fn copied_in(&mut self, len: usize, ticks: u64) {
        if self.counts() {
            self.into.record_among(len, ticks, self.last());
            self.count();
        }
    }

    /// `len` bytes were copied or combined out of a ring in `ticks`.
    pub fn copied_out(&mut self, len: usize, ticks: u64) {
        if self.counts() {
            self.out.record_among(len, ticks, self.last());
            self.count();
        }
    }

    /// The kernel copied `len` bytes between members in `ticks`.
    pub fn copied_directly(&mut self, len: usize, ticks: u64) {
        self.direct.record_among(len, ticks, self.last());
        if !self.weighs || self.prefers_ring {
            return;
        }
        self.trials = self.trials.saturating_add(1);
        let is_tried = self.trials == SAMPLES.max(self.pairs);
        if is_tried && self.left > 0 && is_better(self.left, self.direct.ticks) {
            self.begin(true);
        }
    }

    /// How many of the last copies weigh most: one of each pair, as they may come one after the
    /// other.
    fn last(&self) -> u64 {
        LAST.max(self.pairs.into())
    }

    fn counts(&mut self) -> bool {
        let is_cold = self.cold > 0;
        self.cold -= u32::from(is_cold);
        self.weighs && !is_cold
    }

    fn count(&mut self) {
        self.samples += 1;
        // Each question is one more look, until it is known.
        let own = read_ticks();
        let kernel = match self.direct.bytes {
            // That of another process takes about twice as long. To try it in vain costs more than
            // to try it late.
            0 => 2 * own,
            _ => self.direct.ticks,
        };
        let most = SAMPLES.max(self.pairs);
        let is_obvious = || self.prefers_ring && self.ring() > 3 * kernel;
        if self.samples >= most || self.samples >= FEWEST.max(self.pairs) && is_obvious() {
            self.judge(kernel, clock::ticks());
        }
    }

    /// What 64 KiB through the ring take.
    fn ring(&self) -> u64 {
        // A member that only writes, or only reads, assumes that the other end is as quick. What
        // several read is written once.
        match (self.into.bytes, self.out.bytes) {
            (_, 0) => 2 * self.into.ticks,
            (0, _) => 2 * self.out.ticks,
            (a, b) => self.out.ticks + self.into.ticks * a.min(b) / b,
        }
    }

    /// A block is about to be published that does not fit into a record. Begins anew if it was
    /// changed whether the two are weighed. Tries the ring when that is due.
    pub fn look(&mut self, weighs: bool) {
        if weighs != self.weighs {
            *self = Balance::new(weighs, self.pairs);
        }
        let is_due = |now: u64| (now.wrapping_sub(self.due) as i64) >= 0;
        if self.weighs && !self.prefers_ring && is_due(clock::ticks()) {
            self.begin(true);
        }
    }

    fn put_off(&mut self, us: f64, now: u64) {
        self.due = now.wrapping_add((us * clock::ticks_per_us()) as u64);
    }

    /// Compares what was seen with what the `kernel` takes.
    fn judge(&mut self, kernel: u64, now: u64) {
        let ring = self.ring();
        let is_better = is_better(ring, kernel);
        if is_better {
            self.pause = 0.0;
        } else if self.prefers_ring {
            self.pause = (2.0 * self.pause).clamp(AGAIN_US[0], AGAIN_US[1]);
            let times = if ring > 3 * kernel { RARELY } else { 1.0 };
            self.put_off(times * self.pause, now);
        }
        self.begin(is_better);
    }

    fn begin(&mut self, prefers_ring: bool) {
        if !prefers_ring {
            self.left = self.ring();
            // Both are seen anew.
            (self.direct, self.trials, self.cold) = (Copies::default(), 0, COLD);
        }
        (self.into, self.out, self.samples) = Default::default();
        self.prefers_ring = prefers_ring;
    }
}

/// Whether the ring is, where copies of 64 KiB take so much one way and the other. The two ends of
/// a ring copy at the same time and one ahead of the other; where the kernel copies they show each
/// other where, wait at the end and disturb each other. Measured on an AMD EPYC with far cores, an
/// allgather takes 3.6 µs by a ring whose copies take as much, and 6.5 by copies of 3.
fn is_better(ring: u64, kernel: u64) -> bool {
    ring <= 2 * kernel
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const KERNEL: u64 = 16_000;

    /// What is preferred after copies of which 64 KiB take so many ticks.
    fn after(balance: &mut Balance, into: &[u64], out: &[u64]) -> bool {
        for &ticks in into {
            balance.into.record(1 << 16, ticks);
        }
        for &ticks in out {
            balance.out.record(1 << 15, ticks / 2);
        }
        balance.judge(KERNEL, 1000);
        balance.prefers_ring
    }

    #[test]
    fn the_ring_is_preferred_while_its_two_copies_take_less() {
        let mut balance = Balance::new(true, 1);
        assert!(after(&mut balance, &[8000; 4], &[9000; 4]));
        assert!(!after(&mut balance, &[30_000; 4], &[9000; 4]));
        let shorter = after(&mut balance, &[8000; 4], &[9000; 4]);
        assert!(shorter, "blocks that are not direct anyway tell, too");
    }

    #[test]
    fn one_side_stands_for_both() {
        for (ticks, is_better) in [(16_000, true), (16_100, false)] {
            assert_eq!(
                after(&mut Balance::new(true, 1), &[ticks; 8], &[]),
                is_better
            );
            assert_eq!(
                after(&mut Balance::new(true, 1), &[], &[ticks; 8]),
                is_better
            );
        }
    }

    #[test]
    fn what_several_read_is_written_once() {
        assert!(!after(
            &mut Balance::new(true, 1),
            &[20_000; 2],
            &[18_000; 4]
        ));
        assert!(after(
            &mut Balance::new(true, 1),
            &[20_000; 2],
            &[18_000; 8]
        ));
    }

    #[test]
    fn an_interruption_hardly_counts() {
        let mut first = Copies::default();
        first.record(1 << 16, 1_000_000);
        first.record(1 << 16, 8000);
        assert_eq!(first.ticks, 8000);
        let mut balance = Balance::new(true, 1);
        assert!(after(
            &mut balance,
            &[8000, 8000, 1_000_000, 8000, 8000],
            &[8000; 3]
        ));
    }

    /// What the kernel takes was a guess; what it does take is known after as many copies as are
    /// compared.
    #[test]
    fn a_kernel_that_is_slower_than_was_thought_is_left() {
        for (ticks, stays) in [(19_000, true), (21_000, false)] {
            let mut balance = Balance::new(true, 1);
            assert!(!after(&mut balance, &[20_000; 8], &[20_000; 8]));
            (1..SAMPLES).for_each(|_| balance.copied_directly(1 << 16, ticks));
            assert!(!balance.prefers_ring);
            balance.copied_directly(1 << 16, ticks);
            assert_eq!(balance.prefers_ring, !stays);
            assert_eq!(balance.direct.ticks, ticks);
        }
    }

    #[test]
    fn the_ring_comes_first() {
        let mut balance = Balance::new(true, 1);
        balance.look(true);
        assert!(balance.prefers_ring && balance.cold == COLD);
    }

    #[test]
    fn it_is_tried_again_less_often_the_more_often_it_was_behind() {
        let mut balance = Balance::new(true, 1);
        balance.begin(true);
        for pause in [500.0, 1000.0, 2000.0] {
            assert!(!after(&mut balance, &[30_000; 8], &[30_000; 8]));
            assert_eq!(balance.pause, pause);
            balance.due = clock::ticks() + clock::ticks_in(Duration::from_secs(1000));
            balance.look(true);
            assert!(!balance.prefers_ring);
            balance.due = clock::ticks();
            balance.look(true);
            assert!(balance.prefers_ring && balance.cold == COLD);
        }
        after(&mut balance, &[8000; 8], &[8000; 8]);
        after(&mut balance, &[30_000; 8], &[30_000; 8]);
        assert_eq!(balance.pause, 500.0);
    }

    #[test]
    fn first_copies_do_not_count() {
        let mut balance = Balance::new(true, 1);
        balance.begin(true);
        (0..COLD).for_each(|_| balance.copied_in(1 << 16, u64::from(u32::MAX)));
        (1..SAMPLES).for_each(|_| balance.copied_in(1 << 16, 1));
        assert_eq!((balance.into.ticks, balance.samples), (1, SAMPLES - 1));
        balance.copied_out(1 << 16, 1);
        assert!(balance.prefers_ring && balance.samples == 0);
    }

    #[test]
    fn nothing_changes_where_they_are_not_weighed() {
        let mut balance = Balance::new(false, 1);
        for _ in 0..COLD + 2 * SAMPLES {
            balance.copied_in(1 << 16, 1);
            balance.look(false);
        }
        assert!(!balance.prefers_ring && balance.due == 0);
    }

    /// Of many pairs each is seen before they are compared, and those seen first count, too.
    #[test]
    fn near_and_far_pairs_count_alike() {
        const PAIRS: u32 = 30;
        for near in [0, 10, 20, 30] {
            let mut balance = Balance::new(true, PAIRS);
            (0..COLD).for_each(|_| balance.copied_out(1 << 16, 1));
            (0..PAIRS - 1).for_each(|pair| {
                balance.copied_out(1 << 16, if pair < near { 4000 } else { 7000 });
            });
            assert_eq!(balance.samples, PAIRS - 1);
            let mean = (4000 * near.min(29) + 7000 * (29 - near.min(29))) / 29;
            let seen = balance.out.ticks as u32;
            assert!(seen.abs_diff(mean) < 50, "{seen}, not {mean}");
        }
    }

    /// A ring that takes far longer than the kernel is left after few copies, and for a long time.
    #[test]
    fn what_is_far_behind_is_seen_soon() {
        let mut balance = Balance::new(true, 1);
        balance.direct.record(1 << 16, KERNEL);
        balance.begin(true);
        (0..COLD + FEWEST - 1).for_each(|_| balance.copied_in(1 << 16, 2 * KERNEL));
        assert!(balance.prefers_ring);
        let before = clock::ticks();
        balance.copied_in(1 << 16, 2 * KERNEL);
        assert!(!balance.prefers_ring && balance.pause == AGAIN_US[0]);
        let pause = balance.due - before;
        assert!(pause as f64 >= RARELY * AGAIN_US[0] * clock::ticks_per_us());
        // One that is hardly behind gets all its samples.
        balance.direct.record(1 << 16, KERNEL);
        balance.begin(true);
        (0..COLD + SAMPLES - 1).for_each(|_| balance.copied_in(1 << 16, KERNEL / 2));
        assert!(balance.prefers_ring && balance.samples == SAMPLES - 1);
    }

    #[test]
    fn whether_they_are_weighed_may_change() {
        let mut balance = Balance::new(true, 1);
        assert!(!after(&mut balance, &[30_000; 8], &[30_000; 8]));
        balance.look(false);
        assert!(!balance.prefers_ring && balance.due == 0);
        balance.look(true);
        assert!(balance.prefers_ring, "to find out");
    }
}
