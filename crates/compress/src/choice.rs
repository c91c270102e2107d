//! Which codec the messages of a class go through, found by what whole messages take.
//!
//! The receiver of a message says how it wants it, and sees how long it takes to come: whatever
//! encoder, network and decoder cost, alone and beside each other, is in that time. Nothing is
//! known of it beforehand, so a class begins without a codec, and tries each now and then: soon
//! again where the last trial was worth it or what is kept takes another time than before, ever
//! less often while trials are in vain, and less often the dearer they were. Of the last times of a
//! codec the least counts, as a program that computes keeps its messages waiting.
//!
//! Of many messages that are under way at once, those of one codec say nothing while others go
//! through another one, as the network is busy with all of them: only *pure* ones count, and a
//! trial lasts until enough of those have come.

use crate::Codec;
use crate::piece::CODECS;

/// Times of a codec that are known, and pure messages of a trial.
const LAST: usize = 4;
const TRIAL: u32 = 2;
/// Messages between two trials, at least and at most. Each trial in vain multiplies that distance
/// by [`GROWTH`].
const OFTEN: u32 = 32;
const SELDOM: u32 = 4096;
const GROWTH: u32 = 4;
/// Messages that have to pass for each that could have come in the time that trials have cost, and
/// at most for all that.
const COST: u128 = 50;
const FEWEST: u128 = 1 << 16;
/// Hundredths by which a codec must be faster than none.
const MARGIN: u64 = 3;
/// Hundredths of the bytes that must be left out, so that a codec may be worth it at all.
const LEAST: u64 = 5;
/// For each message that is under way at once, a trial may have this many messages more.
const PATIENCE: u32 = 2;
/// Most messages that are taken to be under way: of some the end is never told.
const UNDER_WAY: u32 = 256;

/// What the last messages of a codec took, for each MiB; 0 if unknown.
#[derive(Clone, Copy, Debug, Default)]
struct Times([u64; LAST]);

impl Times {
    fn record(&mut self, time: u64) {
        self.0.rotate_left(1);
        self.0[LAST - 1] = time.max(1);
    }

    fn least(&self) -> Option<u64> {
        self.0.into_iter().filter(|&it| it > 0).min()
    }

    /// Messages that are known, up to [`LAST`].
    fn count(&self) -> usize {
        self.0.iter().filter(|&&it| it > 0).count()
    }
}

/// The choice for messages of one class: those of about one length, from one peer, of one
/// communicator.
///
/// # Examples
///
/// ```
/// use catena_compress::{Choice, Codec};
///
/// // Zeros: blocks of 4 MiB need 2 ms, where as they are they need 35.
/// let mut choice = Choice::default();
/// for _ in 0..20 {
///     let codec = choice.next();
///     let (time, sent) = if codec == Codec::Blocks { (2, 8 << 10) } else { (35, 4 << 20) };
///     choice.record(codec, 1_000_000 * time, 4 << 20, sent);
/// }
/// assert_eq!(choice.kept(), Codec::Blocks);
/// ```
#[derive(Clone, Debug)]
pub struct Choice {
    /// A place in `CODECS`; so are those below.
    kept: usize,
    /// Messages until the next trial, and then between two.
    left: u32,
    every: u32,
    /// Messages between two trials so that their cost is lost among them.
    dear: u32,
    /// The codec that is tried, how many of its messages may still be asked for and are to be
    /// recorded, and how many of others were asked for since.
    trial: Option<usize>,
    asking: u32,
    awaited: u32,
    since: u32,
    /// Whether any message of the trial became shorter.
    is_hopeful: bool,
    /// Messages that each codec was tried with in the last series of trials.
    tried: [u32; CODECS.len()],
    /// The least time of the kept codec when it was judged.
    judged: u64,
    times: [Times; CODECS.len()],
    /// Messages that have not come, by codec, and the most at once since the last trials.
    under_way: [u32; CODECS.len()],
    peak: u32,
    /// Whether the last message that came was alone with those of its codec.
    was_pure: bool,
    /// Messages of one codec in a row that have come, by which those of others are forgotten whose
    /// end is never told.
    in_a_row: (usize, u32),
}

impl Default for Choice {
    fn default() -> Self {
        Choice {
            kept: 0,
            left: LAST as u32,
            every: OFTEN,
            dear: 0,
            trial: None,
            asking: 0,
            awaited: 0,
            since: 0,
            is_hopeful: false,
            tried: [0; CODECS.len()],
            judged: 0,
            times: Default::default(),
            under_way: [0; CODECS.len()],
            peak: 0,
            was_pure: true,
            in_a_row: (0, 0),
        }
    }
}

impl Choice {
    /// The codec that messages go through unless another one is tried.
    pub fn kept(&self) -> Codec {
        CODECS[self.kept]
    }

    /// The codec of the message that is asked for now.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Codec {
        self.peak = self.peak.max(self.under_way.iter().sum());
        self.give_up_if_late();
        if self.trial.is_none() {
            self.left = self.left.saturating_sub(1);
            if self.left == 0 && self.times[self.kept].count() >= TRIAL as usize {
                self.tried = [0; CODECS.len()];
                self.begin(self.following(CODECS.len()));
            }
        }
        let codec = match self.trial {
            Some(codec) if self.asking > 0 => {
                self.asking -= 1;
                self.tried[codec] += 1;
                codec
            }
            Some(_) => {
                self.since += 1;
                self.kept
            }
            None => self.kept,
        };
        self.under_way[codec] = (self.under_way[codec] + 1).min(UNDER_WAY);
        CODECS[codec]
    }

    /// The codec to be tried behind that one: all but the one that is kept have their turns.
    fn following(&self, codec: usize) -> Option<usize> {
        let first = if codec == CODECS.len() { 0 } else { codec + 1 };
        (first..CODECS.len()).find(|&it| it != self.kept)
    }

    fn begin(&mut self, trial: Option<usize>) {
        self.trial = trial;
        (self.awaited, self.since, self.is_hopeful) = (TRIAL, 0, false);
        self.asking = TRIAL + PATIENCE * self.peak;
        if let Some(codec) = trial {
            self.times[codec] = Times::default();
        } else {
            self.peak = 0;
        }
    }

    /// A trial is over whose messages do not come: they were cancelled, or never pure.
    fn give_up_if_late(&mut self) {
        if let Some(codec) = self.trial
            && self.asking == 0
            && self.since > PATIENCE * self.peak + OFTEN
        {
            self.end_trial(codec);
        }
    }

    /// A message that `codec` was asked for has come whole: of `len` bytes, as `sent` bytes, in
    /// `time` (of any unit) since it was asked for and the one before it had come.
    pub fn record(&mut self, codec: Codec, time: u64, len: u64, sent: u64) {
        let codec = usize::from(codec.number());
        if !self.is_pure(codec) {
            return;
        }
        let time = (u128::from(time) << 20) / u128::from(len.max(1));
        self.times[codec].record(u64::try_from(time).unwrap_or(u64::MAX));
        if self.trial != Some(codec) {
            if codec == self.kept {
                self.look_for_change();
            }
            return;
        }
        // What hardly became shorter may have come sooner by chance.
        self.is_hopeful |= CODECS[codec] == Codec::Stored
            || 100 * u128::from(sent) <= u128::from(100 - LEAST) * u128::from(len);
        self.awaited = self.awaited.saturating_sub(1);
        if self.awaited == 0 {
            self.end_trial(codec);
        }
    }

    /// Whether a message that has come was alone with those of its codec, as the one before it was.
    fn is_pure(&mut self, codec: usize) -> bool {
        self.under_way[codec] = self.under_way[codec].saturating_sub(1);
        self.in_a_row = match self.in_a_row {
            (before, count) if before == codec => (codec, count.saturating_add(1)),
            _ => (codec, 1),
        };
        for (other, under_way) in self.under_way.iter_mut().enumerate() {
            if other != codec && self.in_a_row.1 > PATIENCE * *under_way {
                *under_way = 0;
            }
        }
        let others = self.under_way.iter().sum::<u32>() - self.under_way[codec];
        std::mem::replace(&mut self.was_pure, others == 0) && others == 0
    }

    fn end_trial(&mut self, codec: usize) {
        if !self.is_hopeful {
            self.times[codec].0 = [u64::MAX; LAST];
        }
        self.begin(self.following(codec));
        if self.trial.is_none() {
            self.judge();
        }
    }

    /// All have been tried.
    fn judge(&mut self) {
        let of = |it: usize| {
            let least = self.times[it].least().unwrap_or(u64::MAX);
            let more = if CODECS[it] == Codec::Stored {
                100
            } else {
                100 + MARGIN
            };
            u128::from(least) * u128::from(more)
        };
        let best = (0..CODECS.len()).min_by_key(|&it| of(it)).unwrap_or(0);
        if best == self.kept {
            self.every = (GROWTH * self.every).min(SELDOM);
        } else {
            (self.kept, self.every) = (best, OFTEN);
        }
        self.judged = self.times[self.kept].least().unwrap_or(0);
        self.dear = self.cost();
        self.left = self.every.max(self.dear);
    }

    /// Messages that have to pass so that what the trials have cost is lost among them. A codec of
    /// no use costs little, as the sender soon sends the rest of a message as it is.
    fn cost(&self) -> u32 {
        let kept = u128::from(self.judged.max(1));
        let more = self.times.iter().zip(self.tried).map(|(times, tried)| {
            let least = times
                .least()
                .filter(|&it| it < u64::MAX)
                .unwrap_or(self.judged);
            u128::from(least.saturating_sub(self.judged)) * u128::from(tried)
        });
        (COST * more.sum::<u128>() / kept).min(FEWEST) as u32
    }

    /// Where the codec that is kept takes far less or more than when it was judged, the program or
    /// the network does something else, and the others are tried soon.
    fn look_for_change(&mut self) {
        let times = &self.times[self.kept];
        let Some(least) = times
            .least()
            .filter(|_| times.count() == LAST && self.judged > 0)
        else {
            return;
        };
        let range = self.judged / 4;
        if least.abs_diff(self.judged) > range {
            self.judged = least;
            self.every = OFTEN;
            self.left = self.left.min(OFTEN.max(self.dear));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: u64 = 4 << 20;
    const FAST: u64 = 1 << 40;

    /// A link that carries `rate` bytes a µs, and the codecs: `left` says how many hundredths of
    /// the bytes each leaves, `speed` how many bytes a µs it encodes and decodes. Messages come one
    /// after the other, in windows.
    struct Link {
        rate: u64,
        left: [u64; 3],
        speed: [u64; 3],
        window: usize,
    }

    impl Link {
        /// Runs `messages` messages. Returns the time that they took, in hundredths of the time
        /// that they would have taken without codecs.
        fn run(&self, choice: &mut Choice, messages: usize) -> u64 {
            let mut taken = 0;
            for _ in 0..messages / self.window {
                let asked: Vec<Codec> = (0..self.window).map(|_| choice.next()).collect();
                for codec in asked {
                    let at = usize::from(codec.number());
                    let sent = LEN * self.left[at] / 100;
                    let time = (sent * 1000 / self.rate).max(LEN * 1000 / self.speed[at]);
                    choice.record(codec, time, LEN, sent);
                    taken += time;
                }
            }
            let messages = messages / self.window * self.window;
            taken * 100 / (messages as u64 * LEN * 1000 / self.rate)
        }
    }

    fn link(rate: u64, left: [u64; 3], speed: [u64; 3]) -> Link {
        let window = 1;
        Link {
            rate,
            left,
            speed,
            window,
        }
    }

    #[test]
    fn the_fastest_is_kept() {
        for (rate, best) in [
            (125, Codec::Planes),
            (1250, Codec::Blocks),
            (12500, Codec::Stored),
        ] {
            for window in [1, 4, 64] {
                let mut choice = Choice::default();
                let link = link(rate, [100, 50, 20], [FAST, 2000, 400]);
                Link { window, ..link }.run(&mut choice, 2000);
                assert_eq!(choice.kept(), best, "{rate}, {window} at once");
            }
        }
    }

    #[test]
    fn what_cannot_be_made_shorter_costs_next_to_nothing() {
        for window in [1, 16] {
            let mut choice = Choice::default();
            // The sender gives up after a few pieces.
            let link = link(1250, [100, 100, 100], [FAST, 1240, 1230]);
            let link = Link { window, ..link };
            assert!(link.run(&mut choice, 2000) <= 102);
            assert_eq!(choice.kept(), Codec::Stored);
        }
    }

    #[test]
    fn what_is_shorter_and_slower_costs_little() {
        for (speed, window, most) in [(6000, 1, 102), (4000, 4, 104), (4000, 64, 110)] {
            let mut choice = Choice::default();
            let link = link(12500, [100, 50, 80], [FAST, speed, speed]);
            let link = Link { window, ..link };
            link.run(&mut choice, 1000);
            let taken = link.run(&mut choice, 20_000);
            assert!(taken <= most, "{window} at once: {taken}");
            assert_eq!(choice.kept(), Codec::Stored);
        }
    }

    /// Times that differ by a factor of two from message to message are no change.
    #[test]
    fn uneven_times_make_no_trials() {
        let (mut choice, mut seed, mut taken, mut even) = (Choice::default(), 1_u64, 0, 0);
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let time = 1000 + (seed >> 40) % 1000;
            let codec = choice.next();
            let slower = if codec == Codec::Stored { 1 } else { 3 };
            choice.record(codec, slower * time, LEN, LEN / 2);
            (taken, even) = (taken + slower * time, even + time);
        }
        assert!(taken * 100 / even <= 104, "{taken}, {even}");
    }

    #[test]
    fn a_change_is_noticed() {
        let mut choice = Choice::default();
        link(12500, [100, 50, 80], [FAST, 2000, 400]).run(&mut choice, 20_000);
        assert_eq!(choice.kept(), Codec::Stored);
        link(125, [100, 50, 80], [FAST, 2000, 400]).run(&mut choice, 40_000);
        assert_eq!(choice.kept(), Codec::Blocks, "the network is slower");
        link(125, [100, 100, 100], [FAST, 2000, 400]).run(&mut choice, 10_000);
        assert_eq!(choice.kept(), Codec::Stored, "other data");
    }

    /// Noise and zeros in turn: what a codec makes of the zeros counts.
    #[test]
    fn one_message_of_two_is_reason_enough() {
        let mut choice = Choice::default();
        for message in 0..1000 {
            let codec = choice.next();
            let is_short = message % 2 == 0 && codec == Codec::Blocks;
            let (time, sent) = if is_short { (1, LEN / 100) } else { (10, LEN) };
            choice.record(codec, time, LEN, sent);
        }
        assert_eq!(choice.kept(), Codec::Blocks);
    }

    #[test]
    fn a_trial_whose_messages_never_come_is_followed_by_others() {
        let mut choice = Choice::default();
        for message in 0..2000 {
            let codec = choice.next();
            if codec != Codec::Stored && message < 200 {
                continue;
            }
            let sent = if codec == Codec::Blocks {
                LEN / 10
            } else {
                LEN
            };
            choice.record(codec, sent, LEN, sent);
        }
        assert_eq!(choice.kept(), Codec::Blocks);
    }
}
