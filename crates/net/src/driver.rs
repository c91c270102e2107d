//! What drives one rail of a network. A library that does is added here: one variant,
//! and one line in `each`.

use std::net::SocketAddr;
use std::time::Duration;

use catena_fabric::endpoint;
use catena_fabric::{
    Access, Atomic, Caps, Deliver, Header, Load, OpId, Payload, Peer, PeerLost, Place, Posted,
    RemoteKey, Rendezvous, Rma, RmaCaps, RmaError, Sleeper, Started, Transport,
};
use catena_ofi::{Ofi, Wanted};
use catena_proof::Secret;
use catena_tcp::{ProbePort, Tcp};
use catena_ucx::Ucx;

use crate::chain::Network;
use crate::device_order::DeviceOrder;
use crate::record::{End, kind};

/// Where Linux shows devices that do more than TCP.
const DEVICES: [&str; 2] = ["/sys/class/infiniband", "/sys/class/cxi"];

fn has_entries(folder: &str) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

/// What happened in a network so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets sent.
    pub packets: u64,
    /// Those of them that left together with others.
    pub together: u64,
    /// Sends that found no room.
    pub full: u64,
    /// Remote reads.
    pub reads: u64,
    /// What arrived and is no packet of this job.
    pub strays: u64,
}

impl From<endpoint::Counters> for Counters {
    fn from(of: endpoint::Counters) -> Counters {
        Counters {
            packets: of.sent,
            together: of.held,
            full: of.full,
            reads: of.reads,
            strays: of.strays,
        }
    }
}

impl std::iter::Sum for Counters {
    fn sum<I: Iterator<Item = Counters>>(all: I) -> Counters {
        all.fold(Counters::default(), |sum, one| Counters {
            packets: sum.packets + one.packets,
            together: sum.together + one.together,
            full: sum.full + one.full,
            reads: sum.reads + one.reads,
            strays: sum.strays + one.strays,
        })
    }
}

/// The routes over one rail of a network.
#[derive(Debug)]
pub enum Driver {
    /// Through libfabric.
    Ofi(Box<Ofi>),
    /// Over TCP, without a library.
    Tcp(Box<Tcp>),
    /// Through UCX, which does not notice that a host is gone while something is
    /// under way to it over TCP: there the process has a probe port.
    Ucx(Box<Ucx>, Option<ProbePort>),
}

/// Evaluates `$call` with the transport `$t` of whichever variant it is.
macro_rules! each {
    ($driver:expr, $t:ident => $call:expr) => {
        match $driver {
            Driver::Ofi($t) => $call,
            Driver::Tcp($t) => $call,
            Driver::Ucx($t, _) => $call,
        }
    };
}

/// The two halves of an end of UCX: where its probe port is, and the address of the
/// worker.
fn halves(end: &End) -> Option<(&[u8], &[u8])> {
    let (&len, rest) = end.address.split_first()?;
    rest.split_at_checked(len.into())
}

impl Driver {
    /// Opens a network with all its rails, where nothing else is said through what
    /// is near; none if it need not be there and is not. `secret` is that of the job:
    /// libraries have no use for it.
    ///
    /// # Errors
    /// What failed and what to do.
    pub fn open(
        network: &Network,
        place: Place,
        secret: Option<&Secret>,
        devices: &DeviceOrder,
    ) -> Result<Vec<Driver>, String> {
        let order = |names: &[&str]| devices.order(names);
        match network {
            Network::Ofi(ofi) => ofi
                .rails()
                .map(|rail| Ofi::open(place, &rail, order))
                .map(|opened| opened.map(|ofi| Driver::Ofi(Box::new(ofi))))
                .collect::<Result<_, _>>()
                .map_err(|error| error.to_string()),
            Network::Fast => {
                let has = DEVICES.iter().any(|folder| has_entries(folder));
                let ofi = has.then(|| Ofi::open(place, &Wanted::default(), order).ok());
                let fast = ofi.flatten().filter(|ofi| !ofi.is_plain());
                Ok(fast
                    .map(|ofi| Driver::Ofi(Box::new(ofi)))
                    .into_iter()
                    .collect())
            }
            Network::Tcp(tcp) => {
                let config = catena_tcp::Config::from_settings();
                tcp.rails()
                    .map(|rail| Tcp::open(place, secret.cloned(), rail, order, config))
                    .map(|opened| opened.map(|tcp| Driver::Tcp(Box::new(tcp))))
                    .collect::<Result<_, _>>()
                    .map_err(|error| error.to_string())
            }
            // UCX makes rails of its own of the devices that it is given, and knows
            // itself which are near.
            Network::Ucx(wanted) => {
                let ucx = Ucx::open(place, wanted).map_err(|error| error.to_string())?;
                let port = ucx.is_plain().then(|| ProbePort::open().ok()).flatten();
                Ok(vec![Driver::Ucx(Box::new(ucx), port)])
            }
        }
    }

    /// How others reach this process over it.
    ///
    /// # Errors
    /// What failed and what to do.
    pub fn end(&self) -> Result<End, String> {
        match self {
            Driver::Ofi(ofi) => {
                let (protocol, version) = ofi.protocol();
                Ok(End {
                    kind: kind::OFI,
                    protocol: u64::from(protocol) << 32 | u64::from(version),
                    address: ofi.address().map_err(|error| error.to_string())?,
                })
            }
            Driver::Tcp(tcp) => Ok(End {
                kind: kind::TCP,
                protocol: tcp.protocol(),
                address: tcp.address().map_err(|error| error.to_string())?,
            }),
            Driver::Ucx(ucx, port) => {
                // Versions of UCX do not understand each other.
                let (major, minor, _) = ucx.version();
                let port = port.as_ref().map(|it| it.address(|name| ucx.may_use(name)));
                let port = port.unwrap_or_default();
                let address = ucx.address().map_err(|error| error.to_string())?;
                Ok(End {
                    kind: kind::UCX,
                    protocol: u64::from(major) << 32 | u64::from(minor),
                    address: [&[port.len() as u8], &port[..], &address].concat(),
                })
            }
        }
    }

    /// Name of what an end speaks, of which this driver knows the kind.
    pub fn protocol_name(&self, end: &End) -> Option<String> {
        match (self, end.kind) {
            (Driver::Ofi(ofi), kind::OFI) => {
                let name = ofi.protocol_name((end.protocol >> 32) as u32);
                Some(format!("{name} {}", end.protocol as u32))
            }
            (Driver::Tcp(_), kind::TCP) => Some("TCP".to_string()),
            (Driver::Ucx(..), kind::UCX) => {
                let (major, minor) = (end.protocol >> 32, end.protocol as u32);
                Some(format!("UCX {major}.{minor}"))
            }
            _ => None,
        }
    }

    /// What it is and what it goes through, in words.
    pub fn about(&self) -> String {
        match self {
            Driver::Ofi(ofi) => format!("ofi:{} through {}", ofi.provider(), ofi.domain()),
            Driver::Tcp(tcp) => format!("tcp through {}", tcp.about()),
            Driver::Ucx(ucx, _) => {
                let (major, minor, release) = ucx.version();
                format!("ucx {major}.{minor}.{release} through what it finds")
            }
        }
    }

    /// How it reaches a peer, in words; `None` before it does.
    pub fn way(&self, peer: Peer) -> Option<String> {
        match self {
            Driver::Tcp(tcp) => tcp.way(peer).map(|way| format!("tcp at {way}")),
            Driver::Ofi(_) | Driver::Ucx(..) => Some(self.about()),
        }
    }

    /// Learns how a peer is reached; until then its route is full.
    ///
    /// # Errors
    /// If the address is of no use here.
    pub fn connect(&mut self, peer: Peer, end: &End) -> Result<(), String> {
        match self {
            Driver::Ofi(ofi) => ofi
                .connect(peer, &end.address)
                .map_err(|error| error.to_string()),
            Driver::Tcp(tcp) => tcp
                .connect(peer, &end.address)
                .map_err(|error| error.to_string()),
            Driver::Ucx(ucx, _) => {
                let (_, address) = halves(end).ok_or("its address is damaged")?;
                ucx.connect(peer, address);
                Ok(())
            }
        }
    }

    /// Whether the loss of a peer is noticed although nothing is sent to it.
    pub fn watches(&self, peer: Peer) -> bool {
        match self {
            Driver::Tcp(tcp) => tcp.watches(peer),
            Driver::Ucx(ucx, _) => ucx.watches(peer),
            // Few providers do.
            Driver::Ofi(_) => false,
        }
    }

    /// Whether a peer that this process has talked with can be told something without making a connection first, as
    /// far as that is known.
    pub fn is_joined(&self, peer: Peer) -> bool {
        match self {
            Driver::Tcp(tcp) => tcp.watches(peer),
            Driver::Ofi(_) | Driver::Ucx(..) => true,
        }
    }

    /// Where the kernel of a peer's host answers, if that says whether the host lives,
    /// and this network does not.
    pub fn probe_addresses(&self, end: &End) -> Vec<SocketAddr> {
        match self {
            Driver::Ofi(ofi) => ofi.listens_at(&end.address).into_iter().collect(),
            Driver::Ucx(..) => halves(end).map_or(Vec::new(), |(port, _)| ProbePort::at(port)),
            Driver::Tcp(_) => Vec::new(),
        }
    }

    /// Whether it is a peer itself that listens at [`Driver::probe_addresses`], not its host alone that answers there.
    pub fn listens_where_probed(&self) -> bool {
        matches!(self, Driver::Ofi(_))
    }

    /// A peer is lost: sends to it fail.
    pub fn mark_lost(&mut self, peer: Peer, cause: String) {
        each!(self, t => t.mark_lost(peer, cause));
    }

    /// What a process with nothing to do may sleep on, or `None` if there may
    /// be something to do.
    pub fn sleeper(&mut self) -> Option<Sleeper> {
        match self {
            Driver::Ofi(ofi) => ofi.sleeper(),
            Driver::Tcp(tcp) => Some(tcp.sleeper()),
            Driver::Ucx(ucx, _) => ucx.sleeper(),
        }
    }

    /// Whether nothing of what was posted is left here: it has arrived where [`Driver::tells_arrival`], else the
    /// library has handed it on. To be asked again after a poll.
    pub fn is_quiet(&mut self) -> bool {
        match self {
            Driver::Tcp(tcp) => !tcp.keeps(),
            Driver::Ofi(ofi) => ofi.is_quiet(),
            Driver::Ucx(ucx, _) => ucx.is_quiet(),
        }
    }

    /// Whether it is known here what has arrived. Libraries say at best that it has left.
    pub fn tells_arrival(&self) -> bool {
        matches!(self, Driver::Tcp(_))
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        match self {
            Driver::Ofi(ofi) => ofi.counters().into(),
            Driver::Tcp(tcp) => {
                let c = tcp.counters();
                Counters {
                    packets: c.sent,
                    together: c.held + c.waited,
                    full: c.full,
                    reads: 0,
                    strays: c.strays,
                }
            }
            Driver::Ucx(ucx, _) => ucx.counters().into(),
        }
    }
}

impl Transport for Driver {
    fn name(&self) -> &'static str {
        each!(self, t => t.name())
    }

    #[inline]
    fn caps(&self, peer: Peer) -> Caps {
        each!(self, t => t.caps(peer))
    }

    #[inline]
    fn try_send<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        each!(self, t => t.try_send(peer, header, payload))
    }

    #[inline]
    fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        each!(self, t => t.poll(deliver))
    }

    fn rendezvous(&self, peer: Peer, len: u64, load: Load) -> Rendezvous {
        each!(self, t => t.rendezvous(peer, len, load))
    }

    fn register(
        &mut self,
        peer: Option<Peer>,
        addr: *mut u8,
        len: u64,
        access: Access,
    ) -> Option<RemoteKey> {
        each!(self, t => t.register(peer, addr, len, access))
    }

    fn deregister(&mut self, remote: RemoteKey) {
        each!(self, t => t.deregister(remote))
    }

    fn sleep(&mut self, limit: Duration) {
        each!(self, t => t.sleep(limit))
    }
}

impl Rma for Driver {
    fn rma_caps(&self, peer: Peer) -> RmaCaps {
        each!(self, t => t.rma_caps(peer))
    }

    unsafe fn put(
        &mut self,
        op: OpId,
        peer: Peer,
        from: *const u8,
        len: usize,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        // SAFETY: as the caller promised.
        each!(self, t => unsafe { t.put(op, peer, from, len, target) })
    }

    unsafe fn get(
        &mut self,
        op: OpId,
        peer: Peer,
        into: *mut u8,
        len: usize,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        // SAFETY: as the caller promised.
        each!(self, t => unsafe { t.get(op, peer, into, len, target) })
    }

    fn atomic(
        &mut self,
        op: OpId,
        peer: Peer,
        atomic: Atomic,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        each!(self, t => t.atomic(op, peer, atomic, target))
    }

    fn flush(&mut self, op: OpId, peer: Peer) -> Result<Started, RmaError> {
        each!(self, t => t.flush(op, peer))
    }
}
