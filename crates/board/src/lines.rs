//! Whether who reads a long payload takes its cache lines or leaves them where they are.
//!
//! A line that both sides have read must be taken away from the reader before it can be written
//! again: the reader had better take it, which is a store for each. But in a ring that exceeds the
//! nearest caches it is in neither by then. Left there, lines pass a sixth faster between cores
//! that share a cache, and up to six times slower between those that do not: what the owner's own
//! writes take tells them apart.

use catena_base::clock;

/// Shortest copy that counts.
pub(crate) const COUNTED: usize = 16 << 10;

/// How many of the last copies weigh most.
const LAST: u64 = 4;

/// Copies that are compared.
const SAMPLES: u32 = 4;

/// Microseconds until lines are left again: twice as long each time that this was expensive, within
/// these limits.
const AGAIN_US: [f64; 2] = [2_000.0, 500_000.0];

/// What writes to a ring take, and what follows.
#[derive(Debug)]
pub struct Lines {
    /// Whether they are left where they are.
    pub left: bool,
    /// Bytes of the ring, and those to be written before a change is felt.
    ring: u64,
    cold: u64,
    /// What writes took on average while lines were taken, ticks for 64 KiB.
    taken: u64,
    /// Writes since it changed whether lines are left.
    writes: Copies,
    samples: u32,
    /// When they are left again, and microseconds that this was put off for.
    due: u64,
    pause: f64,
}

/// Copies one way.
#[derive(Clone, Copy, Debug, Default)]
struct Copies {
    /// What they take on average, ticks for 64 KiB. The last ones weigh most, and one that was
    /// interrupted no more than two others.
    ticks: u64,
    copies: u64,
}

impl Copies {
    /// A copy of `len` bytes took this many ticks.
    fn record(&mut self, len: usize, ticks: u64) {
        let ticks = (ticks << 16) / len.max(1) as u64;
        self.copies += 1;
        self.ticks = match self.copies {
            1 => ticks,
            // Those before were interrupted.
            _ if 4 * ticks < self.ticks => ticks,
            _ => ((LAST - 1) * self.ticks + ticks.min(2 * self.ticks)) / LAST,
        };
    }
}

impl Lines {
    /// Nothing was written yet to the ring of so many bytes.
    pub fn new(ring: usize) -> Self {
        let ring = ring as u64;
        Lines {
            left: false,
            ring,
            cold: ring,
            taken: 0,
            writes: Copies::default(),
            samples: 0,
            due: 0,
            pause: 0.0,
        }
    }

    /// `len` bytes were written in `ticks`.
    pub fn wrote(&mut self, len: usize, ticks: u64) {
        if self.cold > 0 {
            self.cold = self.cold.saturating_sub(len as u64);
            return;
        }
        self.writes.record(len, ticks);
        self.samples = self.samples.saturating_add(1);
        let is_obvious = self.left && self.writes.ticks > 2 * self.taken;
        if self.samples >= SAMPLES || is_obvious {
            self.judge(clock::ticks());
        }
    }

    fn judge(&mut self, now: u64) {
        if !self.left {
            self.taken = self.writes.ticks;
            if (now.wrapping_sub(self.due) as i64) >= 0 {
                self.change(true);
            }
        } else if 4 * self.writes.ticks > 5 * self.taken {
            self.pause = (2.0 * self.pause).clamp(AGAIN_US[0], AGAIN_US[1]);
            self.due = now.wrapping_add((self.pause * clock::ticks_per_us()) as u64);
            self.change(false);
        } else if self.samples >= 16 * SAMPLES {
            self.pause = 0.0;
        }
    }

    fn change(&mut self, left: bool) {
        (self.left, self.cold) = (left, self.ring);
        (self.writes, self.samples) = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RING: usize = 1 << 20;
    const LEN: usize = 1 << 18;

    /// Writes what is not felt yet, and then as much as is compared, at so many ticks for 64 KiB.
    fn write(lines: &mut Lines, ticks: u64) {
        while lines.cold > 0 {
            lines.wrote(LEN, u64::from(u32::MAX));
        }
        (0..SAMPLES).for_each(|_| lines.wrote(LEN, 4 * ticks));
    }

    #[test]
    fn lines_are_left_when_it_is_known_what_taking_them_costs() {
        let mut lines = Lines::new(RING);
        (0..RING / LEN).for_each(|_| lines.wrote(LEN, 1));
        assert!(lines.samples == 0 && lines.cold == 0, "a lap is cold");
        write(&mut lines, 3000);
        assert!(lines.left && lines.taken == 3000);
        for _ in 0..100 {
            write(&mut lines, 3500);
            assert!(lines.left, "a bit more is no reason");
        }
    }

    #[test]
    fn they_are_taken_as_soon_as_leaving_them_is_expensive() {
        let mut lines = Lines::new(RING);
        write(&mut lines, 3000);
        for _ in 0..3 {
            write(&mut lines, 2500);
        }
        assert!(lines.left);
        (0..2).for_each(|_| lines.wrote(LEN, 4 * 30_000));
        assert!(!lines.left, "the cores are elsewhere now");
    }

    #[test]
    fn one_copy_that_is_far_too_expensive_is_enough() {
        let mut lines = Lines::new(RING);
        write(&mut lines, 3000);
        (0..RING / LEN).for_each(|_| lines.wrote(LEN, 4 * 20_000));
        assert!(lines.left, "a lap is cold");
        lines.wrote(LEN, 4 * 20_000);
        assert!(!lines.left);
    }

    #[test]
    fn an_interruption_hardly_counts() {
        let mut lines = Lines::new(RING);
        write(&mut lines, 3000);
        write(&mut lines, 2500);
        lines.wrote(LEN, 1 << 40);
        assert!(lines.left);
    }

    #[test]
    fn they_are_left_again_less_often_the_more_often_it_was_expensive() {
        let mut lines = Lines::new(RING);
        for pause in [2000.0, 4000.0, 8000.0] {
            lines.due = clock::ticks();
            write(&mut lines, 3000);
            assert!(lines.left);
            write(&mut lines, 9000);
            assert!(!lines.left && lines.pause == pause);
            lines.due = clock::ticks().wrapping_add(1 << 60);
            write(&mut lines, 3000);
            assert!(!lines.left, "it is not due");
        }
        lines.due = clock::ticks();
        (0..20).for_each(|_| write(&mut lines, 3000));
        assert!(lines.left && lines.pause == 0.0);
    }
}
