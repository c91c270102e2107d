//! Whether long messages from a peer pass through the ring or are copied by the kernel.
//!
//! The kernel copies once out of the sender's memory, the ring twice but within the caches, and
//! both ends at the same time. Which is faster depends on the processor, the distance of the cores
//! and the length, and on what the two ranks do besides: where the sender computes, a stream waits
//! for it, and the kernel does not. So nothing is taken for granted but the beginning, which is the
//! ring, and all that counts is how long whole messages take, from when the receiver can have them
//! to when they are there, for each order of magnitude apart. Messages of the other direction that
//! the two ranks copy meanwhile are in that time, too. Now and then two messages in a row go the
//! other way, less often while that is in vain.

use catena_fabric::Moved;

/// Messages between two trials of the other way, at first,
const TRIAL_EVERY: u32 = 32;
/// and at most.
const TRIAL_RARELY: u32 = 2048;
/// After a trial in vain so many times as many messages pass until the next one.
const RARER: u32 = 4;
/// Messages of a trial, and those whose least time counts: one may have been interrupted, or have
/// waited for memory at first use.
const LOOKS: usize = 2;

/// The shortest messages for which there is a choice have that many bits, as longer ones than the
/// last class are with it.
const FIRST_BITS: u32 = 16;
const CLASSES: usize = 8;

/// A way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Ring,
    Kernel,
}

impl By {
    fn other(self) -> By {
        match self {
            By::Ring => By::Kernel,
            By::Kernel => By::Ring,
        }
    }
}

/// What the last messages of one way took: ticks for 64 KiB, 0 if unknown.
#[derive(Clone, Copy, Debug, Default)]
struct Times([u64; LOOKS]);

impl Times {
    fn record(&mut self, ticks: u64) {
        self.0.rotate_left(1);
        self.0[LOOKS - 1] = ticks.max(1);
    }

    /// The least of them, if all are known.
    fn known(&self) -> Option<u64> {
        self.0.into_iter().min().filter(|&ticks| ticks > 0)
    }
}

/// Messages of about the same length.
#[derive(Debug)]
struct Class {
    kept: By,
    /// Messages until the next trial; of a trial, those that are to go the other way still.
    left: u32,
    trying: u32,
    /// Messages of the trial that have not come yet.
    awaited: u32,
    every: u32,
    /// By way.
    times: [Times; 2],
}

impl Default for Class {
    fn default() -> Self {
        Class {
            kept: By::Ring,
            left: TRIAL_EVERY,
            trying: 0,
            awaited: 0,
            every: TRIAL_EVERY,
            times: Default::default(),
        }
    }
}

impl Class {
    fn next(&mut self) -> By {
        if self.trying == 0 {
            self.left -= 1;
            if self.left > 0 {
                return self.kept;
            }
            self.left = self.every;
            (self.trying, self.awaited) = (LOOKS as u32, LOOKS as u32);
        }
        self.trying -= 1;
        self.kept.other()
    }

    /// Whether the kernel is so much faster that it is worth that the next one to write where it
    /// read, and to read where it wrote, waits for these lines: a quarter.
    fn better(&self) -> Option<By> {
        let [ring, kernel] = self.times.map(|times| times.known());
        Some(match 5 * kernel? < 4 * ring? {
            true => By::Kernel,
            false => By::Ring,
        })
    }

    fn record(&mut self, by: By, ticks: u64) {
        self.times[by as usize].record(ticks);
        let ends_trial = by != self.kept && self.awaited > 0;
        if ends_trial {
            self.awaited -= 1;
            if self.awaited > 0 {
                return;
            }
        }
        let Some(better) = self.better() else {
            return;
        };
        if better != self.kept {
            (self.kept, self.every) = (better, TRIAL_EVERY);
            (self.left, self.trying, self.awaited) = (self.every, 0, 0);
        } else if ends_trial {
            self.every = (RARER * self.every).min(TRIAL_RARELY);
            self.left = self.every;
        }
    }
}

/// Chooses the way of each long message from one peer.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    classes: [Class; CLASSES],
    /// When the last message had come, ticks.
    ended: u64,
}

impl Pace {
    fn class(&mut self, len: u64) -> &mut Class {
        let at = len.max(1).ilog2().saturating_sub(FIRST_BITS) as usize;
        &mut self.classes[at.min(CLASSES - 1)]
    }

    /// The way of the next message, of `len` bytes.
    pub fn next(&mut self, len: u64) -> By {
        self.class(len).next()
    }

    /// A message is there.
    pub fn record(&mut self, moved: Moved) {
        let by = match moved.streamed {
            true => By::Ring,
            false => By::Kernel,
        };
        // The two ends have to do with one message after the other.
        let began = moved.asked.max(self.ended);
        self.ended = moved.ended;
        let ticks = moved.ended.saturating_sub(began).min(u64::MAX >> 16);
        self.class(moved.len)
            .record(by, (ticks << 16) / moved.len.max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: u64 = 1 << 20;

    fn moved(by: By, asked: u64, ended: u64) -> Moved {
        Moved {
            len: LEN,
            streamed: by == By::Ring,
            asked,
            ended,
        }
    }

    /// Moves `messages` messages that take so many ticks by ring and kernel; how many the kernel
    /// copied.
    fn run(pace: &mut Pace, messages: u32, ring: u64, kernel: u64) -> u32 {
        let mut count = 0;
        for _ in 0..messages {
            let by = pace.next(LEN);
            count += u32::from(by == By::Kernel);
            let now = pace.ended.max(1);
            pace.record(moved(by, now, now + [ring, kernel][by as usize]));
        }
        count
    }

    #[test]
    fn it_begins_with_the_ring_and_keeps_to_it_unless_the_kernel_is_clearly_faster() {
        let mut pace = Pace::default();
        assert_eq!(run(&mut pace, TRIAL_EVERY - 1, 1000, 1), 0);
        let kernel = run(&mut pace, 100, 1000, 1);
        assert!(
            (90..100).contains(&kernel),
            "the ring is tried again: {kernel}"
        );
        for kernel in [850, 1000, 5000] {
            let mut pace = Pace::default();
            let tried = run(&mut pace, 100_000, 1000, kernel);
            assert!((4..200).contains(&tried), "{tried}");
        }
    }

    #[test]
    fn it_follows_changes() {
        let mut pace = Pace::default();
        for _ in 0..3 {
            run(&mut pace, 5000, 1000, 4000);
            assert!(run(&mut pace, 1000, 1000, 4000) < 10);
            run(&mut pace, 5000, 4000, 1000);
            assert!(run(&mut pace, 1000, 4000, 1000) > 990);
        }
    }

    /// Its streams take as long as its loops.
    #[test]
    fn messages_of_a_sender_that_computes_are_copied_by_the_kernel() {
        let mut pace = Pace::default();
        run(&mut pace, 100, 1000, 4000);
        let late = run(&mut pace, 1000, 1_000_000, 4000);
        assert!(late > 990, "{late}");
        run(&mut pace, 2 * TRIAL_RARELY, 1000, 4000);
        assert_eq!(run(&mut pace, 20, 1000, 4000), 0);
    }

    #[test]
    fn what_was_interrupted_changes_nothing() {
        let mut pace = Pace::default();
        run(&mut pace, 1000, 1000, 2000);
        for message in 0..10_000 {
            let by = pace.next(LEN);
            let ticks = match message % 10 {
                0 => 1_000_000,
                _ => [1000, 2000][by as usize],
            };
            let now = pace.ended;
            pace.record(moved(by, now, now + ticks));
        }
        assert!(run(&mut pace, 1000, 1000, 2000) < 10);
    }

    #[test]
    fn lengths_are_apart() {
        let mut pace = Pace::default();
        run(&mut pace, 1000, 4000, 1000);
        assert_eq!(pace.next(LEN), By::Kernel);
        for len in [0, 1, 1 << 16, LEN / 2, 2 * LEN, u64::MAX] {
            assert_eq!(pace.next(len), By::Ring);
        }
    }

    /// Many are asked for before the first has come, and come one after the other.
    #[test]
    fn messages_that_wait_for_each_other_take_as_long_as_each_alone() {
        let mut pace = Pace::default();
        let ways: Vec<By> = (0..64).map(|_| pace.next(LEN)).collect();
        let (mut now, asked) = (1000, 1000);
        for by in ways {
            now += [2000, 1000][by as usize];
            pace.record(moved(by, asked, now));
        }
        assert_eq!(pace.next(LEN), By::Kernel);
    }

    /// Those of a trial that never come, as their receives were cancelled.
    #[test]
    fn a_trial_that_has_no_end_is_followed_by_others() {
        let mut pace = Pace::default();
        (0..TRIAL_EVERY + 1).for_each(|_| _ = pace.next(LEN));
        assert!(run(&mut pace, 5000, 1000, 100) > 4000);
    }
}
