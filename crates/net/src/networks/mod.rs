//! The networks: transports whose ends learn of each other while they run.
//!
//! Opening them publishes this process's address record; it does not wait for
//! anybody. The record of a peer is asked for when the peer is first needed, and
//! until it comes the route is full. Then the peer is reached over one network:
//! the first of the chain that both ends have.
//!
//! | module     | what                                                         |
//! |------------|--------------------------------------------------------------|
//! | `connect`  | asking for the records of peers and connecting to them       |
//! | `idle`     | having nothing to do: whom to ping, what to sleep on, the end|
//! | `transfer` | messages to peers that are connected                         |

mod connect;
mod idle;
mod transfer;

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use catena_base::{Buzzer, PeerBytes};
use catena_fabric::{Caps, Deliver, Header, Peer, PeerLost, Place};
use catena_link::Tally;
use catena_proof::Secret;

use crate::chain::Chain;
use crate::device_order::DeviceOrder;
use crate::driver::{Counters, Driver};
use crate::exchange::Exchange;
use crate::peer_table::{PeerTable, Via};
use crate::rails::Rails;
use crate::record::Record;
use crate::report::Report;
use idle::PING_EVERY;

/// Polls of shared memory to one of a network that was silent at the last.
const RATIO: u32 = 16;

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
    peers: PeerTable,
    /// Why there is no way to a peer.
    lost: HashMap<Peer, String>,
    /// The least of what the networks can do.
    least: Caps,
    me: Peer,
    exchange: Box<dyn Exchange>,
    /// How this process is reached.
    record: Record,
    /// Ranks on this node.
    local: Box<[Peer]>,
    stage: Stage,
    /// Messages that began to leave here.
    sent: Tally,
    turn: u32,
    report: Option<Report>,
    /// Those that this process waited for when it last looked, and when it looks
    /// again.
    awaited: BTreeSet<Peer>,
    next_ping: Instant,
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
    /// memory does not reach: those that are not among `local`, the processes of
    /// this node. `secret` is what only the processes of the job know, if
    /// anything is.
    ///
    /// # Errors
    /// What failed and what to do.
    pub fn open(
        chain: &Chain,
        place: Place,
        local: &[Peer],
        secret: Option<&Secret>,
        mut exchange: Box<dyn Exchange>,
    ) -> Result<Option<Box<Networks>>, String> {
        let me = place.me;
        let joined = if chain.shm { local.len() } else { 1 };
        if chain.networks.is_empty() || place.processes as usize <= joined {
            return Ok(None);
        }
        let number = local.iter().position(|&peer| peer == me).unwrap_or(0);
        let (mut members, mut ends, order) =
            (Vec::new(), Vec::new(), DeviceOrder::of_process(number));
        let report = Report::wanted();
        for network in &chain.networks {
            let drivers = Driver::open(network, place, secret, &order)?;
            if drivers.is_empty() {
                continue;
            }
            let rails = Rails::new(drivers, number, place.processes);
            if let Some(report) = &report {
                report.opened(me, &exchange.host_of(me), &rails.about());
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
        exchange.publish(&bytes)?;
        let mut peers = PeerTable::new(place.processes);
        if !chain.shm {
            // One that uses shared memory sends what never arrives, and is not
            // told: this process has to find out.
            let others = local.iter().filter(|&&peer| peer != me);
            others.for_each(|&peer| peers.want(peer));
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
            peers,
            lost: HashMap::new(),
            least: least.expect("a chain with networks"),
            me,
            exchange,
            record,
            local: local.into(),
            stage: Stage::Open,
            sent: Tally::default(),
            turn: 0,
            report,
            awaited: BTreeSet::new(),
            next_ping: Instant::now() + PING_EVERY,
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
        if self.peers.wanted() > 0 {
            self.ask(deliver);
        }
        let mut moved = 0;
        let only = self.members.len() == 1;
        for (number, member) in self.members.iter_mut().enumerate() {
            if all || member.lively {
                let via = Via::Network(number as u8);
                let mut through = Through {
                    exchange: &*self.exchange,
                    peers: &mut self.peers,
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
        if let Some(report) = self.report.as_mut().filter(|it| !it.is_complete()) {
            let (members, peers) = (&self.members, &self.peers);
            report.say(self.me, &*self.exchange, |peer| match peers.via(peer) {
                Via::Network(number) => members[number as usize].rails.way(peer),
                _ => None,
            });
        }
        moved
    }
}

/// What arrives over one network. That it leads to a peer no more is told only
/// if the peer is reached over it, and not while all part: who is through
/// first closes its ends.
struct Through<'a, D> {
    exchange: &'a dyn Exchange,
    peers: &'a mut PeerTable,
    via: Via,
    /// Whether there is no other network.
    only: bool,
    parting: bool,
    deliver: &'a mut D,
}

impl<D: Deliver> Deliver for Through<'_, D> {
    #[inline]
    fn deliver(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) {
        self.peers.want(from);
        self.deliver.deliver(from, header, payload);
    }

    fn lost(&mut self, lost: PeerLost) {
        let via = self.peers.via(lost.peer);
        let unknown = matches!(via, Via::Unknown | Via::Wanted);
        if !self.parting && (via == self.via || unknown && self.only) {
            self.deliver.lost(at_its_host(self.exchange, lost));
        }
    }
}

/// The same, which names the host.
#[cold]
fn at_its_host(exchange: &dyn Exchange, lost: PeerLost) -> PeerLost {
    let host = exchange.host_of(lost.peer);
    PeerLost {
        cause: format!("{}; it was on host {host}", lost.cause),
        ..lost
    }
}
