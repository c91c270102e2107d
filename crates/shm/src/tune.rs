//! Which way of copying is the fastest to a peer.
//!
//! Large packets can be written through or around the cache, by vectors or by the processor's
//! string instruction, and their receiver can leave the lines that it read shared with the sender
//! or take them ([`copy::taking`](catena_base::copy::taking)). Which is faster depends on the
//! processor, on where the two cores are, on the sizes of the caches and on the machine's mood, so
//! it is measured: now and then the sender has a few packets of another way timed, its own copies
//! into the ring and the receiver's out of it, whose cost the receiver publishes. The sender keeps
//! to the best way, one for shorter packets and one for longer ones.

use catena_base::{clock, copy};

use crate::class::Class;
use crate::settings::{Config, CopyWay};

/// Shortest packet for which there is a choice.
pub(crate) const WORTH_CHOOSING: usize = 2048;
/// Below that the receiver of a packet that was written by a string takes its lines, by vectors.
/// Measured here (AMD EPYC, near cores), messages of 8 KiB in one packet pass so at 66 GB/s, by
/// strings alone at 56; those of 64 KiB in four packets of 16 KiB take 1.46 µs so and 1.29 by
/// strings.
const TAKEN: usize = 16 << 10;

/// The ways among which there is a choice for packets of a class; the first is where it begins.
fn ways(class: Class) -> &'static [CopyMethod] {
    match class {
        Class::Long if copy::has_fast_strings() => &[
            CopyMethod::String,
            CopyMethod::Take,
            CopyMethod::Share,
            CopyMethod::Stream,
        ],
        _ => &[CopyMethod::Take, CopyMethod::Share, CopyMethod::Stream],
    }
}

/// Laps between two trials of other ways, at least.
const TRIAL_EVERY: u32 = 64;
/// Microseconds between two trials of a way, at least.
const TRIAL_EVERY_US: f64 = 8000.0;
/// A way that is far behind is tried up to so many times less often.
const TRIAL_RARELY: u64 = 64;
/// Longest lap, bytes: what is more does not stay in the nearest caches anyway.
const LAP_MAX: usize = 1 << 20;

/// How a packet is copied into the ring and out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum CopyMethod {
    /// Through the cache; the receiver takes the lines.
    Take = 1,
    /// Through the cache; both have the lines.
    Share = 2,
    /// Around the cache.
    Stream = 3,
    /// Through the cache, by the string instruction.
    String = 4,
}

/// How many there are.
const WAYS: usize = 4;
/// Bits of a cost as it is published, in units of [`UNIT`].
const BITS: u32 = 16;
/// Ticks. A cost is at most 16 ticks per byte.
const UNIT: u32 = 16;

impl CopyMethod {
    const ALL: [CopyMethod; WAYS] = [
        CopyMethod::Take,
        CopyMethod::Share,
        CopyMethod::Stream,
        CopyMethod::String,
    ];

    fn at(self) -> usize {
        self as usize - 1
    }

    /// What a packet says of its way. 0 is what there is no need to say.
    pub fn to_flags(self, timed: bool) -> u32 {
        match timed {
            true => self as u32 | TIMED,
            false if matches!(self, CopyMethod::Take | CopyMethod::String) => self as u32,
            false => 0,
        }
    }

    /// The way that `flags` name, and whether the receiver takes the time.
    pub fn from_flags(flags: u32) -> Option<(CopyMethod, bool)> {
        let way = CopyMethod::ALL
            .into_iter()
            .find(|&way| way as u32 == flags & !TIMED)?;
        Some((way, flags & TIMED != 0))
    }

    /// Whether the lines of a packet of `len` bytes are taken by its receiver.
    #[inline]
    pub fn is_taken(self, len: usize) -> bool {
        self == CopyMethod::Take || self == CopyMethod::String && len < TAKEN
    }
}

/// Among the flags of a packet.
const TIMED: u32 = 1 << 8;

/// What copies cost, each way: ticks for 64 KiB, 0 if unknown. Of short packets it is an average in
/// which the last four weigh most. Of long ones what is less counts at once and what is more in the
/// long run: a copy may have been interrupted, and none is faster than it can be.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Costs {
    ticks: [u32; WAYS],
    new: bool,
}

impl Costs {
    /// A copy of `len` bytes took `ticks`.
    pub fn record(&mut self, way: CopyMethod, len: usize, ticks: u64) {
        // An interruption or a page fault is not the copy's cost: the cap is
        // 16 ticks per byte.
        let sample = ((ticks << 16) / len.max(1) as u64).min(16 << 16) as u32;
        let mean = &mut self.ticks[way.at()];
        *mean = match *mean {
            0 => sample,
            mean if Class::of(len) == Class::Short => mean - mean / 4 + sample / 4,
            mean if sample < mean => mean - (mean - sample) / 4 * 3,
            mean => mean + (sample - mean) / 16,
        }
        .max(1);
        self.new = true;
    }

    /// Whether `publish` would say anything new.
    #[inline(always)]
    pub fn is_new(&self) -> bool {
        self.new
    }

    /// All costs in one word.
    pub fn publish(&mut self) -> u64 {
        self.new = false;
        let most = (1 << BITS) - 1;
        let units = |way: CopyMethod| u64::from(self.of(way).div_ceil(UNIT).min(most));
        let shifted = |way: CopyMethod| units(way) << (BITS * way.at() as u32);
        CopyMethod::ALL.into_iter().map(shifted).sum()
    }

    /// What `publish` said.
    fn published(word: u64) -> Costs {
        let units = [0, 1, 2, 3].map(|at| (word >> (BITS * at)) as u32 & ((1 << BITS) - 1));
        let ticks = units.map(|units| units * UNIT);
        Costs {
            ticks,
            ..Costs::default()
        }
    }

    fn forget(&mut self, way: CopyMethod) {
        self.ticks[way.at()] = 0;
    }

    fn of(&self, way: CopyMethod) -> u32 {
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
    /// Another way is tried instead, and not yet timed: it finds the lines as the last one left
    /// them.
    Begun(CopyMethod),
    /// The copy goes this way, and is timed.
    New(CopyMethod),
}

/// When a way is tried next.
#[derive(Clone, Copy, Debug, Default)]
struct Trial {
    /// Earliest tick; 0 if it never was.
    due: u64,
    /// How much less often than others.
    rarer: u64,
}

/// Chooses the way for each packet to one peer.
#[derive(Debug)]
pub(crate) struct Tuner {
    /// Those among which it chooses.
    ways: &'static [CopyMethod],
    /// What is used but for trials.
    kept: CopyMethod,
    /// What is used now.
    way: CopyMethod,
    phase: Phase,
    /// Bytes until the next decision.
    left: u32,
    /// Bytes of a phase of a trial: once around the ring.
    lap: u32,
    trials: [Trial; WAYS],
    costs: Costs,
}

impl Tuner {
    pub fn new(config: Config, class: Class) -> Tuner {
        let lap = config.geometry.data.min(LAP_MAX) as u32;
        let ways: &'static [CopyMethod] = match (config.copy, class) {
            (CopyWay::Auto, _) => ways(class),
            (CopyWay::Take, _) | (CopyWay::String, Class::Short) => &[CopyMethod::Take],
            (CopyWay::Plain, _) => &[CopyMethod::Share],
            (CopyWay::Stream, _) => &[CopyMethod::Stream],
            (CopyWay::String, Class::Long) => &[CopyMethod::String],
        };
        let way = ways[0];
        Tuner {
            ways,
            kept: way,
            way,
            phase: Phase::Rest,
            left: lap,
            lap,
            trials: Default::default(),
            costs: Costs::default(),
        }
    }

    /// The way for the next packet.
    #[inline(always)]
    pub fn choose(&self) -> CopyMethod {
        self.way
    }

    /// Whether both sides take the time of the next packet.
    #[inline(always)]
    pub fn is_timing(&self) -> bool {
        matches!(self.phase, Phase::Old | Phase::New(_))
    }

    /// What the copy of a packet cost, if it was timed.
    pub fn record(&mut self, way: CopyMethod, len: usize, ticks: u64) {
        self.costs.record(way, len, ticks);
    }

    /// A packet of `len` bytes was copied: whether `decide` should be called.
    #[inline(always)]
    pub fn count(&mut self, len: usize) -> bool {
        self.left = self.left.saturating_sub(len as u32);
        self.left == 0 && self.ways.len() > 1
    }

    /// Begins or ends a trial. `theirs` is what the receiver published.
    pub fn decide(&mut self, theirs: u64) {
        self.decide_at(Costs::published(theirs), clock::ticks());
    }

    /// The way to be tried next, and when.
    fn next(&self) -> (CopyMethod, u64) {
        let others = self.ways.iter().copied().filter(|&way| way != self.kept);
        let due = |way: CopyMethod| self.trials[way.at()].due;
        let next = others.min_by_key(|&way| due(way)).unwrap_or(self.kept);
        (next, due(next))
    }

    fn decide_at(&mut self, theirs: Costs, now: u64) {
        self.left = self.lap;
        match self.phase {
            Phase::Rest if (now.wrapping_sub(self.next().1) as i64) < 0 => {}
            Phase::Rest => self.phase = Phase::Old,
            Phase::Old => {
                self.way = self.next().0;
                self.phase = Phase::Begun(self.way);
                self.costs.forget(self.way);
            }
            Phase::Begun(tried) => self.phase = Phase::New(tried),
            Phase::New(tried) => self.settle(tried, theirs, now),
        }
    }

    /// Keeps to the better way.
    fn settle(&mut self, tried: CopyMethod, theirs: Costs, now: u64) {
        if theirs.of(tried) == 0 || theirs.of(self.kept) == 0 {
            // The receiver has not timed packets of both ways yet.
            (self.way, self.phase) = (self.kept, Phase::Old);
            return;
        }
        let (old, new) = (self.score(self.kept, theirs), self.score(tried, theirs));
        // What is hardly better may be worse tomorrow.
        let lost = match 16 * new < 15 * old {
            true => std::mem::replace(&mut self.kept, tried),
            false => tried,
        };
        let trial = &mut self.trials[lost.at()];
        trial.rarer = match 2 * old.max(new) > 3 * old.min(new) {
            true => (2 * trial.rarer).clamp(1, TRIAL_RARELY),
            false => 1,
        };
        let pause = TRIAL_EVERY_US * clock::ticks_per_us() * trial.rarer as f64;
        trial.due = now.wrapping_add(pause as u64);
        self.way = self.kept;
        self.phase = Phase::Rest;
        if self.next().1 != 0 {
            self.left = TRIAL_EVERY * self.lap;
        }
    }

    /// What a way costs: while packets flow the slower side counts, at their
    /// beginning and end the other one too.
    fn score(&self, way: CopyMethod, theirs: Costs) -> u64 {
        let (a, b) = (u64::from(self.costs.of(way)), u64::from(theirs.of(way)));
        let cost = 3 * a.max(b) + a.min(b);
        // Around the cache only if that is clearly better: a message that is
        // alone waits for memory, which the costs of a stream do not show.
        if way == CopyMethod::Stream {
            cost + cost / 4
        } else {
            cost
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(copy: CopyWay, class: Class) -> Tuner {
        let config = Config {
            copy,
            ..Config::tiny()
        };
        Tuner::new(config, class)
    }

    fn tuner() -> Tuner {
        of(CopyWay::Auto, Class::Short)
    }

    /// Sends `packets` packets on a machine where ways cost so much per byte.
    fn run(
        tuner: &mut Tuner,
        packets: u32,
        now: &mut u64,
        ours: [u64; 3],
        theirs: [u64; 3],
    ) -> [u32; 3] {
        let mut used = [0; 3];
        let mut receiver = Costs::default();
        for _ in 0..packets {
            let way = tuner.choose();
            used[way.at()] += 1;
            if tuner.is_timing() {
                tuner.record(way, 4096, 4096 * ours[way.at()]);
                receiver.record(way, 4096, 4096 * theirs[way.at()]);
            }
            *now += 1 << 16;
            if tuner.count(64) {
                tuner.decide_at(Costs::published(receiver.publish()), *now);
            }
        }
        used
    }

    #[test]
    fn settles_on_the_fastest_way_and_follows_changes() {
        let (mut tuner, mut now) = (tuner(), 0);
        for best in [2, 0, 1, 2, 1] {
            let costs = [0, 1, 2].map(|at| if at == best { 5 } else { 7 });
            run(&mut tuner, 100_000, &mut now, costs, costs);
            let used = run(&mut tuner, 100_000, &mut now, costs, costs);
            assert!(used[best] > 90_000, "{best} is the fastest: {used:?}");
            assert!(!used.contains(&0), "all are tried now and then: {used:?}");
        }
    }

    #[test]
    fn what_is_far_behind_is_tried_less_often() {
        let (mut tuner, mut now) = (tuner(), 0);
        let used = run(&mut tuner, 1_000_000, &mut now, [4, 40, 4], [4, 40, 4]);
        assert!(used[1] > 0 && 8 * used[1] < used[2], "{used:?}");
    }

    #[test]
    fn the_receivers_cost_counts() {
        let (mut tuner, mut now) = (tuner(), 0);
        let used = run(&mut tuner, 10_000, &mut now, [1, 9, 2], [8, 9, 1]);
        assert!(used[2] > 9_000, "{used:?}");
    }

    /// A program whose packets cost the same whichever way they go, and one that is interrupted now
    /// and then.
    #[test]
    fn nothing_is_changed_for_nothing() {
        let (mut tuner, mut now) = (tuner(), 0);
        let used = run(&mut tuner, 100_000, &mut now, [5; 3], [5; 3]);
        assert!(
            tuner.kept == CopyMethod::Take && used[0] > 95_000,
            "{used:?}"
        );
        let around = run(&mut tuner, 100_000, &mut now, [5, 9, 4], [5, 9, 4]);
        assert!(
            around[2] < 5000,
            "around the cache only if that is clearly better: {around:?}"
        );
    }

    #[test]
    fn a_fixed_way_stays() {
        for (copy, used) in [
            (CopyWay::Take, [1000, 0, 0]),
            (CopyWay::String, [1000, 0, 0]),
            (CopyWay::Plain, [0, 1000, 0]),
            (CopyWay::Stream, [0, 0, 1000]),
        ] {
            let mut tuner = of(copy, Class::Short);
            assert_eq!(run(&mut tuner, 1000, &mut 0, [1; 3], [1; 3]), used);
        }
        assert_eq!(
            of(CopyWay::String, Class::Long).choose(),
            CopyMethod::String
        );
    }

    #[test]
    fn long_packets_begin_with_strings_where_these_are_fast() {
        let first = match copy::has_fast_strings() {
            true => CopyMethod::String,
            false => CopyMethod::Take,
        };
        assert_eq!(of(CopyWay::Auto, Class::Long).choose(), first);
        assert_eq!(tuner().choose(), CopyMethod::Take);
        assert!(CopyMethod::String.is_taken(TAKEN - 1) && !CopyMethod::String.is_taken(TAKEN));
    }

    /// One copy of many was interrupted, and later all take longer.
    #[test]
    fn an_interruption_hardly_counts() {
        let mut costs = Costs::default();
        for sample in 0..100 {
            let ticks = if sample % 10 == 0 { 100_000 } else { 10_000 };
            costs.record(CopyMethod::Take, 1 << 16, ticks);
        }
        assert!(costs.of(CopyMethod::Take) < 11_000, "{costs:?}");
        (0..60).for_each(|_| costs.record(CopyMethod::Take, 1 << 16, 20_000));
        assert!(costs.of(CopyMethod::Take) > 19_000, "{costs:?}");
    }

    #[test]
    fn trials_are_rare_in_time() {
        let (mut tuner, mut now) = (tuner(), 0);
        run(&mut tuner, 100, &mut now, [1, 2, 2], [1, 2, 2]);
        let until = tuner.next().1;
        assert!(until > now);
        while now + (1 << 20) < until {
            let used = run(&mut tuner, 1, &mut now, [1, 2, 2], [1, 2, 2]);
            assert_eq!(used, [1, 0, 0]);
        }
    }

    #[test]
    fn costs_travel_in_one_word_and_ways_in_flags() {
        let mut costs = Costs::default();
        for (at, way) in CopyMethod::ALL.into_iter().enumerate() {
            costs.record(way, 1, 1 << (2 * at));
            for timed in [false, true] {
                let flags = way.to_flags(timed);
                let said = CopyMethod::from_flags(flags);
                assert!(said == Some((way, timed)) || flags == 0 && !timed);
            }
        }
        for (there, here) in Costs::published(costs.publish())
            .ticks
            .into_iter()
            .zip(costs.ticks)
        {
            assert!(there.abs_diff(here) <= UNIT, "{there} {here}");
        }
        assert_eq!(costs.of(CopyMethod::Stream), 16 << 16, "the cap");
    }
}
