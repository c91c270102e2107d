//! Whether long messages from a peer pass through the ring or are copied by the kernel.
//!
//! The kernel copies once out of the sender's memory, the ring twice but within the caches, and
//! both ends at the same time. Which is faster depends on the processor, the distance of the cores
//! and the length, and on what the two ranks do besides: where the sender computes, a stream waits
//! for it, and the kernel does not. So it is found by trials (`trials.rs`), for each order of
//! magnitude apart: a message takes from when the receiver can have it to when it is there.
//! Messages of the other direction that the two ranks copy meanwhile are in that time, too.
//!
//! Of many messages that are under way at once, those that went one way say nothing while others go
//! the other way, as both ends are busy with all of them: only *pure* ones count, and a trial lasts
//! until enough of those have come. Where both ranks send, the first of them chooses: the other one
//! sees which way it asks for, and asks for that, too, as what one direction costs depends on the
//! other.

use catena_fabric::Moved;

use crate::trials::{By, PATIENCE, Trials};

/// Most messages that are taken to be under way: of some the end is never told, as when a copy was
/// refused.
const UNDER_WAY: u32 = 256;

/// The shortest messages for which there is a choice have that many bits, as longer ones than the
/// last class are with it.
const FIRST_BITS: u32 = 16;
const CLASSES: usize = 8;

/// Chooses the way of each long message from one peer.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Whether this end chooses where messages go both ways.
    leads: bool,
    classes: [Trials; CLASSES],
    /// When the last message had come, ticks, and whether it was alone with those of its way.
    ended: u64,
    was_pure: bool,
    /// Messages that have not come, by way.
    under_way: [u32; 2],
    /// Messages of one way in a row that have come, by which those of the other way are forgotten
    /// whose end is never told.
    in_a_row: (usize, u32),
}

impl Pace {
    pub fn new(leads: bool) -> Pace {
        Pace {
            leads,
            classes: Default::default(),
            ended: 0,
            was_pure: false,
            under_way: [0; 2],
            in_a_row: (0, 0),
        }
    }

    fn class(&mut self, len: u64) -> &mut Trials {
        let at = len.max(1).ilog2().saturating_sub(FIRST_BITS) as usize;
        &mut self.classes[at.min(CLASSES - 1)]
    }

    /// The way of the next message, of `len` bytes.
    pub fn next(&mut self, len: u64) -> By {
        let under_way = self.under_way.into_iter().sum();
        let by = self.class(len).next(under_way);
        self.under_way[by as usize] = (self.under_way[by as usize] + 1).min(UNDER_WAY);
        by
    }

    /// The peer asks for a message of `len` bytes from here; whether to be streamed.
    pub fn asked(&mut self, len: u64, streamed: bool) {
        match self.leads {
            true => self.class(len).lead(),
            false => self.class(len).follow(By::of(streamed)),
        }
    }

    /// A message is there.
    pub fn record(&mut self, moved: Moved) {
        let by = By::of(moved.streamed);
        // The two ends have to do with one message after the other.
        let began = moved.asked.max(self.ended);
        self.ended = moved.ended;
        let (own, other) = (by as usize, by.other() as usize);
        self.under_way[own] = self.under_way[own].saturating_sub(1);
        self.in_a_row = match self.in_a_row {
            (way, count) if way == own => (own, count.saturating_add(1)),
            _ => (own, 1),
        };
        if self.in_a_row.1 > PATIENCE * self.under_way[other] {
            self.under_way[other] = 0;
        }
        let is_pure = self.under_way[other] == 0;
        if std::mem::replace(&mut self.was_pure, is_pure) && is_pure {
            let ticks = moved.ended.saturating_sub(began).min(u64::MAX >> 20);
            self.class(moved.len)
                .record(by, (ticks << 16) / moved.len.max(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trials::{TRIAL_EVERY, TRIAL_RARELY};

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
        let mut pace = Pace::new(true);
        assert_eq!(run(&mut pace, TRIAL_EVERY - 1, 1000, 1), 0);
        let kernel = run(&mut pace, 100, 1000, 500);
        assert!(
            (90..100).contains(&kernel),
            "the ring is tried again: {kernel}"
        );
        for kernel in [850, 1000, 5000] {
            let mut pace = Pace::new(true);
            let tried = run(&mut pace, 100_000, 1000, kernel);
            assert!((4..500).contains(&tried), "{tried}");
        }
    }

    /// A program that does something else is known by what its messages take.
    #[test]
    fn the_other_way_is_tried_soon_where_the_way_that_is_kept_takes_something_else() {
        let mut pace = Pace::new(true);
        assert!(run(&mut pace, 100_000, 1000, 2000) < 500);
        let kernel = run(&mut pace, 1000, 3000, 2000);
        assert!(kernel > 800, "{kernel}");
    }

    #[test]
    fn it_follows_changes() {
        let mut pace = Pace::new(true);
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
        let mut pace = Pace::new(true);
        run(&mut pace, 100, 1000, 4000);
        let late = run(&mut pace, 1000, 1_000_000, 4000);
        // Those before it is known, and those of trials.
        assert!(late > 980, "{late}");
        run(&mut pace, 6 * TRIAL_RARELY, 1000, 4000);
        assert_eq!(run(&mut pace, 20, 1000, 4000), 0);
    }

    #[test]
    fn what_was_interrupted_changes_nothing() {
        let mut pace = Pace::new(true);
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
        let mut pace = Pace::new(true);
        run(&mut pace, 1000, 4000, 1000);
        assert_eq!(pace.next(LEN), By::Kernel);
        for len in [0, 1, 1 << 16, LEN / 2, 2 * LEN, u64::MAX] {
            assert_eq!(pace.next(len), By::Ring);
        }
    }

    /// Many are asked for before the first has come, and come one after the other.
    #[test]
    fn messages_that_wait_for_each_other_take_as_long_as_each_alone() {
        let mut pace = Pace::new(true);
        let mut now = 1000;
        for _ in 0..6 {
            let ways: Vec<By> = (0..64).map(|_| pace.next(LEN)).collect();
            let asked = now;
            for by in ways {
                now += [2000, 1000][by as usize];
                pace.record(moved(by, asked, now));
            }
        }
        assert_eq!(pace.next(LEN), By::Kernel);
    }

    /// What the ring took for one message at a time is less than what anything takes for many.
    #[test]
    fn times_of_fewer_messages_at_once_say_nothing_of_many() {
        let mut pace = Pace::new(true);
        run(&mut pace, 1000, 1000, 500);
        let mut ring = 0;
        for _ in 0..20 {
            let ways: Vec<By> = (0..64).map(|_| pace.next(LEN)).collect();
            let (asked, mut now) = (pace.ended, pace.ended);
            for by in ways {
                ring += u32::from(by == By::Ring);
                now += [3000, 2000][by as usize];
                pace.record(moved(by, asked, now));
            }
        }
        assert!(ring < 300, "more than a trial: {ring}");
    }

    #[test]
    fn whoever_does_not_lead_follows_as_long_as_the_other_one_asks() {
        for leads in [true, false] {
            let mut pace = Pace::new(leads);
            let mut kernel = 0;
            for _ in 0..30 {
                pace.asked(LEN, false);
                kernel += run(&mut pace, 1, 1000, 3000);
            }
            assert_eq!(kernel, if leads { 0 } else { 30 });
            // It finds out itself again which way is faster.
            run(&mut pace, 2000, 1000, 3000);
            assert!(run(&mut pace, 1000, 1000, 3000) < 50);
        }
    }

    /// Such as one whose messages have gaps, so that all of them are streamed.
    #[test]
    fn whoever_has_no_choice_does_not_lead() {
        let mut pace = Pace::new(false);
        let mut kernel = 0;
        for _ in 0..1000 {
            pace.asked(LEN, true);
            kernel += run(&mut pace, 1, 3000, 1000);
        }
        assert!(kernel > 900, "{kernel}");
    }

    /// One message of the leader's is no word for hundreds of this end's.
    #[test]
    fn who_sends_little_leads_little() {
        let mut pace = Pace::new(false);
        let mut kernel = 0;
        for message in 0..1000 {
            if message % 64 == 0 {
                pace.asked(LEN, message == 64);
            }
            kernel += run(&mut pace, 1, 3000, 1000);
        }
        assert!(kernel > 700, "{kernel}");
    }

    /// The first messages that the kernel copies wait for memory that is touched the first time.
    #[test]
    fn a_trial_lasts_until_memory_is_ready() {
        let mut pace = Pace::new(true);
        let mut cold = [40_000, 40_000, 1300, 1300, 500, 500].into_iter();
        let mut copied = 0;
        for _ in 0..100 {
            let by = pace.next(LEN);
            let ticks = match by {
                By::Ring => 1000,
                By::Kernel => cold.next().unwrap_or(500),
            };
            copied += u32::from(by == By::Kernel);
            let now = pace.ended.max(1);
            pace.record(moved(by, now, now + ticks));
        }
        assert!(copied > 60, "{copied}");
    }

    #[test]
    fn trials_that_were_dear_are_rare_from_the_beginning() {
        let mut pace = Pace::new(true);
        run(&mut pace, 100, 20_000, 1000);
        let ring = 1000 - run(&mut pace, 1000, 20_000, 1000);
        assert!(ring < 5, "{ring}");
    }

    /// Those of a trial that never come, as their receives were cancelled.
    #[test]
    fn a_trial_that_has_no_end_is_followed_by_others() {
        let mut pace = Pace::new(true);
        (0..TRIAL_EVERY + 1).for_each(|_| _ = pace.next(LEN));
        assert!(run(&mut pace, 5000, 1000, 100) > 4000);
    }

    /// Two ranks that have windows of messages under way: what one takes depends on those that go
    /// the other way meanwhile, of this direction and, if there is one, of the other.
    struct Windows {
        now: u64,
        ends: Vec<(Pace, Vec<By>)>,
    }

    impl Windows {
        fn new(directions: usize) -> Self {
            let end = |at| (Pace::new(at == 0), Vec::new());
            let ends = (0..directions).map(end).collect();
            Windows { now: 1, ends }
        }

        /// Moves a window in each direction; how many messages the kernel copied.
        fn pass(&mut self, window: usize, ring: u64, kernel: u64) -> usize {
            let asked = self.now;
            for at in 0..self.ends.len() {
                for _ in 0..window {
                    let by = self.ends[at].0.next(LEN);
                    self.ends[at].1.push(by);
                    let peer = (at + 1) % self.ends.len();
                    if peer != at {
                        self.ends[peer].0.asked(LEN, by == By::Ring);
                    }
                }
            }
            let all = self.ends.iter().flat_map(|end| &end.1);
            let count = all.filter(|&&by| by == By::Kernel).count();
            for message in 0..window {
                let under_way = |end: &(Pace, Vec<By>)| end.1.contains(&By::Ring);
                self.now += match self.ends.iter().any(under_way) {
                    // Last messages have the ends for themselves.
                    true if message + window / 8 < window => ring,
                    true => ring / 3,
                    false => kernel,
                };
                for (pace, under_way) in &mut self.ends {
                    // The kernel copies first what it copies.
                    let next = under_way
                        .iter()
                        .position(|&by| by == By::Kernel)
                        .unwrap_or(0);
                    let by = under_way.remove(next);
                    pace.record(moved(by, asked, self.now));
                }
            }
            count
        }
    }

    #[test]
    fn windows_of_messages_find_the_kernel_where_it_is_faster_for_all_of_them() {
        for (directions, window) in [(1, 2), (1, 16), (1, 64), (2, 1), (2, 16), (2, 64)] {
            let mut windows = Windows::new(directions);
            let passes = 20 + 20_000 / window;
            (0..passes).for_each(|_| _ = windows.pass(window, 3000, 1000));
            let found = (0..passes)
                .map(|_| windows.pass(window, 3000, 1000))
                .sum::<usize>();
            let all = directions * window * passes;
            assert!(
                found * 10 > all * 9,
                "{directions} {window}: {found} of {all}"
            );
        }
    }

    /// Benchmarks measure twenty windows, of which two are to warm up.
    #[test]
    fn the_way_of_windows_is_found_within_a_few_of_them() {
        for directions in [1, 2] {
            for (ring, kernel) in [(3000, 1000), (1000, 3000)] {
                let mut windows = Windows::new(directions);
                let all = directions * 64;
                let other = (0..64)
                    .map(|_| windows.pass(64, ring, kernel))
                    .map(|kernel_took| match ring < kernel {
                        true => kernel_took,
                        false => all - kernel_took,
                    })
                    .sum::<usize>();
                assert!(other <= 5 * all, "{directions} {ring} {kernel}: {other}");
            }
        }
    }

    #[test]
    fn windows_of_messages_stay_with_the_ring_where_it_is_faster() {
        for (directions, window) in [(1, 2), (1, 16), (1, 64), (2, 1), (2, 16), (2, 64)] {
            let mut windows = Windows::new(directions);
            let passes = 100_000 / window;
            let tried = (0..passes)
                .map(|_| windows.pass(window, 1000, 3000))
                .sum::<usize>();
            let all = directions * window * passes;
            assert!(tried * 40 < all, "{directions} {window}: {tried} of {all}");
        }
    }

    /// Of those whose copy was refused the end is never told.
    #[test]
    fn what_is_never_told_is_forgotten() {
        let mut pace = Pace::new(true);
        (0..TRIAL_EVERY + 3).for_each(|_| _ = pace.next(LEN));
        pace.under_way = [0, 3];
        assert!(run(&mut pace, 5000, 1000, 100) > 4000);
    }
}
