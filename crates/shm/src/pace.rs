//! Which way is the best for eager messages that are long enough to be read.
//!
//! They can be streamed through the ring at once, or announced and copied out
//! of the sender's memory. If the program writes and reads the bytes between
//! its messages, streaming wins: their cache lines travel anyway, and those of
//! the ring do so while a rank waits. If it does not, or if both ranks send,
//! copying wins, by up to a half. What a way costs is seen in the program, not
//! here. So the sender looks at its **pace**: it takes the time of some
//! messages of either way, now and then, and keeps to the faster one. Every
//! trial begins with the same way, whatever is settled: the two ends of an
//! exchange then often try the same at the same time, and see what it would be
//! if both did. Each with the other's way, they would see no difference.

use catena_base::clock;

/// From so many bytes on messages are mostly the better announced: who sends 64 KiB both
/// ways has up to 1.8 times the bandwidth, and a fifth less latency; of 32 KiB one way, a
/// quarter less bandwidth.
const LONG: u64 = 48 << 10;
/// Messages that are timed together: programs often have as many under way.
const LAP: u32 = 64;
/// Messages before them that are not timed: a program that waits for many at once
/// has not waited for these yet.
const LEAD: u32 = 64;
/// Laps of each way in a trial. The shortest counts: what disturbs the program
/// makes them longer.
const LAPS: u32 = 2;
/// Messages before the first trial: as many as a trial takes, for whoever sends few gains
/// nothing from one.
const FIRST: u32 = 2 * LAPS * (LEAD + LAP);
/// How many times as long as a trial the rest after it is: at least, as soon as
/// the pace has changed, and at most.
const REST: (u64, u64) = (4, 64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The way is settled; the laps are timed to see whether the pace changes.
    Rest,
    /// Part of a trial, before its next lap.
    Lead,
    /// A lap of a trial.
    Lap,
}

/// Chooses the way of each such message to one peer.
#[derive(Debug)]
struct Pace {
    phase: Phase,
    /// Whether they are announced now.
    announces: bool,
    /// Whether they are outside of trials.
    settled: bool,
    /// Messages until the next decision.
    left: u32,
    /// Laps of the trial so far.
    laps: u32,
    /// Ticks of the shortest lap: streamed, announced.
    best: [u64; 2],
    /// When the current lap began.
    lap_began: u64,
    /// When the last trial began and ended.
    trial: (u64, u64),
}

/// The paces of messages to one peer: of those that are mostly the better streamed,
/// and of longer ones, which are mostly the better announced.
#[derive(Debug)]
pub(crate) struct Paces([Pace; 2]);

impl Default for Paces {
    fn default() -> Self {
        Paces([false, true].map(Pace::new))
    }
}

impl Paces {
    /// Whether the next message, of `len` bytes, is announced.
    pub fn announces(&mut self, len: u64) -> bool {
        self.0[usize::from(len >= LONG)].announces()
    }
}

impl Pace {
    /// That begins with one way.
    fn new(announces: bool) -> Self {
        Pace {
            phase: Phase::Rest,
            announces,
            settled: announces,
            left: FIRST,
            laps: 0,
            best: [u64::MAX; 2],
            lap_began: 0,
            trial: (0, 0),
        }
    }

    /// Whether the next message is announced.
    fn announces(&mut self) -> bool {
        self.left -= 1;
        if self.left == 0 || self.is_new() {
            self.look(clock::ticks());
        }
        self.announces
    }

    /// Whether the way that is not settled is in use, and has no time yet.
    fn is_new(&self) -> bool {
        self.announces != self.settled && self.best[usize::from(self.announces)] == u64::MAX
    }

    fn look(&mut self, now: u64) {
        let span = now.wrapping_sub(self.lap_began);
        let here = usize::from(self.announces);
        // A way that is much slower is not tried for long.
        if self.is_new() && span / 2 > self.best[1 - here] {
            return self.rest(now);
        }
        if self.left > 0 {
            return;
        }
        match self.phase {
            Phase::Rest => {
                if self.is_due(span, now) {
                    self.best = [u64::MAX; 2];
                    self.best[here] = span;
                    (self.phase, self.laps) = (Phase::Lead, 0);
                    self.announces = false;
                    self.trial.0 = now;
                }
            }
            Phase::Lead => self.phase = Phase::Lap,
            Phase::Lap => {
                self.best[here] = self.best[here].min(span);
                self.laps += 1;
                if self.laps == 2 * LAPS {
                    return self.settle(now);
                }
                self.announces = !self.announces;
                self.phase = Phase::Lead;
            }
        }
        self.lap_began = now;
        self.left = if self.phase == Phase::Lead { LEAD } else { LAP };
    }

    /// Whether it is time for a trial, after a lap of `span` ticks.
    fn is_due(&self, span: u64, now: u64) -> bool {
        let (began, ended) = self.trial;
        // Clocks of two cores may differ a little.
        let (took, rested) = (ended.saturating_sub(began), now.wrapping_sub(ended));
        let best = self.best[usize::from(self.announces)];
        let changed = best == u64::MAX || span.abs_diff(best) > best / 4;
        rested >= took.saturating_mul(if changed { REST.0 } else { REST.1 })
    }

    /// The end of a trial: takes the faster way, or the settled one if there is
    /// hardly a difference.
    fn settle(&mut self, now: u64) {
        let here = usize::from(self.settled);
        let (old, new) = (self.best[here], self.best[1 - here]);
        if new.saturating_add(new / 16) < old {
            self.settled = !self.settled;
        }
        self.rest(now);
    }

    fn rest(&mut self, now: u64) {
        self.announces = self.settled;
        (self.phase, self.left, self.lap_began) = (Phase::Rest, LAP, now);
        self.trial.1 = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends messages that take so many ticks, streamed or announced; how many
    /// were announced.
    fn run(pace: &mut Pace, messages: u32, now: &mut u64, ticks: [u64; 2]) -> u32 {
        let mut announced = 0;
        for _ in 0..messages {
            pace.left -= 1;
            pace.look(*now);
            *now += ticks[usize::from(pace.announces)];
            announced += u32::from(pace.announces);
        }
        announced
    }

    #[test]
    fn the_faster_way_is_kept_and_changes_are_noticed() {
        let (mut pace, mut now) = (Pace::new(false), 1 << 40);
        let announced = run(&mut pace, 20_000, &mut now, [6000, 4000]);
        assert!(announced > 19_000, "{announced}");
        let announced = run(&mut pace, 40_000, &mut now, [9000, 12_000]);
        assert!((1..4000).contains(&announced), "{announced}");
    }

    #[test]
    fn a_small_difference_changes_nothing() {
        let (mut pace, mut now) = (Pace::new(false), 1 << 40);
        let announced = run(&mut pace, 20_000, &mut now, [6000, 5800]);
        assert!((1..2000).contains(&announced), "{announced}");
    }

    /// Two ranks that send in turn, one of which announces already.
    #[test]
    fn both_ends_find_the_way_that_is_best_for_both() {
        let (mut now, mut pair) = (1 << 40, [Pace::new(false), Pace::new(false)]);
        (pair[0].announces, pair[0].settled) = (true, true);
        for _ in 0..20_000 {
            for pace in &mut pair {
                pace.left -= 1;
                pace.look(now);
                now += if pace.announces { 3500 } else { 5000 };
            }
        }
        assert!(pair.iter().all(|pace| pace.settled));
    }

    #[test]
    fn a_way_that_is_much_slower_is_left_at_once() {
        let (mut pace, mut now) = (Pace::new(false), 1 << 40);
        let announced = run(&mut pace, 100_000, &mut now, [5000, 5_000_000]);
        assert!((1..100).contains(&announced), "{announced}");
        let began = now;
        run(&mut pace, 100_000, &mut now, [5000, 5_000_000]);
        assert!(now - began < 100_000 * 5000 * 11 / 10);
    }
}
