//! What drives one rail of a network, and the networks as a chain names them: whichever of the
//! [list](crate::list).

use std::net::SocketAddr;
use std::time::Duration;

use catena_fabric::{
    Access, Atomic, Buf, Caps, Deliver, Header, Load, LocalKey, Network as _, OpId, Opening,
    Payload, Peer, PeerLost, Posted, ProcessName, Rail, RailAddress, RailCounters, RemoteKey,
    Rendezvous, Rma, RmaCaps, RmaError, Sleeper, Started, Transport,
};
use catena_settings::Setting;

use crate::list::{each, each_arm, networks};

macro_rules! define {
    ({} $( $(#[$attr:meta])* { $kind:literal, $name:ident: $network:ty } )+) => {
        /// A network.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Network {
            $(
                #[doc = concat!("`", stringify!($network), "`.")]
                $(#[$attr])*
                $name($network),
            )+
        }

        /// The routes over one rail of a network.
        #[derive(Debug)]
        pub(crate) enum Driver {
            $( $(#[$attr])* $name(Box<<$network as catena_fabric::Network>::Rail>), )+
        }

        /// The number that entries of each network in address records have.
        const KINDS: &[u8] = &[$( $(#[$attr])* $kind, )+];

        impl Network {
            /// The words of the networks.
            pub const NAMES: &'static [&'static str] =
                &[$( $(#[$attr])* <$network as catena_fabric::Network>::NAME, )+];

            /// Reads what stands behind the word of a network and a colon; `None` if the word is
            /// that of none.
            pub(crate) fn named(word: &str, rest: Option<&str>) -> Option<Result<Network, String>> {
                $(
                    $(#[$attr])*
                    if word == <$network as catena_fabric::Network>::NAME {
                        return Some(<$network>::parse(rest).map(Network::$name));
                    }
                )+
                None
            }

            /// Reads a part of a chain whose first word names no transport, but is near to `near`;
            /// `None` if it means no network either.
            pub(crate) fn unnamed(part: &str, near: Option<&str>) -> Option<Result<Network,
                String>> {
                $(
                    $(#[$attr])*
                    if let Some(parsed) = <$network>::parse_unnamed(part, near) {
                        return Some(parsed.map(Network::$name));
                    }
                )+
                None
            }

            /// The networks of a chain that nobody has written.
            pub(crate) fn unasked() -> impl Iterator<Item = Network> {
                let all = [$( $(#[$attr])* <$network>::unasked().map(Network::$name), )+];
                all.into_iter().flatten()
            }

            /// The settings of all networks.
            pub(crate) fn settings() -> impl Iterator<Item = &'static dyn Setting> {
                let all = [$( $(#[$attr])* <$network>::settings(), )+];
                all.into_iter().flatten().copied()
            }

            /// Opens it with all its rails; see [`catena_fabric::Network::open`].
            ///
            /// # Errors
            /// What failed and what to do.
            pub(crate) fn open(&self, opening: &Opening<'_>) -> Result<Vec<Driver>, String> {
                match self {
                    $(
                        $(#[$attr])*
                        Network::$name(network) => {
                            let rails = network.open(opening)?.into_iter();
                            Ok(rails.map(|rail| Driver::$name(Box::new(rail))).collect())
                        }
                    )+
                }
            }
        }

        impl Driver {
            /// The number that the entries of its network in address records have.
            pub fn kind(&self) -> u8 {
                match self { $( $(#[$attr])* Driver::$name(_) => $kind, )+ }
            }
        }
    };
}

networks!(define);

/// Numbers of entries that are no networks, and the bit that marks further rails.
const _: () = {
    use crate::record::kind;
    let mut at = 0;
    while at < KINDS.len() {
        assert!(KINDS[at] > kind::SHM && KINDS[at] < kind::RAIL);
        assert!(KINDS[at] != kind::ADDRESS && KINDS[at] != kind::SUM);
        let mut other = 0;
        while other < at {
            assert!(KINDS[at] != KINDS[other], "two networks have one number");
            other += 1;
        }
        at += 1;
    }
};

/// See [`Rail::ADDS_PEERS`].
fn adds_peers<R: Rail>(_: &R) -> bool {
    R::ADDS_PEERS
}

/// See [`Rail::PROBE_PORT`].
fn has_probe_port<R: Rail>(_: &R) -> bool {
    R::PROBE_PORT
}

impl Driver {
    /// Whether the addresses of its ends begin with that of a probe port: see [`Rail::PROBE_PORT`].
    pub fn has_probe_port(&self) -> bool {
        each!(self, Driver, t => has_probe_port(&**t))
    }

    /// Whether processes of other jobs can be added: see [`Rail::ADDS_PEERS`].
    pub fn adds_peers(&self) -> bool {
        each!(self, Driver, t => adds_peers(&**t))
    }

    pub fn add_peer(&mut self, peer: Peer, name: ProcessName) -> Result<(), String> {
        each!(self, Driver, t => Rail::add_peer(&mut **t, peer, name))
    }

    pub fn callers(&self) -> Vec<ProcessName> {
        each!(self, Driver, t => Rail::callers(&**t))
    }

    pub fn add_caller(&mut self, peer: Peer, name: ProcessName) -> Result<(), String> {
        each!(self, Driver, t => Rail::add_caller(&mut **t, peer, name))
    }

    pub fn remove_peer(&mut self, peer: Peer) -> Result<(), String> {
        each!(self, Driver, t => Rail::remove_peer(&mut **t, peer))
    }

    pub fn has_let_go(&self, peer: Peer) -> bool {
        each!(self, Driver, t => Rail::has_let_go(&**t, peer))
    }

    pub fn address(&self) -> Result<RailAddress, String> {
        each!(self, Driver, t => Rail::address(&**t))
    }

    pub fn connect(&mut self, peer: Peer, address: &[u8]) -> Result<(), String> {
        each!(self, Driver, t => Rail::connect(&mut **t, peer, address))
    }

    pub fn protocol_name(&self, protocol: u64) -> String {
        each!(self, Driver, t => Rail::protocol_name(&**t, protocol))
    }

    pub fn about(&self) -> String {
        each!(self, Driver, t => Rail::about(&**t))
    }

    pub fn way(&self, peer: Peer) -> Option<String> {
        each!(self, Driver, t => Rail::way(&**t, peer))
    }

    pub fn watches(&self, peer: Peer) -> bool {
        each!(self, Driver, t => Rail::watches(&**t, peer))
    }

    pub fn is_joined(&self, peer: Peer) -> bool {
        each!(self, Driver, t => Rail::is_joined(&**t, peer))
    }

    pub fn listens_at(&self, address: &[u8]) -> Option<SocketAddr> {
        each!(self, Driver, t => Rail::listens_at(&**t, address))
    }

    pub fn needs_probe_port(&self) -> bool {
        each!(self, Driver, t => Rail::needs_probe_port(&**t))
    }

    pub fn may_use(&self, device: &str) -> bool {
        each!(self, Driver, t => Rail::may_use(&**t, device))
    }

    pub fn mark_lost(&mut self, peer: Peer, cause: String) {
        each!(self, Driver, t => Rail::mark_lost(&mut **t, peer, cause));
    }

    pub fn sleeper(&mut self) -> Option<Sleeper> {
        each!(self, Driver, t => Rail::sleeper(&mut **t))
    }

    pub fn is_quiet(&mut self) -> bool {
        each!(self, Driver, t => Rail::is_quiet(&mut **t))
    }

    pub fn tells_arrival(&self) -> bool {
        each!(self, Driver, t => Rail::tells_arrival(&**t))
    }

    pub fn counters(&self) -> RailCounters {
        each!(self, Driver, t => Rail::counters(&**t))
    }
}

impl Transport for Driver {
    fn name(&self) -> &'static str {
        each!(self, Driver, t => t.name())
    }

    #[inline]
    fn caps(&self, peer: Peer) -> Caps {
        each!(self, Driver, t => t.caps(peer))
    }

    #[inline]
    fn try_send<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        each!(self, Driver, t => t.try_send(peer, header, payload))
    }

    #[inline]
    fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        each!(self, Driver, t => t.poll(deliver))
    }

    fn rendezvous(&self, peer: Peer, len: u64, load: Load) -> Rendezvous {
        each!(self, Driver, t => t.rendezvous(peer, len, load))
    }

    fn register(&mut self, peer: Option<Peer>, buf: Buf, access: Access) -> Option<RemoteKey> {
        each!(self, Driver, t => t.register(peer, buf, access))
    }

    fn deregister(&mut self, remote: RemoteKey) {
        each!(self, Driver, t => t.deregister(remote))
    }

    fn register_local(&mut self, buf: Buf) -> Option<LocalKey> {
        each!(self, Driver, t => t.register_local(buf))
    }

    fn deregister_local(&mut self, key: LocalKey) {
        each!(self, Driver, t => t.deregister_local(key))
    }

    fn sleep(&mut self, limit: Duration) {
        each!(self, Driver, t => t.sleep(limit))
    }
}

impl Rma for Driver {
    fn rma_caps(&self, peer: Peer) -> RmaCaps {
        each!(self, Driver, t => t.rma_caps(peer))
    }

    unsafe fn put(
        &mut self,
        op: OpId,
        peer: Peer,
        from: Buf,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        // SAFETY: as the caller promised.
        each!(self, Driver, t => unsafe { t.put(op, peer, from, target) })
    }

    unsafe fn get(
        &mut self,
        op: OpId,
        peer: Peer,
        into: Buf,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        // SAFETY: as the caller promised.
        each!(self, Driver, t => unsafe { t.get(op, peer, into, target) })
    }

    fn atomic(
        &mut self,
        op: OpId,
        peer: Peer,
        atomic: Atomic,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        each!(self, Driver, t => t.atomic(op, peer, atomic, target))
    }

    fn flush(&mut self, op: OpId, peer: Peer) -> Result<Started, RmaError> {
        each!(self, Driver, t => t.flush(op, peer))
    }
}
