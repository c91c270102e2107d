//! Attaching, and the transport itself.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::Duration;

use catena_base::{Barrier, End, Parts};
use catena_fabric::{
    Access, Buf, Caps, Deliver, Header, Kinds, Load, Moved, NodeLocal, Payload, Peer, PeerLost,
    Posted, RemoteKey, Rendezvous, Transport,
};

use crate::addr::{Block, Layout};
use crate::device::{Devices, is_device};
use crate::error::ShmError;
use crate::inlet::Inlet;
use crate::other_segment::{Guests, OtherSegment};
use crate::peer_state::{Home, PeerState, probe_value};
use crate::regions::Arena;
use crate::segment::{Segment, create_segment};
use crate::settings::Config;

/// Not on this node.
const ABSENT: u32 = u32::MAX;

/// The routes from one process to all processes of its job on its node,
/// itself included, and to those of other jobs whose segments it attaches.
///
/// Methods that take a `Peer` panic if that process is not on this node.
///
/// # Examples
/// Two ends in one process, as tests have them:
/// ```
/// use catena_base::PeerBytes;
/// use catena_fabric::{Deliver, Header, OpId, Peer, PeerLost, Posted, RmaError, Transport};
/// use catena_shm::Shm;
///
/// struct Inbox(Vec<(Peer, i32, Vec<u8>)>);
///
/// impl Deliver for Inbox {
///     fn deliver(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) {
///         self.0.push((from, header.tag, payload.to_vec()));
///     }
///
///     fn lost(&mut self, lost: PeerLost) {
///         panic!("{lost:?}");
///     }
///
///     fn completed(&mut self, op: OpId, result: Result<u64, RmaError>) {
///         panic!("{op:?} was never started: {result:?}");
///     }
/// }
///
/// let (mut a, mut b) = Shm::tiny_pair();
/// let header = Header { tag: 7, len: 5, ..Header::default() };
/// assert_eq!(a.try_send(Peer(1), header, &b"hello"[..])?, Posted::Done);
/// let mut inbox = Inbox(Vec::new());
/// while inbox.0.is_empty() {
///     b.poll(&mut inbox);
/// }
/// assert_eq!(inbox.0, [(Peer(0), 7, b"hello".to_vec())]);
/// # Ok::<(), PeerLost>(())
/// ```
#[derive(Debug)]
pub struct Shm {
    /// Lowest peer on this node.
    first: u32,
    /// Number on the node of peer `first + i`, or `ABSENT`.
    index: Vec<u32>,
    /// By number on the node.
    pub(crate) peer_states: Vec<PeerState>,
    /// Rings into this process, in the order in which they appeared.
    pub(crate) inlets: Vec<Inlet>,
    /// The epoch of the inbox that `inlets` shows.
    pub(crate) seen: u64,
    /// Words of the launcher that were seen, and whether they are new.
    pub(crate) notices: (u64, bool),
    /// Our own block.
    pub(crate) own: *const Block,
    pub(crate) me: u32,
    pub(crate) config: Config,
    pub(crate) barrier: Barrier,
    pub(crate) counters: Counters,
    /// Packets that have arrived.
    pub(crate) arrived: u64,
    pub(crate) arena: Arc<Arena>,
    /// What there is to do while nothing arrives: peer states with room to fetch, or [`COPIES`].
    pub(crate) cold: Vec<u32>,
    /// Memory of devices that others read here, or this process of others.
    pub(crate) devices: Devices,
    /// Kinds of memory that are read directly.
    kinds: Kinds,
    /// What peers read to find out whether they can.
    probe: Box<u64>,
    /// Rings of processes of other jobs.
    pub(crate) guests: Guests,
    // Last: everything above points into them.
    /// Where this process is at home.
    pub(crate) segment: Arc<Segment>,
    /// The segments of other jobs, if they are attached, by number in [`Home`] less one.
    pub(crate) others: Vec<Option<OtherSegment>>,
}

// SAFETY: the pointers lead into the mapping, which belongs to this value and
// is the same for all threads.
unsafe impl Send for Shm {}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Sends that found their ring full.
    pub full: u64,
    /// Packets copied through the cache, of those large enough to choose.
    pub plain: u64,
    /// Packets copied around the cache.
    pub streamed: u64,
    /// Reads of peers' memory.
    pub reads: u64,
    /// Bytes read that way.
    pub read_bytes: u64,
    /// Writes into peers' memory.
    pub writes: u64,
    /// Times this process went to sleep.
    pub sleeps: u64,
    /// Of these, how many a peer ended.
    pub wakes: u64,
}

/// Memory of the segment that this process caused to be used, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Its share of the tables.
    pub tables: usize,
    /// Rings to peers.
    pub rings: usize,
    /// Data areas of these rings, as far as they were used.
    pub data: usize,
    /// Regions for boards and windows.
    pub regions: usize,
}

impl Memory {
    /// All together.
    pub fn total(&self) -> usize {
        self.tables + self.rings + self.data + self.regions
    }
}

impl Shm {
    /// Joins the segment as number `me` of the node; `local` names the
    /// processes of the node in the order of their numbers. The settings
    /// `CATENA_SHM_*` count.
    ///
    /// # Errors
    /// See [`ShmError`].
    pub fn attach(fd: OwnedFd, me: u32, local: &[Peer], cpus: u32) -> Result<Shm, ShmError> {
        let config = Config::from_settings(local.len() as u32, cpus);
        Shm::attach_with(fd, me, local, config)
    }

    /// [`Shm::attach`] with settings given by the caller.
    ///
    /// # Errors
    /// See [`ShmError`].
    pub fn attach_with(
        fd: OwnedFd,
        me: u32,
        local: &[Peer],
        config: Config,
    ) -> Result<Shm, ShmError> {
        if me as usize >= local.len() {
            return Err(ShmError::Ranks {
                me,
                ranks: local.len(),
            });
        }
        let first = local.iter().map(|p| p.0).min().unwrap_or(0);
        let last = local.iter().map(|p| p.0).max().unwrap_or(0);
        let mut index = vec![ABSENT; (last - first) as usize + 1];
        for (number, peer) in (0..).zip(local) {
            index[(peer.0 - first) as usize] = number;
        }
        let layout = Layout::new(local.len() as u32, config.geometry);
        let segment = Arc::new(Segment::open(fd, layout)?);
        let peer_state = |(number, peer): (u32, &Peer)| {
            let home = Home { segment: 0, number };
            PeerState::unopened(*peer, home, segment.block(number), config, me < number)
        };
        let peer_states = (0..).zip(local).map(peer_state).collect();
        let mut shm = Shm {
            first,
            index,
            peer_states,
            inlets: Vec::new(),
            seen: 0,
            notices: (0, false),
            own: segment.block(me),
            me,
            config,
            barrier: Barrier::register(),
            counters: Counters::default(),
            arrived: 0,
            arena: Arc::new(Arena::new(segment.clone())),
            cold: Vec::new(),
            devices: Devices::default(),
            kinds: catena_memory::kinds(),
            probe: Box::new(probe_value(me)),
            guests: Guests::default(),
            segment,
            others: Vec::new(),
        };
        shm.say_left(false);
        shm.show_probe(&shm.probe);
        shm.open_early();
        Ok(shm)
    }

    /// Says whether this process sends and takes nothing more, unless it comes back.
    pub fn say_left(&self, left: bool) {
        // Behind all that was sent.
        self.own().who.left.store(left.into(), Release);
    }

    /// Whether there are processes of other jobs here.
    #[inline]
    pub fn has_guests(&self) -> bool {
        !self.others.is_empty()
    }

    /// Whether a peer of another job has [left](Shm::say_left), and all that it had sent to this
    /// process was taken.
    pub fn has_left(&self, peer: Peer) -> bool {
        if !self.reaches(peer) || self.shares_segment(peer) {
            return false;
        }
        let number = self.number(peer);
        // Before the ring: what it has sent is there then.
        let left = self.peer_states[number].block().who.left.load(Acquire) != 0;
        let mut from_it = self
            .inlets
            .iter()
            .filter(|inlet| inlet.number as usize == number);
        let is_known = self.guests.waiting.is_empty()
            && self.guests.seen == self.own().who.guests.load(Acquire);
        left && is_known && from_it.all(|inlet| !inlet.rx.is_ready())
    }

    /// As many ends as there are `peers`, all in this process. For tests.
    ///
    /// # Errors
    /// See [`ShmError`].
    pub fn group(peers: &[Peer], config: Config) -> Result<Vec<Shm>, ShmError> {
        let fd = create_segment().map_err(ShmError::Segment)?;
        let end = |me| {
            let fd = fd.try_clone().map_err(ShmError::Segment)?;
            Shm::attach_with(fd, me, peers, config)
        };
        (0..peers.len() as u32).map(end).collect()
    }

    /// Two ends in this process with the smallest rings, [`Peer`] 0 and 1. For
    /// tests.
    ///
    /// # Panics
    /// If there is no memory at all.
    pub fn tiny_pair() -> (Shm, Shm) {
        let mut ends = Shm::group(&[Peer(0), Peer(1)], Config::tiny()).expect("a small segment");
        let second = ends.pop().expect("two ends");
        (ends.pop().expect("two ends"), second)
    }

    /// Number on the node.
    #[inline(always)]
    pub(crate) fn number(&self, peer: Peer) -> usize {
        self.index[peer.0.wrapping_sub(self.first) as usize] as usize
    }

    /// The segment in which the peer with that number is at home.
    pub(crate) fn segment_of(&self, number: usize) -> &Segment {
        let other = self.peer_states[number].home.segment.checked_sub(1);
        let other = other.and_then(|other| self.others.get(usize::from(other))?.as_ref());
        other.map_or(&self.segment, |other| &other.segment)
    }

    /// Bytes of the largest packet to the peer with that number: the ring to it is one of its
    /// segment.
    pub(crate) fn most(&self, number: usize) -> usize {
        self.segment_of(number).layout.geometry.packet
    }

    /// Gives a peer the number `number`.
    pub(crate) fn set_number(&mut self, peer: Peer, number: u32) {
        let at = peer.0.checked_sub(self.first).expect("jobs of later peers") as usize;
        if at >= self.index.len() {
            self.index.resize(at + 1, ABSENT);
        }
        self.index[at] = number;
    }

    /// Takes a peer's number away, and those at the end that no peer has.
    pub(crate) fn unset_number(&mut self, peer: Peer) {
        let at = peer.0.wrapping_sub(self.first) as usize;
        if let Some(number) = self.index.get_mut(at) {
            *number = ABSENT;
        }
        while self.index.pop_if(|number| *number == ABSENT).is_some() {}
    }

    #[inline(always)]
    pub(crate) fn own(&self) -> &Block {
        // SAFETY: in the mapping, which lives as long as `self`; atomics only.
        unsafe { &*self.own }
    }

    /// Whether a process can be reached here.
    pub fn reaches(&self, peer: Peer) -> bool {
        let at = peer.0.wrapping_sub(self.first) as usize;
        self.index.get(at).is_some_and(|number| *number != ABSENT)
    }

    /// Declares a peer dead, because the launcher said so. Later sends to it
    /// fail; what it sent before its death still arrives.
    pub fn mark_lost(&mut self, peer: Peer, cause: String) {
        let number = self.number(peer);
        self.peer_states[number].lose(cause);
    }

    /// Takes a region of the segment, of at least `bytes` bytes, aligned to 64 at least; its
    /// offset, which is good on all ranks of the node. They are zeroed, or what a
    /// region that was given back has left. `None` if there is no memory, or if
    /// the regions of this process would take more than `most` bytes.
    pub fn region_alloc(&mut self, bytes: usize, most: usize) -> Option<u64> {
        let offset = self.arena.reserve(bytes, (most, usize::MAX))?;
        if self.arena.provide(offset, bytes).is_ok() {
            return Some(offset);
        }
        self.region_free(offset, bytes);
        None
    }

    /// Regions, for those who provide their memory when it is used.
    pub fn arena(&self) -> &Arc<Arena> {
        &self.arena
    }

    /// Gives a region back that this process took with `bytes` bytes. No rank
    /// may use it any more.
    pub fn region_free(&mut self, offset: u64, bytes: usize) {
        self.arena.free(offset, bytes);
    }

    /// [`Shm::region_free`] by the address here.
    pub fn region_free_at(&mut self, at: *mut u8, bytes: usize) {
        if let Some(offset) = self.segment.offset_of(at, bytes) {
            self.region_free(offset, bytes);
        }
    }

    /// The address of `bytes` bytes at `offset`; `None` if that is no place
    /// where a region can be. Good as long as this transport.
    pub fn region(&self, offset: u64, bytes: usize) -> Option<*mut u8> {
        self.segment.range(offset, bytes, 64)
    }

    /// Whether the launcher has told this process something since the last call, as far as
    /// the last poll has seen; this process is not silent until it has asked. Cost: one
    /// load.
    #[inline]
    pub fn take_notice(&mut self) -> bool {
        let some = std::mem::take(&mut self.notices.1);
        self.seen = self.seen.wrapping_add(some.into());
        some
    }

    /// The next [`Shm::take_notice`] says again what the last one said.
    pub fn keep_notice(&mut self) {
        if !std::mem::replace(&mut self.notices.1, true) {
            self.seen = self.seen.wrapping_sub(1);
        }
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Memory that this process caused to be used.
    pub fn memory(&self) -> Memory {
        let open = self
            .peer_states
            .iter()
            .filter(|peer_state| peer_state.is_open());
        let layout = &self.segment.layout;
        Memory {
            tables: layout.arena_at / layout.ranks as usize,
            rings: open.count() * layout.geometry.ring_bytes(),
            data: self.peer_states.iter().map(PeerState::data_bytes).sum(),
            regions: self.arena.bytes(),
        }
    }
}

/// Longest message that is one packet: of a longer one both ends copy at the same time.
const WHOLE: usize = 16 << 10;

/// Rings among which that of one peer is looked for.
const FEW_INLETS: usize = 8;

impl Transport for Shm {
    fn name(&self) -> &'static str {
        "shm"
    }

    #[inline]
    fn caps(&self, peer: Peer) -> Caps {
        let max_packet = self.most(self.number(peer));
        Caps {
            max_packet,
            whole: max_packet.min(WHOLE),
            eager_max: self.config.eager_max,
            ordered: true,
            kinds: self.kinds,
        }
    }

    #[inline(always)]
    fn try_send<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        let number = self.number(peer);
        if self.peer_states[number].try_small(&header, &payload) {
            return Ok(Posted::Done);
        }
        self.send_large(number, header, payload)
    }

    #[inline(always)]
    fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        if self.own().epoch.load(Acquire) != self.seen {
            self.accept(deliver);
        }
        let count = self.drain(deliver);
        if count != 0 {
            self.arrived = self.arrived.wrapping_add(count as u64);
        } else if !self.cold.is_empty() {
            self.use_silence(deliver);
        }
        count
    }

    fn rendezvous(&self, peer: Peer, len: u64, load: Load) -> Rendezvous {
        self.best_rendezvous(peer, len, load)
    }

    fn register(&mut self, peer: Option<Peer>, buf: Buf, access: Access) -> Option<RemoteKey> {
        match buf.kind.is_host() {
            true => self.key_of(peer, buf, access),
            false => (access == Access::READ).then(|| self.export(buf)).flatten(),
        }
    }

    fn deregister(&mut self, remote: RemoteKey) {
        if is_device(remote.key) {
            self.end_export(remote);
        }
    }

    fn sleep(&mut self, limit: Duration) {
        self.doze(limit);
    }
}

impl NodeLocal for Shm {
    /// Whether its ring was full, or nothing has arrived since the last long packet to it left: who
    /// answers has taken it.
    fn is_behind(&self, peer: Peer) -> bool {
        let peer_state = &self.peer_states[self.number(peer)];
        peer_state.blocked || peer_state.sent_long == Some(self.arrived) || self.sends(peer)
    }

    /// Where rings are many, that of the peer is not looked for.
    fn sends(&self, peer: Peer) -> bool {
        let number = self.number(peer);
        let mut few = self.inlets.iter().take(FEW_INLETS);
        few.any(|inlet| inlet.number as usize == number && inlet.is_ready())
    }

    fn streams(&mut self, peer: Peer, len: u64) -> bool {
        self.prefers_stream(peer, len)
    }

    fn moved(&mut self, peer: Peer, moved: Moved) {
        let number = self.number(peer);
        self.peer_states[number].pace.record(moved);
    }

    fn lends(&mut self, peer: Peer, len: u64, under_way: usize) -> bool {
        self.prefers_lending(peer, len, under_way)
    }

    fn came(&mut self, peer: Peer, len: u64, is_lent: bool) {
        let number = self.number(peer);
        self.peer_states[number].lending.came(len, is_lent);
    }

    fn open_claim(&mut self, id: u64) -> bool {
        self.open_own_claim(id)
    }

    fn take_claim(&mut self, owner: Option<Peer>, id: u64) -> bool {
        self.take_claim_of(owner, id)
    }

    fn asked(&mut self, peer: Peer, len: u64, streamed: bool) {
        let number = self.number(peer);
        self.peer_states[number].pace.asked(len, streamed);
    }

    fn open_parts(&mut self, peer: Peer) -> u32 {
        let peer_state = &self.peer_states[self.number(peer)];
        peer_state.parts(End::Front).map_or(0, Parts::open)
    }

    fn take_part(&mut self, peer: Peer, end: End, number: u32, parts: u32) -> Option<u32> {
        let peer_state = &self.peer_states[self.number(peer)];
        peer_state.parts(end)?.take(number, end, parts)
    }
}
