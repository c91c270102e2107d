//! A network and its rails: domains, for example interfaces, that lead to the
//! same processes.
//!
//! What is sent to a peer leaves over one rail, its **pin**; only streams of
//! long messages take all in turn. What is read from a peer is cut into
//! stripes, which all rails fetch at the same time, and told from its beginning
//! on. The ends pair their rails by number; the end
//! with fewer rails has the say.

use std::collections::VecDeque;

use catena_fabric::{
    Access, Atomic, Caps, Deliver, Header, Load, OpId, Payload, Peer, PeerLost, Posted, RemoteKey,
    Rendezvous, Rma, RmaCaps, RmaError, RmaStatus, Sleeper, Started, Transport,
};
use catena_link::{RAILS, RemoteKeys};
use catena_tcp::LivenessProbes;

use crate::driver::{Counters, Driver};
use crate::pieces::{Long, Pieces, Way};
use crate::record::End;

/// Bytes of a stripe.
const STRIPE: usize = 128 << 10;
/// Stripes under way on each rail.
const AHEAD: usize = 2;

/// A stripe of a read.
#[derive(Clone, Copy, Debug)]
struct Stripe {
    rail: usize,
    len: usize,
    /// Bytes of it that have arrived.
    got: usize,
    /// Nothing more of it arrives.
    failed: bool,
}

/// A read over several rails, from its first call to its end.
#[derive(Debug)]
struct Read {
    from: Peer,
    /// Where the next byte goes to that was not told yet.
    at: usize,
    /// Under way or not told yet, in order.
    stripes: VecDeque<Stripe>,
    /// A rail that cannot go on, and why if its peer is gone.
    failed: bool,
    lost: Option<PeerLost>,
}

/// A network.
#[derive(Debug)]
pub struct Rails {
    /// At least one, at most [`RAILS`].
    rails: Vec<Driver>,
    /// Number of this process on its node: neighbours pin differently.
    local: usize,
    /// How many rails lead to each peer, by rank in the world.
    shared: Box<[u8]>,
    /// The rail of the next packet of a stream.
    turn: usize,
    reads: Vec<Read>,
    /// Operations that go over several rails, or in pieces.
    pieces: Pieces,
    /// For rails that do not notice all losses themselves.
    probes: LivenessProbes,
}

impl Rails {
    /// The network of these rails, for the process that is number `local` on
    /// its node.
    pub fn new(rails: Vec<Driver>, local: usize, processes: u32) -> Rails {
        assert!((1..=RAILS).contains(&rails.len()));
        Rails {
            rails,
            local,
            shared: vec![1; processes as usize].into(),
            turn: 0,
            reads: Vec::new(),
            pieces: Pieces::default(),
            probes: LivenessProbes::new(catena_tcp::Config::from_settings()),
        }
    }

    /// How others reach this process over each of them.
    ///
    /// # Errors
    /// What failed and what to do.
    pub fn ends(&self) -> Result<Vec<End>, String> {
        self.rails.iter().map(Driver::end).collect()
    }

    /// See [`Driver::protocol_name`].
    pub fn protocol_name(&self, end: &End) -> Option<String> {
        self.rails[0].protocol_name(end)
    }

    /// What each of them is, in words.
    pub fn about(&self) -> String {
        let all: Vec<_> = self.rails.iter().map(Driver::about).collect();
        all.join(" and ")
    }

    /// How short messages reach a peer, in words; `None` before they do.
    pub fn way(&self, peer: Peer) -> Option<String> {
        self.rails[self.pin(peer)].way(peer)
    }

    /// Learns how a peer is reached; until then its route is full.
    ///
    /// # Errors
    /// If an address is of no use here.
    pub fn connect(&mut self, peer: Peer, ends: &[End]) -> Result<(), String> {
        let pairs = self.rails.iter_mut().zip(ends);
        self.shared[peer.0 as usize] = pairs.len() as u8;
        for (rail, end) in pairs {
            let at = rail.probe_addresses(end);
            if !at.is_empty() {
                self.probes.learn(peer, at);
            }
            rail.connect(peer, end)?;
        }
        Ok(())
    }

    /// Looks after a peer: whether its loss is noticed although nothing is sent to
    /// it.
    ///
    /// # Errors
    /// [`PeerLost`] if it is lost.
    pub fn watch(&mut self, peer: Peer) -> Result<bool, PeerLost> {
        let pin = self.pin(peer);
        let rail = &mut self.rails[pin];
        let tells = self.probes.look(peer).map_err(|cause| {
            rail.mark_lost(peer, cause.clone());
            PeerLost { peer, cause }
        })?;
        Ok(tells || rail.watches(peer))
    }

    /// What a process with nothing to do may sleep on, or `None` if there may
    /// be something to do.
    pub fn sleeper(&mut self) -> Option<Sleeper> {
        if self.pieces.waits() {
            return None;
        }
        let mut all = self.rails.iter_mut().map(Driver::sleeper);
        let first = all.next().expect("at least one rail")?;
        all.try_fold(first, |sum, one| one.map(|one| sum.or(one)))
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        self.rails.iter().map(Driver::counters).sum()
    }

    /// How many rails lead to a peer.
    #[inline]
    fn shared(&self, peer: Peer) -> usize {
        self.shared[peer.0 as usize].into()
    }

    /// The rail that short messages to a peer take.
    #[inline]
    fn pin(&self, peer: Peer) -> usize {
        match self.shared(peer) {
            1 => 0,
            shared => (self.local + peer.0 as usize) % shared,
        }
    }

    /// See [`Transport::caps`].
    #[inline]
    pub fn caps(&self, peer: Peer) -> Caps {
        self.rails[0].caps(peer)
    }

    /// See [`Transport::try_send`].
    ///
    /// # Errors
    /// [`PeerLost`] if the peer is gone.
    #[inline]
    pub fn try_send<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        let shared = self.shared(peer);
        if shared == 1 || !catena_link::is_streamed(&header) {
            let pin = self.pin(peer);
            return self.rails[pin].try_send(peer, header, payload);
        }
        self.turn = (self.turn + 1) % shared;
        self.rails[self.turn].try_send(peer, header, payload)
    }

    /// See [`Transport::poll`].
    #[inline]
    pub fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        let mut taking = self.pieces.taking(deliver);
        let polled = self.rails.iter_mut().map(|rail| rail.poll(&mut taking));
        let count = polled.sum();
        if !self.pieces.is_empty() {
            self.pieces.go_on(&mut self.rails, deliver);
        }
        count
    }

    /// See [`Transport::rendezvous`].
    pub fn rendezvous(&self, peer: Peer, len: u64, load: Load) -> Rendezvous {
        self.rails[0].rendezvous(peer, len, load)
    }

    /// Describes `len` bytes at `addr` for a peer, on every rail that leads to
    /// it.
    pub fn register(&mut self, peer: Peer, addr: *mut u8, len: u64) -> Option<RemoteKeys> {
        let shared = self.shared(peer);
        self.register_on(shared, Some(peer), (addr, len), Access::READ)
    }

    /// Registers `len` bytes at `addr` for every peer, on all rails; see [`Transport::register`].
    pub fn register_for_all(
        &mut self,
        addr: *mut u8,
        len: u64,
        access: Access,
    ) -> Option<RemoteKeys> {
        self.register_on(self.rails.len(), None, (addr, len), access)
    }

    /// Registers memory on the first rail, and on as many of the first `count` as have it under the
    /// same address.
    fn register_on(
        &mut self,
        count: usize,
        peer: Option<Peer>,
        (addr, len): (*mut u8, u64),
        access: Access,
    ) -> Option<RemoteKeys> {
        let mut registered = RemoteKeys::from(self.rails[0].register(peer, addr, len, access)?);
        for (rail, key) in self.rails[1..count].iter_mut().zip(&mut registered.more) {
            match rail.register(peer, addr, len, access) {
                Some(remote) if remote.addr == registered.addr => *key = remote.key,
                Some(remote) => rail.deregister(remote),
                None => {}
            }
        }
        Some(registered)
    }

    /// Ends what [`Rails::register`] or [`Rails::register_for_all`] began.
    pub fn deregister(&mut self, registered: RemoteKeys) {
        for (number, rail) in self.rails.iter_mut().enumerate() {
            if let Some(remote) = registered.on(number) {
                rail.deregister(remote);
            }
        }
    }

    /// See [`Rma::rma_caps`]; puts and gets may have any length.
    pub fn rma_caps(&self, peer: Peer) -> RmaCaps {
        let caps = self.rails[0].rma_caps(peer);
        let max_len = if caps.put || caps.get { usize::MAX } else { 0 };
        RmaCaps { max_len, ..caps }
    }

    /// See [`Rma::put`].
    ///
    /// # Safety
    /// That of [`Rma::put`].
    ///
    /// # Errors
    /// See [`RmaError`].
    pub unsafe fn put(
        &mut self,
        op: OpId,
        peer: Peer,
        (from, len): (*const u8, usize),
        target: RemoteKeys,
    ) -> Result<Started, RmaError> {
        match self.cut(op, peer, Way::Put(from), len, target) {
            // SAFETY: as the caller promised.
            Ok(long) => unsafe { self.pieces.start(&mut self.rails, long) },
            // SAFETY: as the caller promised.
            Err((rail, target)) => unsafe { self.rails[rail].put(op, peer, from, len, target) },
        }
    }

    /// See [`Rma::get`].
    ///
    /// # Safety
    /// That of [`Rma::get`].
    ///
    /// # Errors
    /// See [`RmaError`].
    pub unsafe fn get(
        &mut self,
        op: OpId,
        peer: Peer,
        (into, len): (*mut u8, usize),
        target: RemoteKeys,
    ) -> Result<Started, RmaError> {
        match self.cut(op, peer, Way::Get(into), len, target) {
            // SAFETY: as the caller promised.
            Ok(long) => unsafe { self.pieces.start(&mut self.rails, long) },
            // SAFETY: as the caller promised.
            Err((rail, target)) => unsafe { self.rails[rail].get(op, peer, into, len, target) },
        }
    }

    /// How a put or get goes: in pieces, or as a whole over one rail.
    fn cut(
        &self,
        op: OpId,
        peer: Peer,
        way: Way,
        len: usize,
        target: RemoteKeys,
    ) -> Result<Long, (usize, RemoteKey)> {
        let shared = self.shared(peer);
        let caps = self.rails[0].rma_caps(peer);
        let has_several = shared > 1 && target.on(1).is_some();
        let best = if has_several { STRIPE } else { caps.piece };
        let piece = best.min(caps.max_len);
        if len > piece && piece > 0 {
            return Ok(Long {
                op,
                peer,
                way,
                len,
                target,
                piece,
                rails: shared,
            });
        }
        let pin = self.pin(peer);
        Err(match target.on(pin) {
            Some(remote) => (pin, remote),
            None => (0, target.first()),
        })
    }

    /// See [`Rma::atomic`]. All go over the first rail, so that they are atomic towards each other.
    ///
    /// # Errors
    /// See [`RmaError`].
    pub fn atomic(
        &mut self,
        op: OpId,
        peer: Peer,
        atomic: Atomic,
        target: RemoteKeys,
    ) -> Result<Started, RmaError> {
        self.rails[0].atomic(op, peer, atomic, target.first())
    }

    /// See [`Rma::flush`].
    ///
    /// # Errors
    /// See [`RmaError`].
    pub fn flush(&mut self, op: OpId, peer: Peer) -> Result<Started, RmaError> {
        let shared = self.shared(peer);
        self.pieces.flush(&mut self.rails, op, peer, shared)
    }

    /// Reads up to `len` bytes of a message into `into`; see
    /// [`Transport::try_get`].
    ///
    /// # Safety
    /// That of [`Transport::try_get`].
    ///
    /// # Errors
    /// [`PeerLost`] if the peer is gone.
    pub unsafe fn try_get(
        &mut self,
        peer: Peer,
        registered: RemoteKeys,
        into: *mut u8,
        len: usize,
    ) -> Result<RmaStatus, PeerLost> {
        let at = into as usize;
        let known = self
            .reads
            .iter()
            .position(|it| it.from == peer && it.at == at);
        let Some(known) = known else {
            if len <= STRIPE || registered.on(1).is_none() || self.shared(peer) == 1 {
                let pin = self.pin(peer);
                let (pin, remote) = match registered.on(pin) {
                    Some(remote) => (pin, remote),
                    None => (0, registered.first()),
                };
                // SAFETY: as the caller promised.
                return unsafe { self.rails[pin].try_get(peer, remote, into, len) };
            }
            self.reads.push(Read {
                from: peer,
                at,
                stripes: VecDeque::new(),
                failed: false,
                lost: None,
            });
            let last = self.reads.len() - 1;
            // SAFETY: as the caller promised.
            return unsafe { self.go_on(last, registered, into, len) };
        };
        // SAFETY: as the caller promised.
        unsafe { self.go_on(known, registered, into, len) }
    }

    /// Goes on with a read, of which `len` bytes are to go into `into`.
    ///
    /// # Safety
    /// As [`Transport::try_get`].
    unsafe fn go_on(
        &mut self,
        number: usize,
        registered: RemoteKeys,
        into: *mut u8,
        len: usize,
    ) -> Result<RmaStatus, PeerLost> {
        let Read { from, .. } = self.reads[number];
        let shared = self.shared(from);
        let read = &mut self.reads[number];
        let mut asked: usize = read.stripes.iter().map(|it| it.len).sum();
        while asked < len && !read.failed {
            let load = |rail: &usize| read.stripes.iter().filter(|it| it.rail == *rail).count();
            let usable = (0..shared).filter(|&rail| registered.on(rail).is_some());
            let Some(rail) = usable.min_by_key(load).filter(|rail| load(rail) < AHEAD) else {
                break;
            };
            let len = STRIPE.min(len - asked);
            read.stripes.push_back(Stripe {
                rail,
                len,
                got: 0,
                failed: false,
            });
            asked += len;
        }
        let mut offset = 0;
        for stripe in &mut read.stripes {
            let begin = offset + stripe.got;
            offset += stripe.len;
            if stripe.got == stripe.len || stripe.failed {
                continue;
            }
            let Some(remote) = registered.on(stripe.rail) else {
                continue;
            };
            let from_there = RemoteKey {
                addr: remote.addr.wrapping_add(begin as u64),
                ..remote
            };
            let (into, len) = (into.wrapping_add(begin), stripe.len - stripe.got);
            // SAFETY: within what the caller lends, and no other stripe's.
            match unsafe { self.rails[stripe.rail].try_get(from, from_there, into, len) } {
                Ok(RmaStatus::Bytes(n)) => stripe.got += n,
                Ok(RmaStatus::Full) => {}
                Ok(RmaStatus::Unable) => (stripe.failed, read.failed) = (true, true),
                Err(lost) => {
                    (stripe.failed, read.failed) = (true, true);
                    read.lost = Some(lost);
                }
            }
        }
        let mut told = 0;
        while let Some(stripe) = read.stripes.front_mut() {
            told += stripe.got;
            stripe.len -= stripe.got;
            stripe.got = 0;
            if stripe.len > 0 {
                break;
            }
            read.stripes.pop_front();
        }
        read.at += told;
        // What a rail writes stays lent until it has done so.
        let quiet = |it: &Stripe| it.failed || it.got == it.len;
        let over = read.stripes.is_empty() || read.failed && read.stripes.iter().all(quiet);
        let (failed, lost) = (read.failed, read.lost.clone());
        if told > 0 {
            if over && !failed {
                self.reads.swap_remove(number);
            }
            return Ok(RmaStatus::Bytes(told));
        }
        if !over {
            return Ok(RmaStatus::Full);
        }
        self.reads.swap_remove(number);
        lost.map_or(Ok(RmaStatus::Unable), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_base::PeerBytes;
    use catena_fabric::Place;
    use catena_ofi::{Ofi, OfiError, Wanted};

    /// Takes nothing.
    struct Nobody;

    impl Deliver for Nobody {
        fn deliver(&mut self, _: Peer, _: Header, _: PeerBytes<'_>) {}

        fn lost(&mut self, lost: PeerLost) {
            panic!("{lost:?}");
        }

        fn completed(&mut self, _: OpId, _: Result<u64, RmaError>) {}
    }

    /// A network over `rails` rails, from process `me` of two; `None`, and the test is
    /// skipped, without libfabric.
    fn network(me: u32, rails: usize) -> Option<Rails> {
        let place = Place {
            me: Peer(me),
            processes: 2,
            job: 7,
        };
        let wanted = Wanted {
            provider: Some("tcp".to_string()),
            domain: None,
        };
        let open = || match Ofi::open(place, &wanted, |names| (0..names.len()).collect()) {
            Err(error @ OfiError::Library(_)) => {
                catena_testing::skip("libfabric", &error);
                None
            }
            ofi => Some(Driver::Ofi(Box::new(ofi.expect("the provider tcp")))),
        };
        let drivers = (0..rails).map(|_| open()).collect::<Option<_>>()?;
        Some(Rails::new(drivers, 0, 2))
    }

    /// Two processes with these numbers of rails, joined.
    fn pair(ours: usize, theirs: usize) -> Option<(Rails, Rails)> {
        let (mut a, mut b) = (network(0, ours)?, network(1, theirs)?);
        let (at_a, at_b) = (a.ends().expect("ends"), b.ends().expect("ends"));
        a.connect(Peer(1), &at_b).expect("connected");
        b.connect(Peer(0), &at_a).expect("connected");
        Some((a, b))
    }

    /// Reads a message of 0's into 1's memory, at most `window` bytes at once;
    /// `None` if that cannot be done.
    fn read(
        a: &mut Rails,
        b: &mut Rails,
        registered: RemoteKeys,
        len: usize,
        window: usize,
    ) -> Option<Vec<u8>> {
        let (mut into, mut at) = (vec![0; len], 0);
        while at < len {
            a.poll(&mut Nobody);
            b.poll(&mut Nobody);
            let most = window.min(len - at);
            let to = into[at..].as_mut_ptr();
            // SAFETY: `most` bytes are left there, and stay.
            match unsafe { b.try_get(Peer(0), registered.at(at as u64), to, most) } {
                Ok(RmaStatus::Bytes(n)) => at += n,
                Ok(RmaStatus::Full) => {}
                Ok(RmaStatus::Unable) => return None,
                Err(lost) => panic!("{lost:?}"),
            }
        }
        Some(into)
    }

    #[test]
    fn long_messages_are_read_over_all_rails_that_both_have() {
        let message: Vec<u8> = (0..1_500_003u32)
            .map(|at| (at * 7 + (at >> 9)) as u8)
            .collect();
        for (ours, theirs) in [(1, 1), (2, 2), (3, 2), (1, 3)] {
            let Some((mut a, mut b)) = pair(ours, theirs) else {
                return;
            };
            let (at, len) = (message.as_ptr().cast_mut(), message.len() as u64);
            let registered = a.register(Peer(1), at, len).expect("it reads");
            for window in [1 << 19, usize::MAX] {
                let got = read(&mut a, &mut b, registered, message.len(), window);
                assert!(got.as_deref() == Some(&message[..]), "{ours} {theirs}");
            }
            let used = b.rails.iter().filter(|it| it.counters().reads > 0).count();
            assert_eq!(used, ours.min(theirs));
            assert!(b.reads.is_empty());
            a.deregister(registered);
            assert_eq!(
                read(&mut a, &mut b, registered, message.len(), 1 << 19),
                None
            );
            assert!(b.reads.is_empty());
        }
    }

    #[test]
    fn neighbours_pin_their_messages_to_different_rails() {
        let Some((a, mut next)) = pair(2, 2) else {
            return;
        };
        (next.local, next.shared) = (1, a.shared.clone());
        assert_ne!(a.pin(Peer(1)), next.pin(Peer(1)));
    }
}
