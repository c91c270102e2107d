//! Eager messages of which packets are missing.
//!
//! The packets of a message follow its first one, and are named by its place:
//! context, source and sequence number, which the window (`window`) keeps from being used again
//! before all of them have come.

use std::collections::HashMap;

use crate::mix::BuildMix;
use crate::protocol::Coverage;
use crate::types::{Cid, Context};

/// The first packet of a message: (context, source, number).
pub(crate) type First = (Context, u32, u16);

/// Where the others go.
#[derive(Debug)]
pub(crate) enum Target {
    Request(u32),
    Unexpected(u32),
    /// The message was thrown away: its length, and what has come of it.
    Nobody(Box<(u64, Coverage)>),
}

/// Messages that are found without the map.
const NEAR: usize = 4;

#[derive(Debug)]
pub(crate) struct Assemblies {
    /// Some that began while there were few: they are found at once.
    near: Vec<(First, Target)>,
    far: HashMap<First, Target, BuildMix>,
}

impl Assemblies {
    pub fn new() -> Self {
        Assemblies {
            near: Vec::with_capacity(NEAR),
            far: HashMap::default(),
        }
    }

    /// Where the packets of a message go, if some are missing.
    pub fn target_mut(&mut self, first: First) -> Option<&mut Target> {
        match self.near.iter_mut().find(|it| it.0 == first) {
            Some(near) => Some(&mut near.1),
            None if self.far.is_empty() => None,
            None => self.far.get_mut(&first),
        }
    }

    /// The packets of a message that follow its first one go there.
    pub fn begin(&mut self, first: First, target: Target) {
        match self.near.len() < NEAR {
            true => self.near.push((first, target)),
            false => _ = self.far.insert(first, target),
        }
    }

    /// No packets of that message are missing any more. Its name is free.
    pub fn end(&mut self, first: First) {
        match self.near.iter().position(|it| it.0 == first) {
            Some(at) => _ = self.near.swap_remove(at),
            None => _ = self.far.remove(&first),
        }
    }

    /// Whether packets of messages from there are missing.
    pub fn are_missing(&self, cid: Cid, source: u32) -> bool {
        let of = |first: &First| (first.0.cid(), first.1) == (cid, source);
        self.near.iter().any(|it| of(&it.0)) || !self.far.is_empty() && self.far.keys().any(of)
    }

    /// Forgets those whose targets do not pass.
    pub fn retain(&mut self, passes: impl Fn(&Target) -> bool) {
        self.near.retain(|it| passes(&it.1));
        self.far.retain(|_, target| passes(target));
    }

    /// Forgets those that came from one rank of a communicator.
    pub fn forget_rank(&mut self, cid: Cid, source: u32) {
        let stays = |first: &First| (first.0.cid(), first.1) != (cid, source);
        self.near.retain(|it| stays(&it.0));
        self.far.retain(|first, _| stays(first));
    }

    /// Forgets those of a communicator that is closed.
    pub fn forget(&mut self, cid: Cid) {
        self.near.retain(|it| it.0.0.cid() != cid);
        if !self.far.is_empty() {
            self.far.retain(|first, _| first.0.cid() != cid);
        }
    }
}
