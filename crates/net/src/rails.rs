//! A network and its rails: domains, for example interfaces, that lead to the
//! same processes.
//!
//! What is sent to a peer leaves over one rail, its **pin**; only streams of
//! long messages take all in turn. What is read from a peer or written to it is cut into
//! stripes, which all rails move at the same time. The ends pair their rails by number; the end
//! with fewer rails has the say.

use catena_fabric::{
    Access, Atomic, Buf, Caps, Deliver, Header, Load, OpId, Payload, Peer, PeerLost, Posted,
    ProcessName, RailAddress, RailCounters, RemoteKey, Rendezvous, Rma, RmaCaps, RmaError, Sleeper,
    Started, Transport,
};
use catena_link::{RAILS, RemoteKeys};
use catena_tcp::{LivenessProbes, ProbePort};

use crate::driver::Driver;
use crate::pieces::{Long, Pieces, RmaOp};
use crate::record::End;

/// Bytes of a stripe.
const STRIPE: usize = 128 << 10;

/// A network.
#[derive(Debug)]
pub struct Rails {
    /// At least one, at most [`RAILS`].
    rails: Vec<Driver>,
    /// That of each rail which needs one, and has got it.
    probe_ports: Vec<Option<ProbePort>>,
    /// Number of this process on its node: neighbours pin differently.
    local: usize,
    /// How many rails lead to each peer, by rank in the world.
    shared: Vec<u8>,
    /// The rail of the next packet of a stream.
    turn: usize,
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
        let port = |rail: &Driver| match rail.needs_probe_port() {
            true => ProbePort::open().ok(),
            false => None,
        };
        Rails {
            probe_ports: rails.iter().map(port).collect(),
            rails,
            local,
            shared: vec![1; processes as usize],
            turn: 0,
            pieces: Pieces::default(),
            probes: LivenessProbes::new(catena_tcp::Config::from_settings()),
        }
    }

    /// How others reach this process over each of them.
    ///
    /// # Errors
    /// What failed and what to do.
    pub fn ends(&self) -> Result<Vec<End>, String> {
        let pairs = self.rails.iter().zip(&self.probe_ports);
        pairs
            .map(|(rail, port)| end_of(rail, port.as_ref()))
            .collect()
    }

    /// Name of what an end speaks, if it is one of this network.
    pub fn protocol_name(&self, end: &End) -> Option<String> {
        let rail = &self.rails[0];
        (rail.kind() == end.kind).then(|| rail.protocol_name(end.protocol))
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

    /// Whether processes of other jobs can be added.
    pub fn adds_peers(&self) -> bool {
        self.rails.iter().all(Driver::adds_peers)
    }

    /// Adds a process of another job; see [`Rail::add_peer`](catena_fabric::Rail::add_peer).
    ///
    /// # Errors
    /// As [`Rail::add_peer`](catena_fabric::Rail::add_peer).
    pub fn add_peer(&mut self, peer: Peer, name: ProcessName) -> Result<(), String> {
        self.make_room(peer);
        let mut rails = self.rails.iter_mut();
        rails.try_for_each(|rail| rail.add_peer(peer, name))
    }

    /// Adds one that has called; see [`Rail::add_caller`](catena_fabric::Rail::add_caller).
    ///
    /// # Errors
    /// As [`Rail::add_caller`](catena_fabric::Rail::add_caller).
    pub fn add_caller(&mut self, peer: Peer, name: ProcessName) -> Result<(), String> {
        self.make_room(peer);
        let mut rails = self.rails.iter_mut();
        rails.try_for_each(|rail| rail.add_caller(peer, name))
    }

    fn make_room(&mut self, peer: Peer) {
        let numbers = self.shared.len().max(peer.0 as usize + 1);
        self.shared.resize(numbers, 1);
    }

    /// The processes that wait to be added; see [`Rail::callers`](catena_fabric::Rail::callers).
    pub fn callers(&self) -> impl Iterator<Item = ProcessName> + '_ {
        self.rails.iter().flat_map(Driver::callers)
    }

    /// Removes a process of another job; see
    /// [`Rail::remove_peer`](catena_fabric::Rail::remove_peer).
    pub fn remove_peer(&mut self, peer: Peer) {
        for rail in &mut self.rails {
            // One that did not take it in when it was added has nothing to remove.
            let _ = rail.remove_peer(peer);
        }
        if let Some(shared) = self.shared.get_mut(peer.0 as usize) {
            *shared = 1;
        }
        self.probes.forget(peer);
    }

    /// Whether nothing is under way any more to a process that was removed.
    pub fn has_let_go(&self, peer: Peer) -> bool {
        self.pieces.is_idle(peer) && self.rails.iter().all(|it| it.has_let_go(peer))
    }

    /// Learns how a peer is reached; until then its route is full.
    ///
    /// # Errors
    /// If an address is of no use here.
    pub fn connect(&mut self, peer: Peer, ends: &[End]) -> Result<(), String> {
        let pairs = self.rails.iter_mut().zip(ends);
        self.shared[peer.0 as usize] = pairs.len() as u8;
        for (rail, end) in pairs {
            let (port, address) = match rail.has_probe_port() {
                true => halves(&end.address).ok_or("its address is damaged")?,
                false => (&[][..], &end.address[..]),
            };
            let at: Vec<_> = match rail.has_probe_port() {
                true => ProbePort::at(port),
                false => rail.listens_at(address).into_iter().collect(),
            };
            if !at.is_empty() {
                self.probes.learn(peer, at);
            }
            rail.connect(peer, address)?;
        }
        Ok(())
    }

    /// Looks after a peer: whether its loss is noticed although nothing is sent to
    /// it.
    ///
    /// # Errors
    /// [`PeerLost`] if it is lost.
    pub fn watch(&mut self, peer: Peer) -> Result<bool, PeerLost> {
        match self.probes.look(peer) {
            Ok(tells) => Ok(tells || self.rails[self.pin(peer)].watches(peer)),
            Err(cause) => {
                self.mark_lost(peer, &cause);
                Err(PeerLost { peer, cause })
            }
        }
    }

    /// Whether the loss of a peer is noticed although nothing is sent to it, as a connection leads
    /// there; over the rail of short messages.
    pub fn watches(&self, peer: Peer) -> bool {
        self.rails[self.pin(peer)].watches(peer)
    }

    /// Whether a peer that was looked after has closed its end since: nobody listens there any
    /// more, be it that it has ended or died. False where that cannot be told.
    pub fn has_closed(&self, peer: Peer) -> bool {
        // At a probe port nobody ever listens.
        !self.rails[0].has_probe_port() && self.probes.is_refused(peer)
    }

    /// See [`Rail::is_joined`](catena_fabric::Rail::is_joined); over the rail of short messages.
    pub fn is_joined(&self, peer: Peer) -> bool {
        self.rails[self.pin(peer)].is_joined(peer)
    }

    /// Declares a peer dead on all rails.
    pub fn mark_lost(&mut self, peer: Peer, cause: &str) {
        for rail in &mut self.rails {
            rail.mark_lost(peer, cause.to_owned());
        }
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

    /// Whether nothing of what was posted is left here; see
    /// [`Rail::is_quiet`](catena_fabric::Rail::is_quiet).
    pub fn is_quiet(&mut self) -> bool {
        let quiet = self.rails.iter_mut().map(Driver::is_quiet);
        quiet.fold(!self.pieces.waits(), |all, one| all && one)
    }

    /// See [`Rail::tells_arrival`](catena_fabric::Rail::tells_arrival).
    pub fn tells_arrival(&self) -> bool {
        self.rails.iter().all(Driver::tells_arrival)
    }

    /// What happened so far.
    pub fn counters(&self) -> RailCounters {
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

    /// Describes memory for a peer, on every rail that leads to it.
    pub fn register(&mut self, peer: Peer, buf: Buf) -> Option<RemoteKeys> {
        let shared = self.shared(peer);
        self.register_on(shared, Some(peer), buf, Access::READ)
    }

    /// Registers memory for every peer, on all rails; see [`Transport::register`].
    pub fn register_for_all(&mut self, buf: Buf, access: Access) -> Option<RemoteKeys> {
        self.register_on(self.rails.len(), None, buf, access)
    }

    /// Registers memory on the first rail, and on as many of the first `count` as have it under the
    /// same address.
    fn register_on(
        &mut self,
        count: usize,
        peer: Option<Peer>,
        buf: Buf,
        access: Access,
    ) -> Option<RemoteKeys> {
        let mut registered = RemoteKeys::from(self.rails[0].register(peer, buf, access)?);
        for (rail, key) in self.rails[1..count].iter_mut().zip(&mut registered.more) {
            match rail.register(peer, buf, access) {
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
        from: Buf,
        target: RemoteKeys,
    ) -> Result<Started, RmaError> {
        match self.cut(op, peer, RmaOp::Put, from, target) {
            // SAFETY: as the caller promised.
            Ok(long) => unsafe { self.pieces.start(&mut self.rails, long) },
            // SAFETY: as the caller promised.
            Err((rail, target)) => unsafe { self.rails[rail].put(op, peer, from, target) },
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
        into: Buf,
        target: RemoteKeys,
    ) -> Result<Started, RmaError> {
        match self.cut(op, peer, RmaOp::Get, into, target) {
            // SAFETY: as the caller promised.
            Ok(long) => unsafe { self.pieces.start(&mut self.rails, long) },
            // SAFETY: as the caller promised.
            Err((rail, target)) => unsafe { self.rails[rail].get(op, peer, into, target) },
        }
    }

    /// How a put or get goes: in pieces, or as a whole over one rail.
    fn cut(
        &self,
        op: OpId,
        peer: Peer,
        way: RmaOp,
        buf: Buf,
        target: RemoteKeys,
    ) -> Result<Long, (usize, RemoteKey)> {
        let shared = self.shared(peer);
        let caps = self.rails[0].rma_caps(peer);
        let has_several = shared > 1 && target.on(1).is_some();
        let best = if has_several { STRIPE } else { caps.piece };
        let piece = best.min(caps.max_len);
        if buf.len > piece && piece > 0 {
            return Ok(Long {
                op,
                peer,
                way,
                buf,
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
}

/// How others reach this process over a rail, and whether its host lives by a probe port.
fn end_of(rail: &Driver, port: Option<&ProbePort>) -> Result<End, String> {
    let RailAddress { protocol, bytes } = rail.address()?;
    let address = match rail.has_probe_port() {
        false => bytes,
        true => {
            let port = port.map(|it| it.address(|name| rail.may_use(name)));
            let port = port.unwrap_or_default();
            [&[port.len() as u8], &port[..], &bytes].concat()
        }
    };
    Ok(End {
        kind: rail.kind(),
        protocol,
        address,
    })
}

/// The two halves of the address of an end that has a probe port: where that is, and the rest.
fn halves(address: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&len, rest) = address.split_first()?;
    rest.split_at_checked(len.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_fabric::LocalPeer;
    use catena_fabric_tests::{Inbox, until};
    use catena_ofi::{Ofi, OfiError, Wanted};

    /// A network over `rails` rails, from process `me` of two; `None`, and the test is
    /// skipped, without libfabric.
    fn network(me: u32, rails: usize) -> Option<Rails> {
        let place = LocalPeer {
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

    /// Reads a message of 0's into 1's memory; `None` if that cannot be done.
    fn read(a: &mut Rails, b: &mut Rails, registered: RemoteKeys, len: usize) -> Option<Vec<u8>> {
        let (mut into, mut inbox) = (vec![0; len], Inbox::default());
        let to = Buf::from(&mut *into);
        let mut started = Ok(Started::Full);
        until(|| {
            a.poll(&mut Inbox::default());
            b.poll(&mut inbox);
            // SAFETY: the room stays until the read has ended.
            started = unsafe { b.get(OpId(1), Peer(0), to, registered) };
            started != Ok(Started::Full)
        });
        if started.ok()? == Started::UnderWay {
            until(|| {
                a.poll(&mut Inbox::default());
                b.poll(&mut inbox);
                !inbox.completed.is_empty()
            });
            inbox.completed.remove(0).1.ok()?;
        }
        assert!(b.pieces.is_empty() && inbox.completed.is_empty());
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
            let registered = a.register(Peer(1), Buf::from(&*message));
            let registered = registered.expect("it reads");
            // A rail takes part as soon as it is connected.
            until(|| {
                let got = read(&mut a, &mut b, registered, message.len());
                assert!(got.as_deref() == Some(&message[..]), "{ours} {theirs}");
                let used = b.rails.iter().filter(|it| it.counters().reads > 0);
                used.count() == ours.min(theirs)
            });
            a.deregister(registered);
            assert_eq!(read(&mut a, &mut b, registered, message.len()), None);
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
