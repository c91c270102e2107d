//! Which way of copying is the fastest to a peer.
//!
//! Large packets can be written through or around the cache, by vectors or by the processor's
//! string instruction, and their receiver can leave the lines that it read shared with the sender
//! or take them ([`copy::taking`](catena_base::copy::taking)). Which is faster depends on the
//! processor, on where the two cores are, on the sizes of the caches and on the machine's mood, so
//! it is found by trials. What counts is what a *lap* takes, from its first packet to the next
//! lap's: as many bytes as the ring has room for, so that whoever of the two ends is slower, and
//! whatever one copy leaves for the other one to wait for, is in it. Two ranks whose messages go to
//! and fro see their round trips so, and a window of messages its throughput. The sender keeps to
//! the best way, one for shorter packets and one for longer ones.

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
            CopyMethod::Share,
            CopyMethod::Take,
            CopyMethod::Stream,
        ],
        _ => &[CopyMethod::Take, CopyMethod::Share, CopyMethod::Stream],
    }
}

/// Bytes and packets of a lap, at least: those that fit into the ring without their receiver are
/// not to be all that it shows, and programs send up to so many messages before they wait.
const LAP: usize = 1 << 20;
const LAP_PACKETS: u32 = 64;
/// Laps of a way that are compared, the fastest of which counts: one may have been interrupted.
const LOOKS: usize = 2;
/// Last laps of the way that is kept, of which the fastest counts.
const LAST: usize = 4;
/// A trial goes on for another lap as long as each takes so many hundredths less than the one
/// before, up to so many laps: its lines come to lie as that way leaves them.
const FALLS: u64 = 3;
const LONGER: u32 = 4;
/// A trial is over if its first lap takes so many hundredths more than the kept way's.
const HOPELESS: u64 = 25;
/// How much faster, in hundredths, another way must be: what is hardly better may be worse
/// tomorrow.
const MARGIN: u64 = 3;
/// Microseconds between two trials of a way, at first. It is tried up to so many times less often
/// while that is in vain.
const TRIAL_EVERY_US: f64 = 8000.0;
const TRIAL_RARELY: u64 = 16;
/// For each tick that a trial took more than the way that is kept, so many pass until the next one.
const COST: u64 = 128;

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

impl CopyMethod {
    fn at(self) -> usize {
        self as usize - 1
    }

    /// What a packet says of its way: 0 where its receiver has nothing to do about it.
    pub fn to_flags(self) -> u32 {
        match self {
            CopyMethod::Take | CopyMethod::String => self as u32,
            CopyMethod::Share | CopyMethod::Stream => 0,
        }
    }

    /// The way that `flags` name.
    pub fn from_flags(flags: u32) -> Option<CopyMethod> {
        [CopyMethod::Take, CopyMethod::String]
            .into_iter()
            .find(|&way| way as u32 == flags)
    }

    /// Whether the lines of a packet of `len` bytes are taken by its receiver.
    #[inline]
    pub fn is_taken(self, len: usize) -> bool {
        self == CopyMethod::Take || self == CopyMethod::String && len < TAKEN
    }
}

/// What the last laps of one way took: ticks for 64 KiB, 0 if unknown.
#[derive(Clone, Copy, Debug, Default)]
struct Laps([u64; LAST]);

impl Laps {
    fn record(&mut self, ticks: u64) {
        self.0.rotate_left(1);
        self.0[LAST - 1] = ticks.max(1);
    }

    /// Whether the last one took less than the one before.
    fn falls(&self) -> bool {
        let [.., before, last] = self.0;
        100 * last < (100 - FALLS) * before
    }

    /// The fastest, if enough are known.
    fn known(&self) -> Option<u64> {
        let known = self.0.into_iter().filter(|&ticks| ticks > 0);
        known.clone().min().filter(|_| known.count() >= LOOKS)
    }
}

/// When a way is tried next.
#[derive(Clone, Copy, Debug, Default)]
struct Trial {
    /// Earliest tick; 0 if it never was.
    due: u64,
    /// How much less often than at first.
    rarer: u64,
}

/// Chooses the way for each packet of a class to one peer.
#[derive(Debug)]
pub(crate) struct Tuner {
    /// Those among which it chooses.
    ways: &'static [CopyMethod],
    /// What is used but for trials.
    kept: CopyMethod,
    /// What is used now.
    way: CopyMethod,
    /// Bytes and packets of this lap.
    passed: usize,
    packets: u32,
    /// When this lap began, tick.
    began: u64,
    /// Laps that do not count: the first one of a way finds the lines as the last way left them,
    /// and the first long packets of all take memory that was never touched (`span`).
    skip: u32,
    /// Of a trial: ticks of its laps, and laps by which it may still go on.
    spent: u64,
    longer: u32,
    laps: [Laps; WAYS],
    trials: [Trial; WAYS],
}

impl Tuner {
    pub fn new(config: Config, class: Class) -> Tuner {
        let ways: &'static [CopyMethod] = match (config.copy, class) {
            // A lap says there when other ranks had their turns, and a copy finds its lines in the
            // cache of its own core as often as not.
            (CopyWay::Auto, _) if config.oversubscribed => &[CopyMethod::Share],
            (CopyWay::Auto, _) => ways(class),
            (CopyWay::Take, _) | (CopyWay::String, Class::Short) => &[CopyMethod::Take],
            (CopyWay::Plain, _) => &[CopyMethod::Share],
            (CopyWay::Stream, _) => &[CopyMethod::Stream],
            (CopyWay::String, Class::Long) => &[CopyMethod::String],
        };
        Tuner {
            ways,
            kept: ways[0],
            way: ways[0],
            passed: 0,
            packets: 0,
            began: 0,
            skip: match class {
                Class::Short => 1,
                Class::Long => 1 + 2 * config.geometry.data.div_ceil(LAP) as u32,
            },
            spent: 0,
            longer: 0,
            laps: Default::default(),
            trials: Default::default(),
        }
    }

    /// The way for the next packet.
    #[inline(always)]
    pub fn choose(&self) -> CopyMethod {
        self.way
    }

    /// A packet of `len` bytes was copied.
    #[inline(always)]
    pub fn sent(&mut self, len: usize) {
        self.passed += len;
        self.packets += 1;
        if self.passed >= LAP && self.packets >= LAP_PACKETS && self.ways.len() > 1 {
            self.end_lap(clock::ticks());
        }
    }

    #[cold]
    #[inline(never)]
    fn end_lap(&mut self, now: u64) {
        let ticks = now.saturating_sub(self.began).min(u64::MAX >> 16);
        let passed = std::mem::take(&mut self.passed) as u64;
        (self.began, self.packets) = (now, 0);
        if self.way != self.kept {
            self.spent = self.spent.saturating_add(ticks);
        }
        let ticks = (ticks << 16) / passed;
        if self.skip > 0 {
            self.skip -= 1;
            self.give_up_if_hopeless(ticks, now);
            return;
        }
        self.laps[self.way.at()].record(ticks);
        if self.way == self.kept {
            self.begin_trial(now);
        } else {
            self.settle(now);
        }
    }

    /// Tries the way that was not tried for the longest time, if its time has come.
    fn begin_trial(&mut self, now: u64) {
        let others = self.ways.iter().copied().filter(|&way| way != self.kept);
        let due = |way: &CopyMethod| self.trials[way.at()].due;
        let Some(next) = others.min_by_key(due) else {
            return;
        };
        if due(&next) <= now && self.laps[self.kept.at()].known().is_some() {
            (self.way, self.skip) = (next, 1);
            (self.spent, self.longer) = (0, LONGER);
            self.laps[next.at()] = Laps::default();
        }
    }

    /// Ends a trial whose first lap has taken so long that the next ones will not be better than
    /// those of the way that is kept.
    fn give_up_if_hopeless(&mut self, ticks: u64, now: u64) {
        if self.way != self.kept
            && let Some(kept) = self.laps[self.kept.at()].known()
            && 100 * ticks > (100 + HOPELESS) * kept
        {
            self.reject(kept, ticks, now);
        }
    }

    /// Keeps to the better way, once enough is known of the one that is tried.
    fn settle(&mut self, now: u64) {
        let tried = self.way;
        let [old, new] = [self.kept, tried].map(|way| self.laps[way.at()].known());
        let (Some(old), Some(new)) = (old, new) else {
            return;
        };
        if self.longer > 0 && self.laps[tried.at()].falls() {
            self.longer -= 1;
            return;
        }
        if 100 * new < (100 - MARGIN) * old {
            let kept = std::mem::replace(&mut self.kept, tried);
            self.trials = Default::default();
            self.trials[kept.at()].due = now.saturating_add(pause());
        } else {
            self.reject(old, new, now);
        }
    }

    /// The way that is tried takes `new` ticks and the one that is kept `old`, which is used again.
    fn reject(&mut self, old: u64, new: u64, now: u64) {
        let lost = u128::from(self.spent) * u128::from(new.saturating_sub(old)) / u128::from(new);
        let lost = u64::try_from(u128::from(COST) * lost).unwrap_or(u64::MAX);
        let trial = &mut self.trials[self.way.at()];
        trial.rarer = (2 * trial.rarer).clamp(1, TRIAL_RARELY);
        trial.due = now.saturating_add((pause() * trial.rarer).max(lost));
        (self.way, self.skip) = (self.kept, 1);
    }
}

/// Ticks between two trials of a way, at first.
fn pause() -> u64 {
    (TRIAL_EVERY_US * clock::ticks_per_us()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a lap takes by each way, in ticks a byte.
    type Machine = [u64; WAYS];

    const LEN: usize = 4096;

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

    /// Sends `packets` packets, each tenth lap of which is interrupted; how many went each way.
    fn run(tuner: &mut Tuner, packets: u32, now: &mut u64, machine: Machine) -> [u32; WAYS] {
        let mut used = [0; WAYS];
        for packet in 0..packets {
            let way = tuner.choose();
            used[way.at()] += 1;
            *now += machine[way.at()] * LEN as u64;
            if packet % 2560 == 0 {
                *now += 1_000_000;
            }
            tuner.passed += LEN;
            if tuner.passed >= LAP && tuner.ways.len() > 1 {
                tuner.end_lap(*now);
            }
        }
        used
    }

    #[test]
    fn settles_on_the_fastest_way_and_follows_changes() {
        let (mut tuner, mut now) = (tuner(), 1);
        for best in [2, 0, 1, 2, 1] {
            let machine = [0, 1, 2, 3].map(|at| if at == best { 5 } else { 7 });
            run(&mut tuner, 100_000, &mut now, machine);
            let used = run(&mut tuner, 100_000, &mut now, machine);
            assert!(used[best] > 90_000, "{best} is the fastest: {used:?}");
            let tried = [0, 1, 2].iter().all(|&way| used[way] > 0);
            assert!(tried, "all are tried now and then: {used:?}");
        }
    }

    #[test]
    fn the_best_is_found_soon() {
        let (mut tuner, mut now) = (tuner(), 1);
        run(&mut tuner, 3000, &mut now, [7, 5, 9, 9]);
        assert_eq!(tuner.kept, CopyMethod::Share);
    }

    /// Whatever a way costs, its trials are a small part of the time.
    #[test]
    fn what_is_far_behind_is_tried_less_often() {
        let (mut tuner, mut now) = (tuner(), 1);
        for dear in [8, 40, 400] {
            run(&mut tuner, 100_000, &mut now, [4, dear, 4, 4]);
            let used = run(&mut tuner, 1_000_000, &mut now, [4, dear, 4, 4]);
            let more = (dear - 4) * u64::from(used[1]);
            assert!(more * 50 < 4_000_000, "{dear}: {used:?}");
        }
    }

    /// A program whose packets cost the same whichever way they go.
    #[test]
    fn nothing_is_changed_for_nothing() {
        let (mut tuner, mut now) = (tuner(), 1);
        run(&mut tuner, 100_000, &mut now, [2; WAYS]);
        let used = run(&mut tuner, 100_000, &mut now, [2; WAYS]);
        assert!(
            tuner.kept == CopyMethod::Take && used[0] > 95_000,
            "{used:?}"
        );
    }

    #[test]
    fn a_fixed_way_stays() {
        for (copy, used) in [
            (CopyWay::Take, [1000, 0, 0, 0]),
            (CopyWay::String, [1000, 0, 0, 0]),
            (CopyWay::Plain, [0, 1000, 0, 0]),
            (CopyWay::Stream, [0, 0, 1000, 0]),
        ] {
            let mut tuner = of(copy, Class::Short);
            assert_eq!(run(&mut tuner, 1000, &mut 1, [1; WAYS]), used);
        }
        assert_eq!(
            of(CopyWay::String, Class::Long).choose(),
            CopyMethod::String
        );
    }

    #[test]
    fn ranks_that_share_cores_try_nothing() {
        let config = Config {
            oversubscribed: true,
            ..Config::tiny()
        };
        let mut tuner = Tuner::new(config, Class::Long);
        assert_eq!(run(&mut tuner, 1000, &mut 1, [5, 9, 1, 1]), [0, 1000, 0, 0]);
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

    #[test]
    fn ways_travel_in_flags() {
        for way in [CopyMethod::Take, CopyMethod::String] {
            assert_eq!(CopyMethod::from_flags(way.to_flags()), Some(way));
        }
        for way in [CopyMethod::Share, CopyMethod::Stream] {
            assert_eq!(way.to_flags(), 0);
        }
        for flags in [0, 5, u32::MAX] {
            assert_eq!(CopyMethod::from_flags(flags), None);
        }
    }
}
