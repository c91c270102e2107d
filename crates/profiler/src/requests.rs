//! Whom requests wait for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use catena_abi::consts;

use crate::comms::Comm;

/// How many requests are kept at first, and at most: of more than that at a time, those begun last
/// of those that share a place.
const LEAST: usize = 1024;
const MOST: usize = 1 << 17;

/// Most that are kept whose place another one has taken while they were under way.
const DISPLACED: usize = 1 << 12;

/// What is known of a request.
#[derive(Clone, Default)]
pub struct Request {
    /// Its handle, which is set when it is noted.
    pub handle: usize,
    /// The other rank, in the communicator; `ANY_SOURCE` if it is not known yet.
    pub peer: i32,
    /// The communicator.
    pub comm: Option<Arc<Comm>>,
    /// The bytes that it sends each time; `None` if it receives.
    pub sends: Option<u64>,
    /// The tag of what it receives, or else of what it sends; `ANY_TAG` if it is not known yet.
    pub tag: i32,
    /// The rank of the world that it sends to or receives from, or `NO_RANK`.
    pub rank: u32,
    /// The arrow to what it receives; 0 if that is not known yet.
    pub arrow: u64,
    /// Its place in the order of receives, while it is not known what it receives; 0 if nobody has
    /// to know.
    pub nth: u64,
    /// Whether `arrow` is all that is known of that, be it 0.
    pub is_told: bool,
    /// Of partitioned messages, what they are known by, and how often they were started.
    pub parts: u64,
    pub starts: u64,
    pub is_partitioned: bool,
    /// Whether it can be started again.
    pub is_persistent: bool,
    /// The communicator that it makes: where the handle will be, and what it will be known by.
    pub makes: Option<(usize, u64)>,
    /// Whether it receives.
    pub receives: bool,
    /// Whether it is under way.
    pub is_open: bool,
}

/// The requests of the process: one thread may wait for what another one has begun.
#[derive(Default)]
pub struct Requests {
    all: Vec<Request>,
    displaced: HashMap<usize, Request>,
}

static REQUESTS: Mutex<Option<Requests>> = Mutex::new(None);

/// The requests of this process.
#[inline]
pub fn requests<T>(what: impl FnOnce(&mut Requests) -> T) -> T {
    // A fork may leave them locked, and then nothing is counted any more.
    let mut requests = REQUESTS.lock().unwrap_or_else(PoisonError::into_inner);
    what(requests.get_or_insert_default())
}

impl Requests {
    /// A handle is the index in one of two tables of the library, and bit 27 tells which one: two
    /// requests that are there at a time have two places.
    fn place(handle: usize) -> usize {
        ((handle & 0x7ff_ffff) << 1 | handle >> 27 & 1) % MOST
    }

    /// Notes one.
    pub fn add(&mut self, handle: usize, request: Request) {
        if handle == consts::REQUEST_NULL.0 {
            return;
        }
        let place = Requests::place(handle);
        if place >= self.all.len() {
            let len = (place + 1).next_power_of_two().max(LEAST);
            self.all.resize(len, Request::default());
        }
        let before = std::mem::replace(&mut self.all[place], Request { handle, ..request });
        // Another thread may be about to see the end of it.
        if before.is_open && before.handle != handle && self.displaced.len() < DISPLACED {
            self.displaced.insert(before.handle, before);
        }
    }

    /// A persistent one is started, and `arrow` leads to what it receives, or it is the `nth`
    /// receive.
    pub fn open(&mut self, handle: usize, arrow: u64, nth: u64, is_told: bool) {
        if let Some(known) = self.known(handle) {
            known.arrow = arrow;
            known.nth = nth;
            known.is_told = is_told;
            known.starts += 1;
            known.is_open = true;
        }
    }

    /// One has ended: what was known of it, if it was under way.
    pub fn end(&mut self, handle: usize) -> Option<Request> {
        match self.known(handle) {
            Some(known) if known.is_open => {
                if !known.is_persistent {
                    return Some(std::mem::take(known));
                }
                known.is_open = false;
                Some(known.clone())
            }
            Some(_) => None,
            None => self.displaced.remove(&handle),
        }
    }

    fn known(&mut self, handle: usize) -> Option<&mut Request> {
        let known = self.all.get_mut(Requests::place(handle))?;
        (known.handle == handle).then_some(known)
    }

    /// What is known of one.
    #[inline]
    pub fn get(&self, handle: usize) -> Option<Request> {
        self.look(handle).cloned()
    }

    /// As [`get`](Requests::get), without a copy.
    #[inline]
    pub fn look(&self, handle: usize) -> Option<&Request> {
        let known = self.all.get(Requests::place(handle))?;
        (known.handle == handle).then_some(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_are_there_at_a_time_are_told_apart() {
        let mut requests = Requests::default();
        let handles =
            || (0..5000).flat_map(|i| [7 << 27 | i, 8 << 27 | i, 9 << 32 | 7 << 27 | (i + 5000)]);
        for (peer, handle) in (0..).zip(handles()) {
            let request = Request {
                peer,
                ..Request::default()
            };
            requests.add(handle, request);
        }
        for (peer, handle) in (0..).zip(handles()) {
            assert_eq!(requests.get(handle).map(|it| it.peer), Some(peer));
        }
        assert!(requests.get(1 << 32 | 7 << 27).is_none());
        assert!(requests.get(usize::MAX).is_none());
    }
}
