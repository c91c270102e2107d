//! What a route did not take yet, or could not take because it was polling.
//!
//! Per peer there is one queue of packets and whole messages, which leaves in
//! order, and one of streams, which share what room is left. Apart from them stands what
//! waits behind a mark (`engine/window.rs`), by the rank that it is for.

use std::collections::{HashMap, VecDeque};

use catena_fabric::{Header, Peer};

use crate::mix::BuildMix;
use crate::types::{Cid, ReqId};
use crate::wire::{Note, kind};

/// A rank of a communicator, as this process knows it.
pub(crate) type CommRank = (Cid, u32);

/// One place in a peer's queue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item {
    /// A packet of the protocol itself.
    Control { header: Header, note: Note },
    /// The first packet of a send, whose header this is, or what is left of an eager one. A send
    /// that was cancelled before it left is found to be over: an empty packet takes its place.
    Send { id: ReqId, header: Header },
}

#[derive(Debug, Default)]
struct Queue {
    items: VecDeque<Item>,
    streams: VecDeque<ReqId>,
    active: bool,
}

const _: () = assert!(size_of::<Item>() <= 64);

impl Item {
    /// The number of a mark, if it is one.
    fn mark(&self) -> Option<u16> {
        match self {
            Item::Control { header, .. } => (header.kind == kind::MARK).then_some(header.seq),
            Item::Send { .. } => None,
        }
    }
}

/// The marks to a rank.
#[derive(Debug)]
struct Window {
    peer: Peer,
    /// The mark that left last, until it is answered.
    unanswered: Option<u16>,
    /// The next mark, and what comes behind it.
    held: VecDeque<Item>,
}

#[derive(Debug, Default)]
pub(crate) struct SendQueues {
    /// By peer; allocated when first needed.
    queues: Vec<Option<Box<Queue>>>,
    /// Peers with anything queued.
    active: Vec<Peer>,
    /// Of ranks to which a mark was sent.
    windows: HashMap<CommRank, Window, BuildMix>,
    /// Items of all peers together, those held included.
    items: usize,
}

impl SendQueues {
    /// Whether no peer has items queued, so that a send may leave directly.
    #[inline]
    pub fn has_no_items(&self) -> bool {
        self.items == 0
    }

    /// Whether what is sent to a rank has to wait for the answer to a mark.
    pub fn is_held(&self, place: CommRank) -> bool {
        !self.windows.is_empty()
            && self
                .windows
                .get(&place)
                .is_some_and(|window| !window.held.is_empty())
    }

    /// Queues a sequenced packet: behind the mark that waits, if one does.
    pub fn push_sequenced(&mut self, peer: Peer, place: CommRank, item: Item) {
        match self.windows.get_mut(&place) {
            Some(window) if !window.held.is_empty() => {
                self.items += 1;
                window.held.push_back(item);
            }
            _ => self.push(peer, item),
        }
    }

    /// Queues a mark, or holds it until the one before is answered.
    pub fn push_mark(&mut self, peer: Peer, place: CommRank, header: Header) {
        let note = Note::Empty;
        let item = Item::Control { header, note };
        let window = self.windows.entry(place).or_insert_with(|| Window {
            peer,
            unanswered: None,
            held: VecDeque::new(),
        });
        if window.unanswered.is_some() || !window.held.is_empty() {
            self.items += 1;
            window.held.push_back(item);
        } else {
            window.unanswered = Some(header.seq);
            self.push(peer, item);
        }
    }

    /// A mark was answered: queues what waited for that. `false` if it is not the one that is to
    /// be.
    pub fn marked(&mut self, place: CommRank, seq: u16) -> bool {
        let Some(window) = self.windows.get_mut(&place) else {
            return false;
        };
        if window.unanswered != Some(seq) {
            return false;
        }
        window.unanswered = None;
        let peer = window.peer;
        while let Some(window) = self.windows.get_mut(&place)
            && let Some(item) = window.held.pop_front()
        {
            if let Some(mark) = item.mark() {
                if window.unanswered.is_some() {
                    window.held.push_front(item);
                    break;
                }
                window.unanswered = Some(mark);
            }
            self.activate(peer).items.push_back(item);
        }
        true
    }

    /// Forgets the marks of a communicator that is closed.
    pub fn forget(&mut self, cid: Cid) {
        if !self.windows.is_empty() {
            self.drop_windows(|place, _| place.0 == cid);
        }
    }

    fn drop_windows(&mut self, goes: impl Fn(&CommRank, &Window) -> bool) {
        self.windows.retain(|place, window| {
            let stays = !goes(place, window);
            self.items -= if stays { 0 } else { window.held.len() };
            stays
        });
    }

    /// Whether a send to that peer may leave directly.
    pub fn has_no_items_for(&self, peer: Peer) -> bool {
        self.queue(peer).is_none_or(|queue| queue.items.is_empty())
    }

    /// Items that wait for there.
    pub fn items_for(&self, peer: Peer) -> usize {
        self.queue(peer).map_or(0, |queue| queue.items.len())
    }

    /// Whether there are no items and no streams.
    pub fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    pub fn push(&mut self, peer: Peer, item: Item) {
        self.items += 1;
        self.activate(peer).items.push_back(item);
    }

    pub fn push_stream(&mut self, peer: Peer, id: ReqId) {
        self.activate(peer).streams.push_back(id);
    }

    /// Puts a stream back to where [`SendQueues::pop_stream`] took it.
    pub fn push_stream_front(&mut self, peer: Peer, id: ReqId) {
        self.activate(peer).streams.push_front(id);
    }

    pub fn front(&self, peer: Peer) -> Option<Item> {
        self.queue(peer)?.items.front().copied()
    }

    pub fn pop(&mut self, peer: Peer) {
        if self
            .queue_mut(peer)
            .is_some_and(|queue| queue.items.pop_front().is_some())
        {
            self.items -= 1;
        }
    }

    pub fn pop_stream(&mut self, peer: Peer) -> Option<ReqId> {
        self.queue_mut(peer)?.streams.pop_front()
    }

    /// Forgets everything for a peer.
    pub fn clear(&mut self, peer: Peer) {
        if let Some(queue) = self.queue_mut(peer) {
            let gone = queue.items.len();
            queue.items.clear();
            queue.streams.clear();
            self.items -= gone;
        }
        self.drop_windows(|_, window| window.peer == peer);
    }

    /// The `at`-th peer with anything queued; peers without are dropped from
    /// the enumeration.
    pub fn active(&mut self, at: usize) -> Option<Peer> {
        loop {
            let peer = *self.active.get(at)?;
            let queue = self.queue_mut(peer)?;
            if !queue.items.is_empty() || !queue.streams.is_empty() {
                return Some(peer);
            }
            queue.active = false;
            self.active.swap_remove(at);
        }
    }

    fn queue(&self, peer: Peer) -> Option<&Queue> {
        self.queues.get(peer.0 as usize)?.as_deref()
    }

    fn queue_mut(&mut self, peer: Peer) -> Option<&mut Queue> {
        self.queues.get_mut(peer.0 as usize)?.as_deref_mut()
    }

    fn activate(&mut self, peer: Peer) -> &mut Queue {
        let at = peer.0 as usize;
        if at >= self.queues.len() {
            self.queues.resize_with(at + 1, || None);
        }
        let queue = self.queues[at].get_or_insert_default();
        if !queue.active {
            queue.active = true;
            self.active.push(peer);
        }
        queue
    }
}
