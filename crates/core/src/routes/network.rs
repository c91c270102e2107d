//! A network: a transport whose ends learn of each other while they run.
//!
//! Opening it publishes this process's address record and begins a fence; it
//! does not wait for anybody. Until all processes of the job have published
//! theirs, the routes are full.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use catena_boot::{Boot, BootError};
use catena_fabric::{
    Caps, Deliver, Got, Header, Load, Payload, Peer, PeerLost, Posted, Remote, Rendezvous, Sleeper,
    Transport,
};
use catena_link::Tally;
use catena_ofi::{Counters, Ofi};

use super::chain::Chain;
use super::record::{Endpoint, Record};

/// The connection to the launcher, which the network shares.
pub type SharedBoot = Rc<RefCell<Box<dyn Boot>>>;

/// Under which key the launcher keeps the address records.
const KEY: &str = "link";

/// Polls of shared memory to one of a network that was silent at the last.
const RATIO: u32 = 16;

/// How far the wire-up is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The records of others are awaited.
    Asking,
    /// The others are known.
    Wired,
    /// No other process needs this one any more, once all have said so.
    Parting,
    /// All have said so.
    Parted,
}

/// The routes over a network.
pub struct Network {
    ofi: Ofi,
    boot: SharedBoot,
    /// Ranks on this node, and whether they are reached through shared memory.
    local: Box<[Peer]>,
    shm: bool,
    stage: Stage,
    /// Messages that began to leave here.
    sent: Tally,
    /// Whether the last poll found something.
    lively: bool,
    turn: u32,
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network")
            .field("ofi", &self.ofi)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

impl Network {
    /// Opens the network of `chain`, if the job has processes that shared
    /// memory does not reach.
    ///
    /// # Errors
    /// What failed and what to do.
    pub fn open(
        chain: &Chain,
        boot: &SharedBoot,
        local: &[Peer],
    ) -> Result<Option<Box<Network>>, String> {
        let mut connection = boot.borrow_mut();
        let job = connection.job();
        let me = Peer(job.rank);
        let near = if chain.shm { local.len() } else { 1 };
        let alone = job.size as usize <= near;
        let (Some(wanted), false) = (&chain.network, alone) else {
            return Ok(None);
        };
        let place = catena_ofi::Place {
            me,
            processes: job.size,
            job: job.job_id,
        };
        let number = local.iter().position(|&peer| peer == me).unwrap_or(0);
        let ofi = Ofi::open(place, &wanted.wanted(number)).map_err(|e| e.to_string())?;
        let (protocol, version) = ofi.protocol();
        let record = Record {
            shm: chain.shm,
            ofi: Some(Endpoint {
                protocol,
                version,
                address: ofi.address().map_err(|e| e.to_string())?,
            }),
        };
        let record = record.encode().ok_or_else(|| {
            format!(
                "addresses of libfabric's provider {} are too long",
                ofi.provider()
            )
        })?;
        let published = connection.put(KEY, &record);
        published
            .and_then(|()| connection.begin_fence())
            .map_err(|e| e.to_string())?;
        drop(connection);
        Ok(Some(Box::new(Network {
            ofi,
            boot: Rc::clone(boot),
            local: local.into(),
            shm: chain.shm,
            stage: Stage::Asking,
            sent: Tally::default(),
            lively: true,
            turn: 0,
        })))
    }

    /// Messages sent over it.
    pub fn sent(&self) -> Tally {
        self.sent
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        self.ofi.counters()
    }

    /// Polls; where shared memory is polled too, which costs far less, not
    /// every time.
    #[inline]
    pub fn poll_beside<D: Deliver>(&mut self, shm: bool, deliver: &mut D) -> usize {
        self.turn = self.turn.wrapping_add(1);
        if shm && !self.lively && !self.turn.is_multiple_of(RATIO) {
            return 0;
        }
        let count = self.poll(deliver);
        self.lively = count > 0;
        count
    }

    /// What a process with nothing to do may sleep on, or `None` if there may
    /// be something to do.
    pub fn sleeper(&mut self) -> Option<Sleeper> {
        match self.stage {
            // The launcher's answer wakes nobody.
            Stage::Asking | Stage::Parting => Some(Sleeper::BLIND),
            Stage::Wired | Stage::Parted => self.ofi.sleeper(),
        }
    }

    /// Says that this process needs the others no more; true once all have
    /// said so. Until then it is to be polled: what others wait for may not
    /// have left yet.
    ///
    /// # Errors
    /// If the launcher is gone.
    pub fn part(&mut self) -> Result<bool, BootError> {
        if self.stage == Stage::Wired {
            self.boot.borrow_mut().begin_fence()?;
            self.stage = Stage::Parting;
        }
        if self.stage == Stage::Parting && self.boot.borrow_mut().fence_done()? {
            self.stage = Stage::Parted;
        }
        Ok(self.stage == Stage::Parted)
    }

    /// Learns of the others if all have published their records.
    #[cold]
    #[inline(never)]
    fn wire<D: Deliver>(&mut self, deliver: &mut D) {
        let boot = Rc::clone(&self.boot);
        // Somebody may be looking at the job.
        let Ok(mut boot) = boot.try_borrow_mut() else {
            return;
        };
        let (me, size) = (boot.job().rank, boot.job().size);
        let broken = match boot.fence_done() {
            Ok(false) => return,
            Ok(true) => None,
            Err(error) => Some(error.to_string()),
        };
        self.stage = Stage::Wired;
        for rank in (0..size).filter(|&rank| rank != me) {
            let wired = match &broken {
                Some(error) => Err(error.clone()),
                None => self.meet(Peer(rank), boot.get(rank, KEY)),
            };
            if let Err(cause) = wired {
                self.ofi.mark_lost(Peer(rank), cause.clone());
                deliver.lost(PeerLost {
                    peer: Peer(rank),
                    cause,
                });
            }
        }
    }

    /// Learns how one process is reached, from its record.
    fn meet(
        &mut self,
        peer: Peer,
        record: Result<Option<Vec<u8>>, BootError>,
    ) -> Result<(), String> {
        let record = record.map_err(|e| e.to_string())?;
        let record = record.as_deref().and_then(Record::decode);
        let record = record.ok_or("it runs another version of Catena")?;
        if self.local.contains(&peer) {
            if record.shm != self.shm {
                return Err("ranks of one node must agree whether CATENA_LINK has shm".into());
            }
            if self.shm {
                return Ok(());
            }
        }
        let endpoint = record.ofi.ok_or("its CATENA_LINK names no network")?;
        let (ours, theirs) = (self.ofi.protocol(), (endpoint.protocol, endpoint.version));
        if ours != theirs {
            let show =
                |(protocol, version)| format!("{} {version}", self.ofi.protocol_name(protocol));
            return Err(format!(
                "it speaks {}, this rank {}: name the same provider in CATENA_LINK, of the same \
                 libfabric",
                show(theirs),
                show(ours)
            ));
        }
        let connected = self.ofi.connect(peer, &endpoint.address);
        connected.map_err(|error| error.to_string())
    }
}

impl Transport for Network {
    fn name(&self) -> &'static str {
        self.ofi.name()
    }

    fn caps(&self, peer: Peer) -> Caps {
        self.ofi.caps(peer)
    }

    #[inline(never)]
    fn try_send<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        let posted = self.ofi.try_send(peer, header, payload)?;
        if posted == Posted::Done
            && let Some(len) = catena_link::begins(&header)
        {
            self.sent.add(len);
        }
        Ok(posted)
    }

    #[inline(never)]
    fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        if self.stage == Stage::Asking {
            self.wire(deliver);
        }
        self.ofi.poll(deliver)
    }

    fn rendezvous(&self, peer: Peer, len: u64, load: Load) -> Rendezvous {
        self.ofi.rendezvous(peer, len, load)
    }

    fn expose(&mut self, peer: Peer, addr: *const u8, len: u64) -> Option<Remote> {
        self.ofi.expose(peer, addr, len)
    }

    fn release(&mut self, peer: Peer, remote: Remote) {
        self.ofi.release(peer, remote);
    }

    unsafe fn try_get(
        &mut self,
        peer: Peer,
        remote: Remote,
        into: *mut u8,
        len: usize,
    ) -> Result<Got, PeerLost> {
        // SAFETY: as the caller promised.
        unsafe { self.ofi.try_get(peer, remote, into, len) }
    }

    fn sleep(&mut self, limit: Duration) {
        if let Some(sleeper) = self.sleeper() {
            sleeper.sleep(limit);
        }
    }
}
