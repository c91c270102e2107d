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
//! | `idle`     | having nothing to do: whom to ping, what to sleep on         |
//! | `poll`     | polling them, and what arrives                               |
//! | `leave`    | leaving: what is awaited before, and who may end without having died |
//! | `transfer` | messages to peers that are connected                         |
//! | `remote`   | operations on their memory                                   |
//! | `receipts` | what those who leave say, and who has left; what has arrived where the network does not tell |

mod connect;
mod idle;
mod leave;
mod poll;
mod receipts;
mod remote;
mod transfer;

pub use idle::Watched;

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use catena_base::WakeSocket;
use catena_fabric::{Caps, LocalPeer, Opening, Peer, PeerLost, ProcessName, RailCounters};
use catena_link::Tally;
use catena_proof::Secret;

use crate::chain::Chain;
use crate::device_order::DeviceOrder;
use crate::exchange::Exchange;
use crate::rails::Rails;
use crate::record::Record;
use crate::report::Report;
use crate::ways::{Via, Ways};
use receipts::Receipts;

/// How often a process looks at whom it waits for.
pub(crate) const PING_EVERY: Duration = Duration::from_secs(1);

/// How far this process is from needing the others no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It needs them.
    Active,
    /// It does not, and says so once its own record is published.
    Leaving,
    /// It has said so.
    FenceBegun,
    /// All have said so.
    Done,
}

/// A network, and how lively it is.
#[derive(Debug)]
struct Member {
    rails: Rails,
    /// Whether the last poll found something.
    lively: bool,
    /// Whether it does not tell what has arrived, so that those who have it are asked.
    counted: bool,
}

/// The routes over all networks.
///
/// # Examples
/// The networks of a job of two processes, of which no memory is shared:
/// ```no_run
/// use catena_fabric::{Peer, LocalPeer};
/// use catena_net::{Chain, Exchange, Networks, PeerTable, Routes};
/// use catena_link::{Sink, Source};
/// use catena_proof::Secret;
///
/// fn routes<S: Source, R: Sink>(
///     me: Peer, secret: &Secret, exchange: Box<dyn Exchange>,
/// ) -> Result<Routes<S, R>, String> {
///     let (chain, job) = (Chain::parse("tcp")?, 7);
///     let place = LocalPeer { me, processes: 2, job };
///     let networks = Networks::open(&chain, place, &[me], Some(secret), exchange)?;
///     Ok(Routes::new(me, PeerTable::new(job, [0, 1]), &[me], None, networks))
/// }
/// ```
pub struct Networks {
    /// In the order of the chain.
    members: Vec<Member>,
    ways: Ways,
    receipts: Receipts,
    /// Why there is no way to a peer.
    lost: HashMap<Peer, String>,
    /// Peers that have ended, as was found when something was sent to them: the next poll tells.
    ended: Vec<PeerLost>,
    /// The least of what the networks can do.
    least: Caps,
    /// This process.
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
    /// Whether polls are seldom, and when the last one of all networks ended, in ticks.
    seldom: bool,
    polled: u64,
    report: Option<Report>,
    /// The processes that this one waited for when it last looked.
    awaited: BTreeSet<Peer>,
    /// When it looks again.
    next_ping: Instant,
    /// What wakes this process while it sleeps on the networks.
    wake_socket: WakeSocket,
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
        place: LocalPeer,
        local: &[Peer],
        secret: Option<&Secret>,
        exchange: Box<dyn Exchange>,
    ) -> Result<Option<Box<Networks>>, String> {
        let joined = if chain.shm { local.len() } else { 1 };
        if chain.networks.is_empty() || place.processes as usize <= joined {
            return Ok(None);
        }
        Networks::open_all(chain, place, local, secret, exchange)
    }

    /// As [`Networks::open`], whether there is anybody to be reached or not; `None` if no network
    /// is here, or none that a process that is alone may [add peers](Networks::add_peer) to.
    pub(crate) fn open_all(
        chain: &Chain,
        place: LocalPeer,
        local: &[Peer],
        secret: Option<&Secret>,
        mut exchange: Box<dyn Exchange>,
    ) -> Result<Option<Box<Networks>>, String> {
        let me = place.me;
        let is_alone = place.processes == 1;
        let number = local.iter().position(|&peer| peer == me).unwrap_or(0);
        let (mut members, mut ends, order) = (
            Vec::<Member>::new(),
            Vec::new(),
            DeviceOrder::of_process(number),
        );
        let report = Report::wanted();
        let opening = Opening {
            place,
            secret,
            order: &|names| order.order(names),
        };
        for network in &chain.networks {
            let drivers = network.open(&opening)?;
            if drivers.is_empty() {
                continue;
            }
            let rails = Rails::new(drivers, number, place.processes);
            if is_alone && !rails.adds_peers() {
                continue;
            }
            if let Some(report) = &report {
                report.opened(me, &exchange.host_of(me), &rails.about());
            }
            ends.push(rails.ends()?);
            members.push(Member {
                counted: !rails.tells_arrival(),
                rails,
                lively: true,
            });
        }
        if members.is_empty() && is_alone {
            return Ok(None);
        }
        let record = Record {
            setting: chain.setting.clone(),
            shm: chain.shm,
            ends,
            address: None,
        };
        let bytes = record
            .encode()
            .ok_or("an address of a network is too long")?;
        exchange.publish(&bytes)?;
        let mut ways = Ways::new(place.processes);
        if !chain.shm {
            // One that uses shared memory sends what never arrives, and is not
            // told: this process has to find out.
            let others = local.iter().filter(|&&peer| peer != me);
            others.for_each(|&peer| ways.want(peer));
        }
        let wake_socket = WakeSocket::new().map_err(|e| format!("no socket can be opened: {e}"))?;
        let caps = members.iter().map(|it| it.rails.caps(me));
        let least = caps.reduce(|a, b| Caps {
            max_packet: a.max_packet.min(b.max_packet),
            whole: a.whole.min(b.whole),
            eager_max: a.eager_max.min(b.eager_max),
            ordered: false,
            kinds: a.kinds.and(b.kinds),
        });
        Ok(Some(Box::new(Networks {
            receipts: Receipts::new(place.processes),
            members,
            ways,
            lost: HashMap::new(),
            ended: Vec::new(),
            least: least.expect("a chain with networks"),
            me,
            exchange,
            record,
            local: local.into(),
            stage: Stage::Active,
            sent: Tally::default(),
            turn: 0,
            seldom: false,
            polled: 0,
            report,
            awaited: BTreeSet::new(),
            next_ping: Instant::now() + PING_EVERY,
            wake_socket,
        })))
    }

    /// How this process is reached over them.
    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    /// Whether a network joins this process and another, by what that tells of itself. `leads`:
    /// this process has the say which that is.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn joins(&self, theirs: &Record, leads: bool) -> Result<(), String> {
        let common = self.record.common(theirs, leads);
        let setting = |it: &Record| match it.setting.as_str() {
            "" => "no chain".to_string(),
            text => format!("{text:?}"),
        };
        common.map(drop).ok_or_else(|| {
            let (ours, theirs) = (setting(&self.record), setting(theirs));
            format!("no network joins the two: this process has {ours}, and the other one {theirs}")
        })
    }

    /// Adds a process of another job, which a network [joins](Networks::joins) with this one.
    ///
    /// # Errors
    /// Why it cannot be reached; it is to be removed then.
    pub(crate) fn add_peer(
        &mut self,
        peer: Peer,
        theirs: &Record,
        (name, leads): (ProcessName, bool),
    ) -> Result<(), String> {
        self.ways.add(peer, Via::Nowhere);
        self.receipts.add(peer);
        for member in &mut self.members {
            member.rails.add_peer(peer, name)?;
        }
        let via = self.connect(peer, theirs, leads)?;
        self.ways.add(peer, via);
        Ok(())
    }

    /// The processes that have called and wait to be added, with the number of the network over
    /// which they have.
    pub(crate) fn callers(&self) -> impl Iterator<Item = (usize, ProcessName)> + '_ {
        let members = self.members.iter().enumerate();
        members.flat_map(|(number, it)| it.rails.callers().map(move |name| (number, name)))
    }

    /// Adds a process that has called over the network of that number.
    ///
    /// # Errors
    /// Why it cannot be reached; its number is spent all the same.
    pub(crate) fn add_caller(
        &mut self,
        peer: Peer,
        number: usize,
        name: ProcessName,
    ) -> Result<(), String> {
        self.ways.add(peer, Via::Nowhere);
        self.receipts.add(peer);
        for member in &mut self.members {
            member.rails.add_caller(peer, name)?;
        }
        self.ways.add(peer, Via::Network(number as u8));
        Ok(())
    }

    /// Removes a process that was added.
    pub(crate) fn remove_peer(&mut self, peer: Peer) {
        for member in &mut self.members {
            member.rails.remove_peer(peer);
        }
        self.ways.remove(peer);
        self.receipts.remove(peer);
        self.lost.remove(&peer);
        self.ended.retain(|it| it.peer != peer);
        self.awaited.remove(&peer);
    }

    /// Whether nothing is under way any more to a process that was removed.
    pub(crate) fn has_let_go(&self, peer: Peer) -> bool {
        self.members.iter().all(|it| it.rails.has_let_go(peer))
    }

    /// What they are, in words.
    pub fn about(&self) -> String {
        let all: Vec<_> = self.members.iter().map(|it| it.rails.about()).collect();
        all.join(" and ")
    }

    /// Messages sent over them.
    pub fn sent(&self) -> Tally {
        self.sent
    }

    /// What happened so far, in all of them.
    pub fn counters(&self) -> RailCounters {
        self.members.iter().map(|it| it.rails.counters()).sum()
    }
}

/// A loss, with the name of the peer's host in its cause.
#[cold]
fn with_host(exchange: &dyn Exchange, lost: PeerLost) -> PeerLost {
    let host = exchange.host_of(lost.peer);
    PeerLost {
        cause: format!("{}; it was on host {host}", lost.cause),
        ..lost
    }
}
