//! Communicators (MPI-5, chapter 7).
//!
//! A communicator is a group, or two, and a *context* that keeps its messages
//! apart. Each process numbers its contexts as it likes (local CIDs, `cid`);
//! when a communicator is made, its members tell each other their numbers, once
//! (`agreement`), and `link` keeps the peer's number with the peer. So an envelope
//! always carries the receiver's number, no agreement on a common one is ever
//! needed, and a send looks nothing up that it would not look up anyway.
//!
//! The members need no communicator to tell each other: `control` travel on any
//! context that joins them, in the end that of the job. So communicators made
//! from groups alone (`from_group`), of sessions too, are made like any other.

mod agreement;
mod cid;
mod communicator;
mod communicators;
pub(crate) mod control;
mod create;
mod failed;
mod from_group;
pub(crate) mod hints;
mod idup;
mod inter;
mod jobs;
mod leaders;
mod meet;
mod orphans;
mod port;
mod split_type;
mod tell;

use crate::needs;
use crate::request::RequestObject;
use catena_hang::{WaitsFor, What};
use catena_process::Wait;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use catena_abi as abi;
use catena_fabric::Peer;
use catena_link::Cid;

use crate::components;
use crate::events;
use crate::process::Process;
use crate::request::State;
use agreement::Agreement;
use catena_objects::error::Result;
use catena_objects::group::Group;

pub use agreement::NONE;

pub(crate) use cid::JOB;
pub use cid::{Cids, HandlesByCid, Lease};
pub(crate) use communicator::Inherited;
pub use communicator::{Comm, Remote};
pub use communicators::Communicators;
pub use control::{ControlMessages, FREE_TAGS, Key, free_tag};
pub use failed::FailedMembers;
pub use from_group::{Across, Origin};
pub use hints::wishes;
pub use inter::RemoteLeader;
pub(crate) use jobs::group_of_names;
pub(crate) use leaders::LeaderKey;
pub use port::{OtherJobs, PortEndpoint};

pub use split_type::resources;

/// This process's numbers for a communicator on its way.
#[derive(Debug)]
pub struct Numbers {
    own: Lease,
    /// For the local group of an intercommunicator.
    local: Option<Lease>,
}

impl Numbers {
    /// As the others are told: of the communicator, and of its local group or [`NONE`].
    pub fn words(&self) -> [u32; 2] {
        let local = self.local.as_ref().map_or(NONE, |local| local.cid().0);
        [self.own.cid().0, local]
    }
}

/// One group of a communicator on its way.
struct Half {
    group: Arc<Group>,
    /// What each member calls the communicator.
    cids: Vec<u32>,
    /// What it calls its local group.
    locals: Vec<u32>,
}

impl Half {
    /// `rows` are those of the members, in order.
    fn new<'a>(group: Arc<Group>, rows: impl IntoIterator<Item = &'a [u32]>) -> Self {
        let numbers = |row: &[u32]| (row[row.len() - 2], row[row.len() - 1]);
        let (cids, locals) = rows.into_iter().map(numbers).unzip();
        Half {
            group,
            cids,
            locals,
        }
    }
}

impl Numbers {
    /// Opens the contexts of a communicator on which all have agreed. No
    /// communication.
    fn establish(
        self,
        process: &Process,
        ours: Half,
        theirs: Option<Half>,
        inherited: Inherited,
    ) -> Arc<Comm> {
        let me = ours.group.rank().expect("a member");
        let remote = theirs.zip(self.local).map(|(theirs, local)| {
            open_context(process, &local, me, &ours.group, &ours.locals);
            open_context(process, &self.own, me, &theirs.group, &theirs.cids);
            let inherited = Inherited::new(inherited.errhandler.clone());
            Remote {
                group: theirs.group,
                local: Comm::new(local, ours.group.clone(), None, inherited),
            }
        });
        if remote.is_none() {
            open_context(process, &self.own, me, &ours.group, &ours.cids);
        }
        Comm::new(self.own, ours.group, remote, inherited)
    }
}

fn open_context(process: &Process, lease: &Lease, me: u32, to: &Group, cids: &[u32]) {
    let members: Vec<(Peer, Cid)> = to
        .members()
        .zip(cids)
        .map(|(peer, &cid)| (peer, Cid(cid)))
        .collect();
    process.link(|link| link.open(lease.cid(), me, members));
}

impl Comm {
    /// Gives a communicator its handle.
    fn publish(self: Arc<Self>, process: &Process) -> abi::Comm {
        let handle = process.comms.insert(&self);
        components::tell_opened(process, &self);
        handle
    }
}

/// Takes a number for a communicator that is to be made.
fn take_cid(process: &Process) -> Result<Lease> {
    close_unused(process);
    let vacant = |cid| !process.link(|link| link.in_use(cid));
    let lease = process.comms.cids.borrow_mut().take(vacant)?;
    // Before the others hear of it.
    process.link(|link| link.expect(lease.cid()));
    components::tell_taken(process, lease.cid());
    Ok(lease)
}

/// Closes the contexts of communicators that nobody can name any more.
/// Single messages that are pending on them complete.
fn close_unused(process: &Process) {
    let unused = process.comms.cids.borrow_mut().reclaim();
    for cid in unused {
        process.link(|link| {
            link.net().failures_mut().forget_context(cid);
            link.close(cid);
        });
        process.comms.forget_context(cid);
        process.forget_ends(cid);
    }
}

impl Comm {
    /// `MPI_Comm_disconnect`: waits until nothing is pending on the communicator,
    /// then frees it. Where nothing else leads to a job of its members, which is not to be needed
    /// for the end of this process any more, all that was sent there has arrived, or has left at
    /// least where members do not call MPI for some time.
    ///
    /// # Errors
    /// As [`Comm::free`].
    pub fn disconnect(self: Arc<Self>, process: &Process) -> Result<()> {
        self.check_freed()?;
        self.buffer.flush(process);
        // Collectives first: they begin messages.
        if self.is_held() {
            let left = self.active_on(process);
            let describe = |process: &Process,
                            request: &Arc<dyn RequestObject<Process>>,
                            waits: &mut WaitsFor| {
                request.describe(process, waits);
            };
            finish(process, left, describe, |process, request| {
                !matches!(request.state(process), Ok(State::Pending))
            });
        }
        for cid in self.cids() {
            let left = process.link(|link| link.pending(cid));
            let describe = |process: &Process, &id: &catena_link::ReqId, waits: &mut WaitsFor| {
                needs::describe_inner_transfer(process, id, waits);
            };
            finish(process, left, describe, |process, &id| {
                !process.link(|link| link.is_under_way(id))
            });
        }
        let jobs = self.other_jobs(process);
        self.free(process)?;
        let describe = |_: &Process, waits: &mut WaitsFor| {
            waits.needs.push(needs::open(What::Rest, ""));
        };
        process.block(describe, |process| {
            let arrived = |job: &u64| process.link(|link| link.net().is_delivered_to(*job));
            jobs.iter().all(arrived)
        });
        Ok(())
    }

    /// The other jobs that members of a communicator are of.
    fn other_jobs(&self, process: &Process) -> Vec<u64> {
        process.link(|link| {
            let peers = link.net().peers();
            let all = peers.connected();
            let has = |peers: &Range<u32>| {
                let remote = self.remote.iter().flat_map(|it| it.group.members());
                let mut members = self.group.members().chain(remote);
                members.any(|peer| peers.contains(&peer.0))
            };
            let met = all.filter(|(_, peers)| has(peers));
            met.map(|(job, _)| job).collect()
        })
    }
}

/// Waits until each of these is over. Cost: each is asked once more than it
/// is found under way.
fn finish<T>(
    process: &Process,
    left: Vec<T>,
    describe: impl Fn(&Process, &T, &mut WaitsFor),
    is_over: impl Fn(&Process, &T) -> bool,
) {
    for it in left.iter().rev() {
        if !is_over(process, it) {
            process.block(
                |process, waits| describe(process, it, waits),
                |process| is_over(process, it),
            );
        }
    }
}

/// Agreements that are all to come about.
struct Agreements(Vec<Agreement>);

impl Wait<Process> for Agreements {
    fn is_done(&mut self, process: &Process) -> bool {
        self.0.retain_mut(|agreement| !agreement.advance(process));
        self.0.is_empty()
    }

    fn describe(&self, process: &Process, waits: &mut WaitsFor) {
        self.0
            .iter()
            .for_each(|agreement| agreement.describe(process, waits));
    }
}

impl Comm {
    /// `MPI_Comm_free`: after this the handle is dead. What was started on it
    /// goes on.
    ///
    /// # Errors
    /// `Comm` for a predefined one, and what a delete callback returns.
    pub fn free(self: Arc<Self>, process: &Process) -> Result<()> {
        let handle = self.handle.get();
        self.check_freed()?;
        self.attrs.delete_all(handle.0)?;
        self.buffer.flush(process);
        self.forget(process);
        Ok(())
    }

    /// Makes the handle of a communicator a dead one.
    pub(crate) fn forget(self: Arc<Self>, process: &Process) {
        process.comms.forget_recent();
        if process.is_troubled() {
            self.withdraw(process);
        }
        process.comms.leaders.resign(process, |cid| cid == self.cid);
        let slots = process.link(|link| link.slots());
        let named = || process.link(|link| link.cids().collect());
        let errhandlers = &process.objects.errhandlers;
        process.comms.orphans.keep(&self, errhandlers, slots, named);
        if events::any() {
            // Those who are told of its events know it by its handle.
            events::hand_over_of(process);
        }
        process.comms.remove(&self);
        self.leave_board(process);
        if let Some(remote) = &self.remote {
            remote.local.leave_board(process);
        }
        drop(self);
        close_unused(process);
        process.other_jobs.part_from_idle(process);
    }
}

/// The program calls nothing on these communicators any more: blocks until no message is under way
/// on them, nor on those that were freed before, and throws away what nobody will receive. To be
/// called before all meet for the last time, as each may need the others for that, and afterwards
/// for what was on its way to this process: then requests that were given up have got and brought
/// what they were for (MPI-5, 11.2.2). Where a communicator was freed nobody meets, so of its
/// receives only those have that a message had matched.
pub(crate) fn finish_messages(process: &Process, comms: &[Arc<Comm>]) {
    let cids: BTreeSet<Cid> = comms.iter().flat_map(|comm| comm.cids()).collect();
    process.link(|link| link.stop_receiving(|cid| cids.contains(&cid)));
    let describe = |process: &Process, waits: &mut WaitsFor| {
        let left: Vec<_> = cids
            .iter()
            .flat_map(|&cid| process.link(|link| link.pending(cid)))
            .collect();
        for id in &left {
            needs::describe_inner_transfer(process, *id, waits);
        }
        if left.is_empty() {
            waits.needs.push(needs::open(What::Rest, ""));
        }
    };
    process.block(describe, |process| {
        process.link(|link| link.is_idle() && !link.has_under_way(|cid| cids.contains(&cid)))
    });
}

/// Waits until all members of each of these communicators do, too. All at
/// once: members need not name them in one order, nor in one call.
pub(crate) fn meet(process: &Process, comms: &[Arc<Comm>]) {
    let begin = |comm: &Arc<Comm>| comm.begin_accord(process, &[0; 2]);
    let mut all = Agreements(comms.iter().map(begin).collect());
    process.wait_on(false, &mut all);
}
