//! Eager messages of which packets are missing, and the names by which those packets come.
//!
//! The packets of a message that was sent unasked follow its first one, and are named by its place:
//! context, source and sequence number, which the window (`window`) keeps from being used again
//! before all of them have come. A message that was announced waits for an answer, and any number of
//! others may pass meanwhile: the answer gives it an id of this table, with a generation, and its
//! packets carry that.

use std::collections::HashMap;

use crate::chunks::Chunks;
use crate::mix::BuildMix;
use crate::protocol::Coverage;
use crate::types::{Cid, Context};

/// The first packet of a message: (context, source, number).
pub(crate) type First = (Context, u32, u16);

/// Names a message that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FillId {
    pub index: u32,
    pub generation: u32,
}

impl FillId {
    /// As one number for the wire.
    pub const fn to_bits(self) -> u64 {
        (self.generation as u64) << 32 | self.index as u64
    }

    /// Inverse of [`FillId::to_bits`].
    pub const fn from_bits(bits: u64) -> Self {
        FillId {
            index: bits as u32,
            generation: (bits >> 32) as u32,
        }
    }
}

/// What names the missing packets of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Assembly {
    /// They follow its first one.
    Sent(First),
    /// They were asked for.
    Asked(FillId),
}

/// Where they go.
#[derive(Debug, Default)]
pub(crate) enum Target {
    Request(u32),
    Unexpected(u32),
    /// The message was thrown away: its length, and what has come of it.
    Nobody(Box<(u64, Coverage)>),
    /// There is no such message.
    #[default]
    None,
}

/// Messages that are found without the map.
const NEAR: usize = 4;

#[derive(Debug)]
pub(crate) struct Assemblies {
    /// Some that began while there were few: they are found at once.
    near: Vec<(First, Target)>,
    sent: HashMap<First, Target, BuildMix>,
    asked: Chunks<Target>,
}

impl Assemblies {
    pub fn new() -> Self {
        Assemblies {
            near: Vec::with_capacity(NEAR),
            sent: HashMap::default(),
            asked: Chunks::new(),
        }
    }

    /// Where the packets of a message go, if some are missing.
    pub fn target(&self, assembly: Assembly) -> Option<&Target> {
        match assembly {
            Assembly::Sent(first) => {
                let near = self.near.iter().find(|it| it.0 == first);
                near.map(|it| &it.1).or_else(|| self.sent.get(&first))
            }
            Assembly::Asked(FillId { index, generation }) => self
                .asked
                .holds(index, generation)
                .then(|| self.asked.get(index)),
        }
    }

    /// See [`Assemblies::target`].
    pub fn target_mut(&mut self, assembly: Assembly) -> Option<&mut Target> {
        match assembly {
            Assembly::Sent(first) => match self.near.iter_mut().find(|it| it.0 == first) {
                Some(near) => Some(&mut near.1),
                None => self.sent.get_mut(&first),
            },
            Assembly::Asked(FillId { index, generation }) => {
                let holds = self.asked.holds(index, generation);
                holds.then(|| self.asked.get_mut(index))
            }
        }
    }

    /// The packets of a message that follow its first one go there.
    pub fn begin(&mut self, first: First, target: Target) {
        match self.near.len() < NEAR {
            true => self.near.push((first, target)),
            false => _ = self.sent.insert(first, target),
        }
    }

    /// Names a message whose packets are asked for.
    pub fn ask(&mut self, target: Target) -> FillId {
        let index = self.asked.take_slot();
        *self.asked.get_mut(index) = target;
        FillId {
            index,
            generation: self.asked.generation(index),
        }
    }

    /// No packets of that message are missing any more, or nobody wants them. Its name is free.
    pub fn end(&mut self, assembly: Assembly) {
        match assembly {
            Assembly::Sent(first) => match self.near.iter().position(|it| it.0 == first) {
                Some(at) => _ = self.near.swap_remove(at),
                None => _ = self.sent.remove(&first),
            },
            Assembly::Asked(FillId { index, generation }) => {
                if self.asked.holds(index, generation) {
                    *self.asked.get_mut(index) = Target::None;
                    self.asked.free_slot(index);
                }
            }
        }
    }

    /// Whether packets of messages that somebody sent unasked are missing.
    pub fn are_missing(&self, cid: Cid, source: u32) -> bool {
        let of = |first: &First| (first.0.cid(), first.1) == (cid, source);
        self.near.iter().any(|it| of(&it.0)) || !self.sent.is_empty() && self.sent.keys().any(of)
    }

    /// Forgets those whose targets do not pass.
    pub fn retain(&mut self, passes: impl Fn(&Target) -> bool) {
        self.near.retain(|it| passes(&it.1));
        self.sent.retain(|_, target| passes(target));
        let asked: Vec<u32> = self.asked.taken().collect();
        for index in asked {
            if !passes(self.asked.get(index)) {
                *self.asked.get_mut(index) = Target::None;
                self.asked.free_slot(index);
            }
        }
    }

    /// Forgets those of a communicator that is closed.
    pub fn forget(&mut self, cid: Cid) {
        self.near.retain(|it| it.0.0.cid() != cid);
        if !self.sent.is_empty() {
            self.sent.retain(|first, _| first.0.cid() != cid);
        }
    }
}
