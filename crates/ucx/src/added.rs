//! Processes of other jobs, which are added one by one, and removed: see
//! [`introduction`]. Until such a process has welcomed this one its route is full.
//!
//! The way to a removed one is closed once UCX has handed on all that was sent to it, or after a
//! while. Its number is in use until nothing that UCX has is for it.
//!
//! UCX pairs the endpoints of two workers by how many there were before (1.13): the first that one
//! of them opens leads to the first of the other one, whenever that is opened, and if the former
//! was closed meanwhile the latter leads nowhere. So the way to one that has not opened its own yet
//! is kept for when it is added again. Once two have removed each other several times the way of
//! one may still be paired with a former way of the other one. What is sent whole arrives all the
//! same; UCX throws away pieces of what it has cut, and reads of the other one's memory. So frames
//! among those that were added are so short that UCX does not cut them.
//!
//! No message is read out of its sender's memory: UCX does that in software over TCP, without
//! looking whether the memory is still registered. If the sender removes the receiver, its memory
//! is its own again, and the receiver would take for the message what is there now.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use catena_base::PeerBytes;
use catena_fabric::introduction::{self, Word};
use catena_fabric::{Header, Peer, ProcessName, frame};
use catena_ucx_sys::Ep;

use crate::inbox::{self, Inbox, Witness};

/// How long what is under way to a removed peer may take, before it is ended.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// How long after that another way is tried over which one that was removed is told: UCX may try to
/// reach a process that is dead for ever, and tell nobody.
pub(crate) const FAREWELL: Duration = Duration::from_secs(5);

/// From here on numbers are those of ways that are kept, and of no peers.
pub(crate) const KEPT: Peer = Peer(u32::MAX - (1 << 20));

/// Words of strangers and others that are kept until this process looks at them, at most.
const MOST_WORDS: usize = 256;

/// What an endpoint keeps of the processes that are added.
#[derive(Debug, Default)]
pub(crate) struct Added {
    pub(crate) there: BTreeMap<Peer, ProcessName>,
    /// Where those are that are not reached yet.
    pub(crate) addresses: HashMap<Peer, Box<[u8]>>,
    /// The ways to those that have not welcomed this process yet.
    pub(crate) eps: HashMap<Peer, *mut Ep>,
    pub(crate) departing: BTreeMap<Peer, Departing>,
    /// Where all those are that are reached, or were.
    pub(crate) reached: HashMap<Peer, Box<[u8]>>,
    /// What UCX tells the failure of the way to each of these with.
    pub(crate) witnesses: HashMap<Peer, Box<Witness>>,
    /// Ways to those that were removed before they had opened theirs.
    pub(crate) kept: Vec<Kept>,
    /// The number of the last one, from [`KEPT`] on.
    pub(crate) last_kept: u32,
}

/// A way to a process that is not there now.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) name: ProcessName,
    pub(crate) ep: *mut Ep,
    pub(crate) witness: Box<Witness>,
}

/// How many there are at most.
pub(crate) const MOST_KEPT: usize = 64;

// SAFETY: as for `Objects`.
unsafe impl Send for Added {}

/// A process that was removed.
#[derive(Debug)]
pub(crate) struct Departing {
    pub(crate) name: ProcessName,
    /// The way to it, or null.
    pub(crate) ep: *mut Ep,
    /// When it is closed at the latest.
    pub(crate) until: Instant,
    /// UCX was asked to hand on all that was sent.
    pub(crate) is_flushed: bool,
    /// It has not opened its way to this one, or will open another one.
    pub(crate) is_kept: bool,
    /// The way has failed.
    pub(crate) has_failed: bool,
    /// The farewell to it, once UCX has taken it.
    pub(crate) goodbye: Option<Word>,
}

impl Added {
    pub(crate) fn knows(&self, peer: Peer) -> bool {
        self.there.contains_key(&peer)
    }

    /// Whether everything has ended that was under way to a process that was removed.
    pub(crate) fn has_let_go(&self, peer: Peer) -> bool {
        !self.departing.contains_key(&peer)
    }

    /// Whether all that were removed have been told so, as far as they can be.
    pub(crate) fn has_said_goodbye(&self) -> bool {
        self.departing.values().all(|it| it.is_kept)
    }

    /// The ways that lead to processes without being those of targets.
    pub(crate) fn take_ways(&mut self) -> Vec<*mut Ep> {
        let departing = std::mem::take(&mut self.departing);
        let open = departing.into_values().map(|it| it.ep);
        let eps = std::mem::take(&mut self.eps);
        let kept = std::mem::take(&mut self.kept).into_iter().map(|it| it.ep);
        let all = eps.into_values().chain(open).chain(kept);
        all.filter(|ep| !ep.is_null()).collect()
    }
}

/// Takes what the frame that has arrived carries, which is none of the job's: of a process that was
/// added, or a word; whether it is sound.
///
/// # Safety
/// `inbox` is an inbox, which nobody else looks into.
#[cold]
#[inline(never)]
pub(crate) unsafe fn open_of_added(
    inbox: *mut Inbox,
    bytes: PeerBytes<'_>,
    take: impl FnMut(Peer, Header, PeerBytes<'_>),
) -> bool {
    // SAFETY: as promised; `take` may look into other parts of it.
    let introductions = unsafe { (*inbox).introductions.as_mut() };
    let (Some(known), Some(sign)) = (introductions, frame::sign(bytes)) else {
        return false;
    };
    if sign == introduction::WORDS {
        return frame::open_signed(
            bytes,
            |_| Some(Peer(0)),
            |from, header, word| {
                // SAFETY: as promised.
                let words = unsafe { &mut (*inbox).words };
                if words.len() < MOST_WORDS {
                    words.push(inbox::Word {
                        from,
                        kind: inbox::INTRODUCTION,
                        number: header.kind.into(),
                        packed: word.to_vec(),
                    });
                }
            },
        );
    }
    let Some(peer) = known.sender(sign) else {
        return false;
    };
    known.heard_from(peer);
    frame::open_signed(bytes, |_| Some(peer), take)
}
