//! The ring or the kernel, where ranks outnumber cores.
//!
//! What a message takes tells there when its two ends had their turns, and what one rank does
//! differently is lost in what all others do. But whatever time of a processor a rank saves,
//! another one has. So the ranks of a node keep together what copies take, into rings, out of them
//! and by the kernel, and all change their way at once. Each sends some messages the other way now
//! and then, so that both stay known.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use catena_fabric::NEVER_LENT;

use crate::trials::{By, MARGIN};

/// Messages of about the same length from one trial of the other way to the next, before the first
/// one, and of a trial.
const TRIAL_EVERY: u32 = 1024;
const TRIAL_FIRST: u32 = 32;
const TRIAL: u32 = 16;
/// Packets between two whose copies are timed.
const TIMED_EVERY: u32 = 15;
/// The longest message of the first class, bytes: of those the system call is a part that counts.
const SHORT: u64 = 64 << 10;

/// A copy of a message, or of a part of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Copying {
    /// Into a ring.
    In,
    /// Out of a ring.
    Out,
    /// By the kernel.
    Read,
}

/// What copies take on a node: ticks for 64 KiB, 0 if unknown. Any rank may write any value here.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct CopyCosts {
    into: AtomicU32,
    out: AtomicU32,
    /// By class.
    reads: [AtomicU32; 2],
}

fn class(len: u64) -> usize {
    usize::from(len > SHORT)
}

impl CopyCosts {
    /// A copy of `len` bytes took `ticks`.
    ///
    /// What counts is the average, in which the last eight weigh most. One that was interrupted, or
    /// waited for memory at first use, counts as twice that. A read that is shorter than all
    /// messages for which there is a choice does not count: what it takes is the system call.
    pub fn record(&self, what: Copying, len: usize, ticks: u64) {
        let word = match what {
            Copying::In => &self.into,
            Copying::Out => &self.out,
            Copying::Read if len as u64 <= NEVER_LENT => return,
            Copying::Read => &self.reads[class(len as u64)],
        };
        let sample = ticks.min(u64::MAX >> 16) << 16;
        let sample = (sample / len.max(1) as u64).clamp(1, 1 << 24) as u32;
        let known = word.load(Relaxed);
        let next = match known {
            0 => sample,
            known if sample < known => known - (known - sample) / 4,
            known => known + (sample - known).min(known).div_ceil(8),
        };
        if next != known {
            word.store(next, Relaxed);
        }
    }

    /// The way that takes less of the processors for messages of `len` bytes, as far as is known.
    fn better(&self, len: u64) -> By {
        let words = [&self.into, &self.out, &self.reads[class(len)]];
        let [into, out, read] = words.map(|word| u64::from(word.load(Relaxed)));
        let is_known = into > 0 && out > 0 && read > 0;
        By::of(!is_known || 100 * read >= (100 - MARGIN) * (into + out))
    }
}

/// One process's messages.
#[derive(Debug)]
pub(crate) struct SharedCores {
    /// Messages until the next trial is over, by class.
    left: [u32; 2],
    /// Packets until the next one whose copies are timed.
    untimed: u32,
}

impl Default for SharedCores {
    fn default() -> Self {
        SharedCores {
            left: [TRIAL_FIRST; 2],
            untimed: 0,
        }
    }
}

impl SharedCores {
    /// The way of the next message, of `len` bytes.
    pub fn next(&mut self, costs: &CopyCosts, len: u64) -> By {
        let (better, left) = (costs.better(len), &mut self.left[class(len)]);
        *left -= 1;
        let is_tried = *left < TRIAL;
        if *left == 0 {
            *left = TRIAL_EVERY;
        }
        match is_tried {
            true => {
                self.untimed = 0;
                better.other()
            }
            false => better,
        }
    }

    /// Whether the copies of the next packet, into its ring and out of it, are timed. A look at the
    /// clock costs a packet of 8 KiB a fifth.
    pub fn is_timing(&mut self) -> bool {
        let is_timing = self.untimed == 0;
        self.untimed = match is_timing {
            true => TIMED_EVERY,
            false => self.untimed - 1,
        };
        is_timing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 64 << 10;

    /// Sends messages whose copies take so many ticks; how many the kernel copied.
    fn run(costs: &CopyCosts, messages: u32, [into, out, read]: [u64; 3]) -> u32 {
        let (mut cores, mut count) = (SharedCores::default(), 0);
        for message in 0..messages {
            // Each tenth copy is interrupted.
            let took = |ticks| ticks + if message % 10 == 9 { 10_000_000 } else { 0 };
            match cores.next(costs, LEN as u64) {
                By::Ring if !cores.is_timing() => {}
                By::Ring => {
                    costs.record(Copying::In, LEN, took(into));
                    costs.record(Copying::Out, LEN, took(out));
                }
                By::Kernel => {
                    count += 1;
                    costs.record(Copying::Read, LEN, took(read));
                }
            }
        }
        count
    }

    #[test]
    fn the_way_that_takes_less_is_kept_to() {
        let costs = CopyCosts::default();
        assert!(run(&costs, 1000, [6000, 5000, 4000]) > 950);
        assert!(run(&costs, 10_000, [6000, 5000, 20_000]) < 1000);
        assert!(
            run(&costs, 10_000, [6000, 5000, 10_500]) < 200,
            "hardly less"
        );
        assert!(run(&costs, 10_000, [6000, 5000, 4000]) > 9000);
    }

    #[test]
    fn what_one_rank_has_found_out_all_follow() {
        let costs = CopyCosts::default();
        run(&costs, 1000, [6000, 5000, 4000]);
        let mut other = SharedCores::default();
        assert_eq!(other.next(&costs, LEN as u64), By::Kernel);
    }

    /// As of words of windows, of ends of longer messages, and of messages that were cut short.
    #[test]
    fn short_reads_say_nothing_of_messages() {
        let costs = CopyCosts::default();
        run(&costs, 1000, [6000, 5000, 4000]);
        (0..100).for_each(|_| costs.record(Copying::Read, 8, 3000));
        let mut other = SharedCores::default();
        assert_eq!(other.next(&costs, LEN as u64), By::Kernel);
    }

    #[test]
    fn whatever_a_peer_writes_is_a_cost() {
        let costs = CopyCosts::default();
        for word in [&costs.into, &costs.out, &costs.reads[0], &costs.reads[1]] {
            word.store(u32::MAX, Relaxed);
        }
        for what in [Copying::In, Copying::Out, Copying::Read] {
            costs.record(what, 1, u64::MAX);
            costs.record(what, LEN, u64::MAX);
            costs.record(what, usize::MAX, 0);
            costs.record(what, 0, 1);
        }
        SharedCores::default().next(&costs, u64::MAX);
        for word in [&costs.into, &costs.out, &costs.reads[0]] {
            word.store(1, Relaxed);
        }
        assert!(
            run(&costs, 10_000, [6000, 5000, 20_000]) < 1000,
            "found out anew"
        );
    }
}
