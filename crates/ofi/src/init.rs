//! Opening and wiring up; the transport itself.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use catena_fabric::endpoint::{Counters, Endpoint, FrameSender, Losses};
use catena_fabric::frame::{FRAME, job_number};
use catena_fabric::introduction::Introductions;
use catena_fabric::operations::Operations;
use catena_fabric::row::Rows;
use catena_fabric::{
    Access, AtomicSet, Buf, Caps, Deliver, Header, LONGEST_SLEEP, Load, LocalKey, LocalPeer,
    Memory, Payload, Peer, PeerLost, Posted, ProcessName, RemoteKey, Rendezvous, Transport,
};
use catena_ofi_sys::consts::version_parts;
use catena_ofi_sys::{Library, calls, consts};
use catena_proof::Secret;

use crate::added::{self, Added};
use crate::connections::Connections;
use crate::contexts::Contexts;
use crate::error::OfiError;
use crate::objects::{Objects, Region};
use crate::provider::{Offer, Wanted, choose};
use crate::settings::{Config, OFI_LIBRARY, Sleep};
use crate::state::{INJECT_MAX, Receives, Sends, Target, Use};
use crate::words::{OpResources, WORDS, atomics_of};

/// The routes from one process to all processes of its job over one network, or to those that it
/// adds.
///
/// Methods that take a `Peer` panic if that process is not known.
#[derive(Debug)]
pub struct Ofi {
    pub(crate) endpoint: Endpoint,
    /// The processes of its job; none if it is the only one, and adds others.
    pub(crate) processes: u32,
    /// By peer.
    pub(crate) targets: Vec<Target>,
    /// Largest frame that is injected, bytes.
    pub(crate) inject_max: usize,
    pub(crate) sends: Sends,
    pub(crate) receives: Receives,
    pub(crate) connections: Connections,
    /// Whether connections are to be ended, or something is to be done for those that were added.
    pub(crate) has_to_do: bool,
    /// The processes of other jobs, if there may be some.
    pub(crate) added: Option<Box<Added>>,
    /// Whether the provider reads remote memory.
    pub(crate) reads: bool,
    /// Whether it writes remote memory.
    pub(crate) writes: bool,
    /// The atomics that it has.
    pub(crate) atomics: AtomicSet,
    /// Where the words of atomics begin in `memory`: [`WORDS`] bytes for each operation.
    pub(crate) words_at: usize,
    /// Where the words to processes that are added begin there.
    added_at: usize,
    /// Longest put or get, bytes.
    pub(crate) longest: usize,
    /// Bytes of a piece of a put or get.
    pub(crate) piece: usize,
    /// Number of the first context of `operations`.
    pub(crate) first_operation: usize,
    pub(crate) next_key: u64,
    /// The bits that keys may have.
    pub(crate) key_mask: u64,
    // Dropped in this order: registrations, what they are of, and last the
    // memory that operations use.
    pub(crate) operations: Operations<OpResources>,
    pub(crate) registered: HashMap<u64, Vec<Region>>,
    /// Memory that is registered for several operations of this end, by number.
    pub(crate) local: HashMap<u64, Region>,
    pub(crate) next_local: u64,
    own: Option<Region>,
    pub(crate) objects: Objects,
    pub(crate) memory: Memory,
    pub(crate) contexts: Contexts,
}

/// libfabric as it is found (`CATENA_OFI_LIBRARY`).
fn library() -> Result<Library, OfiError> {
    let names = OFI_LIBRARY.get();
    let names = names.split(':').filter(|name| !name.is_empty());
    Library::open(names).map_err(OfiError::Library)
}

/// The version of libfabric, as it says itself: major and minor.
///
/// # Errors
/// If it is not found, or too old.
pub fn library_version() -> Result<(u32, u32), OfiError> {
    Ok(version_parts(library()?.version()))
}

impl Ofi {
    /// Opens libfabric and an endpoint of a provider as it is wanted; of several
    /// domains in the one that `order` puts first, by their indices. The settings
    /// `CATENA_OFI_*` count.
    ///
    /// # Errors
    /// See [`OfiError`].
    pub fn open(
        place: LocalPeer,
        wanted: &Wanted,
        order: impl Fn(&[&str]) -> Vec<usize>,
    ) -> Result<Ofi, OfiError> {
        Ofi::open_offer(
            choose(library()?, wanted, order)?,
            place,
            Config::from_settings(),
        )
    }

    /// [`Ofi::open`] with a library and settings given by the caller.
    ///
    /// # Errors
    /// See [`OfiError`].
    pub fn open_with(
        library: Library,
        place: LocalPeer,
        wanted: &Wanted,
        config: Config,
    ) -> Result<Ofi, OfiError> {
        let as_they_stand = |names: &[&str]| (0..names.len()).collect();
        Ofi::open_offer(choose(library, wanted, as_they_stand)?, place, config)
    }

    fn open_offer(offer: Offer, place: LocalPeer, config: Config) -> Result<Ofi, OfiError> {
        // SAFETY: libfabric fills these in.
        let (tx, rx, longest, key_size) = unsafe {
            let info = &*offer.info;
            let key_size = (*info.domain_attr).mr_key_size;
            let longest = (*info.ep_attr).max_msg_size;
            (&*info.tx_attr, &*info.rx_attr, longest, key_size)
        };
        let frame = config.frame.min(longest);
        let inject_max = tx.inject_size.min(INJECT_MAX);
        let most = (tx.size / 2).max(2);
        let (sends, operations) = (config.sends.min(most), config.operations.min(most));
        let is_plain = is_plain(offer.provider());
        let (has_reads, has_writes) = (offer.has_reads(), offer.has_writes());

        let stride = frame.next_multiple_of(64);
        let receive = config.receive.max(2 * frame).next_multiple_of(64);
        // As much memory in either way.
        let (receives, receive) = match is_plain {
            true => ((config.receives * receive / stride).max(2), stride),
            false => (config.receives, receive),
        };
        let receives = receives.min(rx.size.max(2));
        let words_at = sends * stride + receives * receive;
        let added_at = words_at + operations * WORDS;
        let bytes = added_at + added::WORDS * added::STRIDE;
        let memory = Memory::new(bytes).ok_or(OfiError::Memory { bytes })?;
        let processes = place.processes as usize;
        let sleep = config.sleep != Sleep::Poll;
        let objects = Objects::open(offer, processes, frame, sleep)?;
        let own = if objects.offer.needs(consts::MR_LOCAL) {
            // What atomics read and write lies there, too.
            let access = match objects.offer.has_atomics() {
                true => consts::SEND | consts::RECV | consts::READ | consts::WRITE,
                false => consts::SEND | consts::RECV,
            };
            let region = objects.register(memory.at(0), memory.len(), access, 0);
            Some(region.map_err(|error| objects.failure("fi_mr_reg", error))?)
        } else {
            None
        };
        let atomics = atomics_of(&objects);
        let mut ofi = Ofi {
            processes: place.processes,
            has_to_do: false,
            added: None,
            added_at,
            endpoint: Endpoint {
                me: place.me.0,
                job: job_number(place.job),
                frame,
                eager_max: config.eager_max,
                rows: Rows::new(processes, frame - FRAME, config.pace),
                losses: Losses::new(processes),
                counters: Counters::default(),
            },
            targets: vec![Target::unknown(); processes],
            inject_max,
            sends: Sends::new(sends, stride),
            receives: Receives {
                base: sends * stride,
                len: receive,
                many: !is_plain,
                uses: vec![Use::default(); receives],
                waiting: (0..receives).collect(),
            },
            connections: Connections::new(None),
            reads: has_reads,
            writes: has_writes,
            atomics,
            words_at,
            longest,
            piece: config.piece.min(longest),
            // 0 is the key of our own memory.
            next_key: 0,
            key_mask: u64::MAX >> (64 - 8 * key_size.clamp(1, 8)),
            operations: Operations::new(processes, operations),
            first_operation: sends + receives,
            registered: HashMap::new(),
            local: HashMap::new(),
            next_local: 0,
            own,
            objects,
            memory,
            contexts: Contexts::new(sends + receives + operations),
        };
        ofi.connections.own = ofi.address().ok().and_then(|it| ofi.listens_at(&it));
        let posted = ofi.post_receives();
        posted.map_err(|error| ofi.objects.failure("fi_recvmsg", error as i32))?;
        Ok(ofi)
    }

    /// From now on processes of other jobs can be [added](Ofi::add_peer), which prove that they
    /// know `secret`, as this one does. It is the only one of its job.
    ///
    /// # Panics
    /// If it is not.
    pub fn meet_others(&mut self, place: LocalPeer, secret: Secret) {
        assert_eq!(place.processes, 1, "a process of a job adds nobody");
        // SAFETY: libfabric fills these in.
        let order = unsafe {
            let info = &*self.objects.offer.info;
            (*info.tx_attr).msg_order & (*info.rx_attr).msg_order
        };
        let ordered = order & consts::ORDER_SAS != 0;
        let (job, rank) = (place.job, place.me.0);
        let me = ProcessName { job, rank };
        let mut introductions = Introductions::new(secret, me, ordered);
        if let Ok(at) = self.address() {
            introductions.tell(&at);
        }
        self.added = Some(Box::new(Added::new(introductions, self.added_at)));
        self.processes = 0;
    }

    /// The address under which others reach this process.
    ///
    /// # Errors
    /// [`OfiError::Call`] if the provider has none.
    pub fn address(&self) -> Result<Vec<u8>, OfiError> {
        self.objects.address()
    }

    /// Number of what is spoken on the wire, and its version: ends with
    /// different ones do not understand each other.
    pub fn protocol(&self) -> (u32, u32) {
        // SAFETY: libfabric fills these in.
        let attr = unsafe { &*(*self.objects.offer.info).ep_attr };
        (attr.protocol, attr.protocol_version)
    }

    /// Name of a protocol.
    pub fn protocol_name(&self, protocol: u32) -> String {
        self.objects.offer.library.protocol(protocol)
    }

    /// Name of the provider.
    pub fn provider(&self) -> &str {
        self.objects.offer.provider()
    }

    /// Name of the domain.
    pub fn domain(&self) -> &str {
        self.objects.offer.domain()
    }

    /// Whether the provider goes through the kernel's network, which needs no
    /// library.
    pub fn is_plain(&self) -> bool {
        is_plain(self.provider())
    }

    /// Where the kernel takes connections for an endpoint with that address, if the
    /// provider goes through its TCP.
    pub fn listens_at(&self, address: &[u8]) -> Option<SocketAddr> {
        let name = self.provider().split(';').next();
        let family = i32::from(u16::from_ne_bytes(*address.first_chunk()?));
        let port = u16::from_be_bytes(*address.get(2..)?.first_chunk()?);
        let ip = match family {
            libc::AF_INET => IpAddr::from(*address.get(4..)?.first_chunk::<4>()?),
            libc::AF_INET6 => IpAddr::from(*address.get(8..)?.first_chunk::<16>()?),
            _ => return None,
        };
        let tcp = name.is_some_and(|name| ["tcp", "net"].contains(&name));
        tcp.then_some(SocketAddr::from((ip, port)))
    }

    /// Learns how a peer is reached; until then its route is full.
    ///
    /// # Errors
    /// [`OfiError::Address`] if the provider does not take the address.
    pub fn connect(&mut self, peer: Peer, address: &[u8]) -> Result<(), OfiError> {
        // SAFETY: the vector is open.
        let found = unsafe { calls::av_insert(self.objects.av, address) };
        if let Some(at) = self.listens_at(address) {
            self.connections.learn(peer, at);
        }
        let address = found.ok_or_else(|| OfiError::Address {
            rank: peer.0,
            provider: self.provider().to_string(),
        })?;
        if !self.reach_added(peer, address) {
            self.targets[peer.0 as usize] = Target::at(address, self.endpoint.sign());
        }
        Ok(())
    }

    /// Declares a peer dead, because the launcher said so. Later sends to it
    /// fail; what it sent before its death may still arrive.
    pub fn mark_lost(&mut self, peer: Peer, cause: String) {
        self.lose(peer, cause);
        self.endpoint.losses.set_known(peer);
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        self.endpoint.counters()
    }

    /// For operations on our own memory.
    pub(crate) fn desc(&self) -> *mut std::ffi::c_void {
        self.own.as_ref().map_or(std::ptr::null_mut(), Region::desc)
    }
}

/// Whether a provider goes through the kernel's network.
fn is_plain(provider: &str) -> bool {
    let layers = provider.split(';').next();
    layers.is_none_or(|name| ["tcp", "net", "udp", "sockets"].contains(&name))
}

impl Transport for Ofi {
    fn name(&self) -> &'static str {
        "ofi"
    }

    #[inline]
    fn caps(&self, _peer: Peer) -> Caps {
        self.endpoint.caps()
    }

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
        if self.reads {
            Rendezvous::Get
        } else {
            Rendezvous::Stream
        }
    }

    fn register(&mut self, _peer: Option<Peer>, buf: Buf, access: Access) -> Option<RemoteKey> {
        self.register_remote(buf, access)
    }

    fn deregister(&mut self, remote: RemoteKey) {
        self.end_registration(remote);
    }

    fn register_local(&mut self, buf: Buf) -> Option<LocalKey> {
        self.register_own(buf)
    }

    fn deregister_local(&mut self, key: LocalKey) {
        self.end_own(key);
    }

    fn sleep(&mut self, limit: Duration) {
        if let Some(sleeper) = self.sleeper() {
            sleeper.sleep(limit.min(LONGEST_SLEEP));
        }
    }
}
