//! Opening and wiring up; the transport itself.

use std::time::Duration;

use catena_fabric::endpoint::{Counters, Endpoint, FrameSender, Losses};
use catena_fabric::frame::{FRAME, job_number};
use catena_fabric::operations;
use catena_fabric::row::Rows;
use catena_fabric::{
    Access, AtomicType, Buf, Caps, Deliver, Header, LONGEST_SLEEP, Load, LocalPeer, Memory,
    Payload, Peer, PeerLost, Posted, RemoteKey, Rendezvous, Transport,
};
use catena_ucx_sys::Library;

use crate::added::Added;
use crate::error::UcxError;
use crate::inbox::{Inbox, Operations, Shared, Witnesses};
use crate::objects::Objects;
use crate::recv::listen;
use crate::settings::{Config, Sleep, UCX_LIBRARY};
use crate::state::{Keys, Sends, Target};
use crate::wanted::Wanted;

/// Bytes of the words of an atomic: its first operand, and its second one or what it fetches.
pub(crate) const WORDS: usize = 16;

/// The routes from one process to all processes of its job over one network, or to those that it
/// adds.
///
/// Methods that take a `Peer` panic if that process is not known.
#[derive(Debug)]
pub struct Ucx {
    pub(crate) endpoint: Endpoint,
    /// By peer.
    pub(crate) targets: Vec<Target>,
    pub(crate) sends: Sends,
    /// Bytes of a piece of a put or get.
    pub(crate) piece: usize,
    /// Puts, gets and steps of flushes; their callbacks follow those of `sends`.
    pub(crate) rma: operations::Operations<Option<AtomicType>>,
    /// Where the words of atomics begin in `memory`: [`WORDS`] bytes for each operation.
    pub(crate) words_at: usize,
    pub(crate) first_rma: usize,
    /// Rights that are remembered, at most.
    pub(crate) most_keys: usize,
    /// Whether something is to be done for peers that ask, or for those that were added.
    pub(crate) has_to_do: bool,
    /// The processes of other jobs, if there may be some.
    pub(crate) added: Option<Box<Added>>,
    // Dropped in this order: registrations, what they are of, and last what
    // operations and callbacks use.
    pub(crate) keys: Keys,
    pub(crate) objects: Objects,
    pub(crate) inbox: Shared,
    pub(crate) operations: Operations,
    pub(crate) witnesses: Witnesses,
    pub(crate) memory: Memory,
}

/// UCX as it is found (`CATENA_UCX_LIBRARY`).
fn library() -> Result<Library, UcxError> {
    let names = UCX_LIBRARY.get();
    let names = names.split(':').filter(|name| !name.is_empty());
    Library::open(names).map_err(UcxError::Library)
}

/// The version of UCX, as it says itself: major, minor and patch.
///
/// # Errors
/// If it is not found, or too old.
pub fn library_version() -> Result<(u32, u32, u32), UcxError> {
    Ok(library()?.version())
}

impl Ucx {
    /// Opens UCX and a worker as it is wanted. The settings `CATENA_UCX_*`
    /// count, and so do UCX's own.
    ///
    /// # Errors
    /// See [`UcxError`].
    pub fn open(place: LocalPeer, wanted: &Wanted) -> Result<Ucx, UcxError> {
        Ucx::open_with(library()?, place, wanted, Config::from_settings())
    }

    /// [`Ucx::open`] with a library and settings given by the caller.
    ///
    /// # Errors
    /// See [`UcxError`].
    pub fn open_with(
        library: Library,
        place: LocalPeer,
        wanted: &Wanted,
        mut config: Config,
    ) -> Result<Ucx, UcxError> {
        if place.processes == 1 {
            // It may add others: see `added`.
            config.frame = config.frame.min(wanted.whole_frame());
        }
        let (sends, stride) = (config.sends, config.frame.next_multiple_of(64));
        let words_at = sends * stride;
        let bytes = words_at + config.operations * WORDS;
        let memory = Memory::new(bytes).ok_or(UcxError::Memory { bytes })?;
        let processes = place.processes as usize;
        let sleep = config.sleep != Sleep::Poll;
        let objects = Objects::open(library, wanted, processes, sleep)?;
        let job = job_number(place.job);
        let inbox = Shared::new(Inbox {
            library,
            job,
            processes: place.processes,
            introductions: None,
            taker: None,
            received: 0,
            strays: 0,
            done: Vec::with_capacity(sends + config.operations),
            failed: Vec::new(),
            words: Vec::new(),
        });
        listen(&objects, &inbox)?;
        Ok(Ucx {
            endpoint: Endpoint {
                me: place.me.0,
                job,
                frame: config.frame,
                eager_max: config.eager_max,
                rows: Rows::new(processes, config.frame - FRAME, config.pace),
                losses: Losses::new(processes),
                counters: Counters::default(),
            },
            targets: (0..processes).map(|_| Target::unknown()).collect(),
            sends: Sends::new(sends, stride),
            piece: config.piece,
            rma: operations::Operations::new(processes, config.operations),
            words_at,
            first_rma: sends,
            most_keys: config.keys,
            has_to_do: false,
            added: None,
            keys: Keys::default(),
            objects,
            operations: Operations::new(sends + config.operations, &inbox),
            witnesses: Witnesses::new(processes, &inbox),
            inbox,
            memory,
        })
    }

    /// The address under which others reach this process.
    ///
    /// # Errors
    /// [`UcxError::Call`] if UCX has none.
    pub fn address(&self) -> Result<Vec<u8>, UcxError> {
        self.objects.address()
    }

    /// Whether it goes over nothing but TCP and shared memory, and over any port.
    pub fn is_plain(&self) -> bool {
        self.objects.wanted.is_plain() && std::env::var_os("UCX_TCP_PORT_RANGE").is_none()
    }

    /// Whether it may go through a device of that name.
    pub fn may_use(&self, device: &str) -> bool {
        self.objects.wanted.may_use(device)
    }

    /// Version of UCX: major, minor, release.
    pub fn version(&self) -> (u32, u32, u32) {
        self.objects.library.version()
    }

    /// Learns how a peer is reached; until then its route is full.
    pub fn connect(&mut self, peer: Peer, address: &[u8]) {
        if !self.reach_added(peer, address) {
            self.targets[peer.0 as usize].address = address.into();
        }
    }

    /// Whether the loss of a peer is noticed although nothing is sent to it.
    pub fn watches(&self, peer: Peer) -> bool {
        !self.targets[peer.0 as usize].ep.is_null()
    }

    /// Declares a peer dead, because the launcher said so. Later sends to it
    /// fail; what it sent before its death may still arrive.
    pub fn mark_lost(&mut self, peer: Peer, cause: String) {
        self.lose(peer, cause);
        self.endpoint.losses.set_known(peer);
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        // SAFETY: no call of UCX's is under way.
        let (received, strays) = unsafe {
            let inbox = self.inbox.at();
            ((*inbox).received, (*inbox).strays)
        };
        Counters {
            received,
            strays,
            ..self.endpoint.counters()
        }
    }

    /// Longest payload, bytes.
    pub(crate) fn max_packet(&self) -> usize {
        self.endpoint.max_packet()
    }
}

impl Drop for Ucx {
    fn drop(&mut self) {
        for target in &mut self.targets {
            if !target.ep.is_null() {
                // SAFETY: open, and used no more.
                unsafe { self.objects.disconnect(target.ep) };
            }
        }
        let added = self.added.iter_mut().flat_map(|it| it.take_ways());
        for ep in added.collect::<Vec<_>>() {
            // SAFETY: as above.
            unsafe { self.objects.disconnect(ep) };
        }
        self.discard_all();
    }
}

impl Transport for Ucx {
    fn name(&self) -> &'static str {
        "ucx"
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

    /// Nobody reads the messages of one that was added: see `added`.
    fn rendezvous(&self, _peer: Peer, _len: u64, _load: Load) -> Rendezvous {
        match self.added {
            None => Rendezvous::Get,
            Some(_) => Rendezvous::Stream,
        }
    }

    fn register(&mut self, peer: Option<Peer>, buf: Buf, access: Access) -> Option<RemoteKey> {
        self.register_remote(peer, buf, access)
    }

    fn deregister(&mut self, remote: RemoteKey) {
        self.end_registration(remote);
    }

    fn sleep(&mut self, limit: Duration) {
        if let Some(sleeper) = self.sleeper() {
            sleeper.sleep(limit.min(LONGEST_SLEEP));
        }
    }
}
