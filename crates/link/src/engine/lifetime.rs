//! Opening and closing of communicators, and the loss of peers.

use std::ops::Range;

use catena_base::PeerBytes;
use catena_fabric::{Deliver, Peer, PeerLost};

use super::Engine;
use super::assemblies::Target;
use crate::key::MatchKey;
use crate::matching::Reply;
use crate::net::Net;
use crate::peer_state::{Comm, PeerState, Seqs};
use crate::request::Phase;
use crate::slab::NIL;
use crate::types::{Cid, Context, Failure, Plane};

/// Slots of requests and messages that may be looked at for one communicator
/// that is closed.
const SLOTS_PER_CLOSE: usize = 64;

/// Notes something under way, if its communicator is closed and not counted yet.
fn count<K: MatchKey>(comms: &mut [Comm<K>], context: Context) {
    let comm = comms.get_mut(context.index());
    let comm = comm.filter(|it| it.cid == context.cid());
    if let Some(comm) = comm.filter(|it| it.closed && !it.draining) {
        comm.pending += 1;
    }
}

impl<N: Net, K: MatchKey> Engine<N, K> {
    /// The slot of an id, which nobody else has.
    fn slot(&mut self, cid: Cid) -> &mut Comm<K> {
        let at = cid.index();
        if at >= self.comms.len() {
            self.comms.resize_with(at + 1, Comm::default);
        }
        let comm = &mut self.comms[at];
        let vacant = comm.cid == Cid::NONE || (comm.cid == cid && !comm.open);
        assert!(
            vacant,
            "communicator {cid:?} has no slot: {:?} has it",
            comm.cid
        );
        comm.cid = cid;
        comm
    }

    /// A communicator of that id will be opened: what arrives for it is kept until then.
    pub fn expect(&mut self, cid: Cid) {
        self.slot(cid);
    }

    pub fn open(&mut self, cid: Cid, me: u32, peer_states: Vec<(Peer, Cid)>) {
        self.slot(cid);
        self.compression.forget(cid);
        let peer_state = |(peer, remote)| PeerState {
            peer,
            remote: Context::new(remote, Plane::User),
            send_seq: Seqs::FIRST,
            recv_seq: Seqs::FIRST,
            fast: 0,
        };
        for (peer, _) in &peer_states {
            let at = peer.0 as usize;
            if at >= self.leads.len() {
                self.leads.resize(at + 1, 0);
            }
            self.leads[at] += 1;
        }
        let peer_states = peer_states.into_iter().map(peer_state).collect();
        self.comms[cid.index()] = Comm {
            cid,
            open: true,
            me,
            peer_states,
            ..Comm::default()
        };
        for packet in self.reorder.opened(cid) {
            self.deliver(
                packet.from,
                packet.header,
                PeerBytes::from(&*packet.payload),
            );
        }
    }

    /// The communicators that are open.
    pub fn open_cids(&self) -> Vec<Cid> {
        let open = self.comms.iter().filter(|it| it.open);
        open.map(|it| it.cid).collect()
    }

    /// Takes a peer into an open communicator, as the rank that has its number; both call it alike.
    pub fn add_member(&mut self, cid: Cid, peer: Peer) {
        let at = peer.0 as usize;
        if at >= self.leads.len() {
            self.leads.resize(at + 1, 0);
        }
        let Some(comm) = self.comm_mut(cid).filter(|it| it.open) else {
            return;
        };
        let member = |peer| PeerState {
            peer,
            remote: Context::new(cid, Plane::User),
            send_seq: Seqs::FIRST,
            recv_seq: Seqs::FIRST,
            fast: 0,
        };
        if at >= comm.peer_states.len() {
            comm.peer_states.resize(at + 1, member(Peer(NIL)));
        }
        if comm.peer_states[at].peer != peer {
            comm.peer_states[at] = member(peer);
            self.leads[at] += 1;
        }
    }

    /// Takes a peer out of an open communicator again, which is gone: nothing of it is left, and
    /// its number may be another one's. Messages of its that no receive has matched are thrown
    /// away; those that a matched probe took stay, and fail the receive if they are not whole.
    pub fn remove_member(&mut self, cid: Cid, peer: Peer) {
        let at = peer.0 as usize;
        let Some(comm) = self.comm_mut(cid).filter(|it| it.open) else {
            return;
        };
        let Some(member) = comm.peer_states.get_mut(at).filter(|it| it.peer == peer) else {
            return;
        };
        member.peer = Peer(NIL);
        member.fast = 0;
        self.leads[at] -= 1;
        for plane in Plane::ALL {
            let list = &self.comms[cid.index()].unexpected[plane as usize];
            for message in self.unexpected.of_peer(list, peer) {
                let list = &mut self.comms[cid.index()].unexpected[plane as usize];
                self.unexpected.unlink(list, message);
                // It waits for no answer.
                self.unexpected.entries.get_mut(message).reply = Reply::None;
                self.discard(message);
                self.counters.dropped += 1;
            }
        }
        self.assemblies.forget_rank(cid, peer.0);
        let lost = self.losses.get(&peer).cloned();
        let taken: Vec<u32> = self.unexpected.entries.taken().collect();
        for message in taken {
            let message = self.unexpected.entries.get_mut(message);
            if message.peer == peer {
                message.peer = Peer(NIL);
                if matches!(message.reply, Reply::Ack(_)) {
                    message.reply = Reply::None;
                }
            }
        }
        self.reorder.forget_rank(cid, peer.0);
        self.finalized
            .retain(|(of, rank)| (*of, *rank) != (cid, peer.0));
        self.forget_peers(&(peer.0..peer.0 + 1));
        // What a receive finds out that takes a message of one that was removed.
        if let Some(lost) = lost {
            self.losses.insert(Peer(NIL), lost);
            self.no_deaths.insert(Peer(NIL));
        }
    }

    pub fn close(&mut self, cid: Cid) {
        let Some(comm) = self.comm_mut(cid) else {
            return;
        };
        if !comm.open {
            *comm = Comm::default();
            self.drop_waiting(cid);
            return;
        }
        if comm.closed {
            return;
        }
        comm.closed = true;
        self.closing.push(cid);
        let slots = self.requests.capacity() + self.unexpected.entries.capacity();
        if self.closing.len() * SLOTS_PER_CLOSE >= slots as usize {
            self.settle_closing();
        }
    }

    /// Counts what is under way in the communicators that were closed of late. One
    /// look at all requests serves many of them.
    fn settle_closing(&mut self) {
        let closing = std::mem::take(&mut self.closing);
        closing.iter().for_each(|&cid| self.discard_unexpected(cid));
        for at in self.requests.taken() {
            let request = self.requests.get(at);
            if request.phase != Phase::Done {
                count(&mut self.comms, request.link.key.context());
            }
        }
        // Those that a matched probe took.
        for at in self.unexpected.entries.taken() {
            let context = self.unexpected.entries.get(at).key().context();
            count(&mut self.comms, context);
        }
        for cid in closing {
            let comm = &mut self.comms[cid.index()];
            if comm.pending == 0 {
                self.shut(cid);
            } else {
                comm.draining = true;
                self.draining += 1;
            }
        }
    }

    /// See [`Endpoint::stop_receiving`](crate::Endpoint::stop_receiving).
    pub fn stop_receiving(&mut self, of: impl Fn(Cid) -> bool) {
        self.settle_closing();
        let is_over = |comm: &&mut Comm<K>| comm.open && (comm.closed || of(comm.cid));
        let mut over = Vec::new();
        for comm in self.comms.iter_mut().filter(is_over) {
            comm.refuses = true;
            over.push(comm.cid);
        }
        over.iter()
            .for_each(|&cid| self.discard_unexpected_on(cid, Plane::User));
        // What is left are those that a matched probe took.
        let taken: Vec<u32> = self.unexpected.entries.taken().collect();
        for at in taken {
            let context = self.unexpected.entries.get(at).key().context();
            if context.plane() == Plane::User && over.contains(&context.cid()) {
                self.discard(at);
            }
        }
    }

    /// Throws away messages that nobody can receive any more.
    fn discard_unexpected(&mut self, cid: Cid) {
        Plane::ALL
            .into_iter()
            .for_each(|plane| self.discard_unexpected_on(cid, plane));
    }

    fn discard_unexpected_on(&mut self, cid: Cid, plane: Plane) {
        loop {
            let list = &mut self.comms[cid.index()].unexpected[plane as usize];
            let at = list.first();
            if at == NIL {
                break;
            }
            self.unexpected.unlink(list, at);
            self.discard(at);
            self.counters.dropped += 1;
        }
    }

    /// Nothing of a communicator is under way any more: everything that is known by its id is
    /// forgotten, and what still arrives for it is thrown away.
    fn shut(&mut self, cid: Cid) {
        self.discard_unexpected(cid);
        let gone = std::mem::take(&mut self.comms[cid.index()]);
        for Peer(peer) in gone.peer_states.iter().map(|it| it.peer) {
            // Numbers that are no members have none.
            if let Some(leads) = self.leads.get_mut(peer as usize) {
                *leads -= 1;
            }
        }
        self.counters.past.absorb(&gone.traffic);
        self.drop_waiting(cid);
        self.send_queues.forget(cid);
        self.assemblies.forget(cid);
        if !self.finalized.is_empty() {
            self.finalized.retain(|(of, _)| *of != cid);
        }
        if !self.marks.is_empty() {
            self.marks.retain(|mark| mark.cid != cid);
        }
        if self.sought.is_some_and(|(context, _)| context.cid() == cid) {
            self.sought = None;
        }
    }

    /// Throws away the packets of a communicator whose turn never came.
    fn drop_waiting(&mut self, cid: Cid) {
        for packet in self.reorder.close(cid) {
            self.counters.dropped += 1;
            let payload = PeerBytes::from(&*packet.payload);
            self.drop_late(packet.from, &packet.header, payload);
        }
    }

    /// These peers are other processes from now on: nothing of the former ones is left.
    pub fn forget_peers(&mut self, peers: &Range<u32>) {
        let is_gone = |peer: &Peer| peers.contains(&peer.0);
        self.losses.retain(|peer, _| !is_gone(peer));
        self.no_deaths.retain(|peer| !is_gone(peer));
        self.deregistrations.retain(|(peer, _)| !is_gone(peer));
        self.moved.retain(|(peer, ..)| !is_gone(peer));
        self.asked.retain(|(peer, ..)| !is_gone(peer));
        self.came.retain(|(peer, ..)| !is_gone(peer));
        self.unwanted.retain(|(peer, ..)| !is_gone(peer));
        peers
            .clone()
            .for_each(|peer| self.send_queues.clear(Peer(peer)));
        self.reorder.forget_peers(peers);
        self.marks.retain(|mark| !peers.contains(&mark.from.0));
        self.handlers.forget(peers);
        self.compression.forget_peers(peers);
    }

    /// A request or held message of that communicator ended.
    pub fn drained(&mut self, context: Context) {
        let cid = context.cid();
        let Some(comm) = self.comm_mut(cid) else {
            return;
        };
        if !comm.draining {
            return;
        }
        comm.pending -= 1;
        if comm.pending == 0 {
            self.draining -= 1;
            self.shut(cid);
        }
    }

    /// Whether a communicator was revoked for messages of that plane.
    pub fn is_revoked(&self, context: Context) -> bool {
        let comm = self.comm(context.cid());
        context.plane() != Plane::Control && comm.is_some_and(|it| it.revoked)
    }

    /// Why a receive from a rank, or from any, can never be matched, if that is so.
    pub fn unreachable(&self, context: Context, source: Option<u32>) -> Option<Failure<K::Tag>> {
        if self.is_revoked(context) {
            return Some(Failure::Revoked);
        }
        let source = source?;
        let peer_state = self.peer_state(context, source)?;
        if let Some(lost) = self.losses.get(&peer_state.peer) {
            return Some(Failure::Lost(lost.clone()));
        }
        let rank = Some(source);
        let is_over = self.finalized.contains(&(context.cid(), source));
        is_over.then_some(Failure::Finalized { rank, other: None })
    }

    /// Ends the receives of a communicator that match nothing yet, and refuses those that come;
    /// gives the sends that are under way.
    pub fn revoke(&mut self, cid: Cid) -> Vec<u32> {
        let Some(comm) = self.comm_mut(cid).filter(|it| it.open) else {
            return Vec::new();
        };
        comm.revoked = true;
        // Sends take the slow way, which looks.
        comm.peer_states.iter_mut().for_each(|it| it.fast = 0);
        self.troubled = true;
        let mut sends: Vec<u32> = self.requests.taken().collect();
        sends.retain(|&at| {
            let request = self.requests.get(at);
            let context = request.link.key.context();
            if context.cid() != cid || !self.is_revoked(context) {
                return false;
            }
            match request.phase {
                Phase::Posted => {
                    self.unpost(at);
                    self.fail_with(at, Failure::Revoked);
                    false
                }
                phase => matches!(phase, Phase::Send(_)),
            }
        });
        sends
    }

    /// A peer is gone. If it is known that it has ended, that is nothing new.
    #[cold]
    #[inline(never)]
    pub fn peer_lost(&mut self, lost: PeerLost) {
        if !self.losses.contains_key(&lost.peer) {
            self.end_requests(lost);
        }
    }

    /// A peer has died, also if it was known to have ended.
    #[cold]
    pub fn peer_died(&mut self, lost: PeerLost) {
        if self.no_deaths.remove(&lost.peer) || !self.losses.contains_key(&lost.peer) {
            self.end_requests(lost);
        }
    }

    /// A peer has ended and has not died: whatever needs it ends with an error; what any may send
    /// does not need it.
    #[cold]
    pub fn peer_ended(&mut self, lost: PeerLost) {
        if !self.losses.contains_key(&lost.peer) {
            self.no_deaths.insert(lost.peer);
            self.end_requests(lost);
        }
    }

    fn end_requests(&mut self, lost: PeerLost) {
        let peer = lost.peer;
        let any_goes_on = self.no_deaths.contains(&peer) || self.tolerant;
        self.losses.insert(peer, lost.clone());
        self.losses_so_far += 1;
        self.troubled = true;
        self.handlers.lost(&lost);
        self.send_queues.clear(peer);
        let taken: Vec<u32> = self.requests.taken().collect();
        for at in taken {
            let request = self.requests.get(at);
            match request.phase {
                Phase::Free | Phase::Done => {}
                Phase::Send(_) if request.rare.peer == peer => self.fail(at, &lost),
                Phase::Recv(_) if request.rare.peer == peer => self.fail(at, &lost),
                Phase::Send(_) | Phase::Recv(_) => {}
                Phase::Posted => {
                    let context = request.link.key.context();
                    let source = K::named(request.link.key.selector());
                    // What any may send may be what this one would have sent.
                    let awaited = match source {
                        None if any_goes_on => false,
                        None => self.peer_states(context).iter().any(|it| it.peer == peer),
                        Some(source) => self
                            .peer_state(context, source)
                            .is_some_and(|it| it.peer == peer),
                    };
                    if awaited {
                        self.unpost(at);
                        self.fail(at, &lost);
                    }
                }
            }
        }
        // Fragments of its messages no longer come. A message that is only
        // partly there stays in the queues, and fails the receive it matches.
        let (requests, entries) = (&self.requests, &self.unexpected.entries);
        self.assemblies.retain(|target| match *target {
            // Those that have failed are no receives any more.
            Target::Request(at) => matches!(requests.get(at).phase, Phase::Recv(_)),
            Target::Unexpected(at) => entries.get(at).peer != peer,
            Target::Nobody(_) => true,
        });
        self.marks.retain(|mark| mark.from != peer);
    }
}
