//! Waits for processes that have come to their end. A process that has called `MPI_Finalize`
//! sends and receives nothing more; another one that waits for it would do so for ever, and gets an
//! error.
//!
//! A process that has waited for a message for a second asks those that could send it whether they
//! have come to their end ([`Kind::EndInquiry`]). Whoever has answers in `MPI_Finalize`, then or
//! later, with the number of the next packet that would come from there ([`Kind::End`]): once all
//! before it have arrived, no message is under way. A send needs no question: the receiver that
//! throws a message away says so.
//!
//! Only what is waited for fails, and of several requests of which any one is enough only all
//! together: a program may cancel the others.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use catena_fabric::Peer;
use catena_hang::{Need, WaitsFor};
use catena_link::{Cid, Context, Envelope, Failure, Needs, Plane, ReqId, Selector};

use super::backoff::Backoff;
use super::control::{CallControl, Kind};
use super::inquiry::Context as Pair;
use crate::comm::JOB;
use crate::process::Process;

/// Most processes that are asked for one wait.
const MOST: usize = 64;

/// What is known of the ends of processes.
#[derive(Debug, Default)]
pub struct Ends {
    /// Ranks of contexts that were asked, and the number of the next packet that would come from
    /// there if they have answered.
    asked: RefCell<BTreeMap<(Cid, u32), Option<u16>>>,
    /// Processes that have asked this one, which has not come to its end: what each calls the
    /// communicator, and this one.
    owed: RefCell<Vec<(Peer, Pair)>>,
    /// Whether this process has come to its end.
    is_over: Cell<bool>,
}

impl Process {
    /// The world model ends here: those that have asked are answered. All messages of the program
    /// have left.
    pub(crate) fn come_to_end(&self) {
        let collectives = self.collectives();
        let ends = &collectives.ends;
        ends.is_over.set(true);
        let owed = ends.owed.take();
        for (peer, pair) in owed {
            self.tell_end(peer, pair);
        }
        let asks = |aside: CallControl| aside.kind == Kind::EndInquiry;
        while let Some((_, envelope)) = CallControl::find(self, JOB, &mut Backoff::default(), asks)
        {
            self.hear_of_end(Kind::EndInquiry, envelope);
        }
    }

    /// Receives a control message about an end.
    pub(super) fn hear_of_end(&self, kind: Kind, envelope: Envelope) {
        let bytes = CallControl::receive(self, JOB, envelope);
        let peer = Peer(envelope.source);
        match kind {
            Kind::EndInquiry => {
                let Some(pair) = Pair::read(&bytes) else {
                    return;
                };
                match self.collectives().ends.is_over.get() {
                    true => self.tell_end(peer, pair),
                    false => self.collectives().ends.owed.borrow_mut().push((peer, pair)),
                }
            }
            _ => self.note_end_of(peer, &bytes),
        }
    }

    fn tell_end(&self, peer: Peer, pair: Pair) {
        // A session may go on.
        let comm = self.comm_of(pair.ours());
        if comm.is_some_and(|comm| comm.group.session().is_some()) {
            return;
        }
        let rank = self.link(|link| {
            let mut members = link.members(pair.ours());
            members.position(|it| it == (peer, pair.theirs()))
        });
        let next = rank.and_then(|rank| self.link(|link| link.next_to(pair.ours(), rank as u32)));
        // What this process has freed it says nothing of.
        let Some(next) = next else {
            return;
        };
        let told = u64::from(pair.theirs().0) << 32 | u64::from(next);
        let end = CallControl {
            kind: Kind::End,
            place: 0,
        };
        end.send(self, (JOB, peer.0), &told.to_ne_bytes());
    }

    fn note_end_of(&self, peer: Peer, bytes: &[u8]) {
        let Some(told) = bytes.try_into().map(u64::from_ne_bytes).ok() else {
            return;
        };
        let (cid, next) = (Cid((told >> 32) as u32), told as u16);
        let rank = self.link(|link| link.members(cid).position(|(it, _)| it == peer));
        if let Some(rank) = rank {
            let collectives = self.collectives();
            let mut asked = collectives.ends.asked.borrow_mut();
            if let Some(answer) = asked.get_mut(&(cid, rank as u32)) {
                *answer = Some(next);
            }
        }
    }

    /// A thread has waited long: what it waits for ends if it can never be complete, as those that
    /// could do it have come to their end.
    #[cold]
    pub(crate) fn end_vain_wait(&self, waits: &WaitsFor) {
        // Another thread may cancel it.
        if self.threads.are_programs() {
            return;
        }
        let told = |aside: CallControl| aside.kind == Kind::End;
        while let Some((_, envelope)) = CallControl::find(self, JOB, &mut Backoff::default(), told)
        {
            self.hear_of_end(Kind::End, envelope);
        }
        let ends = waits.needs.iter().map(|need| self.vain(need));
        let ends: Vec<_> = ends.collect();
        if waits.any && ends.iter().any(Option::is_none) {
            return;
        }
        for (vain, failure) in ends.into_iter().flatten() {
            match vain {
                Vain::Request(id) => self.link(|link| link.end_in_vain(id, failure)),
                Vain::Probe(cid, source) => self.link(|link| link.note_end(cid, source)),
            }
        }
    }

    /// What a need is, if nobody will ever do what it needs, and why.
    fn vain(&self, need: &Need) -> Option<(Vain, Failure)> {
        let (request, context, selector) = match Key::read(need.key?)? {
            Key::Request(id) => match self.link(|link| link.needs(id))? {
                Needs::Receive {
                    is_dropped: true,
                    context,
                    peer,
                    ..
                } => {
                    // One of another job ends by itself, which is told as such.
                    if !self.link(|link| link.net().peers().is_own(peer)) {
                        return None;
                    }
                    let mut members = self
                        .link(|link| link.members(context.cid()).collect::<Vec<_>>())
                        .into_iter();
                    let rank = members.position(|it| it.0 == peer)? as u32;
                    return Some((Vain::Request(id), Failure::Unreceived { rank }));
                }
                Needs::Message { context, selector } => (Some(id), context, selector),
                _ => return None,
            },
            Key::Probe(context, selector) => (None, context, selector),
        };
        if context.plane() != Plane::User {
            return None;
        }
        let cid = context.cid();
        let peers: Vec<Peer> = self.link(|link| link.members(cid).map(|it| it.0).collect());
        let ranks: Vec<u32> = match selector.source {
            catena_link::ANY_SOURCE => (0..peers.len() as u32).collect(),
            source => vec![source as u32],
        };
        let is_mine = |rank: &u32| peers.get(*rank as usize) == Some(&self.me);
        let others: Vec<u32> = ranks
            .iter()
            .copied()
            .filter(|rank| !is_mine(rank))
            .collect();
        // A thread of this process may send to it.
        let may_be_own =
            others.len() < ranks.len() && (self.threads.are_programs() || others.is_empty());
        if may_be_own || others.len() > MOST {
            return None;
        }
        // All are asked, and not one after the other.
        let ended = others
            .iter()
            .filter(|&&rank| self.has_ended((cid, rank), &peers));
        if ended.count() < others.len() {
            return None;
        }
        let failure = Failure::Finalized {
            rank: (selector.source != catena_link::ANY_SOURCE).then_some(selector.source as u32),
            other: need.unexpected.first().map(|it| Envelope {
                source: it.source,
                tag: it.tag,
                len: it.bytes,
            }),
        };
        let vain = match request {
            Some(id) => Vain::Request(id),
            None => Vain::Probe(cid, others.first().copied().filter(|_| others.len() == 1)?),
        };
        Some((vain, failure))
    }

    /// Whether a rank of a context has come to its end, and all that it has sent has arrived; asks
    /// it if that is not known.
    fn has_ended(&self, (cid, rank): (Cid, u32), peers: &[Peer]) -> bool {
        let collectives = self.collectives();
        let known = collectives.ends.asked.borrow().get(&(cid, rank)).copied();
        if let Some(answer) = known {
            return answer
                .is_some_and(|next| self.link(|link| link.has_all_before(cid, rank, next)));
        }
        let Some(&peer) = peers
            .get(rank as usize)
            .filter(|peer| self.is_of_own_job(**peer))
        else {
            return false;
        };
        let theirs = self.link(|link| link.members(cid).nth(rank as usize).map(|it| it.1));
        if let Some(ours) = theirs {
            collectives
                .ends
                .asked
                .borrow_mut()
                .insert((cid, rank), None);
            let ask = CallControl {
                kind: Kind::EndInquiry,
                place: 0,
            };
            ask.send(self, (JOB, peer.0), &Pair::of(cid, ours).to_bytes());
        }
        false
    }

    /// A communicator is gone here, and its number may be that of another one.
    pub(crate) fn forget_ends(&self, cid: Cid) {
        let collectives = self.collectives();
        let mut asked = collectives.ends.asked.borrow_mut();
        if !asked.is_empty() {
            asked.retain(|(of, _), _| *of != cid);
        }
    }

    /// Whether this process has called `MPI_Finalize`, and makes no call any more.
    pub(super) fn has_come_to_end(&self) -> bool {
        self.collectives().ends.is_over.get()
    }
}

/// What waits in vain.
enum Vain {
    Request(ReqId),
    /// A probe for a message of that rank of a context.
    Probe(Cid, u32),
}

/// What a need is to this process, which it keeps to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Request(ReqId),
    Probe(Context, Selector),
}

/// In place of a context, which a request has.
const REQUEST: u64 = u64::MAX;

impl Key {
    pub(crate) fn to_words(self) -> (u64, u64) {
        let both = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        match self {
            Key::Request(id) => (REQUEST, both(id.generation, id.index)),
            Key::Probe(context, Selector { source, tag }) => {
                let cid = context.cid();
                (u64::from(cid.0), both(source as u32, tag as u32))
            }
        }
    }

    fn read((first, second): (u64, u64)) -> Option<Key> {
        let (high, low) = ((second >> 32) as u32, second as u32);
        Some(match first {
            REQUEST => Key::Request(ReqId {
                index: low,
                generation: high,
            }),
            cid => Key::Probe(
                Context::new(Cid(u32::try_from(cid).ok()?), Plane::User),
                Selector {
                    source: high as i32,
                    tag: low as i32,
                },
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_was_made() {
        let id = ReqId {
            index: 7,
            generation: u32::MAX,
        };
        let selector = Selector {
            source: -1,
            tag: -2,
        };
        for key in [
            Key::Request(id),
            Key::Probe(Context::new(Cid(5), Plane::User), selector),
        ] {
            assert_eq!(Key::read(key.to_words()), Some(key));
        }
    }
}
