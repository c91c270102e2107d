//! What a route did not take yet, or could not take because it was polling.
//!
//! Per peer there is one queue of packets and whole messages, which leaves in
//! order, and one of streams, which share what room is left.

use std::collections::VecDeque;

use catena_fabric::{Header, Peer};

use crate::types::ReqId;
use crate::wire::Note;

/// One place in a peer's queue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item {
    /// A packet of the protocol itself.
    Control { header: Header, note: Note },
    /// The first packet of a send, or what is left of an eager one.
    Send(ReqId),
}

#[derive(Debug, Default)]
struct Queue {
    items: VecDeque<Item>,
    streams: VecDeque<ReqId>,
    active: bool,
}

#[derive(Debug, Default)]
pub(crate) struct SendQueues {
    /// By peer; allocated when first needed.
    queues: Vec<Option<Box<Queue>>>,
    /// Peers with anything queued.
    active: Vec<Peer>,
    /// Items of all peers together.
    items: usize,
}

impl SendQueues {
    /// Whether no peer has items queued, so that a send may leave directly.
    #[inline]
    pub fn has_no_items(&self) -> bool {
        self.items == 0
    }

    /// Whether a send to that peer may leave directly.
    pub fn has_no_items_for(&self, peer: Peer) -> bool {
        self.queue(peer).is_none_or(|queue| queue.items.is_empty())
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

    /// Puts another item in a queued send's place; `false` if it has none.
    pub fn replace_send(&mut self, peer: Peer, id: ReqId, with: Item) -> bool {
        let Some(queue) = self.queue_mut(peer) else {
            return false;
        };
        let queued = queue
            .items
            .iter_mut()
            .find(|item| matches!(item, Item::Send(it) if *it == id));
        queued.map(|item| *item = with).is_some()
    }

    /// Forgets everything for a peer.
    pub fn clear(&mut self, peer: Peer) {
        if let Some(queue) = self.queue_mut(peer) {
            let gone = queue.items.len();
            queue.items.clear();
            queue.streams.clear();
            self.items -= gone;
        }
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
