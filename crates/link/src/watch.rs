//! Unexpected messages, noted for somebody who watches them.

use catena_base::clock;

use crate::key::MatchKey;
use crate::types::{Cid, Envelope};

/// A message that found no receive when it arrived, whose tag is a `T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival<T = i32> {
    /// When, in [`clock::ticks`].
    pub at: u64,
    /// The communicator.
    pub cid: Cid,
    /// Source, tag and length.
    pub envelope: Envelope<T>,
}

/// Most arrivals that are kept until somebody takes them.
const KEPT: usize = 1024;

#[derive(Debug)]
pub(crate) struct Watch<T> {
    pub on: bool,
    arrivals: Vec<Arrival<T>>,
    lost: u64,
}

impl<T> Watch<T> {
    pub fn new() -> Self {
        Watch {
            on: false,
            arrivals: Vec::new(),
            lost: 0,
        }
    }

    #[cold]
    #[inline(never)]
    pub fn note<K: MatchKey<Tag = T>>(&mut self, key: K, len: u64) {
        if self.arrivals.len() == KEPT {
            self.lost += 1;
            return;
        }
        self.arrivals.push(Arrival {
            at: clock::ticks(),
            cid: key.context().cid(),
            envelope: Envelope {
                source: key.source(),
                tag: key.tag(),
                len,
            },
        });
    }

    /// What was noted, and how many more there were.
    pub fn take(&mut self) -> (Vec<Arrival<T>>, u64) {
        (
            std::mem::take(&mut self.arrivals),
            std::mem::take(&mut self.lost),
        )
    }
}
