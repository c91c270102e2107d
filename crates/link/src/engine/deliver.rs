//! Entry of every packet: the short way for short messages, order for the rest.

use catena_base::PeerBytes;
use catena_fabric::{Deliver, Header, NEVER_LENT, OpId, Peer, PeerLost, RmaError};

use super::Engine;
use crate::key::MatchKey;
use crate::net::{Net, Sink};
use crate::peer_state::Turn;
use crate::request::Buffer;
use crate::slab::NIL;
use crate::types::Context;
use crate::wire::{is_sequenced, kind, unseal};

impl<N: Net, K: MatchKey> Deliver for Engine<N, K> {
    #[inline]
    fn deliver(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) {
        let (context, source) = (K::context_of(&header), K::source_of(&header, from));
        let (sealed, mut header) = (header, header);
        let seal = match K::SEALS_AT_ONCE {
            true => unseal(&mut header),
            false => 0,
        };
        // Communicators that are not open have no peer_states.
        if header.kind == kind::EAGER
            && let Some(comm) = self.comms.get_mut(context.index())
            && comm.cid == context.cid()
            && let Some(peer_state) = comm.peer_states.get_mut(source as usize)
            && peer_state.peer == from
            && peer_state.recv_seq == header.seq
            && header.len == payload.len() as u64
        {
            peer_state.recv_seq = Self::SEQS.after(header.seq);
            comm.traffic.received.eager(header.len);
            let key = K::new(context, source, K::tag_of(&header));
            if header.len > NEVER_LENT {
                self.came.push((from, header.len, false));
                self.work = true;
            }
            let at = if comm.wild[context.plane() as usize].is_empty() {
                self.posted.pop(&mut self.requests, key)
            } else {
                self.match_among_wild(key)
            };
            if at == NIL {
                self.seal = seal;
                self.keep_eager(from, header, payload);
                self.seal = 0;
            } else {
                self.note_match(at, key, header.len);
                if seal != 0 {
                    self.check_seal(at, seal, key, header.len);
                }
                if let Buffer::Sink(sink) = &mut self.requests.get_mut(at).buffer
                    && !payload.is_empty()
                {
                    sink.place(0, payload);
                }
                self.complete(at);
            }
            if !self.reorder.is_nothing_ahead() {
                self.take_turns(context, source);
            }
            return;
        }
        self.deliver_slow(from, sealed, payload);
    }

    #[cold]
    fn lost(&mut self, lost: PeerLost) {
        self.peer_lost(lost);
    }

    #[cold]
    fn ended(&mut self, lost: PeerLost) {
        self.peer_ended(lost);
    }

    /// Tells the class that has started the operation; one of a message is left to the endpoint.
    #[inline(never)]
    fn completed(&mut self, op: OpId, result: Result<u64, RmaError>) {
        if op.owner() == OpId::MESSAGES {
            self.ended.push_back((op.number(), result));
            self.work = true;
        } else {
            self.handlers.completed(op, result);
        }
    }
}

impl<N: Net, K: MatchKey> Engine<N, K> {
    #[inline(never)]
    fn deliver_slow(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) {
        let handled = match header.kind {
            kind::MORE => self.on_more(from, header, payload),
            kind if is_sequenced(kind) => self.in_context(from, header, payload),
            kind::CTS => self.on_cts(from, &header, payload),
            kind::DATA => self.on_data(from, &header, payload),
            kind::PACKED => self.on_packed(from, &header, payload),
            kind::FIN => self.on_fin(from, &header),
            kind::SHARE => self.on_share(from, &header, payload),
            kind::PUT => self.on_put(from, &header),
            kind::REFUSE => self.on_refuse(from, &header),
            kind::MARKED => self.on_marked(from, &header),
            kind::ACK => self.on_ack(from, &header),
            kind::DROPPED => self.on_dropped(from, header.len),
            kind::SYNC_DROPPED => self.on_sync_dropped(from, &header),
            kind::PING => true,
            _ => self.deliver_unmatched(from, &header, payload),
        };
        if !handled {
            self.counters.dropped += 1;
        }
    }

    /// Hands an active message to its handler. Far from what matched packets take.
    #[cold]
    #[inline(never)]
    fn deliver_unmatched(&mut self, from: Peer, header: &Header, payload: PeerBytes<'_>) -> bool {
        header.kind == kind::ACTIVE && self.handlers.deliver(from, header, payload)
    }

    /// Handles a packet that belongs to a member of an open context, or keeps it until its turn.
    /// One of a context that is neither open nor expected is late, and is thrown away.
    pub fn in_context(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) -> bool {
        let (context, source) = (K::context_of(&header), K::source_of(&header, from));
        let cid = context.cid();
        let Some(comm) = self.comm(cid) else {
            self.drop_late(from, &header, payload);
            return false;
        };
        if !comm.open {
            self.counters.parked += 1;
            self.reorder.until_open(cid, from, header, payload);
            return true;
        }
        let Some(peer_state) = comm.peer_states.get(source as usize) else {
            return false;
        };
        if peer_state.peer != from {
            return false;
        }
        let turn = Self::SEQS.turn(peer_state.recv_seq, header.seq);
        match (header.kind, turn) {
            (kind::MORE, Turn::Past) => self.place_more(from, &header, payload),
            (_, Turn::Past) => false,
            (kind::MORE, _) | (_, Turn::Early) => {
                let place = (cid, source);
                let kept = self.reorder.until_turn(place, from, header, payload);
                self.counters.parked += u64::from(kept);
                kept
            }
            (_, Turn::Now) => {
                let handled = self.in_turn(from, header, payload);
                if handled && !self.reorder.is_nothing_ahead() {
                    self.take_turns(context, source);
                }
                handled
            }
        }
    }

    /// Handles the sequenced packet whose turn it is; `false` if it makes no
    /// sense, and then its turn stays open.
    fn in_turn(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) -> bool {
        let handled = match header.kind {
            kind::EAGER | kind::EAGER_SYNC => self.on_eager(from, &header, payload),
            kind::RTS | kind::LENT => self.on_rts(from, &header, payload),
            kind::SEALED_EAGER | kind::SEALED_RTS | kind::SEALED_LENT => {
                self.on_sealed(from, header, payload)
            }
            kind::CANCEL_REQ => self.on_cancel_request(from, &header),
            _ => true,
        };
        if handled {
            let comm = &mut self.comms[K::context_of(&header).index()];
            let source = K::source_of(&header, from);
            if let Some(peer_state) = comm.peer_states.get_mut(source as usize) {
                peer_state.recv_seq = Self::SEQS.after(header.seq);
            }
            if header.kind == kind::MARK {
                self.on_mark(from, &header);
            }
        }
        handled
    }

    /// The first packet of a message with a seal.
    #[cold]
    fn on_sealed(&mut self, from: Peer, mut header: Header, payload: PeerBytes<'_>) -> bool {
        self.seal = unseal(&mut header);
        let handled = match header.kind {
            kind::EAGER => self.on_eager(from, &header, payload),
            _ => self.on_rts(from, &header, payload),
        };
        self.seal = 0;
        handled
    }

    /// Handles what waited for the last packet of a peer, and what that lets
    /// follow.
    #[cold]
    #[inline(never)]
    pub fn take_turns(&mut self, context: Context, source: u32) {
        let cid = context.cid();
        loop {
            let comm = self.comm(cid);
            let peer_state = comm.and_then(|it| it.peer_states.get(source as usize));
            let Some(next) = peer_state.map(|it| it.recv_seq) else {
                return;
            };
            for more in self.reorder.take_rest(cid, source, Self::SEQS.before(next)) {
                if !self.place_more(more.from, &more.header, PeerBytes::from(&*more.payload)) {
                    self.counters.dropped += 1;
                }
            }
            let Some(first) = self.reorder.take_first(cid, source, next) else {
                return;
            };
            if !self.in_turn(first.from, first.header, PeerBytes::from(&*first.payload)) {
                self.counters.dropped += 1;
                return;
            }
        }
    }
}
