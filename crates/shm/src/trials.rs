//! Which of two ways is faster, found by trials: the ring or the kernel's copy.
//!
//! Nothing is taken for granted but the beginning. What counts is how long whole operations take,
//! messages or collectives. Now and then some of them in a row go the other way, less often while
//! that is in vain.

/// Messages between two trials of the other way, at first,
pub(crate) const TRIAL_EVERY: u32 = 32;
/// and at least and at most, for each message of the last one.
const SELDOM: u32 = 16;
pub(crate) const TRIAL_RARELY: u32 = 256;
/// After a trial in vain so many times as many messages pass until the next one,
const RARER: u32 = 4;
/// and so many for each message of the kept way for which there would have been time, too.
const COST: u64 = 10;
/// Messages from one trial to the next, at least, for each message of the last one.
const PAUSE: u32 = 4;
/// Pure messages whose time counts as one, at least: they come at uneven intervals. Of the way that
/// is kept it is as many as are under way at once, as the first and the last of these have the ends
/// for themselves.
const BATCH: u32 = 2;
/// A batch of a trial of long messages has so many eighths of the messages that are under way at
/// once, so that one window of messages decides before the next one is asked for.
const TRIED: u32 = 3;
/// Batches of a trial, the least of which counts: one may have been interrupted, or have waited for
/// memory at first use.
const LOOKS: usize = 2;
/// A trial goes on for another batch as long as each takes so many hundredths less than the one
/// before, up to so many batches: memory that is used that way for the first time is still being
/// made ready.
const FALLS: u64 = 15;
const LONGER: u32 = 4;
/// Last batches of the way that is kept, of which the least counts: an interruption that is longer
/// than two of them is no reason to leave it.
const LAST: usize = 4;
/// How much faster, in hundredths, the kernel must be with messages, so that it is worth that the
/// next one to write where it read, and to read where it wrote, waits for these lines.
const SHARED: u64 = 20;
/// How much faster, in hundredths, the kernel must be where its whole cost is in what is measured:
/// the distance between two operations that follow each other.
pub const MARGIN: u64 = 6;
/// Messages for which the way of a peer that leads is followed for each one of its own, and at
/// most: it may send as many before it takes any.
const LED_BY_EACH: u32 = 4;
const LED: u32 = 512;
/// Most messages under way that count.
const UNDER_WAY: u32 = 4096;
/// For each message that is under way at once, a trial may have this many messages more, and begin
/// this many messages later than it is due if some are always under way.
pub(crate) const PATIENCE: u32 = 2;

/// A way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Two copies, into a ring and out of it.
    Ring,
    /// One copy, which the kernel makes.
    Kernel,
}

impl By {
    pub(crate) fn other(self) -> By {
        match self {
            By::Ring => By::Kernel,
            By::Kernel => By::Ring,
        }
    }

    /// The ring, or the kernel.
    pub fn of(streamed: bool) -> By {
        match streamed {
            true => By::Ring,
            false => By::Kernel,
        }
    }
}

/// What the last pure messages of one way took: ticks for 64 KiB, 0 if unknown.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    batches: [u64; LAST],
    /// Of the batch that is not whole: ticks, and messages.
    sum: u64,
    count: u32,
}

impl Times {
    /// A message took that long, where a batch has `size` messages; whether that makes one whole.
    fn record(&mut self, ticks: u64, size: u32) -> bool {
        self.sum = self.sum.saturating_add(ticks);
        self.count += 1;
        let is_whole = self.count >= size;
        if is_whole {
            self.batches.rotate_left(1);
            self.batches[LAST - 1] = (self.sum / u64::from(self.count)).max(1);
            (self.sum, self.count) = (0, 0);
        }
        is_whole
    }

    /// Whether the last batch took far less than the one before.
    fn falls(&self) -> bool {
        let [.., before, last] = self.batches;
        before > 0 && 100 * last < (100 - FALLS) * before
    }

    /// The least of them, if enough are known.
    fn known(&self) -> Option<u64> {
        let known = self.batches.into_iter().filter(|&ticks| ticks > 0);
        known.clone().min().filter(|_| known.count() >= LOOKS)
    }
}

/// The choice for operations of about the same length. An operation is a message or a collective.
#[derive(Debug)]
pub struct Trials {
    kept: By,
    /// How much faster the kernel must be, in hundredths.
    margin: u64,
    /// Whether a part of the messages that are under way at once says what each of them takes.
    judges_parts: bool,
    /// Messages until the next trial, and since the last one.
    left: u32,
    since: u32,
    /// Of a trial: messages that went the other way, those that may still, and pure ones that have
    /// not come yet.
    tried: u32,
    trying: u32,
    awaited: u32,
    /// Pure messages of a trial that do not count, as the other end does not go that way yet.
    skipped: u32,
    /// Batches by which it may still go on.
    longer: u32,
    every: u32,
    /// Messages that have to pass after the last trial, so that what it has cost is lost among
    /// them.
    cost: u32,
    /// What the way that is kept took when that was judged last, 0 if it was not.
    judged: u64,
    /// Most messages that are under way at once, a power of two, and those that were since the last
    /// trial.
    peak: u32,
    recent: u32,
    /// The way of a peer that leads, whether there is one, and messages for which it is followed.
    others: By,
    is_led: bool,
    led: u32,
    /// Whether the other end has asked for messages since the last trial and follows this one.
    leads: bool,
    /// By way.
    times: [Times; 2],
}

impl Default for Trials {
    fn default() -> Self {
        Trials {
            judges_parts: true,
            ..Trials::new(By::Ring, 0, SHARED)
        }
    }
}

impl Trials {
    /// Nothing is known but that it is better to begin with that way, and that so many are under
    /// way at once. The kernel is worth it where it is so many hundredths faster.
    pub fn new(kept: By, under_way: u32, margin: u64) -> Self {
        Trials {
            kept,
            margin,
            judges_parts: false,
            left: TRIAL_EVERY,
            since: 0,
            tried: 0,
            trying: 0,
            awaited: 0,
            skipped: 0,
            longer: 0,
            every: TRIAL_EVERY,
            cost: 0,
            judged: 0,
            peak: under_way.min(UNDER_WAY).next_power_of_two(),
            recent: under_way,
            others: kept,
            is_led: false,
            led: 0,
            leads: false,
            times: Default::default(),
        }
    }

    /// The way of the next message, while so many are under way.
    pub fn next(&mut self, under_way: u32) -> By {
        let under_way = under_way.min(UNDER_WAY);
        self.recent = self.recent.max(under_way);
        if under_way > self.peak {
            // What was known of fewer at once says nothing of these, by either way, and neither
            // does a trial that has begun with them.
            self.peak = under_way.next_power_of_two();
            self.times = Default::default();
            (self.trying, self.awaited) = (0, 0);
            self.left = self.left.min(TRIAL_EVERY);
        }
        if self.led > 0 {
            self.led -= 1;
            return self.others;
        }
        if self.trying == 0 {
            self.left = self.left.saturating_sub(1);
            self.since = self.since.saturating_add(1);
            let is_late = self.since > self.every + PATIENCE * self.peak;
            if self.left > 0 || !self.knows_kept() || under_way > 0 && !is_late {
                return self.kept;
            }
            self.begin_trial();
        }
        self.trying -= 1;
        self.tried += 1;
        self.kept.other()
    }

    /// Messages of a batch of the way that is kept.
    fn batch(&self) -> u32 {
        (self.peak + 1).max(BATCH)
    }

    /// Messages of a batch of a trial.
    fn tried_batch(&self) -> u32 {
        match self.judges_parts {
            true => (TRIED * self.peak / 8).max(BATCH),
            false => self.batch(),
        }
    }

    fn begin_trial(&mut self) {
        (self.left, self.since, self.tried) = (self.every, 0, 0);
        self.peak = std::mem::take(&mut self.recent).next_power_of_two();
        self.awaited = LOOKS as u32 * self.tried_batch();
        self.skipped = match std::mem::take(&mut self.leads) {
            true => self.peak,
            false => 0,
        };
        self.trying = self.skipped + self.awaited + PATIENCE * self.peak;
        self.longer = LONGER;
        self.times[self.kept.other() as usize] = Times::default();
    }

    /// The way of the next message, after so many whose way was not asked for: a trial of the ring
    /// is over.
    pub fn turn(&mut self, passed: u32, under_way: u32) -> By {
        if self.kept == By::Kernel {
            self.trying = 0;
        } else if self.trying == 0 {
            self.left = self.left.saturating_sub(passed);
            self.since = self.since.saturating_add(passed);
        }
        self.next(under_way)
    }

    /// Whether it is known what the way takes that is kept: else a trial says nothing.
    fn knows_kept(&self) -> bool {
        self.times[self.kept as usize].known().is_some()
    }

    /// A peer that leads has gone that way, which this end goes, too, as long as it sees that again
    /// and again. What one direction costs depends on the other: if each end chose for itself, what
    /// one tries would change what the other one sees, and they might change their ways in turn for
    /// ever.
    ///
    /// Whoever never goes the kernel's way has no choice, and does not lead: who has one tries it.
    pub fn follow(&mut self, by: By) {
        self.is_led |= by == By::Kernel;
        if self.is_led {
            (self.others, self.led) = (by, (self.led + LED_BY_EACH).min(LED));
            (self.trying, self.awaited) = (0, 0);
        }
    }

    /// The other end asks for a message, and goes the way that this end goes.
    pub fn lead(&mut self) {
        self.leads = true;
    }

    /// Messages that have to pass after the trial that ends, so that what it has cost is lost among
    /// them.
    fn lost(&self) -> u32 {
        let [kept, other] =
            [self.kept, self.kept.other()].map(|by| self.times[by as usize].known());
        let (Some(kept), Some(other)) = (kept, other) else {
            return 0;
        };
        let more = u128::from(other.saturating_sub(kept)) * u128::from(self.tried);
        u32::try_from(u128::from(COST) * more / u128::from(kept)).unwrap_or(u32::MAX)
    }

    fn better(&self) -> Option<By> {
        let [ring, kernel] = self.times.map(|times| times.known());
        Some(match 100 * kernel? < (100 - self.margin) * ring? {
            true => By::Kernel,
            false => By::Ring,
        })
    }

    /// A pure message has come.
    pub fn record(&mut self, by: By, ticks: u64) {
        if self.led > 0 {
            return;
        }
        let is_tried = by != self.kept;
        if is_tried && self.awaited == 0 {
            // What is left of a trial.
            return;
        }
        if !is_tried {
            let is_whole = self.times[by as usize].record(ticks, self.batch());
            if is_whole && self.awaited == 0 {
                self.look_for_change();
            }
            return;
        }
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        let batch = self.tried_batch();
        self.times[by as usize].record(ticks, batch);
        self.awaited -= 1;
        if self.awaited > 0 {
            return;
        }
        if self.longer > 0 && self.times[by as usize].falls() {
            self.longer -= 1;
            self.awaited = batch;
            self.trying = batch + PATIENCE * self.peak;
            return;
        }
        // Those that this end was not asked for went that way, too.
        self.tried = self.tried.max(LOOKS as u32 * batch);
        let Some(better) = self.better() else {
            return;
        };
        let most = TRIAL_RARELY * self.tried.max(BATCH);
        let is_in_vain = better == self.kept;
        self.kept = better;
        self.cost = self.lost();
        self.every = match is_in_vain {
            true => (RARER * self.every).max(self.cost),
            false => TRIAL_EVERY.max(self.cost),
        };
        self.every = self.every.clamp(SELDOM * self.tried, most);
        (self.left, self.trying, self.awaited) = (self.every, 0, 0);
        self.judged = self.times[self.kept as usize].known().unwrap_or(0);
    }

    /// Where the way that is kept takes far less or more than when it was judged, the program does
    /// something else, and the other way is tried soon: at once if that was not just tried, and if
    /// the next trial is likely to be worth it.
    fn look_for_change(&mut self) {
        let Some(known) = self.times[self.kept as usize].known() else {
            return;
        };
        let (less, more) = (known.min(self.judged), known.max(self.judged));
        if self.judged > 0 && 4 * less < 3 * more {
            self.judged = known;
            self.every = SELDOM * self.tried.max(BATCH);
            let least = PAUSE.saturating_mul(self.tried);
            let other = self.times[self.kept.other() as usize].known();
            let pause = match other.is_some_and(|other| other < known) {
                true => least,
                false => least.max(self.cost),
            };
            self.left = self.left.min(pause.saturating_sub(self.since));
        }
    }
}
