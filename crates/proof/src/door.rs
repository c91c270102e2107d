//! Callers that have not proven yet that they belong to the job: how many there
//! may be, for how long, and what part of the work may go into sending strangers away.
//! Time is an input.
//!
//! A caller that has sent a sound call is **vouched for**: it knows the secret,
//! or has a record of somebody who did. Callers that have not are **silent**; when
//! there are too many, the one that has waited longest goes, of those from one
//! address first. So silent strangers drive out only each other and those who have
//! had time to speak; a member of the job that was driven out calls again.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Silent callers, at most.
const SILENT: usize = 64;
/// Silent callers from one address, at most.
const FROM_ONE: usize = 16;
/// The work in which strangers are counted.
const SPAN: Duration = Duration::from_millis(1);
/// Strangers that are sent away in a [`SPAN`] while there is other work to do, at most.
/// Each costs about 14 µs.
const SENT_AWAY: u32 = 2;

/// A caller; `K` is its name here, and `M` what members are called.
#[derive(Debug)]
struct Guest<K, M> {
    name: K,
    from: IpAddr,
    since: Instant,
    /// Whose it says it is, if a sound call said so.
    of: Option<M>,
}

/// All callers that have not proven anything, the oldest first.
#[derive(Debug)]
pub struct Door<K, M = u32> {
    guests: VecDeque<Guest<K, M>>,
    /// When the span of the counting began, and who was sent away in it.
    span: Duration,
    strangers: u32,
}

impl<K, M> Default for Door<K, M> {
    fn default() -> Door<K, M> {
        Door {
            guests: VecDeque::new(),
            span: Duration::ZERO,
            strangers: 0,
        }
    }
}

impl<K: Copy + PartialEq, M: PartialEq> Door<K, M> {
    /// Whether another caller may be looked at, where there is other work to do. `spent`
    /// is the processor time that all work has taken so far, and the time that the
    /// process has slept: a clock on the wall would leave nothing to a process that has
    /// little of its processor.
    pub fn may_open(&mut self, spent: Duration) -> bool {
        // Another thread, which has taken less, begins a span of its own.
        if spent.checked_sub(self.span).is_none_or(|it| it >= SPAN) {
            (self.span, self.strangers) = (spent, 0);
        }
        self.strangers < SENT_AWAY
    }

    /// When `spent` is this much greater, another caller may be looked at in any case.
    pub fn opens_in(&self, spent: Duration) -> Duration {
        (self.span + SPAN).saturating_sub(spent).min(SPAN)
    }

    /// Somebody calls; gives the one that must go for it.
    #[must_use]
    pub fn enter(&mut self, name: K, from: IpAddr, now: Instant) -> Option<K> {
        let silent = || self.guests.iter().filter(|guest| guest.of.is_none());
        let alike = silent().filter(|guest| guest.from == from).count();
        let full = silent().count() >= SILENT;
        let goes = |guest: &Guest<K, M>| match alike >= FROM_ONE {
            true => guest.of.is_none() && guest.from == from,
            false => full && guest.of.is_none(),
        };
        let at = self.guests.iter().position(goes);
        let gone = at.and_then(|at| self.guests.remove(at));
        self.strangers += u32::from(gone.is_some());
        self.guests.push_back(Guest {
            name,
            from,
            since: now,
            of: None,
        });
        gone.map(|guest| guest.name)
    }

    /// A caller has sent a sound call, as member `of` of the job; gives an earlier
    /// one of the same member, which must go.
    #[must_use]
    pub fn vouch(&mut self, name: K, of: M) -> Option<K> {
        let of = Some(of);
        let earlier = self.guests.iter().position(|guest| guest.of == of);
        let gone = earlier.and_then(|at| self.guests.remove(at));
        if let Some(guest) = self.guests.iter_mut().find(|guest| guest.name == name) {
            guest.of = of;
        }
        gone.map(|guest| guest.name)
    }

    /// A caller has proven that it belongs to the job.
    pub fn pass(&mut self, name: K) {
        self.guests.retain(|guest| guest.name != name);
    }

    /// A caller is gone, or was sent away, and has proven nothing.
    pub fn leave(&mut self, name: K) {
        let before = self.guests.len();
        self.pass(name);
        self.strangers += u32::from(self.guests.len() < before);
    }

    /// The caller that has taken longest, if that is longer than `limit`.
    pub fn overdue(&self, now: Instant, limit: Duration) -> Option<K> {
        let first = self.guests.front()?;
        let late = now.saturating_duration_since(first.since) > limit;
        late.then_some(first.name)
    }

    /// When the caller that has taken longest has taken longer than `limit`.
    pub fn deadline(&self, limit: Duration) -> Option<Instant> {
        self.guests.front()?.since.checked_add(limit)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.guests.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.guests.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn address(n: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, n])
    }

    #[test]
    fn silent_callers_drive_out_the_oldest_of_their_address() {
        let (mut door, now) = (Door::<_, u32>::default(), Instant::now());
        assert_eq!(door.enter(1000, address(1), now), None, "a member");
        for n in 0..FROM_ONE {
            assert_eq!(door.enter(n, address(2), now), None);
        }
        for n in 0..1000 - FROM_ONE {
            assert_eq!(door.enter(FROM_ONE + n, address(2), now), Some(n));
        }
        assert_eq!(door.len(), 1 + FROM_ONE, "the member is still there");
    }

    #[test]
    fn those_vouched_for_stay_whatever_comes() {
        let (mut door, now) = (Door::<_, u32>::default(), Instant::now());
        for (n, rank) in (10_000..).zip(0..200) {
            let _ = door.enter(n, address(9), now);
            assert_eq!(door.vouch(n, rank), None);
        }
        for n in 0..5000 {
            let gone = door.enter(n, address((n % 251) as u8), now);
            assert!(gone.is_none_or(|gone| gone < 10_000));
        }
        assert_eq!(door.len(), 200 + SILENT);
        let _ = door.enter(20_000, address(9), now);
        assert_eq!(door.vouch(20_000, 7), Some(10_007), "one for each member");
    }

    #[test]
    fn whoever_takes_too_long_is_named() {
        let (mut door, now) = (Door::<_, u32>::default(), Instant::now());
        let second = Duration::from_secs(1);
        let limit = 10 * second;
        for n in 0..5 {
            assert_eq!(door.enter(n, address(1), now + n * second), None);
        }
        assert_eq!(door.deadline(limit), Some(now + limit));
        assert_eq!(door.overdue(now + limit, limit), None, "just in time");
        door.pass(1);
        let mut gone = Vec::new();
        while let Some(late) = door.overdue(now + limit + 3 * second, limit) {
            door.leave(late);
            gone.push(late);
        }
        assert_eq!(gone, [0, 2]);
    }

    #[test]
    fn few_strangers_are_sent_away_in_a_while() {
        let (mut door, now) = (Door::<_, u32>::default(), Instant::now());
        let mut opened = 0;
        for tick in 0..100 {
            // 50 polls in each tenth of a span.
            for _ in 0..50 {
                if door.may_open(tick * SPAN / 10) {
                    opened += 1;
                    let _ = door.enter(opened, address(1), now);
                }
            }
        }
        let spans = 10;
        let bound = FROM_ONE as u32 + spans * SENT_AWAY;
        assert!((bound / 2..=bound).contains(&opened), "{opened}");
    }

    #[test]
    fn a_shut_door_tells_when_it_opens() {
        let (mut door, now) = (Door::<_, u32>::default(), Instant::now());
        let begin = 7 * SPAN;
        assert!(door.may_open(begin));
        for n in 0..SENT_AWAY {
            let _ = door.enter(n, address(1), now);
            door.leave(n);
        }
        assert!(!door.may_open(begin + SPAN / 4));
        let left = door.opens_in(begin + SPAN / 4);
        assert_eq!(left, SPAN * 3 / 4);
        assert_eq!(door.opens_in(begin + 2 * SPAN), Duration::ZERO);
        assert!(door.may_open(begin + SPAN / 4 + left));
    }

    #[test]
    fn a_thread_that_has_taken_little_time_finds_it_open() {
        let (mut door, now) = (Door::<_, u32>::default(), Instant::now());
        assert!(door.may_open(1000 * SPAN));
        for n in 0..SENT_AWAY {
            let _ = door.enter(n, address(1), now);
            door.leave(n);
        }
        assert!(!door.may_open(1000 * SPAN));
        assert_eq!(door.opens_in(SPAN), SPAN);
        assert!(door.may_open(SPAN));
    }

    proptest! {
        #[test]
        fn there_are_never_many(calls in prop::collection::vec((any::<u8>(), 0u8..4, 0u32..8),
            0..600)) {
            let (mut door, now) = (Door::<_, u32>::default(), Instant::now());
            let mut inside = Vec::new();
            for (n, (from, what, of)) in calls.into_iter().enumerate() {
                let mut gone = vec![door.enter(n, address(from), now)];
                inside.push(n);
                match what {
                    0 => gone.push(door.vouch(n, of)),
                    1 => {
                        door.leave(n);
                        gone.push(Some(n));
                    }
                    _ => {}
                }
                inside.retain(|&it| !gone.contains(&Some(it)));
                prop_assert_eq!(door.len(), inside.len());
                prop_assert!(door.len() <= SILENT + 8);
            }
        }
    }
}
