//! What an endpoint keeps of the processes that it sends to, of its buffers, and of rights to
//! memory.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ptr::null_mut;

use catena_fabric::Peer;
use catena_fabric::frame::Sign;
use catena_ucx_sys::{Ep, Rkey};

use crate::objects::Region;

/// A process as its sender sees it.
#[derive(Debug)]
pub(crate) struct Target {
    /// Address of its worker; empty while it is not known.
    pub(crate) address: Box<[u8]>,
    /// The way to it, or null while there is none.
    pub(crate) ep: *mut Ep,
    /// What frames to it bear by which it knows this process.
    pub(crate) sign: Sign,
    /// Buffers that frames to it occupy.
    pub(crate) buffers: usize,
}

// SAFETY: as for `Objects`.
unsafe impl Send for Target {}

impl Target {
    /// One that cannot be reached yet.
    pub(crate) fn unknown() -> Target {
        Target {
            address: Box::default(),
            ep: null_mut(),
            sign: Sign::from_bits(0),
            buffers: 0,
        }
    }
}

/// The buffers that frames are sent from. Their numbers are those of the
/// operations.
#[derive(Debug)]
pub(crate) struct Sends {
    /// To whom, for each that is occupied.
    pub(crate) to: Vec<Peer>,
    pub(crate) free: Vec<usize>,
    /// Length of a buffer, bytes.
    pub(crate) stride: usize,
}

impl Sends {
    pub(crate) fn new(count: usize, stride: usize) -> Sends {
        Sends {
            to: vec![Peer(0); count],
            free: (0..count).collect(),
            stride,
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.to.len()
    }
}

/// A right to memory of ours.
#[derive(Debug, Default)]
pub(crate) struct Own {
    pub(crate) packed: Vec<u8>,
    pub(crate) told: HashSet<Peer>,
    /// What is registered under it, and where it begins.
    pub(crate) regions: Vec<(u64, Region)>,
}

/// Rights to our memory, and to that of others.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) own: BTreeMap<u64, Own>,
    pub(crate) numbers: HashMap<Vec<u8>, u64>,
    pub(crate) last: u64,
    pub(crate) theirs: HashMap<(Peer, u64), Right>,
    /// Rights of peers that this process has asked for.
    pub(crate) asked: HashSet<(Peer, u64)>,
    /// Questions of peers that are not answered yet.
    pub(crate) questions: VecDeque<(Peer, u64)>,
}

/// A right to a peer's memory.
#[derive(Debug)]
pub(crate) struct Right {
    /// Empty if the number stands for nothing.
    pub(crate) packed: Vec<u8>,
    /// Null until it is first used.
    pub(crate) rkey: *mut Rkey,
}

// SAFETY: as for `Objects`.
unsafe impl Send for Right {}

impl Keys {
    /// The number of a right.
    pub(crate) fn number(&mut self, packed: Vec<u8>) -> u64 {
        if let Some(&number) = self.numbers.get(&packed) {
            return number;
        }
        self.last += 1;
        self.numbers.insert(packed.clone(), self.last);
        let own = Own {
            packed,
            ..Own::default()
        };
        self.own.insert(self.last, own);
        self.last
    }
}
