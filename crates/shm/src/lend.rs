//! Short messages that are lent: announced, for their receiver to read where they lie.
//!
//! A short message is sent ahead, through the ring. Between far cores, where a line of the ring
//! travels twice, that can take twice as long as one copy by the kernel, and between near ones half
//! as long. So now and then some messages in a row are lent, and what counts is how far apart the
//! messages of a burst leave: in whichever way the program sends them, that is what a message takes
//! it. Who lends one keeps what is promised of short messages, that they need no receiver: it takes
//! the message back if nobody has begun to read it for a while. The claim, a word in shared memory
//! (`claims.rs`), says who was quicker.

use std::time::Duration;

use crate::trials::{By, MARGIN, Trials};

/// The longest message of each class but the last, bytes.
const CLASSES: [u64; 2] = [16 << 10, 32 << 10];
/// Messages of one way whose distance counts as one.
const BURST: u32 = 15;
/// Messages further apart are in no burst.
pub(crate) const APART: Duration = Duration::from_millis(4);

/// Chooses which messages to a peer are lent.
#[derive(Debug)]
pub(crate) struct Lending {
    /// Whether this end chooses where messages go both ways.
    leads: bool,
    classes: [Trials; CLASSES.len() + 1],
    /// When the last message of each class left, and how.
    last: [Option<(u64, By)>; CLASSES.len() + 1],
}

/// The class of messages of `len` bytes.
fn class(len: u64) -> usize {
    CLASSES.iter().filter(|&&longest| len > longest).count()
}

impl Lending {
    pub fn new(leads: bool) -> Lending {
        Lending {
            leads,
            classes: [(); CLASSES.len() + 1].map(|()| Trials::new(By::Ring, 0, MARGIN)),
            last: [None; CLASSES.len() + 1],
        }
    }

    /// Whether the next message, of `len` bytes, which leaves at the tick `now` while so many have
    /// not left, is lent. Messages of more ticks apart than `most` are in no burst.
    pub fn next(&mut self, len: u64, under_way: usize, now: u64, most: u64) -> bool {
        let at = class(len);
        let class = &mut self.classes[at];
        if let Some((before, by)) = self.last[at] {
            let apart = now.saturating_sub(before);
            if apart < most {
                class.record(by, (apart << 16) / len);
            }
        }
        let by = class.next((under_way as u32).max(BURST));
        self.last[at] = Some((now, by));
        by == By::Kernel
    }

    /// A message of `len` bytes has come from the peer, whose way this end goes if that one leads.
    pub fn came(&mut self, len: u64, is_lent: bool) {
        if self.leads {
            return;
        }
        self.classes[class(len)].follow(By::of(!is_lent));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: u64 = 64 << 10;

    /// Sends messages that take so long each, in bursts of 100 with a break between them; how many
    /// were lent.
    fn run(lending: &mut Lending, messages: u32, ahead: u64, lent: u64) -> u32 {
        let (mut now, mut count) = (1_000_000, 0);
        for message in 0..messages {
            let is_lent = lending.next(LEN, 0, now, 100_000);
            count += u32::from(is_lent);
            now += if is_lent { lent } else { ahead };
            now += if message % 100 == 99 { 1_000_000 } else { 0 };
        }
        count
    }

    #[test]
    fn whoever_does_not_lead_follows() {
        for (leads, lent) in [(true, 0), (false, 4)] {
            let mut lending = Lending::new(leads);
            assert_eq!(run(&mut lending, 20, 4000, 10_000), 0);
            lending.came(LEN, true);
            assert_eq!(run(&mut lending, 4, 4000, 10_000), lent);
        }
    }

    /// A burst of hundreds, and then steps of a few messages with long pauses.
    #[test]
    fn a_great_burst_does_not_end_all_trials() {
        let mut lending = Lending::new(true);
        (0..300).for_each(|at| _ = lending.next(LEN, at, 1_000_000, 100_000));
        let (mut now, mut count) = (2_000_000, 0);
        for message in 0..100_000 {
            let is_lent = lending.next(LEN, message % 10, now, 100_000);
            count += u32::from(is_lent);
            now += if is_lent { 4000 } else { 10_000 };
            now += if message % 10 == 9 { 1_000_000 } else { 0 };
        }
        assert!(count > 80_000, "{count}");
    }

    #[test]
    fn messages_are_lent_where_that_is_faster() {
        let mut lending = Lending::new(true);
        run(&mut lending, 1000, 10_000, 4000);
        assert!(run(&mut lending, 10_000, 10_000, 4000) > 9000);
        assert!(run(&mut Lending::new(true), 100_000, 4000, 10_000) < 3000);
        assert!(run(&mut Lending::new(true), 100_000, 4000, 3800) < 3000);
    }
}
