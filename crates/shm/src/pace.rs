//! Whether messages are worth reading.
//!
//! One copy out of the sender's memory beats two through the ring, unless the kernel's copies are
//! expensive, or the program writes and reads the bytes between its messages. Then their lines
//! must come from the sender's cache while the kernel copies, and go back when
//! the sender writes them next; lines of the ring are fetched while a rank
//! waits (see `warm`). The receiver notices by what its reads take, next to one
//! of its own memory and to its copies out of the ring. Of messages that may be sent eagerly it tells
//! the sender, who chooses; the way of longer ones it chooses itself. No other time is
//! looked at: what the program does besides, or did before, makes no difference.
//!
//! A longer message that is streamed needs its sender all the time, one that is read does not. So
//! where streams come late, because their senders compute, messages are read for a while.

/// Bytes of the shortest reads that are looked at.
pub(crate) const LEAST_LOOKED_AT: usize = 8 << 10;

/// Bytes of the longest reads that tell of messages that may be sent eagerly.
pub(crate) const SHORT: usize = 64 << 10;

/// Expensive reads in a row that count: one may have been interrupted, or have
/// written where the sender did before.
const IN_A_ROW: u32 = 4;

/// Of so many messages one is announced while reads are expensive, or sent eagerly while they are not:
/// it may be better by now.
const TRIAL_EVERY: u32 = 32;

/// Trials of long messages become rarer up to one of so many while they are in vain.
const TRIAL_RARELY: u32 = 1024;

/// A stream is late that takes longer than so many reads.
const LATE: u64 = 3;

/// Late streams in a row that count: one may have been interrupted, or have waited for memory at first use.
const LATE_IN_A_ROW: u32 = 2;

/// What reads of our own memory take, ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// However short.
    call: u64,
    /// 64 KiB, besides.
    bytes: u64,
}

impl Cost {
    /// From what `len` bytes take, and what next to nothing does.
    pub fn new(nothing: u64, len: usize, some: u64) -> Cost {
        Cost {
            call: nothing,
            bytes: (some.saturating_sub(nothing) << 16) / len as u64,
        }
    }

    /// What a read of 64 KiB takes.
    pub fn block(&self) -> u64 {
        self.call + self.bytes
    }

    /// What a read of `len` bytes takes.
    pub fn of(&self, len: u64) -> u64 {
        self.call + ((self.bytes * len) >> 16)
    }

    /// Whether the lines were somewhere else: a byte took 1.75 times as long.
    fn is_exceeded(&self, len: usize, ticks: u64) -> bool {
        is_expensive(ticks.saturating_sub(self.call), len, self.bytes)
    }
}

/// Whether `len` bytes took more than 1.75 times as long as they do where 64 KiB take `block` ticks.
fn is_expensive(ticks: u64, len: usize, block: u64) -> bool {
    4 * (ticks << 16) > 7 * block * len as u64
}

/// What 64 KiB through the ring take of their receiver's time, ticks, where 64 KiB out of it take `out`: if both
/// ends send, each also has as many to put into the other ring meanwhile, which it has not to read.
pub(crate) fn through_ring(out: u32, both_send: bool) -> u32 {
    match both_send {
        true => out.saturating_mul(2),
        false => out,
    }
}

/// Messages from a peer for which both ends count as sending after one for which they did: who is the first to have
/// read the other's finds nothing of its own on its way.
const BOTH_SEND: u32 = 16;

/// Whether both ends send, as their receiver sees it.
#[derive(Debug, Default)]
pub(crate) struct Exchanges {
    left: u32,
}

impl Exchanges {
    /// A message is taken up, while as much of this end's own is on its way or not.
    pub fn take_up(&mut self, is_exchange: bool) {
        self.left = match is_exchange {
            true => BOTH_SEND,
            false => self.left.saturating_sub(1),
        };
    }

    /// Whether they do.
    pub fn are_usual(&self) -> bool {
        self.left > 0
    }
}

/// Reads of a peer's memory, as their reader sees them.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    expensive: u32,
}

impl Reads {
    /// A read of `len` bytes took `ticks`, where 64 KiB out of the ring take `ring` ticks, if that is
    /// known, which are written into it meanwhile or before; whether reads are expensive.
    pub fn record(&mut self, own: Cost, ring: Option<u32>, len: usize, ticks: u64) -> bool {
        let is_far = own.is_exceeded(len, ticks);
        let is_expensive = match ring.map(u64::from) {
            None => is_far,
            // Where the two cores are far apart, or both ways are in use, the ring's lines come as slowly, and some
            // of the copy into it is waited for besides.
            Some(ring) => {
                is_expensive(ticks, len, ring)
                    || is_far && 4 * (ticks << 16) > 5 * ring * len as u64
            }
        };
        self.expensive = match is_expensive {
            true => (self.expensive + 1).min(IN_A_ROW),
            false => 0,
        };
        self.are_expensive()
    }

    /// Whether the last ones were expensive.
    pub fn are_expensive(&self) -> bool {
        self.expensive == IN_A_ROW
    }
}

/// Chooses the way of each message to one peer.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Messages since the last one that went the other way.
    since: u32,
}

impl Pace {
    /// Whether the next message is announced.
    pub fn announces(&mut self, expensive: bool) -> bool {
        self.since = (self.since + 1) % TRIAL_EVERY;
        (self.since == 0) == expensive
    }
}

/// Chooses the way of each long message from one peer.
#[derive(Debug)]
pub(crate) struct Streams {
    /// Messages until one goes the other way.
    left: u32,
    /// Of so many one does.
    every: u32,
    /// Whether reads were expensive for the last message.
    expensive: bool,
    /// The last streams that were late, up to [`LATE_IN_A_ROW`].
    late: u32,
    /// When the last stream or read ended, ticks.
    ended: u64,
}

impl Default for Streams {
    /// The second message is streamed, so that both ways are known.
    fn default() -> Self {
        Streams {
            left: 2,
            every: TRIAL_EVERY,
            expensive: false,
            late: 0,
            ended: 0,
        }
    }
}

impl Streams {
    /// Whether the next message is streamed.
    pub fn next(&mut self, expensive: bool) -> bool {
        if std::mem::replace(&mut self.expensive, expensive) != expensive {
            (self.every, self.left) = (TRIAL_EVERY, TRIAL_EVERY);
        }
        self.left -= 1;
        let is_trial = self.left == 0;
        if is_trial {
            if !expensive || self.are_late() {
                self.every = (2 * self.every).min(TRIAL_RARELY);
            }
            self.left = self.every;
        }
        is_trial != (expensive && !self.are_late())
    }

    /// Whether streams are late.
    fn are_late(&self) -> bool {
        self.late == LATE_IN_A_ROW
    }

    /// A read of one ended at `now`.
    pub fn have_read(&mut self, now: u64) {
        self.ended = now;
    }

    /// A message was asked for at `asked` and had come at `now`, whose read takes `read` ticks.
    pub fn record(&mut self, asked: u64, now: u64, read: u64) {
        // The sender has to do with one message after the other.
        let began = asked.max(self.ended);
        self.ended = now;
        let before = self.are_late();
        self.late = match now.saturating_sub(began) > LATE * read {
            true => (self.late + 1).min(LATE_IN_A_ROW),
            false => 0,
        };
        if self.are_late() != before {
            (self.every, self.left) = (TRIAL_EVERY, TRIAL_EVERY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Cost = Cost {
        call: 1500,
        bytes: 6000,
    };

    /// Sends `messages` messages of 32 KiB whose reads take that long; how many were announced.
    fn run(pace: &mut Pace, reads: &mut Reads, messages: u32, ticks: u64) -> u32 {
        let mut expensive = reads.expensive == IN_A_ROW;
        let mut announced = 0;
        for _ in 0..messages {
            if pace.announces(expensive) {
                announced += 1;
                expensive = reads.record(OWN, None, 32 << 10, ticks);
            }
        }
        announced
    }

    #[test]
    fn what_is_expensive_to_read_is_streamed_while_it_is() {
        let (mut pace, mut reads) = (Pace::default(), Reads::default());
        let announced = run(&mut pace, &mut reads, 1000, 5000);
        assert_eq!(announced, 1000 - 1000 / TRIAL_EVERY);
        let announced = run(&mut pace, &mut reads, 3200, 8000);
        assert!(
            (IN_A_ROW..=IN_A_ROW + 100).contains(&announced),
            "{announced}"
        );
        let announced = run(&mut pace, &mut reads, 1000, 5000);
        assert!(announced > 1000 - 3 * TRIAL_EVERY, "{announced}");
    }

    #[test]
    fn a_few_reads_that_were_interrupted_do_not_count() {
        let mut reads = Reads::default();
        for read in 1..100 {
            let ticks = if read % IN_A_ROW == 0 { 5000 } else { 50_000 };
            assert!(!reads.record(OWN, None, 32 << 10, ticks));
        }
    }

    #[test]
    fn what_the_ring_does_in_half_the_time_is_expensive() {
        let mut reads = Reads::default();
        for (ring, expensive) in [(None, false), (Some(6000), false), (Some(5000), true)] {
            (1..IN_A_ROW).for_each(|_| assert!(!reads.record(OWN, ring, 32 << 10, 4500)));
            assert_eq!(reads.record(OWN, ring, 32 << 10, 4500), expensive);
        }
    }

    /// Decides about `messages` long messages, whose streams take `ticks` each where reads take
    /// 1000; how many were streamed.
    fn streamed(streams: &mut Streams, expensive: bool, messages: u32, ticks: u64) -> u32 {
        let mut count = 0;
        for _ in 0..messages {
            let now = streams.ended.max(1);
            if streams.next(expensive) {
                count += 1;
                streams.record(now, now + ticks, 1000);
            }
        }
        count
    }

    #[test]
    fn long_messages_are_streamed_while_reads_are_expensive() {
        let mut streams = Streams::default();
        assert_eq!(
            streamed(&mut streams, false, 3, 500),
            1,
            "to know both ways"
        );
        let tried = streamed(&mut streams, false, 10_000, 500);
        assert!((4..20).contains(&tried), "{tried}");
        let often = streamed(&mut streams, true, 10_000, 500);
        assert!((9_600..9_800).contains(&often), "{often}");
        let tried = streamed(&mut streams, false, 10_000, 500);
        assert!(tried < 20, "{tried}");
    }

    #[test]
    fn messages_of_a_sender_that_computes_are_read() {
        let mut streams = Streams::default();
        streamed(&mut streams, true, 100, 500);
        let late = streamed(&mut streams, true, 10_000, 50_000);
        assert!((1..20).contains(&late), "{late}");
        // One stream in time is enough.
        let again = streamed(&mut streams, true, 10_000, 500);
        assert!(again > 8_500, "{again}");
    }

    #[test]
    fn streams_that_wait_for_each_other_are_in_time() {
        let mut streams = Streams::default();
        streams.next(true);
        (1..=64).for_each(|end| streams.record(1, 1 + 500 * end, 1000));
        assert!(!streams.are_late());
    }

    #[test]
    fn a_stream_that_was_interrupted_changes_nothing() {
        let mut streams = Streams::default();
        streamed(&mut streams, true, 100, 500);
        let (mut count, mut read) = (0, 0);
        for message in 0..10_000 {
            let now = streams.ended;
            match streams.next(true) {
                true if message % 10 == 0 => streams.record(now, now + 1_000_000, 1000),
                true => streams.record(now, now + 500, 1000),
                false => read += 1,
            }
            count += 1;
        }
        assert!(read <= count / TRIAL_EVERY + 1, "{read} of {count}");
    }

    /// Both ranks send at the same time, say: whatever is copied comes slowly.
    #[test]
    fn reads_that_take_no_longer_than_the_ring_are_not_left_for_it() {
        let mut reads = Reads::default();
        (0..100).for_each(|_| assert!(!reads.record(OWN, Some(20_000), 32 << 10, 12_400)));
        (1..IN_A_ROW).for_each(|_| assert!(!reads.record(OWN, Some(20_000), 32 << 10, 12_600)));
        assert!(reads.record(OWN, Some(20_000), 32 << 10, 12_600));
    }

    /// The copy out of the ring is half of what each of two has to do that send to each other.
    #[test]
    fn reads_are_not_left_for_a_ring_that_both_ends_would_have_to_fill() {
        let (mut reads, mut one_way) = (Reads::default(), Reads::default());
        let ring = |both_send| Some(through_ring(10_000, both_send));
        (0..100).for_each(|_| assert!(!reads.record(OWN, ring(true), 32 << 10, 12_400)));
        (1..IN_A_ROW).for_each(|_| assert!(!one_way.record(OWN, ring(false), 32 << 10, 8_000)));
        assert!(one_way.record(OWN, ring(false), 32 << 10, 8_000));
        // One that takes less even so is better.
        (1..IN_A_ROW).for_each(|_| assert!(!reads.record(OWN, ring(true), 32 << 10, 12_600)));
        assert!(reads.record(OWN, ring(true), 32 << 10, 12_600));
        assert_eq!(through_ring(u32::MAX, true), u32::MAX);
    }

    /// Two that send to each other take up some messages when their own ones have been read already.
    #[test]
    fn exchanges_are_usual_until_there_was_none_for_some_time() {
        let mut exchanges = Exchanges::default();
        (0..100).for_each(|_| exchanges.take_up(false));
        assert!(!exchanges.are_usual());
        for message in 0..100 {
            exchanges.take_up(message % 8 == 0);
            assert!(exchanges.are_usual());
        }
        (0..BOTH_SEND).for_each(|_| exchanges.take_up(false));
        assert!(!exchanges.are_usual());
    }

    /// However long other things take, cheap reads alone decide: a message that may be sent eagerly is announced.
    #[test]
    fn cheap_reads_are_not_left_for_a_ring_that_is_hardly_faster() {
        let mut reads = Reads::default();
        for ticks in [3000, 4500, 5900, 6700].into_iter().cycle().take(1000) {
            assert!(!reads.record(OWN, Some(4000), 32 << 10, ticks / 2));
        }
        let (mut pace, mut reads) = (Pace::default(), Reads::default());
        let announced = run(&mut pace, &mut reads, 3200, 6700);
        assert_eq!(announced, 3200 - 3200 / TRIAL_EVERY);
    }

    #[test]
    fn the_call_itself_costs_the_same_for_any_length() {
        let own = Cost::new(1500, 32 << 10, 4500);
        assert_eq!((own.call, own.bytes), (1500, 6000));
        assert!(!own.is_exceeded(16 << 10, 1500 + 2600));
        assert!(own.is_exceeded(16 << 10, 1500 + 2700));
    }
}
