//! The networks: transports whose ends learn of each other while they run.
//!
//! Opening them publishes this process's address record; it does not wait for
//! anybody. The record of a peer is asked for when the peer is first needed, and
//! until it comes the route is full. Then the peer is reached over one network:
//! the first of the chain that both ends have.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::rc::Rc;
use std::time::{Duration, Instant};

use catena_base::{Button, Buzzer, PeerBytes};
use catena_boot::{Boot, BootError, Job};
use catena_fabric::{
    Caps, Deliver, Got, Header, Load, Payload, Peer, PeerLost, Place, Posted, Rendezvous, Sleeper,
};
use catena_link::{Exposed, Tally};

use super::chain::Chain;
use super::driver::{Counters, Driver};
use super::near::Near;
use super::rails::Rails;
use super::record::{End, Record};
use super::report::Report;
use super::ways::{Via, Ways};

/// The connection to the launcher, which the networks share.
pub type SharedBoot = Rc<RefCell<Box<dyn Boot>>>;

/// Under which key the launcher keeps the address records.
const KEY: &str = "link";

/// Polls of shared memory to one of a network that was silent at the last.
const RATIO: u32 = 16;

/// How often a process that waits long looks whom it waits for.
const HAIL_EVERY: Duration = Duration::from_millis(250);

/// Records asked for in one poll, at most.
const QUESTIONS: usize = 8;

/// How far this process is from needing the others no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It needs them.
    Open,
    /// It does not, and says so once its own record is published.
    Leaving,
    /// It has said so.
    Parting,
    /// All have said so.
    Parted,
}

/// A network, and how lively it is.
#[derive(Debug)]
struct Member {
    rails: Rails,
    /// Whether the last poll found something.
    lively: bool,
}

/// The routes over all networks.
pub struct Networks {
    /// In the order of the chain.
    members: Vec<Member>,
    ways: Ways,
    /// Why there is no way to a peer.
    lost: HashMap<Peer, String>,
    /// The least of what the networks can do.
    least: Caps,
    boot: SharedBoot,
    /// How this process is reached.
    record: Record,
    /// Ranks on this node.
    local: Box<[Peer]>,
    stage: Stage,
    /// Messages that began to leave here.
    sent: Tally,
    turn: u32,
    report: Option<Report>,
    /// Those that were hailed, and when the next may be.
    hailed: HashSet<Peer>,
    next_hail: Instant,
    /// What wakes this process while it sleeps on the networks.
    buzzer: Buzzer,
}

impl std::fmt::Debug for Networks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Networks")
            .field("members", &self.members)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

impl Networks {
    /// Opens the networks of `chain`, if the job has processes that shared
    /// memory does not reach.
    ///
    /// # Errors
    /// What failed and what to do.
    pub fn open(
        chain: &Chain,
        boot: &SharedBoot,
        local: &[Peer],
    ) -> Result<Option<Box<Networks>>, String> {
        let mut connection = boot.borrow_mut();
        let job = connection.job();
        let me = Peer(job.rank);
        let joined = if chain.shm { local.len() } else { 1 };
        if chain.networks.is_empty() || job.size as usize <= joined {
            return Ok(None);
        }
        let place = Place {
            me,
            processes: job.size,
            job: job.job_id,
        };
        let number = local.iter().position(|&peer| peer == me).unwrap_or(0);
        let (mut members, mut ends, near) = (Vec::new(), Vec::new(), Near::here(number));
        let report = Report::wanted();
        for network in &chain.networks {
            let drivers = Driver::open(network, place, &near)?;
            if drivers.is_empty() {
                continue;
            }
            let rails = Rails::new(drivers, number, place.processes);
            if let Some(report) = &report {
                report.opened(job, &rails.about());
            }
            ends.push(rails.ends()?);
            members.push(Member {
                rails,
                lively: true,
            });
        }
        let record = Record {
            setting: chain.setting.clone(),
            shm: chain.shm,
            ends,
        };
        let bytes = record
            .encode()
            .ok_or("an address of a network is too long")?;
        connection.publish(KEY, &bytes).map_err(|e| e.to_string())?;
        drop(connection);
        let mut ways = Ways::new(place.processes);
        if !chain.shm {
            // One that uses shared memory sends what never arrives, and is not
            // told: this process has to find out.
            let others = local.iter().filter(|&&peer| peer != me);
            others.for_each(|&peer| ways.want(peer));
        }
        let buzzer = Buzzer::new().map_err(|e| format!("no socket can be opened: {e}"))?;
        let caps = members.iter().map(|it| it.rails.caps(me));
        let least = caps.reduce(|a, b| Caps {
            max_packet: a.max_packet.min(b.max_packet),
            eager_max: a.eager_max.min(b.eager_max),
            ordered: false,
        });
        Ok(Some(Box::new(Networks {
            members,
            ways,
            lost: HashMap::new(),
            least: least.expect("a chain with networks"),
            boot: Rc::clone(boot),
            record,
            local: local.into(),
            stage: Stage::Open,
            sent: Tally::default(),
            turn: 0,
            report,
            hailed: HashSet::new(),
            next_hail: Instant::now(),
            buzzer,
        })))
    }

    /// Messages sent over them.
    pub fn sent(&self) -> Tally {
        self.sent
    }

    /// What happened so far, in all of them.
    pub fn counters(&self) -> Counters {
        self.members.iter().map(|it| it.rails.counters()).sum()
    }

    /// Polls; where shared memory is polled too, which costs far less, not
    /// every time those that were silent.
    #[inline]
    pub fn poll_beside<D: Deliver>(&mut self, shm: bool, deliver: &mut D) -> usize {
        self.turn = self.turn.wrapping_add(1);
        let all = !shm || self.turn.is_multiple_of(RATIO);
        if !all && self.members.iter().all(|it| !it.lively) {
            return 0;
        }
        self.poll_some(all, deliver)
    }

    /// Polls all networks or the lively ones.
    #[inline(never)]
    fn poll_some<D: Deliver>(&mut self, all: bool, deliver: &mut D) -> usize {
        if self.ways.wanted() > 0 {
            self.ask(deliver);
        }
        let mut moved = 0;
        let only = self.members.len() == 1;
        for (number, member) in self.members.iter_mut().enumerate() {
            if all || member.lively {
                let via = Via::Network(number as u8);
                let mut through = Through {
                    boot: &self.boot,
                    ways: &mut self.ways,
                    via,
                    only,
                    parting: self.stage != Stage::Open,
                    deliver,
                };
                let count = member.rails.poll(&mut through);
                member.lively = count > 0;
                moved += count;
            }
        }
        if let Some(report) = self.report.as_mut().filter(|it| !it.is_complete())
            && let Ok(boot) = self.boot.try_borrow()
        {
            let (members, ways) = (&self.members, &self.ways);
            report.say(boot.job(), |peer| match ways.to(peer) {
                Via::Network(number) => members[number as usize].rails.way(peer),
                _ => None,
            });
        }
        moved
    }

    /// Whether it is time to hail those that this process waits for.
    pub fn may_hail(&mut self) -> bool {
        let now = Instant::now();
        let may = now >= self.next_hail;
        if may {
            self.next_hail = now + HAIL_EVERY;
        }
        may
    }

    /// Whether a peer is to be hailed, as nobody would notice its loss: once.
    pub fn hail(&mut self, peer: Peer) -> bool {
        let watched = match self.ways.to(peer) {
            Via::Network(number) => self.members[number as usize].rails.watches(peer),
            _ => false,
        };
        !watched && self.hailed.insert(peer)
    }

    /// The next poll looks at everything.
    pub fn look_next(&mut self) {
        self.turn = u32::MAX;
    }

    /// What wakes this process while it sleeps on [`Networks::sleeper`].
    pub fn button(&self) -> Button {
        self.buzzer.button()
    }

    /// What a process with nothing to do may sleep on, its buzzer among it, or
    /// `None` if there may be something to do. The next poll looks at everything.
    pub fn sleeper(&mut self) -> Option<Sleeper> {
        self.look_next();
        self.buzzer.silence();
        let mut sleeper = Sleeper::new(Some(self.buzzer.fd()));
        for member in &mut self.members {
            sleeper = sleeper.or(member.rails.sleeper()?);
        }
        let parting = matches!(self.stage, Stage::Leaving | Stage::Parting);
        let asking = self.ways.wanted() > 0;
        if parting || asking {
            // Who looks for one answer takes in the other.
            let boot = self.boot.try_borrow().ok().filter(|_| !(parting && asking));
            let fd = boot.and_then(|boot| boot.descriptor());
            sleeper = sleeper.or(Sleeper::new(fd));
        }
        Some(sleeper)
    }

    /// Says that this process needs the others no more; true once all have
    /// said so. Until then it is to be polled: what others wait for may not
    /// have left yet.
    ///
    /// # Errors
    /// If the launcher is gone.
    pub fn part(&mut self) -> Result<bool, BootError> {
        if self.stage == Stage::Open {
            self.stage = Stage::Leaving;
        }
        let mut boot = self.boot.borrow_mut();
        let me = boot.job().rank;
        // Where publishing is a fence, there cannot be another one yet.
        if self.stage == Stage::Leaving && boot.ask(me, KEY)?.is_some() {
            boot.begin_fence()?;
            self.stage = Stage::Parting;
        }
        if self.stage == Stage::Parting && boot.fence_done()? {
            self.stage = Stage::Parted;
        }
        Ok(self.stage == Stage::Parted)
    }

    /// Asks for the records that are wanted, and learns of those that have come.
    #[cold]
    #[inline(never)]
    fn ask<D: Deliver>(&mut self, deliver: &mut D) {
        let boot = Rc::clone(&self.boot);
        // Somebody may be looking at the job.
        let Ok(mut boot) = boot.try_borrow_mut() else {
            return;
        };
        let me = Peer(boot.job().rank);
        for _ in 0..self.ways.wanted().min(QUESTIONS) {
            let Some(peer) = self.ways.next() else {
                return;
            };
            let met = match boot.ask(peer.0, KEY) {
                Ok(None) => continue,
                Ok(Some(record)) => self.meet(me, peer, &record),
                Err(error) => Err(error.to_string()),
            };
            let via = met.unwrap_or_else(|cause| {
                let lost = at_its_host(boot.job(), PeerLost { peer, cause });
                self.lost.insert(peer, lost.cause.clone());
                deliver.lost(lost);
                Via::Nowhere
            });
            self.ways.settle(via);
        }
    }

    /// Learns how one process is reached, from its record.
    fn meet(&mut self, me: Peer, peer: Peer, record: &[u8]) -> Result<Via, String> {
        let theirs = Record::decode(record).ok_or("it runs another version of Catena")?;
        let ours = &self.record;
        if self.local.contains(&peer) {
            if ours.shm != theirs.shm {
                return Err(format!(
                    "the two share a node, and only one of them uses shared memory: {}; give the \
                     ranks of a node the same value",
                    self.settings(me, peer, &theirs)
                ));
            }
            if ours.shm {
                return Ok(Via::Nowhere);
            }
        }
        let Some((at, their)) = ours.common(&theirs, me < peer) else {
            return Err(format!(
                "no network joins the two: {}; name one that both have, of the same version of its \
                 library",
                self.settings(me, peer, &theirs)
            ));
        };
        self.members[at].rails.connect(peer, &theirs.ends[their])?;
        if let Some(report) = &mut self.report {
            report.met(peer);
        }
        Ok(Via::Network(at as u8))
    }

    /// What this process and another one say of themselves, for a message.
    fn settings(&self, me: Peer, peer: Peer, theirs: &Record) -> String {
        let mut text = String::new();
        for (Peer(rank), record) in [(me, &self.record), (peer, theirs)] {
            let separator = if text.is_empty() { "" } else { ", " };
            let _ = match record.setting.as_str() {
                "" => write!(text, "{separator}rank {rank} has no CATENA_LINK"),
                value => write!(text, "{separator}rank {rank} has CATENA_LINK={value}"),
            };
            let name = |end: &End| {
                self.members
                    .iter()
                    .find_map(|it| it.rails.protocol_name(end))
            };
            let spoken: Vec<String> = record
                .ends
                .iter()
                .filter_map(|rails| name(&rails[0]))
                .collect();
            if !spoken.is_empty() {
                let _ = write!(text, " ({})", spoken.join(", "));
            }
        }
        text
    }

    /// The network that leads to a peer, or will if any does.
    fn number(&self, peer: Peer) -> Option<usize> {
        match self.ways.to(peer) {
            Via::Network(number) => Some(number.into()),
            Via::Unknown | Via::Wanted if self.members.len() == 1 => Some(0),
            _ => None,
        }
    }

    #[cold]
    fn lost(&self, peer: Peer) -> PeerLost {
        let cause = self.lost.get(&peer).cloned();
        PeerLost {
            peer,
            cause: cause.unwrap_or_else(|| "no network leads there".to_string()),
        }
    }
}

/// What arrives over one network. That it leads to a peer no more is told only
/// if the peer is reached over it, and not while all part: who is through
/// first closes its ends.
struct Through<'a, D> {
    boot: &'a SharedBoot,
    ways: &'a mut Ways,
    via: Via,
    /// Whether there is no other network.
    only: bool,
    parting: bool,
    deliver: &'a mut D,
}

impl<D: Deliver> Deliver for Through<'_, D> {
    #[inline]
    fn deliver(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) {
        self.ways.want(from);
        self.deliver.deliver(from, header, payload);
    }

    fn lost(&mut self, lost: PeerLost) {
        let via = self.ways.to(lost.peer);
        let unknown = matches!(via, Via::Unknown | Via::Wanted);
        if !self.parting && (via == self.via || unknown && self.only) {
            self.deliver
                .lost(at_its_host(self.boot.borrow().job(), lost));
        }
    }
}

/// The same, which names the host.
#[cold]
fn at_its_host(job: &Job, lost: PeerLost) -> PeerLost {
    let host = job.host_of(lost.peer.0);
    PeerLost {
        cause: format!("{}; it was on host {host}", lost.cause),
        ..lost
    }
}

impl Networks {
    /// See [`Transport::caps`](catena_fabric::Transport::caps); the others
    /// likewise.
    pub(super) fn caps(&self, peer: Peer) -> Caps {
        match self.ways.to(peer) {
            Via::Network(number) => self.members[number as usize].rails.caps(peer),
            _ => self.least,
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn try_send<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        let posted = match self.ways.to(peer) {
            Via::Network(number) => {
                let rails = &mut self.members[number as usize].rails;
                let posted = rails.try_send(peer, header, payload);
                posted.map_err(|lost| at_its_host(self.boot.borrow().job(), lost))?
            }
            Via::Unknown | Via::Wanted => {
                self.ways.want(peer);
                return Ok(Posted::Full);
            }
            Via::Nowhere => return Err(self.lost(peer)),
        };
        if posted == Posted::Done
            && let Some(len) = catena_link::begins(&header)
        {
            self.sent.add(len);
        }
        Ok(posted)
    }

    pub(super) fn rendezvous(&self, peer: Peer, len: u64, load: Load) -> Rendezvous {
        match self.number(peer) {
            Some(number) => self.members[number].rails.rendezvous(peer, len, load),
            None => Rendezvous::Stream,
        }
    }

    pub(super) fn expose(&mut self, peer: Peer, addr: *const u8, len: u64) -> Option<Exposed> {
        let number = self.number(peer)?;
        self.members[number].rails.expose(peer, addr, len)
    }

    pub(super) fn release(&mut self, peer: Peer, exposed: Exposed) {
        if let Some(number) = self.number(peer) {
            self.members[number].rails.release(peer, exposed);
        }
    }

    /// # Safety
    /// As [`Transport::try_get`](catena_fabric::Transport::try_get).
    pub(super) unsafe fn try_get(
        &mut self,
        peer: Peer,
        exposed: Exposed,
        into: *mut u8,
        len: usize,
    ) -> Result<Got, PeerLost> {
        match self.ways.to(peer) {
            Via::Network(number) => {
                let rails = &mut self.members[number as usize].rails;
                // SAFETY: as the caller promised.
                let got = unsafe { rails.try_get(peer, exposed, into, len) };
                got.map_err(|lost| at_its_host(self.boot.borrow().job(), lost))
            }
            Via::Unknown | Via::Wanted => {
                self.ways.want(peer);
                Ok(Got::Full)
            }
            Via::Nowhere => Err(self.lost(peer)),
        }
    }
}
