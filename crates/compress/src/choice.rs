//! Which codec the messages of a class go through, found by what whole messages take.
//!
//! The receiver of a message says how it wants it, and sees how long it takes to come: whatever
//! encoder, network and decoder cost, alone and beside each other, is in that time. Nothing is
//! known of it beforehand, so a class begins without a codec, and tries each now and then: soon
//! again where the last trial was worth it or what is kept takes another time than before, ever
//! less often while trials are in vain. Of the last times of a codec the least counts, as a
//! program that computes keeps its messages waiting.

use crate::Codec;
use crate::piece::CODECS;

/// Times of a codec that are known, and messages of a trial.
const LAST: usize = 4;
const TRIAL: u32 = 2;
/// Messages between two trials, at least and at most; each in vain has it grow so many times.
const OFTEN: u32 = 32;
const SELDOM: u32 = 4096;
const GROWTH: u32 = 4;
/// Hundredths by which a codec must be faster than none.
const MARGIN: u64 = 3;
/// Hundredths of the bytes that must be left out, so that a codec may be worth it at all.
const LEAST: u64 = 5;

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
    /// The codec that is tried, and how many of its messages may still be asked for and recorded.
    trial: Option<usize>,
    asking: u32,
    awaited: u32,
    /// The least time of the kept codec when it was judged.
    judged: u64,
    times: [Times; CODECS.len()],
}

impl Default for Choice {
    fn default() -> Self {
        Choice {
            kept: 0,
            left: LAST as u32,
            every: OFTEN,
            trial: None,
            asking: 0,
            awaited: 0,
            judged: 0,
            times: Default::default(),
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
        if self.trial.is_none() {
            self.left = self.left.saturating_sub(1);
            if self.left == 0 && self.times[self.kept].count() >= TRIAL as usize {
                self.begin(self.following(CODECS.len()));
            }
        }
        match self.trial {
            Some(codec) if self.asking > 0 => {
                self.asking -= 1;
                CODECS[codec]
            }
            _ => self.kept(),
        }
    }

    /// The codec to be tried behind that one: all but the one that is kept have their turns.
    fn following(&self, codec: usize) -> Option<usize> {
        let first = if codec == CODECS.len() { 0 } else { codec + 1 };
        (first..CODECS.len()).find(|&it| it != self.kept)
    }

    fn begin(&mut self, trial: Option<usize>) {
        self.trial = trial;
        (self.asking, self.awaited) = (TRIAL, TRIAL);
        if let Some(codec) = trial {
            self.times[codec] = Times::default();
        }
    }

    /// A message of `len` bytes that `codec` was asked for has come in `time` (of any unit), as
    /// `sent` bytes.
    pub fn record(&mut self, codec: Codec, time: u64, len: u64, sent: u64) {
        let codec = usize::from(codec.number());
        let time = (u128::from(time) << 20) / u128::from(len.max(1));
        self.times[codec].record(u64::try_from(time).unwrap_or(u64::MAX));
        if self.trial != Some(codec) {
            if codec == self.kept {
                self.look_for_change();
            }
            return;
        }
        self.awaited = self.awaited.saturating_sub(1);
        // What hardly became shorter is not asked for again.
        let is_hopeless = CODECS[codec] != Codec::Stored
            && 100 * u128::from(sent) > u128::from(100 - LEAST) * u128::from(len);
        if is_hopeless {
            self.times[codec].0 = [u64::MAX; LAST];
        } else if self.awaited > 0 {
            return;
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
        self.left = self.every;
        self.judged = self.times[self.kept].least().unwrap_or(0);
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
            self.left = self.left.min(OFTEN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of 4 MiB over a link of `rate` bytes a µs, of which codecs leave that share in
    /// hundredths, encoding and decoding `speed` bytes a µs. Returns what they took beside what
    /// they would have without codecs, in hundredths.
    fn run(
        choice: &mut Choice,
        messages: usize,
        rate: u64,
        left: [u64; 3],
        speed: [u64; 3],
    ) -> u64 {
        const LEN: u64 = 4 << 20;
        let mut taken = 0;
        for _ in 0..messages {
            let codec = choice.next();
            let at = usize::from(codec.number());
            let sent = LEN * left[at] / 100;
            let time = (sent * 1000 / rate).max(LEN * 1000 / speed[at]);
            choice.record(codec, time, LEN, sent);
            taken += time;
        }
        taken * 100 / (messages as u64 * LEN * 1000 / rate)
    }

    const FAST: u64 = 1 << 40;

    #[test]
    fn the_fastest_is_kept() {
        for (rate, best) in [
            (125, Codec::Planes),
            (1250, Codec::Blocks),
            (12500, Codec::Stored),
        ] {
            let mut choice = Choice::default();
            run(&mut choice, 100, rate, [100, 50, 20], [FAST, 2000, 400]);
            assert_eq!(choice.kept(), best, "{rate}");
        }
    }

    #[test]
    fn what_cannot_be_made_shorter_costs_next_to_nothing() {
        let mut choice = Choice::default();
        assert!(run(&mut choice, 1000, 1250, [100, 100, 100], [FAST, 1000, 300]) <= 102);
        assert_eq!(choice.kept(), Codec::Stored);
    }

    #[test]
    fn what_is_shorter_and_slower_costs_little() {
        let mut choice = Choice::default();
        assert!(run(&mut choice, 2000, 12500, [100, 50, 80], [FAST, 6000, 6000]) <= 102);
    }

    #[test]
    fn a_change_is_noticed() {
        let mut choice = Choice::default();
        run(&mut choice, 20_000, 12500, [100, 50, 80], [FAST, 2000, 400]);
        assert_eq!(choice.kept(), Codec::Stored);
        run(&mut choice, 100, 125, [100, 50, 80], [FAST, 2000, 400]);
        assert_eq!(choice.kept(), Codec::Blocks, "the network is slower");
        run(&mut choice, 100, 125, [100, 100, 100], [FAST, 2000, 400]);
        assert_eq!(choice.kept(), Codec::Stored, "other data");
    }

    #[test]
    fn messages_under_way_at_once_are_recorded_late() {
        let mut choice = Choice::default();
        for _ in 0..10 {
            let asked: Vec<Codec> = (0..8).map(|_| choice.next()).collect();
            for codec in asked {
                let sent = if codec == Codec::Blocks { 10 } else { 100 };
                choice.record(codec, sent, 100, sent);
            }
        }
        assert_eq!(choice.kept(), Codec::Blocks);
    }
}
