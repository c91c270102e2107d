//! Whom requests wait for.

use catena_abi::consts;

/// How many requests are kept at first, and at most: of more than that at a time, those begun last
/// of those that share a place.
const LEAST: usize = 1024;
const MOST: usize = 1 << 17;

/// What is known of a request.
#[derive(Clone, Copy, Default)]
pub struct Request {
    /// Its handle, which is set when it is noted.
    pub handle: usize,
    /// The other rank, in the communicator; `ANY_SOURCE` if it is not known yet.
    pub peer: i32,
    /// The number of the communicator.
    pub group: u32,
    /// The bytes that it sends each time; `None` if it receives.
    pub sends: Option<u64>,
    /// The tag of what it receives, or else of what it sends; `ANY_TAG` if it is not known yet.
    pub tag: i32,
    /// The rank of the world that it sends to or receives from, or `NO_RANK`.
    pub rank: u32,
    /// The arrow to what it receives; 0 if that is not known yet.
    pub arrow: u64,
    /// Whether it receives.
    pub receives: bool,
    /// Whether it is under way.
    pub is_open: bool,
}

/// The requests of a thread.
#[derive(Default)]
pub struct Requests(Vec<Request>);

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
        if place >= self.0.len() {
            let len = (place + 1).next_power_of_two().max(LEAST);
            self.0.resize(len, Request::default());
        }
        self.0[place] = Request { handle, ..request };
    }

    /// A persistent one is started, and `arrow` leads to what it receives.
    pub fn open(&mut self, handle: usize, arrow: u64) {
        if let Some(known) = self.known(handle) {
            known.arrow = arrow;
            known.is_open = true;
        }
    }

    /// One has ended: what was known of it, if it was under way.
    pub fn end(&mut self, handle: usize) -> Option<Request> {
        let known = self.known(handle).filter(|it| it.is_open)?;
        known.is_open = false;
        Some(*known)
    }

    fn known(&mut self, handle: usize) -> Option<&mut Request> {
        let known = self.0.get_mut(Requests::place(handle))?;
        (known.handle == handle).then_some(known)
    }

    /// What is known of one.
    #[inline]
    pub fn get(&self, handle: usize) -> Option<Request> {
        let known = self.0.get(Requests::place(handle))?;
        (known.handle == handle).then_some(*known)
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
