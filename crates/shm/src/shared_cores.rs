//! The ring or the kernel, where ranks outnumber cores.
//!
//! What a message takes tells there when its two ends had their turns, and what one rank does
//! differently is lost in what all others do. So all ranks of a node go the same way at a time, and
//! what counts is a *lap* of the node: how long it takes until all together have asked for so many
//! bytes. Whatever spares turns or the time of a processor makes it shorter. Now and then all go
//! the other way for some laps, less often while that is in vain.
//!
//! What is known stands in the segment's first page. Whoever's message is the last one of a lap
//! ends it. Any rank may write any value there: it is a hint.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

use catena_base::clock;

use crate::trials::By;

/// Bytes of all ranks after which somebody looks whether the lap is over, by class.
const LOOK_EVERY: [u64; 2] = [1 << 20, 8 << 20];
/// What a lap takes at least: several turns of all ranks.
const LEAST: Duration = Duration::from_millis(4);
/// A lap that takes longer says nothing, as the program does something else.
const MOST: Duration = Duration::from_millis(200);
/// Laps of a way that are compared, after a first one, which finds memory and caches as the other
/// way has left them.
const LAPS: u64 = 2;
/// A trial is over if a lap takes so many hundredths more than those of the kept way.
const HOPELESS: u64 = 30;
/// How much faster, in hundredths, the other way must be.
const MARGIN: u64 = 8;
/// From one trial to the next, at first. There are up to so many times fewer while they are in
/// vain.
const TRIAL_EVERY: Duration = Duration::from_millis(64);
const TRIAL_RARELY: u64 = 16;
/// For each tick that a trial has cost, so many pass until the next one.
const COST: u64 = 64;
/// The longest message of the first class, bytes: who sends it chooses, and who receives a longer
/// one.
const SHORT: u64 = 64 << 10;

/// What a node knows of the two ways for messages of one class.
#[derive(Debug, Default)]
#[repr(C)]
struct Class {
    /// Bytes of all messages.
    moved: AtomicU64,
    /// The way of all: 0 for the ring, else the kernel.
    way: AtomicU64,
    /// The tick at which somebody began to end a lap, or 0.
    ending: AtomicU64,
    state: [AtomicU64; WORDS],
}

/// The choice of all ranks of a node.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct SharedCores([Class; 2]);

impl SharedCores {
    /// The way of the next message, of `len` bytes. Cost: an addition in a line that all ranks
    /// write.
    pub fn next(&self, len: u64) -> By {
        let at = usize::from(len > SHORT);
        let class = &self.0[at];
        let moved = class.moved.fetch_add(len, Relaxed);
        if moved / LOOK_EVERY[at] != moved.wrapping_add(len) / LOOK_EVERY[at] {
            class.look(moved, clock::ticks());
        }
        class.way()
    }
}

impl Class {
    fn way(&self) -> By {
        By::of(self.way.load(Relaxed) == 0)
    }

    /// Ends the lap if it has taken long enough, unless somebody else does so now.
    #[cold]
    fn look(&self, moved: u64, now: u64) {
        let since = self.ending.load(Relaxed);
        // Whoever died meanwhile does not keep all others from it.
        let is_free = since == 0 || now.abs_diff(since) > clock::ticks_in(MOST);
        let is_ours = is_free
            && self
                .ending
                .compare_exchange(since, now.max(1), Acquire, Relaxed)
                .is_ok();
        if !is_ours {
            return;
        }
        let mut laps = Laps::from_words(self.state.each_ref().map(|word| word.load(Relaxed)));
        let way = laps.look(self.way(), moved, now);
        for (word, value) in self.state.iter().zip(laps.to_words()) {
            word.store(value, Relaxed);
        }
        self.way.store(u64::from(way == By::Kernel), Relaxed);
        self.ending.store(0, Release);
    }
}

/// Words of [`Laps`].
const WORDS: usize = 8;

/// The laps of one class.
#[derive(Clone, Copy, Debug, Default)]
struct Laps {
    /// When this lap began, tick, and what had moved then.
    began: u64,
    moved: u64,
    /// Whether the kernel's way is kept, and what its laps take: ticks for 64 KiB, 0 if unknown.
    keeps_kernel: bool,
    mean: u64,
    /// Laps of this way since all went another one, and what those of a trial have taken.
    laps: u64,
    sum: u64,
    /// Earliest tick of the next trial, and how much less often they are than at first.
    due: u64,
    rarer: u64,
}

impl Laps {
    fn from_words(words: [u64; WORDS]) -> Laps {
        let [began, moved, keeps_kernel, mean, laps, sum, due, rarer] = words;
        Laps {
            began,
            moved,
            keeps_kernel: keeps_kernel != 0,
            mean,
            laps,
            sum,
            due,
            rarer,
        }
    }

    fn to_words(self) -> [u64; WORDS] {
        [
            self.began,
            self.moved,
            self.keeps_kernel.into(),
            self.mean,
            self.laps,
            self.sum,
            self.due,
            self.rarer,
        ]
    }

    fn kept(&self) -> By {
        By::of(!self.keeps_kernel)
    }

    /// All go that way and have moved so many bytes; the way of the next messages.
    fn look(&mut self, way: By, moved: u64, now: u64) -> By {
        let took = now.saturating_sub(self.began);
        if took < clock::ticks_in(LEAST) {
            return way;
        }
        let bytes = moved.saturating_sub(self.moved);
        (self.began, self.moved) = (now, moved);
        if took > clock::ticks_in(MOST) || bytes == 0 {
            // Of a trial that may be the reason.
            let kept = self.kept();
            return if way == kept { way } else { self.go(kept) };
        }
        self.laps = self.laps.saturating_add(1);
        if self.laps == 1 {
            return way;
        }
        self.count((took << 16) / bytes, way, now)
    }

    /// A lap has taken so many ticks for 64 KiB.
    fn count(&mut self, ticks: u64, way: By, now: u64) -> By {
        if way == self.kept() {
            self.mean = match self.mean {
                0 => ticks.max(1),
                mean => (mean - mean / 4).saturating_add(ticks / 4).max(1),
            };
            let longest = clock::ticks_in(TRIAL_EVERY) * TRIAL_RARELY * COST;
            let is_due = self.due.saturating_sub(now) > longest || now >= self.due;
            return match self.laps > LAPS && is_due {
                true => self.go(way.other()),
                false => way,
            };
        }
        self.sum = self.sum.saturating_add(ticks);
        let counted = self.laps - 1;
        let tried = self.sum / counted;
        let pause = clock::ticks_in(TRIAL_EVERY);
        if u128::from(tried) * 100 > u128::from(self.mean) * u128::from(100 + HOPELESS) {
            self.reject(tried, pause, now)
        } else if counted < LAPS {
            way
        } else if u128::from(tried) * 100 < u128::from(self.mean) * u128::from(100 - MARGIN) {
            (self.keeps_kernel, self.mean) = (way == By::Kernel, tried.max(1));
            (self.rarer, self.due) = (0, now.saturating_add(pause));
            way
        } else {
            self.reject(tried, pause, now)
        }
    }

    /// The trial is over, in vain.
    fn reject(&mut self, tried: u64, pause: u64, now: u64) -> By {
        self.rarer = self.rarer.saturating_mul(2).clamp(1, TRIAL_RARELY);
        // Its laps took so long, a part of which for nothing.
        let laps = clock::ticks_in(LEAST).saturating_mul(self.laps);
        let lost = u128::from(laps) * u128::from(tried.saturating_sub(self.mean));
        let lost = u64::try_from(lost / u128::from(tried.max(1))).unwrap_or(0);
        let longest = clock::ticks_in(TRIAL_EVERY) * TRIAL_RARELY * COST;
        let rest = (pause * self.rarer)
            .max(lost.saturating_mul(COST))
            .min(longest);
        self.due = now.saturating_add(rest);
        self.go(self.kept())
    }

    fn go(&mut self, way: By) -> By {
        (self.laps, self.sum) = (0, 0);
        way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: u64 = 1 << 20;

    /// A node whose messages take so many microseconds each way.
    #[derive(Default)]
    struct Node {
        class: Class,
        now: u64,
        moved: u64,
    }

    impl Node {
        /// Sends messages with an interruption now and then; how many the kernel copied.
        fn run(&mut self, messages: u32, ring: u64, kernel: u64) -> u32 {
            let mut count = 0;
            for message in 0..messages {
                let way = self.class.way();
                count += u32::from(way == By::Kernel);
                let us = if way == By::Ring { ring } else { kernel };
                self.now += clock::ticks_in(Duration::from_micros(us));
                if message % 1009 == 0 {
                    self.now += clock::ticks_in(Duration::from_millis(1));
                }
                self.moved += LEN;
                if self.moved.is_multiple_of(8 * LEN) {
                    self.class.look(self.moved, self.now);
                }
            }
            count
        }
    }

    #[test]
    fn the_way_that_takes_less_is_kept_to() {
        let mut node = Node::default();
        assert_eq!(node.run(8, 60, 30), 0);
        node.run(1000, 60, 30);
        assert!(node.run(10_000, 60, 30) > 9700);
        node.run(10_000, 60, 200);
        assert!(node.run(10_000, 60, 200) < 200);
        let mut node = Node::default();
        node.run(1000, 60, 58);
        assert!(node.run(100_000, 60, 58) < 3000, "hardly less");
    }

    #[test]
    fn it_is_found_within_tens_of_milliseconds() {
        let mut node = Node::default();
        node.run(700, 60, 30);
        assert_eq!(node.class.way(), By::Kernel);
    }

    #[test]
    fn a_program_that_does_something_else_changes_nothing() {
        let mut node = Node::default();
        assert_eq!(node.run(100, 300_000, 1), 0);
    }

    #[test]
    fn whoever_has_died_while_ending_a_lap_keeps_nobody_from_it() {
        for since in [1, u64::MAX] {
            let mut node = Node::default();
            node.class.ending.store(since, Relaxed);
            node.run(10_000, 60, 30);
            assert_eq!(node.class.way(), By::Kernel);
        }
    }

    #[test]
    fn whatever_a_peer_writes_is_a_hint() {
        for value in [0, 1, 3, u64::MAX / 2, u64::MAX] {
            for at in 0..WORDS {
                let mut node = Node::default();
                node.run(500, 60, 30);
                node.class.state[at].store(value, Relaxed);
                node.run(1000, 60, 30);
                node.class
                    .state
                    .iter()
                    .for_each(|it| it.store(value, Relaxed));
                node.class.way.store(value, Relaxed);
                node.class.moved.store(value, Relaxed);
                node.run(1000, 60, 30);
            }
        }
        let cores = SharedCores::default();
        for class in &cores.0 {
            class.moved.store(u64::MAX - 1, Relaxed);
        }
        cores.next(8);
        cores.next(u64::MAX);
    }
}
