//! Operations that a network carries out, from their start to the poll that tells of their end.
//!
//! An operation takes a *slot*, whose number the network is given; so its completion is found
//! without a search. A flush has no slot: it ends when all operations to its peer that were started
//! before it have ended.

use crate::{Deliver, OpId, Peer, PeerLost, RmaError, Started};

/// An operation under way.
#[derive(Debug)]
struct Slot<T> {
    /// `None` for a step of the network's own.
    op: Option<OpId>,
    /// Its peer was lost, and its end was told; the network still has it.
    is_lost: bool,
    peer: Peer,
    /// Counts all operations, in the order of their starts.
    number: u64,
    /// What must stay until the network has ended it.
    kept: T,
}

/// A flush under way.
#[derive(Debug)]
struct Flush {
    op: OpId,
    peer: Peer,
    /// Operations with lower numbers are awaited.
    number: u64,
    /// How many of them have not ended.
    left: usize,
    /// How it ends.
    result: Result<u64, RmaError>,
}

/// The operations of an endpoint.
#[derive(Debug)]
pub struct Operations<T> {
    slots: Vec<Option<Slot<T>>>,
    free: Vec<usize>,
    /// Operations under way, by peer.
    under_way: Vec<usize>,
    started: u64,
    flushes: Vec<Flush>,
    /// Ends that no poll has told yet, in order.
    ended: Vec<(OpId, Result<u64, RmaError>)>,
}

impl<T> Operations<T> {
    /// No operations to any of `peers` processes; at most `most` at once.
    pub fn new(peers: usize, most: usize) -> Operations<T> {
        Operations {
            slots: (0..most).map(|_| None).collect(),
            free: (0..most).rev().collect(),
            under_way: vec![0; peers],
            started: 0,
            flushes: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// Starts an operation by `start`, which is given the number of its slot and says what the
    /// network keeps until its end. One without an `op` is a step of a flush: its end is not told,
    /// but flushes wait for it and fail with it.
    ///
    /// # Errors
    /// That of `start`.
    pub fn start(
        &mut self,
        op: Option<OpId>,
        peer: Peer,
        start: impl FnOnce(usize) -> Result<Posting<T>, RmaError>,
    ) -> Result<Started, RmaError> {
        let Some(&slot) = self.free.last() else {
            return Ok(Started::Full);
        };
        match start(slot)? {
            Posting::UnderWay(kept) => {
                self.free.pop();
                self.started += 1;
                self.under_way[peer.0 as usize] += 1;
                self.slots[slot] = Some(Slot {
                    op,
                    is_lost: false,
                    peer,
                    number: self.started,
                    kept,
                });
                Ok(Started::UnderWay)
            }
            Posting::Complete => Ok(Started::Complete(0)),
            Posting::Full => Ok(Started::Full),
        }
    }

    /// Starts a flush.
    pub fn flush(&mut self, op: OpId, peer: Peer) -> Started {
        let left = self.under_way[peer.0 as usize];
        if left == 0 {
            return Started::Complete(0);
        }
        self.flushes.push(Flush {
            op,
            peer,
            number: self.started + 1,
            left,
            result: Ok(0),
        });
        Started::UnderWay
    }

    /// The network has ended the operation in a slot; whose memory it was about, unless the slot is
    /// free.
    pub fn end(&mut self, slot: usize, result: Result<u64, RmaError>) -> Option<Peer> {
        let ended = self.slots.get_mut(slot)?.take()?;
        self.free.push(slot);
        let peer = ended.peer;
        if !ended.is_lost {
            self.tell(ended, result);
        }
        Some(peer)
    }

    fn tell(&mut self, slot: Slot<T>, result: Result<u64, RmaError>) {
        let failed_step = result.clone().err().filter(|_| slot.op.is_none());
        if let Some(op) = slot.op {
            self.ended.push((op, result));
        }
        self.under_way[slot.peer.0 as usize] -= 1;
        let ended = &mut self.ended;
        self.flushes.retain_mut(|flush| {
            if flush.peer == slot.peer && slot.number < flush.number {
                flush.left -= 1;
                if let Some(error) = &failed_step {
                    flush.result = Err(error.clone());
                }
                if flush.left == 0 {
                    ended.push((flush.op, flush.result.clone()));
                }
            }
            flush.left > 0
        });
    }

    /// What stays until the network has ended the operation in a slot.
    pub fn kept(&self, slot: usize) -> Option<&T> {
        self.slots.get(slot)?.as_ref().map(|it| &it.kept)
    }

    /// Whose memory the operation in a slot is about.
    pub fn peer(&self, slot: usize) -> Option<Peer> {
        self.slots.get(slot)?.as_ref().map(|it| it.peer)
    }

    /// Whether nothing is under way to a peer.
    pub fn is_idle(&self, peer: Peer) -> bool {
        self.under_way[peer.0 as usize] == 0
    }

    /// A peer is gone: all that is under way to it has failed. What the network still has of that
    /// is kept until it ends it.
    pub fn lose(&mut self, lost: &PeerLost) {
        let error = || Err(RmaError::Lost(lost.clone()));
        for slot in self.slots.iter_mut().flatten() {
            if slot.peer == lost.peer && !slot.is_lost {
                slot.is_lost = true;
                self.ended.extend(slot.op.map(|op| (op, error())));
            }
        }
        self.under_way[lost.peer.0 as usize] = 0;
        let ended = &mut self.ended;
        self.flushes.retain(|flush| {
            let stays = flush.peer != lost.peer;
            if !stays {
                ended.push((flush.op, error()));
            }
            stays
        });
    }

    /// Whether the next poll tells of something.
    pub fn has_news(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Tells of all that has ended.
    #[inline]
    pub fn deliver<D: Deliver>(&mut self, deliver: &mut D) {
        for (op, result) in self.ended.drain(..) {
            deliver.completed(op, result);
        }
    }
}

/// What a network said when it was given an operation.
#[derive(Debug)]
pub enum Posting<T> {
    /// It will tell of its end. The value is kept until then.
    UnderWay(T),
    /// It is complete.
    Complete,
    /// There is no room for it now.
    Full,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: Peer = Peer(1);

    fn begin(all: &mut Operations<()>, op: u64, peer: Peer) -> Option<usize> {
        let mut slot = None;
        let started = all.start(Some(OpId(op)), peer, |it| {
            slot = Some(it);
            Ok(Posting::UnderWay(()))
        });
        assert_eq!(
            started,
            Ok(slot.map_or(Started::Full, |_| Started::UnderWay))
        );
        slot
    }

    fn told(all: &mut Operations<()>) -> Vec<(u64, bool)> {
        let ended = all.ended.drain(..);
        ended.map(|(op, result)| (op.0, result.is_ok())).collect()
    }

    #[test]
    fn a_flush_waits_for_what_was_started_before_it() {
        let mut all = Operations::new(2, 3);
        assert_eq!(all.flush(OpId(9), PEER), Started::Complete(0));
        let slots = [1, 2].map(|op| begin(&mut all, op, PEER).expect("a slot"));
        assert_eq!(all.flush(OpId(9), PEER), Started::UnderWay);
        let late = begin(&mut all, 3, PEER).expect("a slot");
        assert_eq!(begin(&mut all, 4, PEER), None, "all slots are taken");
        all.end(late, Ok(0));
        all.end(slots[1], Ok(0));
        assert_eq!(told(&mut all), [(3, true), (2, true)]);
        all.end(slots[0], Ok(0));
        assert_eq!(told(&mut all), [(1, true), (9, true)]);
    }

    #[test]
    fn a_flush_fails_with_its_step() {
        let mut all = Operations::new(2, 3);
        let slot = begin(&mut all, 1, PEER).expect("a slot");
        let mut step = 0;
        let started = all.start(None, PEER, |it| {
            step = it;
            Ok(Posting::UnderWay(()))
        });
        assert_eq!(started, Ok(Started::UnderWay));
        assert_eq!(all.flush(OpId(9), PEER), Started::UnderWay);
        all.end(step, Err(RmaError::NoRegion));
        assert!(told(&mut all).is_empty() && !all.is_idle(PEER));
        all.end(slot, Ok(0));
        assert_eq!(told(&mut all), [(1, true), (9, false)]);
    }

    #[test]
    fn what_is_under_way_to_a_lost_peer_is_told_once() {
        let mut all = Operations::new(2, 3);
        let slot = begin(&mut all, 1, PEER).expect("a slot");
        let other = begin(&mut all, 2, Peer(0)).expect("a slot");
        assert_eq!(all.flush(OpId(9), PEER), Started::UnderWay);
        let cause = "for the test".to_string();
        all.lose(&PeerLost { peer: PEER, cause });
        assert_eq!(told(&mut all), [(1, false), (9, false)]);
        assert_eq!(
            all.end(slot, Ok(0)),
            Some(PEER),
            "the network had it until now"
        );
        assert_eq!(all.end(slot, Ok(0)), None);
        all.end(other, Ok(0));
        assert_eq!(told(&mut all), [(2, true)]);
        assert_eq!(all.free.len(), 3);
    }
}
