//! Sends, receives and probes.

use std::ops::Range;

use catena_base::clock;
use catena_fabric::{Header, NEVER_LENT, Peer, Posted, Rendezvous};

use super::Endpoint;
use super::lending::lend;
use crate::engine::Engine;
use crate::key::MatchKey;
use crate::net::{Net, Source};
use crate::protocol::{Send, Style};
use crate::request::{Buffer, Fate, Phase};
use crate::send_queue::Item;
use crate::slab::NIL;
use crate::types::{Cid, Context, Envelope, Failure, MessageId, Mode, Plane, ReqId, Sent};
use crate::wire::{self, Announce, EAGER_CEILING, MIN_PACKET, SyncLen, SyncToken, kind};

/// A message on its way into [`Endpoint::send_slow`].
struct Outgoing<S, T> {
    cid: Cid,
    plane: Plane,
    dest: u32,
    tag: T,
    mode: Mode,
    source: S,
    /// Whether it is lent, if the transport was asked.
    lends: Option<bool>,
}

/// What has come of a message that was to leave at once.
enum AtOnce {
    Sent,
    /// Nothing has happened, and nothing was asked.
    Unsent,
    /// Nothing has happened, and the transport said whether to lend it.
    Asked(bool),
}

impl<N: Net, K: MatchKey> Endpoint<N, K> {
    /// Sends a message to rank `dest` of a communicator.
    ///
    /// * Order: messages of one communicator to one rank are matched in call
    ///   order, whatever their protocol.
    /// * `Done` in standard mode means that the buffer may be used again.
    ///
    /// # Panics
    /// If the communicator is not open or has no such rank.
    #[inline]
    pub fn send(
        &mut self,
        cid: Cid,
        plane: Plane,
        dest: u32,
        tag: K::Tag,
        mode: Mode,
        source: N::Source,
    ) -> Sent {
        let mut lends = None;
        if mode == Mode::Standard {
            match self.send_at_once(cid, plane, dest, tag, &source) {
                AtOnce::Sent => return Sent::Done,
                AtOnce::Unsent => {}
                AtOnce::Asked(answer) => lends = Some(answer),
            }
        }
        self.send_slow(Outgoing {
            cid,
            plane,
            dest,
            tag,
            mode,
            source,
            lends,
        })
    }

    /// Sends a message in standard mode if all of it can leave now and no transport would rather
    /// lend it; else nothing has happened. See [`Endpoint::send`], which always takes the first
    /// message to everyone.
    ///
    /// # Panics
    /// If the communicator is not open or has no such rank.
    #[inline]
    pub fn send_now(
        &mut self,
        cid: Cid,
        plane: Plane,
        dest: u32,
        tag: K::Tag,
        source: &N::Source,
    ) -> bool {
        source.len() <= NEVER_LENT
            && matches!(
                self.send_at_once(cid, plane, dest, tag, source),
                AtOnce::Sent
            )
    }

    #[inline]
    fn send_at_once(
        &mut self,
        cid: Cid,
        plane: Plane,
        dest: u32,
        tag: K::Tag,
        source: &N::Source,
    ) -> AtOnce {
        let len = source.len();
        let mut asked = false;
        let comm = &mut self.engine.comms[cid.index()];
        debug_assert_eq!(comm.cid, cid, "it is not open");
        let peer_state = &mut comm.peer_states[dest as usize];
        if len < u64::from(peer_state.fast)
            && !Engine::<N, K>::SEQS.is_mark(peer_state.send_seq)
            && self.engine.send_queues.has_no_items()
        {
            if len > NEVER_LENT {
                asked = true;
                if self.net.lends(peer_state.peer, len, self.engine.lent.len()) {
                    return AtOnce::Asked(true);
                }
            }
            let mut header = Header {
                stamp: 0,
                kind: kind::EAGER,
                seq: peer_state.send_seq,
                len,
                ..K::header(peer_state.remote.on(plane), comm.me, tag)
            };
            if K::SEALS_AT_ONCE && self.engine.has_seals && plane == Plane::User {
                wire::seal(&mut header, source.seal());
            }
            let posted = self
                .net
                .try_send(peer_state.peer, header, source.part(0, len as usize));
            if matches!(posted, Ok(Posted::Done)) {
                peer_state.send_seq = Engine::<N, K>::SEQS.after(peer_state.send_seq);
                comm.traffic.sent.eager(len);
                return AtOnce::Sent;
            }
        }
        match asked {
            true => AtOnce::Asked(false),
            false => AtOnce::Unsent,
        }
    }

    /// Long and synchronous messages, full routes, lost peers, and the first
    /// message to everyone.
    #[inline(never)]
    fn send_slow(&mut self, out: Outgoing<N::Source, K::Tag>) -> Sent {
        if self.engine.is_revoked(Context::new(out.cid, out.plane)) {
            return self.refuse(&out);
        }
        let Outgoing {
            cid,
            plane,
            dest,
            tag,
            mode,
            source,
            lends,
        } = out;
        let len = source.len();
        let peer = self.begin_number(cid, dest);
        let engine = &mut self.engine;
        let at = engine.requests.take_slot();
        let id = engine.id(at);
        let caps = self.net.caps(peer);
        let comm = &mut engine.comms[cid.index()];
        let me = comm.me;
        let peer_state = &mut comm.peer_states[dest as usize];
        debug_assert!(caps.max_packet >= MIN_PACKET);
        let eager_max = caps.eager_max.min(EAGER_CEILING);
        if !comm.revoked && (K::SEALS_AT_ONCE || !engine.has_seals) {
            peer_state.fast = eager_max.min(caps.whole as u64) as u32 + 1;
        }
        let seal = match engine.has_seals && plane == Plane::User {
            true => source.seal(),
            false => 0,
        };
        // One that is sent ahead has no room for both.
        let token = SyncToken::of(id).filter(|_| seal == 0);
        let may_be_lent =
            mode == Mode::Standard && len <= eager_max && caps.max_packet >= Announce::ONE;
        let lent = match may_be_lent {
            true => {
                let under_way = engine.lent.len().max(engine.send_queues.items_for(peer));
                lend(&mut self.net, peer, id, &source, |net| {
                    lends.unwrap_or_else(|| net.lends(peer, len, under_way))
                })
            }
            false => None,
        };
        let (style, kind, wire_len) = match (mode, token) {
            _ if lent.is_some() => (Style::Lent, kind::LENT, len),
            (Mode::Standard, _) if len <= eager_max => (Style::Eager, kind::EAGER, len),
            (Mode::Synchronous, Some(token)) if len <= eager_max => (
                Style::EagerSync,
                kind::EAGER_SYNC,
                SyncLen { len, token }.encode(),
            ),
            _ => (Style::Rendezvous, kind::RTS, len),
        };
        let mut header = Header {
            stamp: 0,
            kind,
            seq: peer_state.send_seq,
            len: wire_len,
            ..K::header(peer_state.remote.on(plane), me, tag)
        };
        wire::seal(&mut header, seal);
        peer_state.send_seq = Engine::<N, K>::SEQS.after(header.seq);
        let announced = matches!(style, Style::Rendezvous | Style::Lent);
        if announced {
            comm.traffic.sent.announced(len);
        } else {
            comm.traffic.sent.eager(len);
        }

        let request = engine.requests.get_mut(at);
        request.phase = Phase::Send(Send::Queued(style));
        (request.fate, request.cancelled) = (Fate::Kept, false);
        request.link.key = K::new(Context::new(cid, plane), dest, tag);
        request.len = len;
        (
            request.rare.peer,
            request.rare.header,
            request.rare.cancelling,
            request.rare.dropped,
        ) = (peer, header, false, false);
        (request.rare.registered, request.rare.total) = (lent, len);
        if lent.is_some() {
            engine.registered += len;
            engine.lent.push_back((id, clock::ticks()));
            engine.work = true;
        }
        let may_be_read = style == Style::Rendezvous
            && caps.max_packet >= Announce::ONE
            && (self.net.rendezvous(peer, len, plane.load()) != Rendezvous::Stream
                || source.run().is_some_and(|run| !run.kind.is_host()));
        if may_be_read {
            request.rare.registered = self.net.register(peer, &source);
            engine.registered += request.rare.registered.map_or(0, |_| len);
        }
        request.buffer = Buffer::Source(source);

        if let Some(lost) = engine.losses.get(&peer).cloned() {
            engine.fail(at, &lost);
        } else if !engine.send_queues.has_no_items_for(peer)
            || engine.send_queues.is_held((cid, dest))
            || !self.drive(at)
        {
            self.engine.counters.queued += 1;
            self.engine
                .push_sequenced(cid, dest, peer, Item::Send { id, header });
        }
        let request = self.engine.requests.get(at);
        let failed = request.error.is_some();
        if request.phase == Phase::Done && !failed {
            self.engine.free(at);
            return Sent::Done;
        }
        self.settle_deregistrations();
        Sent::Pending(id)
    }

    /// A send in a communicator that was revoked: its buffer is not touched.
    #[cold]
    fn refuse(&mut self, out: &Outgoing<N::Source, K::Tag>) -> Sent {
        let at = self.engine.requests.take_slot();
        let request = self.engine.requests.get_mut(at);
        (request.fate, request.cancelled) = (Fate::Kept, false);
        request.link.key = K::new(Context::new(out.cid, out.plane), out.dest, out.tag);
        request.set_failed(Failure::Revoked);
        self.engine.complete(at);
        Sent::Pending(self.engine.id(at))
    }

    /// Receives a message that `selector` accepts into `sink`. May be complete
    /// on return.
    ///
    /// # Panics
    /// If the communicator is not open.
    #[inline]
    pub fn recv(&mut self, cid: Cid, plane: Plane, selector: K::Selector, sink: N::Sink) -> ReqId {
        let at = self.new_recv(K::posted(Context::new(cid, plane), selector), sink);
        let comm = &self.engine.comms[cid.index()];
        debug_assert_eq!(comm.cid, cid, "it is not open");
        if comm.unexpected[plane as usize].is_empty() && !self.engine.troubled {
            self.engine.post(at, selector);
            return self.engine.id(at);
        }
        self.recv_slow(at, selector)
    }

    /// Whether there are messages of that communicator that nobody has received.
    #[inline]
    pub fn has_kept(&self, cid: Cid, plane: Plane) -> bool {
        let comm = &self.engine.comms[cid.index()];
        !comm.unexpected[plane as usize].is_empty()
    }

    #[inline]
    fn new_recv(&mut self, key: K, sink: N::Sink) -> u32 {
        let at = self.engine.requests.take_slot();
        let request = self.engine.requests.get_mut(at);
        (request.fate, request.cancelled) = (Fate::Kept, false);
        request.link.key = key;
        request.buffer = Buffer::Sink(sink);
        at
    }

    #[inline(never)]
    fn recv_slow(&mut self, at: u32, selector: K::Selector) -> ReqId {
        let id = self.engine.id(at);
        let context = self.engine.requests.get(at).link.key.context();
        let engine = &mut self.engine;
        let revoked = engine.troubled && engine.is_revoked(context);
        let arrivals = &mut engine.comms[context.index()].unexpected[context.plane() as usize];
        let found = match revoked {
            false => engine.unexpected.find(arrivals, context, selector),
            true => NIL,
        };
        if found != NIL {
            self.unlink(context, found);
            self.engine.hand_over(found, at);
            self.settle();
        } else if let Some(failure) = self.engine.unreachable(context, K::named(selector)) {
            self.engine.fail_with(at, failure);
        } else {
            self.engine.post(at, selector);
        }
        id
    }

    fn unlink(&mut self, context: Context, at: u32) {
        let list = &mut self.engine.comms[context.index()].unexpected;
        self.engine
            .unexpected
            .unlink(&mut list[context.plane() as usize], at);
    }

    fn find(&mut self, cid: Cid, plane: Plane, selector: K::Selector) -> u32 {
        let arrivals = &mut self.engine.comms[cid.index()].unexpected[plane as usize];
        if arrivals.is_empty() {
            return NIL;
        }
        let context = Context::new(cid, plane);
        self.engine.unexpected.find(arrivals, context, selector)
    }

    /// The message that a receive with that selector would get now.
    /// Looks only at what has arrived; progress is the caller's.
    pub fn probe(
        &mut self,
        cid: Cid,
        plane: Plane,
        selector: K::Selector,
    ) -> Option<Envelope<K::Tag>> {
        let at = self.find(cid, plane, selector);
        (at != NIL).then(|| self.engine.unexpected.entries.get(at).envelope())
    }

    /// The [seal](crate::Source::seal) of the message that [`Endpoint::probe`] tells of; 0 if it
    /// has none, or there is no message.
    pub fn probe_seal(&mut self, cid: Cid, plane: Plane, selector: K::Selector) -> u32 {
        let at = self.find(cid, plane, selector);
        self.engine.kept_seals.get(&at).copied().unwrap_or(0)
    }

    /// Why a message with that selector can never come, if that is so. Who asks is
    /// [waiting](Endpoint::awaited) for one.
    pub fn seek(
        &mut self,
        cid: Cid,
        plane: Plane,
        selector: K::Selector,
    ) -> Option<Failure<K::Tag>> {
        let context = Context::new(cid, plane);
        let source = K::named(selector);
        self.engine.sought = Some((context, source));
        self.engine.unreachable(context, source)
    }

    /// The messages that arrived in a communicator and that nobody has received,
    /// in order of arrival.
    pub fn kept(&self, cid: Cid, plane: Plane) -> impl Iterator<Item = Envelope<K::Tag>> + '_ {
        let comm = &self.engine.comms[cid.index()];
        let all = &self.engine.unexpected;
        all.iter(&comm.unexpected[plane as usize])
            .map(|entry| entry.envelope())
    }

    /// As [`Endpoint::probe`], and takes the message out of the queues: only
    /// [`Endpoint::mrecv`] can receive it then.
    pub fn mprobe(
        &mut self,
        cid: Cid,
        plane: Plane,
        selector: K::Selector,
    ) -> Option<(MessageId, Envelope<K::Tag>)> {
        let at = self.find(cid, plane, selector);
        if at == NIL {
            return None;
        }
        self.unlink(Context::new(cid, plane), at);
        let entries = &self.engine.unexpected.entries;
        let id = MessageId {
            index: at,
            generation: entries.generation(at),
        };
        Some((id, entries.get(at).envelope()))
    }

    /// Whether that message exists and was not received yet.
    pub fn message_valid(&self, message: MessageId) -> bool {
        self.engine
            .unexpected
            .entries
            .holds(message.index, message.generation)
    }

    /// Receives a message that a matched probe took.
    ///
    /// # Panics
    /// If it was received already.
    pub fn mrecv(&mut self, message: MessageId, sink: N::Sink) -> ReqId {
        assert!(
            self.message_valid(message),
            "message {message:?} was received already"
        );
        let key = self.engine.unexpected.entries.get(message.index).key();
        let at = self.new_recv(key, sink);
        let id = self.engine.id(at);
        self.engine.hand_over(message.index, at);
        self.settle();
        id
    }

    /// How many processes have been found to be gone so far. It never falls: who has seen the same
    /// number before knows that there is no news.
    #[inline]
    pub fn losses(&self) -> usize {
        self.engine.losses_so_far
    }

    /// Forgets everything about peers to which no communicator leads: from now on they are other
    /// processes. All handlers of active messages do the same.
    pub fn forget_peers(&mut self, peers: &Range<u32>) {
        debug_assert!(!self.leads_to(peers));
        self.engine.forget_peers(peers);
    }

    /// The processes that are known to have died. Others have ended, as they were free to do:
    /// whatever needs one of those fails, and nothing else does ([`Endpoint::is_lost`]).
    pub fn lost_peers(&self) -> impl Iterator<Item = Peer> + '_ {
        let engine = &self.engine;
        let lost = engine.losses.keys().copied();
        lost.filter(|peer| !engine.no_deaths.contains(peer))
    }
}
