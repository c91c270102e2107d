//! Opening and wiring up; the transport itself.

use std::net::TcpListener;
use std::time::Duration;

use catena_fabric::endpoint::Losses;
use catena_fabric::{
    Access, Buf, Caps, Deliver, Header, Kinds, LONGEST_SLEEP, Load, LocalPeer, Members, Payload,
    Peer, PeerLost, Posted, RemoteKey, Rendezvous, Rma, Transport,
};

use catena_proof::Secret;

use crate::addr::{self, Interface, Interfaces};
use crate::callers::{Departing, Guests, Unmet};
use crate::error::TcpError;
use crate::frame::HEAD;
use crate::greeting::MAGIC;
use crate::link::Link;
use crate::room::Rooms;
use crate::settings::Config;
use crate::socket::{LISTENERS, Watch, listen};
use crate::target::Target;

/// Bytes taken from the kernel at once, about.
const ROOM: usize = 128 << 10;

/// What is used, and what is not.
fn words(used: impl Iterator<Item = String>, passed: impl Iterator<Item = String>) -> String {
    let list = |all: Vec<String>| all.join(", ");
    let (used, passed) = (list(used.collect()), list(passed.collect()));
    match passed.is_empty() {
        true => used,
        false => format!("{used}; passed over: {passed}"),
    }
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets sent.
    pub sent: u64,
    /// Packets sent that the kernel was to keep for others that follow.
    pub held: u64,
    /// Frames that waited, wholly or in part, until the kernel took more.
    pub waited: u64,
    /// Sends that found no room or no connection.
    pub full: u64,
    /// Packets delivered.
    pub received: u64,
    /// Callers that were sent away: strangers, and those that did not prove in time
    /// that they belong to the job.
    pub strays: u64,
    /// Times this process was about to sleep on the network.
    pub sleeps: u64,
}

/// The routes from one process to all processes of its job over TCP, and to those that are added.
///
/// Methods that take a `Peer` panic if that process is not known.
#[derive(Debug)]
pub struct Tcp {
    pub(crate) members: Members,
    pub(crate) secret: Secret,
    pub(crate) config: Config,
    pub(crate) interfaces: Vec<Interface>,
    /// Interfaces that are of no use, and why.
    passed: Vec<(String, &'static str)>,
    /// Name of the interface that was asked for.
    wanted: Option<String>,
    /// One for each address that others are told, all at one port.
    pub(crate) listeners: Vec<TcpListener>,
    pub(crate) watch: Watch,
    /// By peer.
    pub(crate) peers: Vec<Target>,
    pub(crate) links: Vec<Option<Link>>,
    /// Places of no link.
    pub(crate) free: Vec<usize>,
    /// Callers that have not proven yet that they belong to the job.
    pub(crate) guests: Guests,
    /// Callers that have, and were not added yet.
    pub(crate) unmet: Vec<Unmet>,
    /// Connections to those that were removed.
    pub(crate) departing: Vec<Departing>,
    /// Connections over which packets go; and those that this process makes, that
    /// the kernel keeps packets of, that have something to send.
    pub(crate) open: Vec<usize>,
    pub(crate) young: Vec<usize>,
    pub(crate) held: Vec<usize>,
    pub(crate) waiting: Vec<usize>,
    /// Peers that are to be called again.
    pub(crate) again: Vec<Peer>,
    /// Connections whose other ends send nothing more, and still read.
    pub(crate) halves: Vec<usize>,
    /// Peers that have closed their connection and do not count as lost yet.
    pub(crate) closed: Vec<Peer>,
    /// The peers that are gone.
    pub(crate) losses: Losses,
    /// Polls so far.
    pub(crate) turn: u64,
    /// The next poll looks at all sockets.
    pub(crate) look_next: bool,
    /// When one did so last, in ticks.
    pub(crate) looked: u64,
    /// When connections were last asked whether their other ends answer, in ticks.
    pub(crate) judged: u64,
    pub(crate) rooms: Rooms,
    pub(crate) counters: Counters,
}

impl Tcp {
    /// Opens a port, to be reached through all interfaces or the named one, by
    /// processes that know `secret`. Of interfaces that are as good as each other,
    /// others are to reach this process first through those that `order` names first,
    /// by their indices.
    ///
    /// # Errors
    /// See [`TcpError`].
    pub fn open(
        place: LocalPeer,
        secret: Option<Secret>,
        interface: Option<&str>,
        order: impl Fn(&[&str]) -> Vec<usize>,
        config: Config,
    ) -> Result<Tcp, TcpError> {
        let secret = secret.ok_or(TcpError::NoSecret)?;
        let Interfaces {
            usable: mut interfaces,
            passed,
        } = addr::interfaces();
        addr::sort(&mut interfaces, order);
        let fits = |it: &Interface| interface.is_none_or(|name| it.name == name);
        if !interfaces.iter().any(fits) {
            let mut up: Vec<_> = interfaces.into_iter().map(|it| it.name).collect();
            up.dedup();
            return Err(TcpError::Interface {
                wanted: interface.map(str::to_string),
                up,
            });
        }
        let ours = interfaces.iter().filter(|it| fits(it));
        let told = addr::told(ours.map(|it| it.address));
        let listeners = listen(&told).map_err(TcpError::Listen)?;
        let watch = Watch::new().map_err(TcpError::Listen)?;
        for (number, listener) in (LISTENERS..).zip(&listeners) {
            let watched = watch.add(listener, number, false);
            watched.map_err(TcpError::Listen)?;
        }
        Ok(Tcp {
            members: Members::of(place),
            secret,
            config,
            interfaces,
            passed,
            wanted: interface.map(str::to_string),
            listeners,
            watch,
            peers: (0..place.processes).map(|_| Target::default()).collect(),
            links: Vec::new(),
            free: Vec::new(),
            guests: Guests::default(),
            unmet: Vec::new(),
            departing: Vec::new(),
            open: Vec::new(),
            young: Vec::new(),
            held: Vec::new(),
            waiting: Vec::new(),
            again: Vec::new(),
            halves: Vec::new(),
            closed: Vec::new(),
            losses: Losses::new(place.processes as usize),
            turn: 0,
            look_next: true,
            looked: 0,
            judged: 0,
            rooms: Rooms::new(ROOM.max(HEAD + config.packet)),
            counters: Counters::default(),
        })
    }

    /// Number of what is spoken on the wire: ends with different ones do not
    /// understand each other.
    pub fn protocol(&self) -> u64 {
        MAGIC.into()
    }

    /// The address under which others reach this process: at most 40 bytes.
    ///
    /// # Errors
    /// [`TcpError::Listen`] if the kernel does not tell the port.
    pub fn address(&self) -> Result<Vec<u8>, TcpError> {
        let at = self.listeners.iter().map(TcpListener::local_addr);
        let at: Vec<_> = at.collect::<Result<_, _>>().map_err(TcpError::Listen)?;
        let port = at[0].port();
        let ips = at.iter().map(|it| it.ip());
        Ok(addr::encode(port, ips))
    }

    /// The interfaces that others are to reach this process through, best first.
    fn ours(&self) -> impl Iterator<Item = &Interface> {
        let wanted = |it: &&Interface| self.wanted.as_ref().is_none_or(|name| it.name == *name);
        self.interfaces.iter().filter(wanted)
    }

    /// Through what others reach this process, and what is passed over, in words.
    pub fn about(&self) -> String {
        let used = self
            .ours()
            .map(|it| format!("{} ({})", it.name, it.address));
        let others = self
            .interfaces
            .iter()
            .filter(|it| !self.ours().any(|own| own == *it));
        let others = others.map(|it| format!("{} (not asked for)", it.name));
        let passed = self
            .passed
            .iter()
            .map(|(name, why)| format!("{name} ({why})"));
        words(used, others.chain(passed))
    }

    /// Where a connection leads to that packets to a peer go over, and what was
    /// tried before, in words.
    pub fn way(&self, peer: Peer) -> Option<String> {
        let link = self.links[self.peers[peer.0 as usize].link?].as_ref()?;
        let here = link.socket.here();
        let name = self.interfaces.iter().find(|it| Some(it.address) == here);
        let from = name.map_or("another interface", |it| it.name.as_str());
        let way = format!("{} from {from}", link.socket.there);
        Some(words(std::iter::once(way), link.tried.iter().cloned()))
    }

    /// Whether the loss of a peer is noticed although nothing is sent to it.
    pub fn watches(&self, peer: Peer) -> bool {
        self.peers[peer.0 as usize].link.is_some()
    }

    /// Declares a peer dead, because the launcher said so. Later sends to it
    /// fail.
    pub fn mark_lost(&mut self, peer: Peer, cause: String) {
        self.lose(peer, cause);
        self.losses.set_known(peer);
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Callers that have not proven yet that they belong to the job.
    pub fn guests(&self) -> usize {
        self.guests.door.len()
    }

    /// Connections over which packets go.
    pub fn connections(&self) -> usize {
        self.open.len()
    }
}

impl Transport for Tcp {
    fn name(&self) -> &'static str {
        "tcp"
    }

    #[inline]
    fn caps(&self, _peer: Peer) -> Caps {
        Caps {
            max_packet: self.config.packet,
            whole: self.config.packet,
            eager_max: self.config.eager_max,
            // Two connections that were made at the same time.
            ordered: false,
            kinds: Kinds::HOST,
        }
    }

    #[inline]
    fn try_send<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        self.post(peer, header, payload)
    }

    fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        self.drain(deliver)
    }

    fn rendezvous(&self, _peer: Peer, _len: u64, _load: Load) -> Rendezvous {
        // Packets keep both ends busy: faster than to ask for memory.
        Rendezvous::Stream
    }

    fn register(&mut self, _: Option<Peer>, _: Buf, _: Access) -> Option<RemoteKey> {
        None
    }

    fn deregister(&mut self, _remote: RemoteKey) {}

    fn sleep(&mut self, limit: Duration) {
        self.sleeper().sleep(limit.min(LONGEST_SLEEP));
    }
}

/// TCP has no operations on a peer's memory.
impl Rma for Tcp {}
