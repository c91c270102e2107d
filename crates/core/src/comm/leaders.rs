//! What the leaders of two groups keep of their calls, which a context joins that may know nothing of a death in one of the groups
//! ([decision 34](../../../../docs/decisions/0034-who-waits-after-a-death-asks.md)).
//!
//! Each leader numbers its calls, and says the number in front of its rows. One that waits for the other's rows, and knows of
//! any death, asks whether nothing comes, with the number of its call. The other answers if it has failed in a call of which it has
//! told nothing, or when it does; what it finds of the call that it has answered about it throws away. So nobody
//! tells what may never be read, and nothing that is left over is taken for a part of a later call.

use std::cell::RefCell;
use std::collections::HashMap;

use catena_link::Cid;

use super::control::Key;

/// What tells these calls from others: the context, the other leader's rank there, and the tag.
pub(crate) type Way = (Cid, u32, Key);

/// What a leader keeps of its calls with another one.
#[derive(Debug, Default)]
struct Calls {
    /// How many it has begun.
    begun: u32,
    /// Whether the last is under way.
    is_under_way: bool,
    /// Whether the last has failed before its rows were told, which nobody knows.
    has_failed: bool,
    /// The other waits, in its call of that number.
    asked: Option<u32>,
    /// Nothing counts that the other has told in this call, or before it.
    void: Option<u32>,
}

impl Calls {
    fn answer(&mut self, number: u32) -> u32 {
        self.has_failed = false;
        self.void = Some(number);
        number
    }
}

/// What the leaders keep that this process is.
#[derive(Debug, Default)]
pub struct Leaders(RefCell<HashMap<Way, Calls>>);

impl Leaders {
    fn with<T>(&self, way: &Way, f: impl FnOnce(&mut Calls) -> T) -> T {
        f(self.0.borrow_mut().entry(way.clone()).or_default())
    }

    /// A call begins; its number.
    pub(super) fn begin(&self, way: &Way) -> u32 {
        self.with(way, |calls| {
            calls.begun = calls.begun.wrapping_add(1);
            (calls.is_under_way, calls.has_failed) = (true, false);
            calls.begun
        })
    }

    /// The call is over that was under way, and its rows were told.
    pub(super) fn end(&self, way: &Way) {
        self.with(way, |calls| {
            (calls.is_under_way, calls.asked) = (false, None);
        });
    }

    /// The call has failed that was under way, and its rows were not told; the call of the other to be answered about, if that
    /// one has asked.
    pub(super) fn fail(&self, way: &Way) -> Option<u32> {
        self.with(way, |calls| {
            (calls.is_under_way, calls.has_failed) = (false, true);
            let asked = calls.asked.take();
            asked.map(|number| calls.answer(number))
        })
    }

    /// The other leader asks, in its call of that number; whether it is to be answered.
    pub(super) fn ask(&self, way: &Way, number: u32) -> bool {
        self.with(way, |calls| {
            let is_answered = !calls.is_under_way && calls.has_failed;
            match is_answered {
                true => {
                    calls.answer(number);
                }
                false => calls.asked = Some(number),
            }
            is_answered
        })
    }

    /// Whether what the other has told in that call counts.
    pub(super) fn counts(&self, way: &Way, number: u32) -> bool {
        let is_behind = |void: u32| number.wrapping_sub(void) as i32 > 0;
        self.with(way, |calls| calls.void.is_none_or(is_behind))
    }

    /// The context is closed.
    pub(super) fn forget(&self, cid: Cid) {
        self.0.borrow_mut().retain(|way, _| way.0 != cid);
    }
}

#[cfg(test)]
mod tests {
    use super::super::control::Meeting;
    use super::*;

    fn way() -> Way {
        (Cid(3), 1, Key::new(Meeting::Leaders, &[7]))
    }

    #[test]
    fn whoever_asks_is_answered_once_the_other_has_failed() {
        let (leaders, way) = (Leaders::default(), way());
        assert!(!leaders.ask(&way, 1), "it may still begin");
        assert_eq!(leaders.begin(&way), 1);
        assert_eq!(leaders.fail(&way), Some(1));
        assert!(!leaders.counts(&way, 1) && leaders.counts(&way, 2));
        assert!(!leaders.ask(&way, 2), "that was told");
        assert_eq!(leaders.begin(&way), 2);
        leaders.end(&way);
        assert_eq!(leaders.begin(&way), 3);
        assert_eq!(leaders.fail(&way), None, "whoever has asked has its rows");
        assert!(leaders.ask(&way, 3));
        assert!(!leaders.counts(&way, 3));
        leaders.forget(way.0);
        assert!(leaders.counts(&way, 3));
    }

    #[test]
    fn a_failure_is_not_told_to_a_later_call() {
        let (leaders, way) = (Leaders::default(), way());
        leaders.begin(&way);
        assert_eq!(leaders.fail(&way), None);
        // The other group has never made that call.
        leaders.begin(&way);
        assert!(!leaders.ask(&way, 1));
        leaders.end(&way);
        assert!(leaders.counts(&way, 1));
    }
}
