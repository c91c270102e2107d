//! Opening and closing of communicators, and the loss of peers.

use catena_base::PeerBytes;
use catena_fabric::{Deliver, Peer, PeerLost};

use super::{Engine, Target};
use crate::lane::{Context, Lane};
use crate::net::Net;
use crate::protocol::Recv;
use crate::request::Phase;
use crate::slab::NIL;
use crate::types::{ANY_SOURCE, Cid, Selector};

impl<N: Net> Engine<N> {
    pub fn open(&mut self, cid: Cid, me: u32, lanes: Vec<(Peer, Cid)>) {
        let at = cid.0 as usize;
        if at >= self.contexts.len() {
            self.contexts.resize_with(at + 1, Context::default);
        }
        assert!(!self.contexts[at].open, "communicator {} is open", cid.0);
        let lane = |(peer, Cid(remote))| Lane {
            peer,
            remote: remote << 1,
            send_seq: 0,
            recv_seq: 0,
            fast: 0,
        };
        let lanes = lanes.into_iter().map(lane).collect();
        self.contexts[at] = Context {
            open: true,
            me,
            lanes,
            ..Context::default()
        };
        for packet in self.park.opened(cid.0) {
            self.deliver(
                packet.from,
                packet.header,
                PeerBytes::from(&*packet.payload),
            );
        }
    }

    pub fn close(&mut self, cid: Cid) {
        let Some(context) = self.contexts.get_mut(cid.0 as usize) else {
            return;
        };
        if !context.open || context.draining {
            return;
        }
        for plane in 0..2 {
            loop {
                let list = &mut self.contexts[cid.0 as usize].unexpected[plane];
                let at = list.first();
                if at == NIL {
                    break;
                }
                self.unexpected.unlink(list, at);
                self.discard(at);
                self.counters.dropped += 1;
            }
        }
        let here = |context: u32| context >> 1 == cid.0;
        let held = self.unexpected.entries.taken();
        let held = held
            .filter(|&at| here(self.unexpected.entries.get(at).key().context))
            .count();
        let requests = self.requests.taken().map(|at| self.requests.get(at));
        let requests = requests.filter(|it| here(it.link.key.context) && it.phase != Phase::Done);
        let pending = requests.count() + held;
        let context = &mut self.contexts[cid.0 as usize];
        if pending == 0 {
            self.shut(cid);
        } else {
            context.draining = true;
            context.pending = pending as u32;
            self.draining += 1;
        }
    }

    fn shut(&mut self, cid: Cid) {
        let gone = std::mem::take(&mut self.contexts[cid.0 as usize]);
        self.counters.past.absorb(&gone.traffic);
        self.counters.dropped += self.park.close(cid.0);
    }

    /// A request or held message of that context ended.
    pub fn drained(&mut self, context: u32) {
        let cid = Cid(context >> 1);
        let Some(context) = self.contexts.get_mut(cid.0 as usize) else {
            return;
        };
        if !context.draining {
            return;
        }
        context.pending -= 1;
        if context.pending == 0 {
            self.draining -= 1;
            // Messages may have come in the meantime that nobody can receive.
            context.draining = false;
            self.close(cid);
        }
    }

    /// Why a specific receive can never be matched, if that is so.
    pub fn unreachable(&self, context: u32, selector: Selector) -> Option<PeerLost> {
        if selector.source == ANY_SOURCE {
            return None;
        }
        let lane = self.lane(context, selector.source as u32)?;
        self.losses.get(&lane.peer).cloned()
    }

    #[cold]
    #[inline(never)]
    pub fn peer_lost(&mut self, lost: PeerLost) {
        let peer = lost.peer;
        if self.losses.insert(peer, lost.clone()).is_some() {
            return;
        }
        self.outbox.clear(peer);
        let taken: Vec<u32> = self.requests.taken().collect();
        for at in taken {
            let request = self.requests.get(at);
            match request.phase {
                Phase::Free | Phase::Done => {}
                Phase::Send(_) if request.rare.peer == peer => self.fail(at, &lost),
                Phase::Recv(_) if request.rare.peer == peer => self.fail(at, &lost),
                Phase::Send(_) | Phase::Recv(_) => {}
                Phase::Posted => {
                    let context = request.link.key.context;
                    if self.unreachable(context, request.selector()).is_some() {
                        self.unpost(at);
                        self.fail(at, &lost);
                    }
                }
            }
        }
        // Fragments of its messages no longer come. A message that is only
        // partly there stays in the queues, and fails the receive it matches.
        let (requests, entries) = (&self.requests, &self.unexpected.entries);
        self.assemblies.retain(|_, target| match *target {
            Target::Request(at) => requests.get(at).phase == Phase::Recv(Recv::Assembling),
            Target::Unexpected(at) => entries.get(at).peer != peer,
        });
    }
}
