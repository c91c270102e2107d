//! When a member that waits in a collective looks for what the others have to say.

use std::time::Duration;

use catena_base::clock;

/// Fruitless polls before the first look.
const POLLS: u32 = 64;
/// From one look to the next.
const PAUSE: u32 = 16;
/// A wait that is long: the others may never come.
pub const LONG: Duration = Duration::from_millis(500);

/// How one wait goes on.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// Fruitless polls until the next look.
    left: u32,
    /// Unexpected messages that the communicator had got at the last look.
    seen: u64,
    /// Tick of the first look; 0 before.
    since: u64,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff {
            left: POLLS,
            seen: 0,
            since: 0,
        }
    }
}

impl Backoff {
    /// A poll brought something, or nothing; true if it is time to look around.
    #[inline]
    pub fn polled(&mut self, moved: bool) -> bool {
        if moved {
            (self.left, self.since) = (POLLS, 0);
            return false;
        }
        self.left = self.left.saturating_sub(1);
        self.left == 0
    }

    /// Looks: whether messages have come since the last look, of so many.
    pub fn look(&mut self, came: u64) -> bool {
        if self.since == 0 {
            self.since = clock::ticks().max(1);
        }
        self.left = if self.is_long() { 1 } else { PAUSE };
        came != std::mem::replace(&mut self.seen, came)
    }

    /// So many messages were looked at: looking takes no more time than polling.
    pub fn looked(&mut self, messages: u32) {
        self.left = self.left.saturating_add(messages);
    }

    /// Whether it has waited long.
    pub fn is_long(&self) -> bool {
        self.since != 0 && clock::ticks().wrapping_sub(self.since) >= clock::ticks_in(LONG)
    }
}
