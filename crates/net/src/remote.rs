//! Operations on the memory of peers, whichever way leads to them: what windows stand on.
//!
//! 1. The owner of memory registers it once for all ways that lead to it ([`Routes::expose`]) and
//!    tells the others its keys ([`Region::keys`], as bytes).
//! 2. A process that has the keys asks what it can do there: [`Routes::reach`].
//! 3. It looks up the [`Target`] for the way to that peer once ([`Routes::target`]), and then maps
//!    the memory ([`Routes::map`]) or starts operations ([`Routes::put`] and the others).
//! 4. Each operation has an id: [`OpId::new`] with the class of the handler that is told of its end
//!    by `Handler::completed` of `link`, and a number of the owner's choice.
//!
//! What a way does not do, active messages do.

use catena_fabric::{
    Access, Atomic, Buf, OpId, Peer, PeerLost, RemoteKey, Rma, RmaCaps, RmaError, Started,
    Transport,
};
use catena_link::{RAILS, RemoteKeys};

use crate::networks::Networks;
use crate::routes::{Route, Routes, unreachable};

/// What this process can do with memory of a peer, without that one's help.
///
/// Atomics through [`Route::Loopback`] and [`Route::Shm`] are those of the processor, and atomic
/// towards each other and towards those of programs. Atomics of a network are atomic towards those
/// over the same network alone: where a word can be reached by both, all must take the same way, or
/// its owner carries them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// How the peer is reached.
    pub route: Route,
    /// Whether memory of the node's segment, and with this process itself all memory, is mapped
    /// here: loads and stores reach it.
    pub maps: bool,
    /// The operations of the way; [`RmaCaps::NONE`] if it has packets alone.
    pub operations: RmaCaps,
}

/// Memory of this process that is registered for all peers. It stays so until it is given to
/// [`Routes::withdraw`].
///
/// # Examples
/// A process adds to a word of its own as it would to one of a peer:
/// ```
/// use catena_fabric::{Access, Atomic, AtomicOp, AtomicType, Buf, OpId, Peer, RmaError, Started};
/// use catena_link::{Sink, Source};
/// use catena_net::Routes;
///
/// fn add<S: Source, R: Sink>(routes: &mut Routes<S, R>, word: &mut u64) -> Result<Started, RmaError> {
///     let (at, access) = ((word as *mut u64).cast(), Access::READ | Access::WRITE | Access::ATOMIC);
///     let region = routes.expose(Buf::host(at, 8), access);
///     // These bytes are what others are told of it.
///     let keys = region.keys().clone();
///     let target = routes.target(Peer(0), &keys).ok_or(RmaError::NoRegion)?;
///     let (op, ty) = (AtomicOp::Sum, AtomicType::U64);
///     let add = Atomic { op, ty, operand: 3, compare: 0, fetches: true };
///     let started = routes.atomic(OpId::new(0, 1), Peer(0), add, target.keys);
///     routes.withdraw(region);
///     started
/// }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Region {
    keys: RegionKeys,
}

impl Region {
    /// What peers need to work on it.
    pub fn keys(&self) -> &RegionKeys {
        &self.keys
    }
}

/// Where one way finds a region, and which accesses it was registered for there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its keys; [`RemoteKeys::at`] leads to a byte of it.
    pub keys: RemoteKeys,
    /// What may be done with it.
    pub access: Access,
}

/// What a peer needs to work on a region: a key for each way that leads to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionKeys {
    /// For the owner itself.
    own: Option<Target>,
    /// Through shared memory.
    node: Option<Target>,
    /// By the owner's number of the network.
    networks: Vec<Option<Target>>,
}

impl RegionKeys {
    /// The bytes that say all of it.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let ways = [&self.own, &self.node].into_iter().chain(&self.networks);
        for way in ways {
            let Some(Target { keys, access }) = way else {
                bytes.push(0);
                continue;
            };
            let more = keys.more.iter().rposition(|&key| key != 0);
            let count = more.map_or(0, |last| last + 1);
            bytes.push(access.bits() | (count as u8) << 4 | 8);
            let words = [keys.addr, keys.key];
            let words = words.iter().chain(&keys.more[..count]);
            words.for_each(|word| bytes.extend(word.to_le_bytes()));
        }
        bytes
    }

    /// Those for processes that networks lead to; `None` if no network reaches the region.
    pub fn of_networks(&self) -> Option<RegionKeys> {
        let reaches = self.networks.iter().any(Option::is_some);
        reaches.then(|| RegionKeys {
            networks: self.networks.clone(),
            ..RegionKeys::default()
        })
    }

    /// Reads what [`RegionKeys::encode`] wrote; `None` if it is damaged.
    pub fn decode(mut bytes: &[u8]) -> Option<RegionKeys> {
        let mut ways = Vec::new();
        while let [first, rest @ ..] = bytes {
            bytes = rest;
            if *first == 0 {
                ways.push(None);
                continue;
            }
            let count = usize::from(first >> 4);
            if first & 8 == 0 || count >= RAILS {
                return None;
            }
            let mut word = || {
                let (word, rest) = bytes.split_first_chunk()?;
                bytes = rest;
                Some(u64::from_le_bytes(*word))
            };
            let mut keys = RemoteKeys {
                addr: word()?,
                key: word()?,
                ..RemoteKeys::default()
            };
            for key in &mut keys.more[..count] {
                *key = word()?;
            }
            let access = Access::from_bits(*first);
            ways.push(Some(Target { keys, access }));
        }
        let mut ways = ways.into_iter();
        Some(RegionKeys {
            own: ways.next()?,
            node: ways.next()?,
            networks: ways.collect(),
        })
    }
}

/// Calls a method on what leads to a peer, with the target's key or keys.
macro_rules! start {
    ($self:ident, $peer:expr, $target:ident, $t:ident, $key:ident => $call:expr, $n:ident,
        $at:ident => $far:expr) => {
        match $self.route($peer) {
            Route::Loopback => {
                let ($t, $key) = (&mut $self.loopback, $target.first());
                $call
            }
            Route::Shm => match &mut $self.shm {
                Some($t) => {
                    let $key = $target.first();
                    $call
                }
                None => Err(unreachable($peer).into()),
            },
            Route::Network => match $self.far_mut($peer) {
                Some(($n, $at)) => of_peer($far, $peer),
                None => Err(unreachable($peer).into()),
            },
            Route::None => Err(unreachable($peer).into()),
        }
    };
}

/// What an operation over a network gave, which may number its peers otherwise.
fn of_peer(started: Result<Started, RmaError>, peer: Peer) -> Result<Started, RmaError> {
    started.map_err(|error| match error {
        RmaError::Lost(lost) => PeerLost { peer, ..lost }.into(),
        other => other,
    })
}

impl<S, R> Routes<S, R> {
    /// What can be done with memory of a peer; `None` until the way to it is known. This call has
    /// it asked for: poll, then call again. Constant once it is known.
    pub fn reach(&mut self, peer: Peer) -> Option<Reach> {
        let route = self.route(peer);
        let has_keys = self.has_keys(peer);
        let operations = match (route, &self.shm, &mut self.networks) {
            (Route::Loopback, ..) => self.loopback.rma_caps(peer),
            (Route::Shm, Some(shm), _) => shm.rma_caps(peer),
            // Memory is registered for the processes of this job, and those that were added.
            (Route::Network, _, Some(networks)) if has_keys => networks.rma_caps(peer)?,
            _ => RmaCaps::NONE,
        };
        Some(Reach {
            route,
            maps: matches!(route, Route::Loopback | Route::Shm),
            operations,
        })
    }

    /// Whether memory that is exposed is registered for a peer that a network leads to.
    fn has_keys(&self, peer: Peer) -> bool {
        self.alone.is_some() || self.peers.is_own(peer)
    }

    /// Registers memory for all peers, for as many of these accesses as each way has. The memory
    /// must stay valid until [`Routes::withdraw`].
    ///
    /// Through shared memory peers reach all memory of this process by copies of the kernel, if
    /// that allows it, and memory of the node's segment ([`Routes::allocate`]) by loads, stores and
    /// atomics.
    pub fn expose(&mut self, buf: Buf, access: Access) -> Region {
        let plain = access.without(Access::ATOMIC);
        let first = |transport: &mut dyn FnMut(Access) -> Option<RemoteKey>| {
            [access, plain].into_iter().find_map(|access| {
                let keys = transport(access)?.into();
                Some(Target { keys, access })
            })
        };
        let loopback = &mut self.loopback;
        let own = first(&mut |access| loopback.register(None, buf, access));
        let shm = &mut self.shm;
        let node = first(&mut |access| shm.as_mut()?.register(None, buf, access));
        let networks = self.networks.as_mut();
        let networks = networks.map_or(Vec::new(), |it| it.register_for_all(buf, access));
        let target = |(access, keys)| Target { keys, access };
        let networks = networks.into_iter().map(|it| it.map(target)).collect();
        Region {
            keys: RegionKeys {
                own,
                node,
                networks,
            },
        }
    }

    /// Ends what [`Routes::expose`] began. Operations of peers that are under way may fail.
    pub fn withdraw(&mut self, region: Region) {
        let RegionKeys {
            own,
            node,
            networks,
        } = region.keys;
        if let Some(own) = own {
            self.loopback.deregister(own.keys.first());
        }
        if let (Some(node), Some(shm)) = (node, &mut self.shm) {
            shm.deregister(node.keys.first());
        }
        for (number, target) in networks.into_iter().enumerate() {
            if let (Some(target), Some(networks)) = (target, &mut self.networks) {
                networks.deregister_from(number, target.keys);
            }
        }
    }

    /// Where the way to a peer finds a region of its; `None` if the way is not known yet (see
    /// [`Routes::reach`]) or does not find it.
    pub fn target(&self, peer: Peer, keys: &RegionKeys) -> Option<Target> {
        match self.route(peer) {
            Route::Loopback => keys.own,
            Route::Shm => keys.node,
            Route::Network => {
                let networks = self.networks.as_ref().filter(|_| self.has_keys(peer))?;
                let there = networks.number_there(peer)?;
                *keys.networks.get(there)?
            }
            Route::None => None,
        }
    }

    /// The address here of `len` bytes of a peer's region from byte `offset` on; `None` if they
    /// cannot be mapped. Good as long as the region and the routes.
    pub fn map(&self, peer: Peer, keys: &RegionKeys, offset: u64, len: usize) -> Option<*mut u8> {
        let key = self.target(peer, keys)?.keys.at(offset).first();
        match self.route(peer) {
            Route::Loopback => self.loopback.own_memory(key, len),
            Route::Shm => self.shm()?.map(peer, key, len),
            Route::Network | Route::None => None,
        }
    }

    /// Takes memory of the node's segment, aligned to 256 bytes and zeroed when it is first taken:
    /// what processes of the node can map, and atomics reach. `None` if there is no shared memory,
    /// or not as much.
    pub fn allocate(&mut self, bytes: usize) -> Option<*mut u8> {
        let shm = self.shm.as_mut()?;
        let offset = shm.region_alloc(bytes, usize::MAX)?;
        shm.region(offset, bytes)
    }

    /// Gives back what [`Routes::allocate`] gave for as many bytes. No process may use it any more.
    pub fn free(&mut self, at: *mut u8, bytes: usize) {
        if let Some(shm) = &mut self.shm {
            shm.region_free_at(at, bytes);
        }
    }

    /// Starts to write the bytes of `from` to `target` of `peer`; see [`Rma::put`].
    ///
    /// # Safety
    /// `from` must be valid, and nobody changes its bytes until the operation is complete at the
    /// origin.
    ///
    /// # Errors
    /// See [`RmaError`]; nothing was started then.
    pub unsafe fn put(
        &mut self,
        op: OpId,
        peer: Peer,
        from: Buf,
        target: RemoteKeys,
    ) -> Result<Started, RmaError> {
        // SAFETY: as the caller promised.
        start!(self, peer, target, t, key => unsafe { t.put(op, peer, from, key) },
            // SAFETY: as the caller promised.
            n, at => unsafe { Networks::put(n, op, at, from, target) })
    }

    /// Starts to read bytes at `target` of `peer` into `into`; see [`Rma::get`].
    ///
    /// # Safety
    /// `into` must be valid, and nobody else uses it until the operation is complete.
    ///
    /// # Errors
    /// See [`RmaError`]; nothing was started then.
    pub unsafe fn get(
        &mut self,
        op: OpId,
        peer: Peer,
        into: Buf,
        target: RemoteKeys,
    ) -> Result<Started, RmaError> {
        // SAFETY: as the caller promised.
        start!(self, peer, target, t, key => unsafe { t.get(op, peer, into, key) },
            // SAFETY: as the caller promised.
            n, at => unsafe { Networks::get(n, op, at, into, target) })
    }

    /// Starts an atomic on the word at `target` of `peer`; see [`Rma::atomic`] and [`Reach`].
    ///
    /// # Errors
    /// See [`RmaError`]; nothing was started then.
    pub fn atomic(
        &mut self,
        op: OpId,
        peer: Peer,
        atomic: Atomic,
        target: RemoteKeys,
    ) -> Result<Started, RmaError> {
        start!(self, peer, target, t, key => t.atomic(op, peer, atomic, key),
            n, at => n.atomic(op, at, atomic, target))
    }

    /// Starts to wait until all operations started to `peer` before are complete at the target; see
    /// [`Rma::flush`].
    ///
    /// # Errors
    /// See [`RmaError`]; nothing was started then.
    pub fn flush(&mut self, op: OpId, peer: Peer) -> Result<Started, RmaError> {
        let none = RemoteKeys::default();
        start!(self, peer, none, t, _key => t.flush(op, peer), n, at => n.flush_to(op, at))
    }
}
