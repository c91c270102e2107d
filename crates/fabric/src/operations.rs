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
    /// Its peer was lost: it will have failed for that when the network gives its memory back.
    lost: Option<Box<PeerLost>>,
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
///
/// # Examples
/// ```
/// use catena_fabric::operations::{Operations, Posting};
/// use catena_fabric::{OpId, Peer, Started};
///
/// let mut all = Operations::new(2, 8);
/// let mut number = 0;
/// let started = all.start(Some(OpId(5)), Peer(1), |slot| {
///     // Here the network is given the operation, and `slot`, by which it tells of its end.
///     number = slot;
///     Ok(Posting::UnderWay("what stays until then"))
/// });
/// assert_eq!(started, Ok(Started::UnderWay));
/// assert_eq!(all.flush(OpId(6), Peer(1)), Started::UnderWay);
/// assert_eq!(all.end(number, Ok(0)), Some(Peer(1)));
/// assert!(all.has_news() && all.is_idle(Peer(1)), "the next poll tells of both");
/// ```
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

    /// Makes room for the peers below number `peers`; those that are there stay.
    pub fn grow(&mut self, peers: usize) {
        if self.under_way.len() < peers {
            self.under_way.resize(peers, 0);
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
                    lost: None,
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

    /// The network has ended the operation in a slot, and has nothing of its memory any more; whose
    /// memory it was about, unless the slot is free. If its peer was lost before, it has failed for
    /// that, whatever the network says.
    pub fn end(&mut self, slot: usize, result: Result<u64, RmaError>) -> Option<Peer> {
        let mut ended = self.slots.get_mut(slot)?.take()?;
        self.free.push(slot);
        let peer = ended.peer;
        let result = match ended.lost.take() {
            Some(lost) => Err(RmaError::Lost(*lost)),
            None => result,
        };
        self.tell(ended, result);
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

    /// A peer is gone: flushes to it have failed, and what is under way to it will have. The end of
    /// an operation is not told before [`Operations::end`]: until then the network may read and
    /// write its memory, which whoever has started it gives back once it is told. So the network is
    /// to end all that is under way to a peer that is gone.
    pub fn lose(&mut self, lost: &PeerLost) {
        let to_it = |slot: &&mut Slot<T>| slot.peer == lost.peer;
        for slot in self.slots.iter_mut().flatten().filter(to_it) {
            slot.lost.get_or_insert_with(|| Box::new(lost.clone()));
        }
        let ended = &mut self.ended;
        self.flushes.retain(|flush| {
            let stays = flush.peer != lost.peer;
            if !stays {
                ended.push((flush.op, Err(RmaError::Lost(lost.clone()))));
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
    fn what_is_under_way_to_a_lost_peer_ends_when_the_network_ends_it() {
        let mut all = Operations::new(2, 3);
        let slots = [1, 2].map(|op| begin(&mut all, op, PEER).expect("a slot"));
        let other = begin(&mut all, 3, Peer(0)).expect("a slot");
        assert_eq!(all.flush(OpId(9), PEER), Started::UnderWay);
        let cause = "for the test".to_string();
        all.lose(&PeerLost { peer: PEER, cause });
        assert_eq!(told(&mut all), [(9, false)], "it has no memory");
        assert_eq!(begin(&mut all, 4, Peer(0)), None, "the slots are in use");
        assert_eq!(all.end(slots[0], Ok(0)), Some(PEER));
        assert_eq!(told(&mut all), [(1, false)], "it had failed before");
        assert_eq!(all.end(slots[0], Ok(0)), None);
        assert_eq!(all.end(slots[1], Err(RmaError::NoRegion)), Some(PEER));
        let lost = matches!(all.ended[..], [(OpId(2), Err(RmaError::Lost(_)))]);
        assert!(lost && told(&mut all).len() == 1);
        all.end(other, Ok(0));
        assert_eq!(told(&mut all), [(3, true)]);
        assert!(all.free.len() == 3 && all.is_idle(PEER));
    }
}
