//! What the leaders of two groups keep of their calls, which a context joins that may know nothing
//! of a death in one of the groups ([decision
//! 34](../../../../docs/decisions/0034-who-waits-after-a-death-asks.md)).
//!
//! Each leader numbers its calls, and says the number in front of its rows: the n-th call of the
//! one belongs to the n-th of the other. A call comes to rows or to nothing, and it comes to
//! nothing if it fails before its rows are told. The other leader learns that when it asks, which
//! it does if it waits and knows of any death, or from the rows of a later call, which it keeps
//! until it makes that call itself. Rows of an earlier call are thrown away. So each call has one
//! outcome at the other side, however many fail in a row, and nothing that is left over is taken
//! for a part of a later call.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};

use catena_link::Cid;

use super::control::Key;

/// What tells these calls from others: the context, the other leader's rank there, and the tag.
pub(crate) type LeaderKey = (Cid, u32, Key);

/// What the other leader says of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Rows(Vec<u32>),
    Nothing,
}

/// What a leader keeps of its calls with another one. The numbers of calls wrap.
#[derive(Debug, Default)]
struct Calls {
    /// How many it has begun.
    begun: u32,
    /// Whether the last is under way, and its rows may still be told.
    is_under_way: bool,
    /// The calls that came to nothing which nobody knows, and that the other has not passed: the
    /// first and the last of each run of them.
    failed: Vec<(u32, u32)>,
    /// The other waits, in its call of that number, of which this one has not told and may still
    /// tell.
    asked: Option<u32>,
    /// Nothing comes of the calls up to that one, as was told before they were begun.
    void: Option<u32>,
    /// Rows of calls that this one has yet to make, in their order.
    ahead: VecDeque<(u32, Vec<u32>)>,
}

/// Whether a call is before another one.
fn is_before(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) < 0
}

impl Calls {
    fn fail(&mut self) -> Option<u32> {
        self.is_under_way = false;
        let number = self.begun;
        if self.asked == Some(number) {
            return self.asked.take();
        }
        match self.failed.last_mut() {
            Some((_, last)) if last.wrapping_add(1) == number => *last = number,
            _ => self.failed.push((number, number)),
        }
        None
    }

    /// The other has come to its call of that number, and asks about no earlier one.
    fn pass(&mut self, number: u32) {
        self.failed.retain(|(_, last)| !is_before(*last, number));
    }

    fn ask(&mut self, number: u32, has_left: bool) -> bool {
        self.pass(number);
        let is_in = |run: &(u32, u32)| !is_before(number, run.0) && !is_before(run.1, number);
        if self.failed.iter().any(is_in) {
            return true;
        }
        let may_come = is_before(self.begun, number) || (number == self.begun && self.is_under_way);
        if may_come {
            let place = match has_left {
                true => &mut self.void,
                false => &mut self.asked,
            };
            *place = Some(number);
        }
        may_come && has_left
    }

    /// What has come for a call before it was begun.
    fn early(&mut self, call: u32) -> Option<Heard> {
        while let Some((number, _)) = self.ahead.front() {
            if is_before(call, *number) {
                return Some(Heard::Nothing);
            }
            let (number, rows) = self.ahead.pop_front()?;
            if number == call {
                return Some(Heard::Rows(rows));
            }
        }
        None
    }

    /// Rows have come of that call of the other.
    fn rows(&mut self, call: u32, number: u32, rows: &[u32]) -> Option<Heard> {
        self.pass(number);
        if number == call {
            return Some(Heard::Rows(rows.to_vec()));
        }
        if is_before(number, call) {
            return None;
        }
        // The other tells its rows in the order of its calls.
        self.ahead.push_back((number, rows.to_vec()));
        Some(Heard::Nothing)
    }
}

/// What the leaders keep that this process is.
#[derive(Debug, Default)]
pub struct Leaders {
    calls: RefCell<HashMap<LeaderKey, Calls>>,
    /// Whether the world model ends here, and no call of a communicator of it can follow.
    pub(super) is_over: Cell<bool>,
}

impl Leaders {
    fn with<T>(&self, way: &LeaderKey, f: impl FnOnce(&mut Calls) -> T) -> T {
        f(self.calls.borrow_mut().entry(way.clone()).or_default())
    }

    /// A call begins; its number.
    pub(super) fn begin(&self, way: &LeaderKey) -> u32 {
        self.with(way, |calls| {
            calls.begun = calls.begun.wrapping_add(1);
            calls.is_under_way = true;
            calls.begun
        })
    }

    /// The call is over that was under way, and its rows were told.
    pub(super) fn end(&self, way: &LeaderKey) {
        self.with(way, |calls| {
            calls.is_under_way = false;
            calls.asked.take_if(|asked| *asked == calls.begun);
        });
    }

    /// The call has failed that was under way, and its rows were not told; the call of the other to
    /// be answered about, if that one has asked.
    pub(super) fn fail(&self, way: &LeaderKey) -> Option<u32> {
        self.with(way, Calls::fail)
    }

    /// The other leader asks, in its call of that number; whether it is to be answered that nothing
    /// comes. `has_left`: this process makes no call any more, or has not got the communicator yet.
    pub(super) fn ask(&self, way: &LeaderKey, number: u32, has_left: bool) -> bool {
        self.with(way, |calls| calls.ask(number, has_left))
    }

    /// What the other says in the call of that number, of all that `next` gives. An answer is
    /// `lost` and the number that it is about; rows count more, which may have been told by another
    /// way before.
    pub(super) fn hear(
        &self,
        way: &LeaderKey,
        call: u32,
        lost: u32,
        mut next: impl FnMut() -> Option<Vec<u32>>,
    ) -> Option<Heard> {
        let early = self.with(way, |calls| calls.early(call));
        if early.is_some() {
            return early;
        }
        let is_void = |calls: &mut Calls| calls.void.is_some_and(|void| !is_before(void, call));
        let mut nothing_comes = self.with(way, is_void);
        while let Some(words) = next() {
            match words.split_first() {
                // One about another call is late.
                Some((&first, about)) if first == lost => nothing_comes |= about == [call],
                Some((number, rows)) => {
                    let heard = self.with(way, |calls| calls.rows(call, *number, rows));
                    if heard.is_some() {
                        return heard;
                    }
                }
                None => return Some(Heard::Rows(Vec::new())),
            }
        }
        nothing_comes.then_some(Heard::Nothing)
    }

    /// Nothing comes any more of the calls by the contexts that are meant; those that have been
    /// asked about.
    pub(super) fn leave(&self, is_meant: impl Fn(Cid) -> bool) -> Vec<(LeaderKey, u32)> {
        let mut all = self.calls.borrow_mut();
        if all.is_empty() {
            return Vec::new();
        }
        let those = all.iter_mut().filter(|(way, _)| is_meant(way.0));
        let asked = those.filter_map(|(way, calls)| {
            calls.void = Some(calls.asked.take()?);
            Some((way.clone(), calls.void?))
        });
        asked.collect()
    }

    /// The context is closed.
    pub(super) fn forget(&self, cid: Cid) {
        self.calls.borrow_mut().retain(|way, _| way.0 != cid);
    }
}

#[cfg(test)]
mod tests {
    use super::super::control::AgreementScope;
    use super::*;

    const LOST: u32 = 99;

    fn way() -> LeaderKey {
        (Cid(3), 1, Key::new(AgreementScope::Leaders, &[7]))
    }

    /// What is heard in a call, if these messages have come.
    fn hear(leaders: &Leaders, call: u32, messages: &[&[u32]]) -> Option<Heard> {
        let mut messages = messages.iter().map(|words| words.to_vec());
        leaders.hear(&way(), call, LOST, || messages.next())
    }

    #[test]
    fn whoever_asks_is_answered_once_the_other_has_failed() {
        let (leaders, way) = (Leaders::default(), way());
        assert!(!leaders.ask(&way, 1, false), "it may still begin");
        assert_eq!(leaders.begin(&way), 1);
        assert_eq!(leaders.fail(&way), Some(1));
        assert!(!leaders.ask(&way, 2, false), "that was of the first");
        assert_eq!(leaders.begin(&way), 2);
        leaders.end(&way);
        assert_eq!(leaders.begin(&way), 3);
        assert_eq!(leaders.fail(&way), None, "whoever has asked has its rows");
        assert!(!leaders.ask(&way, 2, false), "they are on their way");
        assert!(leaders.ask(&way, 3, false));
    }

    #[test]
    fn each_of_many_failures_in_a_row_is_told() {
        let (leaders, way) = (Leaders::default(), way());
        for number in 1..=3 {
            assert_eq!(leaders.begin(&way), number);
            assert_eq!(leaders.fail(&way), None);
        }
        assert_eq!(leaders.with(&way, |calls| calls.failed.clone()), [(1, 3)]);
        assert_eq!(leaders.begin(&way), 4);
        for number in 1..=3 {
            assert!(leaders.ask(&way, number, false), "whatever is under way");
        }
        assert!(!leaders.ask(&way, 4, false));
        leaders.end(&way);
        assert!(leaders.with(&way, |calls| calls.failed.is_empty()));
        assert_eq!(leaders.begin(&way), 5);
        assert_eq!(leaders.fail(&way), None, "that was of the fourth");
        assert!(leaders.ask(&way, 5, false));
    }

    #[test]
    fn failures_around_rows_are_kept_apart_and_numbers_wrap() {
        let (leaders, way) = (Leaders::default(), way());
        leaders.with(&way, |calls| calls.begun = u32::MAX - 1);
        for is_told in [false, true, false, false] {
            leaders.begin(&way);
            match is_told {
                true => leaders.end(&way),
                false => assert_eq!(leaders.fail(&way), None),
            }
        }
        assert!(leaders.ask(&way, u32::MAX, false));
        assert!(!leaders.ask(&way, 0, false));
        assert!(leaders.ask(&way, 1, false) && leaders.ask(&way, 2, false));
        assert!(!leaders.ask(&way, 3, false));
    }

    #[test]
    fn rows_are_of_the_call_of_their_number() {
        let (leaders, way) = (Leaders::default(), way());
        let rows = |rows: &[u32]| Some(Heard::Rows(rows.to_vec()));
        assert_eq!(hear(&leaders, 1, &[]), None);
        assert_eq!(hear(&leaders, 2, &[&[1, 7]]), None, "too late");
        assert_eq!(hear(&leaders, 2, &[&[1, 7], &[2, 8]]), rows(&[8]));
        assert_eq!(hear(&leaders, 3, &[&[5, 9]]), Some(Heard::Nothing));
        assert_eq!(hear(&leaders, 4, &[]), Some(Heard::Nothing));
        assert_eq!(hear(&leaders, 5, &[]), rows(&[9]));
        assert_eq!(hear(&leaders, 6, &[&[LOST, 5]]), None, "a late answer");
        assert_eq!(hear(&leaders, 6, &[&[LOST, 6]]), Some(Heard::Nothing));
        assert_eq!(hear(&leaders, 7, &[&[LOST, 7], &[7, 1]]), rows(&[1]));
        assert_eq!(hear(&leaders, 8, &[&[9, 2]]), Some(Heard::Nothing));
        leaders.forget(way.0);
        assert_eq!(hear(&leaders, 9, &[]), None);
    }

    #[test]
    fn of_who_leaves_nothing_comes_but_what_was_told() {
        let (leaders, way) = (Leaders::default(), way());
        leaders.begin(&way);
        leaders.end(&way);
        assert!(!leaders.ask(&way, 1, true));
        assert!(!leaders.ask(&way, 2, false));
        assert_eq!(leaders.leave(|cid| cid != way.0), []);
        assert_eq!(leaders.leave(|cid| cid == way.0), [(way.clone(), 2)]);
        assert_eq!(leaders.leave(|_| true), []);
        assert!(leaders.ask(&way, 3, true));
        // It makes those calls all the same, and they fail at both.
        assert_eq!(hear(&leaders, 2, &[]), Some(Heard::Nothing));
        assert_eq!(hear(&leaders, 3, &[]), Some(Heard::Nothing));
        assert_eq!(hear(&leaders, 4, &[]), None);
    }
}
