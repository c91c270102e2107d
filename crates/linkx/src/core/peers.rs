//! The peers of an endpoint: those of its vector, those that have called, and those that end.

use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Instant;

use catena_fabric::{Peer, PeerLost};
use catena_link::Plane;

use super::{Known, LOOK_EVERY, PLAIN, State, TAGGED};
use crate::host;
use crate::op::{Kind, Op};
use crate::sys::{Addr, err, flag, num};
use crate::vector::{Change, Vector, record_of};

impl State {
    /// The peer that an address is.
    ///
    /// # Errors
    /// An error number, negative.
    #[inline]
    pub fn peer(&mut self, addr: Addr) -> Result<Peer, isize> {
        self.follow();
        match self.peers.get(addr as usize) {
            Some(Some((peer, _))) => Ok(*peer),
            Some(None) => Err(err::UNREACH as isize),
            None => Err(err::INVAL as isize),
        }
    }

    /// The address of a peer; none if it has none.
    #[inline]
    pub fn addr(&self, peer: u32) -> Addr {
        self.known
            .get(peer as usize)
            .map_or(num::ADDR_NONE, |it| it.told)
    }

    pub(super) fn known_mut(&mut self, peer: Peer) -> &mut Known {
        let at = peer.0 as usize;
        if at >= self.known.len() {
            self.known.resize(at + 1, Known::NOTHING);
        }
        &mut self.known[at]
    }

    /// Something is sent to a peer.
    #[inline]
    pub fn sends_to(&mut self, peer: Peer) {
        if let Some(known) = self.known.get_mut(peer.0 as usize) {
            known.is_sent_to = true;
        }
    }

    /// Something has come from a peer.
    #[inline]
    pub(super) fn hears(&mut self, peer: u32) {
        if let Some(known) = self.known.get_mut(peer as usize) {
            known.is_heard = true;
        }
    }

    /// Whom a receive names by an address, if it names one.
    ///
    /// # Errors
    /// An error number, negative.
    pub fn named(&mut self, addr: Addr) -> Result<Option<Peer>, isize> {
        match addr == num::ADDR_NONE || self.caps & flag::DIRECTED_RECV == 0 {
            true => Ok(None),
            false => self.peer(addr).map(Some),
        }
    }

    /// Carries out what has changed in the address vector.
    #[inline]
    pub(super) fn follow(&mut self) {
        let has_changed = |it: &Arc<Vector>| it.has_changed_since(self.seen);
        if self.vector.as_ref().is_some_and(has_changed) {
            self.follow_changes();
        }
    }

    #[cold]
    pub(super) fn follow_changes(&mut self) {
        let changes = self.vector.as_ref().map(|it| it.changes_since(self.seen));
        for change in changes.unwrap_or_default() {
            self.seen += 1;
            match change {
                Change::Inserted(addr, address, told) => {
                    let added = self.link.net().add_peer(record_of(&address));
                    let peer = match added {
                        Ok(peer) => {
                            self.link.add_peer(peer);
                            Some(peer)
                        }
                        Err(why) => {
                            let text = format!("the process with address {addr}: {why}");
                            host::warn(host::VECTOR, &text);
                            None
                        }
                    };
                    let at = addr as usize;
                    if at >= self.peers.len() {
                        self.peers.resize(at + 1, None);
                    }
                    self.peers[at] = peer.map(|it| (it, told));
                    if let Some(peer) = peer {
                        let known = self.known_mut(peer);
                        // An address that was inserted twice has its first number.
                        if known.told == num::ADDR_NONE {
                            known.told = told;
                        }
                    }
                }
                Change::Removed(addr) => self.remove(addr),
            }
        }
    }

    pub(super) fn remove(&mut self, addr: Addr) {
        let peer = self.peers.get_mut(addr as usize).and_then(Option::take);
        let Some((peer, _)) = peer else {
            return;
        };
        let other = self.peers.iter().flatten().find(|it| it.0 == peer);
        let other = other.map(|it| it.1);
        self.known_mut(peer).told = other.unwrap_or(num::ADDR_NONE);
        if other.is_none() {
            self.fail_asked(|of| of == peer, "its address was removed");
            self.abandon(peer);
            self.may_forget = true;
        }
    }

    /// Ends the receives that name a peer whose address was removed. The way to it stays, as it may
    /// be inserted again while it has not let go of this process; it goes when the peer has ended.
    pub(super) fn abandon(&mut self, peer: Peer) {
        let is_from_it = |op: &NonNull<Op>| {
            // SAFETY: a receive that is under way is there.
            let op = unsafe { op.as_ref() };
            op.peer == peer.0 && matches!(op.kind, Kind::Recv | Kind::MultiRecv)
        };
        let waiting = self.pool.receives().filter(is_from_it);
        for mut op in waiting.collect::<Vec<_>>() {
            // SAFETY: as above; the engine reads other fields of it.
            unsafe { op.as_mut() }.error = -err::CONNABORTED;
            self.take_back(op);
        }
        while let Some(at) = self.behind.iter().position(is_from_it) {
            self.give_up(at, -err::CONNABORTED);
        }
    }

    /// Looks whether peers have ended, now and then.
    #[cold]
    pub(super) fn look_at_peers(&mut self) {
        let now = Instant::now();
        if now >= self.next_look {
            self.next_look = now + LOOK_EVERY;
            for lost in self.link.net().ended_neighbours() {
                self.peer_ended(lost);
            }
            if self.link.net().may_ping() {
                let awaited = self.link.awaited();
                let watched = self.link.net().watch(&awaited);
                for lost in watched.lost.into_iter().chain(watched.ended) {
                    self.peer_ended(lost);
                }
                for peer in watched.unwatched {
                    self.link.ping(peer);
                }
            }
            if self.may_forget {
                self.may_forget = self.forget_gone();
            }
        }
        if self.link.losses() != self.losses {
            self.losses = self.link.losses();
            let asked = self.asked.values();
            // SAFETY: an operation that waits for an answer is there.
            let of = |op: &NonNull<Op>| Peer(unsafe { op.as_ref() }.peer);
            let lost: Vec<Peer> = asked.map(of).filter(|it| self.link.is_lost(*it)).collect();
            self.fail_asked(|peer| lost.contains(&peer), "its process is gone");
            self.may_forget = true;
        }
    }

    /// A peer is gone.
    pub(super) fn peer_ended(&mut self, lost: PeerLost) {
        let addr = self.addr(lost.peer.0);
        let text = format!("the process with address {addr} is gone: {}", lost.cause);
        host::inform(host::EP, &text);
        self.link.peer_ended(lost);
    }

    /// Forgets the peers that are gone and have no address, but for those of which there are
    /// messages that nobody has received; whether there are any.
    fn forget_gone(&mut self) -> bool {
        let mut remain = false;
        for peer in (0..self.known.len()).map(|at| Peer(at as u32)) {
            let has_address = self.peers.iter().flatten().any(|it| it.0 == peer);
            if has_address || !self.link.is_lost(peer) {
                continue;
            }
            let kept = |space| self.link.kept(space, Plane::User);
            let is_left = kept(TAGGED)
                .chain(kept(PLAIN))
                .any(|it| it.source == peer.0);
            match is_left {
                true => remain = true,
                false => self.remove_peer(peer),
            }
        }
        remain
    }

    /// Lets go of a peer: what it had here is for others.
    pub(super) fn remove_peer(&mut self, peer: Peer) {
        self.link.remove_peer(peer);
        // It fails for this process itself, which was not added.
        let _ = self.link.net().remove_peer(peer);
        *self.known_mut(peer) = Known::NOTHING;
    }

    /// Ends operations on the memory of peers.
    pub(super) fn fail_asked(&mut self, of: impl Fn(Peer) -> bool, cause: &str) {
        // SAFETY: an operation that waits for an answer is there.
        let is_of = |op: &NonNull<Op>| of(Peer(unsafe { op.as_ref() }.peer));
        let asked = self.asked.iter().filter(|it| is_of(it.1));
        let numbers: Vec<u64> = asked.map(|it| *it.0).collect();
        for number in numbers {
            self.answered(number, -err::CONNABORTED, &[], cause);
        }
    }
}
