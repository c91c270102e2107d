//! Fetching room before it is needed.
//!
//! The room for the next message was last touched by its reader, so each of
//! its lines must come from the reader's core before it can be written. A rank
//! that waits for a message has time for that: between two far cores it makes
//! a ping-pong of 64 KiB a third faster.

/// Bytes fetched between two looks for a message.
pub(crate) const STEP: usize = 512;

/// Most that is fetched: a part of what the nearest caches hold.
const MOST: usize = 128 << 10;

/// What of a ring's room is in our cache.
#[derive(Debug, Default)]
pub(crate) struct Prefetched {
    /// Bytes from the next free one that were fetched.
    done: usize,
    /// Bytes sent since the last wait: the next message may be as long.
    want: usize,
    /// Whether we have waited since the last packet.
    waited: bool,
    /// Whether its peer state is in [`Shm::cold`](crate::Shm).
    pub listed: bool,
}

impl Prefetched {
    /// A packet of `len` bytes takes the room that comes next.
    #[inline(always)]
    pub fn sent(&mut self, len: usize) {
        if self.waited {
            self.want = 0;
            self.waited = false;
        }
        self.done = self.done.saturating_sub(len);
        self.want = (self.want + len).min(MOST);
    }

    /// Bytes that the next message may have.
    pub fn wanted(&self) -> usize {
        self.want
    }

    /// Nothing has arrived: where the next `STEP` bytes to be fetched begin,
    /// counted from the next free one.
    #[inline]
    pub fn next(&mut self) -> Option<usize> {
        self.waited = true;
        let at = self.done;
        (at < self.want).then(|| {
            self.done += STEP;
            at
        })
    }

    /// What comes next is not free.
    pub fn stop(&mut self) {
        self.want = self.done;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetch(warm: &mut Prefetched) -> Vec<usize> {
        std::iter::from_fn(|| warm.next()).collect()
    }

    #[test]
    fn as_much_as_was_sent_is_fetched_once() {
        let mut warm = Prefetched::default();
        assert_eq!(fetch(&mut warm), []);
        warm.sent(2 * STEP);
        warm.sent(STEP);
        assert_eq!(fetch(&mut warm), [0, STEP, 2 * STEP]);
        // The next message takes what was fetched and shows what the one after
        // it will need.
        warm.sent(2 * STEP);
        assert_eq!(fetch(&mut warm), [STEP]);
    }

    #[test]
    fn there_is_a_limit() {
        let mut warm = Prefetched::default();
        (0..100).for_each(|_| warm.sent(MOST / 10));
        assert_eq!(fetch(&mut warm).len(), MOST / STEP);
    }

    #[test]
    fn what_is_not_free_is_left() {
        let mut warm = Prefetched::default();
        warm.sent(8 * STEP);
        assert_eq!(warm.next(), Some(0));
        warm.stop();
        assert_eq!(warm.next(), None);
    }
}
