//! Unexpected messages, noted for somebody who watches them.

use catena_base::clock;

use crate::matching::Key;
use crate::types::{Cid, Envelope};

/// A message that found no receive when it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When, in [`clock::ticks`].
    pub at: u64,
    /// The communicator.
    pub cid: Cid,
    /// Source, tag and length.
    pub envelope: Envelope,
}

/// Most arrivals that are kept until somebody takes them.
const KEPT: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub on: bool,
    arrivals: Vec<Arrival>,
    lost: u64,
}

impl Watch {
    #[cold]
    #[inline(never)]
    pub fn note(&mut self, key: Key, len: u64) {
        if self.arrivals.len() == KEPT {
            self.lost += 1;
            return;
        }
        self.arrivals.push(Arrival {
            at: clock::ticks(),
            cid: key.context.cid(),
            envelope: Envelope {
                source: key.source,
                tag: key.tag,
                len,
            },
        });
    }

    /// What was noted, and how many more there were.
    pub fn take(&mut self) -> (Vec<Arrival>, u64) {
        (
            std::mem::take(&mut self.arrivals),
            std::mem::take(&mut self.lost),
        )
    }
}
