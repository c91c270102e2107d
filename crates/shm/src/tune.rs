//! Which way of copying is the fastest to a peer.
//!
//! Large packets can be written through or around the cache. Which is faster
//! depends on where the two cores are, on the sizes of the caches and on the
//! machine's mood, so it is measured: now and then the sender has a few packets
//! of either way timed, its own copies into the ring and the receiver's out of
//! it, whose cost the receiver publishes. The sender keeps to the better way.

use catena_base::clock;

use crate::settings::{Config, CopyWay};

/// Shortest packet for which there is a choice.
pub(crate) const WORTH_CHOOSING: usize = 2048;

/// Packets between two trials of the other way, at least.
const TRIAL_EVERY: u32 = 1024;
/// Microseconds between two trials, at least.
const TRIAL_EVERY_US: f64 = 4000.0;
/// Longest trial in packets.
const TRIAL_MAX: usize = 32;

/// How a packet is copied into the ring; also its flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Way {
    /// Through the cache.
    Plain = 1,
    /// Around the cache.
    Stream = 2,
}

impl Way {
    pub fn from_flags(flags: u32) -> Option<Way> {
        match flags {
            1 => Some(Way::Plain),
            2 => Some(Way::Stream),
            _ => None,
        }
    }

    fn other(self) -> Way {
        match self {
            Way::Plain => Way::Stream,
            Way::Stream => Way::Plain,
        }
    }

    fn at(self) -> usize {
        self as usize - 1
    }
}

/// What copies cost, either way: ticks for 64 KiB, 0 if unknown. Averages in
/// which the last four packets weigh most.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Costs {
    ticks: [u32; 2],
    new: bool,
}

impl Costs {
    /// A copy of `len` bytes took `ticks`.
    pub fn record(&mut self, way: Way, len: usize, ticks: u64) {
        // An interruption or a page fault is not the copy's cost: the cap is
        // 16 ticks per byte.
        let sample = ((ticks << 16) / len.max(1) as u64).min(16 << 16) as u32;
        let mean = &mut self.ticks[way.at()];
        *mean = if *mean == 0 {
            sample
        } else {
            *mean - *mean / 4 + sample / 4
        }
        .max(1);
        self.new = true;
    }

    /// Whether `publish` would say anything new.
    #[inline(always)]
    pub fn is_new(&self) -> bool {
        self.new
    }

    /// Both costs in one word.
    pub fn publish(&mut self) -> u64 {
        self.new = false;
        u64::from(self.ticks[0]) | u64::from(self.ticks[1]) << 32
    }

    fn forget(&mut self, way: Way) {
        self.ticks[way.at()] = 0;
    }

    fn of(&self, way: Way) -> u32 {
        self.ticks[way.at()]
    }
}

/// What a tuner is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing is timed: looking at the clock costs a packet of 8 KiB a fifth.
    Rest,
    /// The way in use is timed.
    Old,
    /// The other way is tried, and timed.
    New,
}

/// Chooses the way for each packet to one peer.
#[derive(Debug)]
pub(crate) struct Tuner {
    fixed: bool,
    /// What is used now.
    way: Way,
    phase: Phase,
    /// Packets until the next decision.
    left: u32,
    /// Packets that are timed, of each way.
    lap: u32,
    /// Earliest tick of the next trial.
    next_trial: u64,
    costs: Costs,
}

impl Tuner {
    pub fn new(config: Config) -> Tuner {
        let geometry = config.geometry;
        let lap = (geometry.data / geometry.packet).clamp(8, TRIAL_MAX) as u32;
        Tuner {
            fixed: config.copy != CopyWay::Auto,
            way: if config.copy == CopyWay::Stream {
                Way::Stream
            } else {
                Way::Plain
            },
            phase: Phase::Rest,
            left: lap,
            lap,
            next_trial: 0,
            costs: Costs::default(),
        }
    }

    /// The way for the next packet.
    #[inline(always)]
    pub fn choose(&self) -> Way {
        self.way
    }

    /// Whether both sides take the time of the next packet.
    #[inline(always)]
    pub fn is_timing(&self) -> bool {
        self.phase != Phase::Rest
    }

    /// What the copy of a packet cost, if it was timed.
    pub fn record(&mut self, way: Way, len: usize, ticks: u64) {
        self.costs.record(way, len, ticks);
    }

    /// A packet was copied: whether `decide` should be called.
    #[inline(always)]
    pub fn count(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left == 0 && !self.fixed
    }

    /// Begins or ends a trial. `theirs` is what the receiver published.
    pub fn decide(&mut self, theirs: u64) {
        self.decide_at(theirs, clock::ticks());
    }

    fn decide_at(&mut self, theirs: u64, now: u64) {
        self.left = self.lap;
        match self.phase {
            Phase::Rest if (now.wrapping_sub(self.next_trial) as i64) < 0 => {}
            Phase::Rest => self.phase = Phase::Old,
            Phase::Old => {
                self.phase = Phase::New;
                self.way = self.way.other();
                self.costs.forget(self.way);
            }
            Phase::New => self.settle([theirs as u32, (theirs >> 32) as u32], now),
        }
    }

    /// Keeps to the better way.
    fn settle(&mut self, theirs: [u32; 2], now: u64) {
        if theirs.contains(&0) {
            // The receiver has not taken packets of both ways yet.
            return;
        }
        let old = self.way.other();
        if self.score(old, theirs) <= self.score(self.way, theirs) {
            self.way = old;
        }
        self.phase = Phase::Rest;
        self.left = TRIAL_EVERY;
        self.next_trial = now.wrapping_add((TRIAL_EVERY_US * clock::ticks_per_us()) as u64);
    }

    /// What a way costs: while packets flow the slower side counts, at their
    /// beginning and end the other one too.
    fn score(&self, way: Way, theirs: [u32; 2]) -> u64 {
        let (a, b) = (u64::from(self.costs.of(way)), u64::from(theirs[way.at()]));
        let cost = 3 * a.max(b) + a.min(b);
        // Around the cache only if that is clearly better: a message that is
        // alone waits for memory, which the costs of a stream do not show.
        if way == Way::Stream {
            cost + cost / 4
        } else {
            cost
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuner() -> Tuner {
        Tuner::new(Config {
            copy: CopyWay::Auto,
            ..Config::tiny()
        })
    }

    /// Sends `packets` packets on a machine where ways cost so much per byte.
    fn run(
        tuner: &mut Tuner,
        packets: u32,
        now: &mut u64,
        ours: [u64; 2],
        theirs: [u64; 2],
    ) -> [u32; 2] {
        let mut used = [0; 2];
        let mut receiver = Costs::default();
        for _ in 0..packets {
            let way = tuner.choose();
            used[way.at()] += 1;
            if tuner.is_timing() {
                tuner.record(way, 4096, 4096 * ours[way.at()]);
                receiver.record(way, 4096, 4096 * theirs[way.at()]);
            }
            *now += 1 << 16;
            if tuner.count() {
                tuner.decide_at(receiver.publish(), *now);
            }
        }
        used
    }

    #[test]
    fn settles_on_the_faster_way_and_follows_changes() {
        let (mut tuner, mut now) = (tuner(), 0);
        let used = run(&mut tuner, 10_000, &mut now, [4, 1], [1, 1]);
        assert!(used[1] > 9 * used[0], "stream is faster: {used:?}");
        let used = run(&mut tuner, 10_000, &mut now, [1, 2], [1, 2]);
        assert!(used[0] > 9 * used[1], "plain is faster: {used:?}");
        assert!(used[1] > 0, "the other way is tried now and then");
    }

    #[test]
    fn the_receivers_cost_counts() {
        let (mut tuner, mut now) = (tuner(), 0);
        let used = run(&mut tuner, 10_000, &mut now, [1, 2], [8, 1]);
        assert!(used[1] > 9 * used[0], "{used:?}");
    }

    #[test]
    fn a_fixed_way_stays() {
        let mut tuner = Tuner::new(Config {
            copy: CopyWay::Stream,
            ..Config::tiny()
        });
        let used = run(&mut tuner, 1000, &mut 0, [1, 9], [1, 9]);
        assert_eq!(used, [0, 1000]);
    }

    #[test]
    fn trials_are_rare_in_time() {
        let (mut tuner, mut now) = (tuner(), 0);
        run(&mut tuner, 100, &mut now, [1, 2], [1, 2]);
        let until = tuner.next_trial;
        assert!(until > now);
        while now + (1 << 20) < until {
            assert_eq!(run(&mut tuner, 1, &mut now, [1, 2], [1, 2]), [1, 0]);
        }
    }
}
