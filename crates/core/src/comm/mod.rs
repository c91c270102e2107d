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
pub(crate) mod control;
mod create;
mod failed;
mod from_group;
mod idup;
mod inter;
mod jobs;
mod leaders;
mod meet;
mod orphans;
mod port;
mod split_type;
mod tell;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use catena_abi as abi;
use catena_fabric::Peer;
use catena_link::Cid;

use crate::events;
use crate::process::Process;
use crate::request::State;
use agreement::Agreement;
use catena_objects::error::Result;
use catena_objects::group::Group;

pub use agreement::NONE;

pub(crate) use cid::JOB;
pub use cid::{Cids, HandlesByCid, Lease};
pub(crate) use communicator::Heritage;
pub use communicator::{Comm, Remote};
pub use control::{ControlMessages, Key, PARTITIONS, partition_tag};
pub use failed::FailedMembers;
pub use from_group::{Across, Origin};
pub use inter::Peering;
pub(crate) use leaders::{Leaders, Way};
pub(crate) use orphans::Orphans;
pub use port::Meeting;
pub(crate) use port::OtherJobs;
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

impl Process {
    /// Opens the contexts of a communicator on which all have agreed. No
    /// communication.
    fn establish(
        &self,
        numbers: Numbers,
        ours: Half,
        theirs: Option<Half>,
        heritage: Heritage,
    ) -> Arc<Comm> {
        let me = ours.group.rank().expect("a member");
        let remote = theirs.zip(numbers.local).map(|(theirs, local)| {
            self.open_context(&local, me, &ours.group, &ours.locals);
            self.open_context(&numbers.own, me, &theirs.group, &theirs.cids);
            let heritage = Heritage::new(heritage.errhandler.clone());
            Remote {
                group: theirs.group,
                local: Comm::new(local, ours.group.clone(), None, heritage),
            }
        });
        if remote.is_none() {
            self.open_context(&numbers.own, me, &ours.group, &ours.cids);
        }
        Comm::new(numbers.own, ours.group, remote, heritage)
    }

    fn open_context(&self, lease: &Lease, me: u32, to: &Group, cids: &[u32]) {
        let members: Vec<(Peer, Cid)> = to
            .members()
            .zip(cids)
            .map(|(peer, &cid)| (peer, Cid(cid)))
            .collect();
        self.link(|link| link.open(lease.cid(), me, members));
    }

    /// Gives a communicator its handle.
    fn publish(&self, comm: Arc<Comm>) -> abi::Comm {
        let handle = abi::Comm(self.objects.comms.insert(comm.clone()));
        let local = comm.remote.as_ref().map(|r| &r.local);
        for half in local.into_iter().chain([&comm]) {
            half.handle.set(handle);
            self.handles_by_cid.borrow_mut().insert(half.cid, handle);
        }
        self.tell_opened(&comm);
        handle
    }

    fn take_cid(&self) -> Result<Lease> {
        self.close_unused();
        let vacant = |cid| !self.link(|link| link.in_use(cid));
        let lease = self.cids.borrow_mut().take(vacant)?;
        // Before the others hear of it.
        self.link(|link| link.expect(lease.cid()));
        self.tell_taken(lease.cid());
        Ok(lease)
    }

    /// Closes the contexts of communicators that nobody can name any more.
    /// Single messages that are pending on them complete.
    fn close_unused(&self) {
        let unused = self.cids.borrow_mut().reclaim();
        for cid in unused {
            self.link(|link| {
                link.net().failures_mut().forget_context(cid);
                link.close(cid);
            });
            self.drop_control(cid);
            self.handles_by_cid.borrow_mut().remove(cid);
        }
    }

    /// `MPI_Comm_disconnect`: waits until nothing is pending on the communicator,
    /// then frees it. Where nothing else leads to a job of its members, which is not to be needed for the end of this process
    /// any more, all that was sent there has arrived, or has left at least where members do not call MPI for some time.
    ///
    /// # Errors
    /// As [`Process::comm_free`].
    pub fn comm_disconnect(&self, comm: Arc<Comm>) -> Result<()> {
        comm.check_freed()?;
        self.flush(&comm.buffer);
        // Collectives first: they begin messages.
        if comm.is_held() {
            let left = self.active_on(&comm);
            self.finish(left, |process, request| {
                !matches!(request.state(process), Ok(State::Pending))
            });
        }
        for cid in comm.cids() {
            let left = self.link(|link| link.pending(cid));
            self.finish(left, |process, &id| {
                !process.link(|link| link.is_under_way(id))
            });
        }
        let jobs = self.other_jobs_of(&comm);
        self.comm_free(comm)?;
        self.block(|process| {
            let arrived = |job: &u64| process.link(|link| link.net().is_delivered_to(*job));
            jobs.iter().all(arrived)
        });
        Ok(())
    }

    /// The other jobs that members of a communicator are of.
    fn other_jobs_of(&self, comm: &Comm) -> Vec<u64> {
        self.link(|link| {
            let peers = link.net().peers();
            let all = peers.connected();
            let has = |peers: &Range<u32>| {
                let remote = comm.remote.iter().flat_map(|it| it.group.members());
                let mut members = comm.group.members().chain(remote);
                members.any(|peer| peers.contains(&peer.0))
            };
            let met = all.filter(|(_, peers)| has(peers));
            met.map(|(job, _)| job).collect()
        })
    }

    /// Waits until each of these is over. Cost: each is asked once more than it
    /// is found under way.
    fn finish<T>(&self, mut left: Vec<T>, is_over: impl Fn(&Process, &T) -> bool) {
        if left.is_empty() {
            return;
        }
        self.block(|process| {
            while left.pop_if(|it| is_over(process, it)).is_some() {}
            left.is_empty()
        });
    }

    /// `MPI_Comm_free`: after this the handle is dead. What was started on it
    /// goes on.
    ///
    /// # Errors
    /// `Comm` for a predefined one, and what a delete callback returns.
    pub fn comm_free(&self, comm: Arc<Comm>) -> Result<()> {
        let handle = comm.handle.get();
        comm.check_freed()?;
        comm.attrs.delete_all(handle.0)?;
        self.flush(&comm.buffer);
        self.forget(comm);
        Ok(())
    }

    /// Makes the handle of a communicator a dead one.
    pub(crate) fn forget(&self, comm: Arc<Comm>) {
        self.forget_recent();
        if self.is_troubled() {
            self.withdraw(&comm);
        }
        self.leave_leaders(|cid| cid == comm.cid);
        let slots = self.link(|link| link.slots());
        let named = || self.link(|link| link.cids().collect());
        let errhandlers = &self.objects.errhandlers;
        self.orphans.keep(&comm, errhandlers, slots, named);
        if events::any() {
            // Those who are told of its events know it by its handle.
            self.hand_over();
        }
        self.objects.comms.remove(comm.handle.get().0);
        comm.leave_board(self);
        if let Some(remote) = &comm.remote {
            remote.local.leave_board(self);
        }
        drop(comm);
        self.close_unused();
        self.part_from_idle_jobs();
    }

    /// The program calls nothing on these communicators any more: blocks until no message is under way on them, nor on those
    /// that were freed before, and throws away what nobody will receive. To be called before all meet for the last time, as
    /// each may need the others for that, and afterwards for what was on its way to this process: then requests that
    /// were given up have got and brought what they were for (MPI-5, 11.2.2). Where a communicator was freed nobody meets, so
    /// of its receives only those have that a message had matched.
    pub(crate) fn finish_messages(&self, comms: &[Arc<Comm>]) {
        let cids: BTreeSet<Cid> = comms.iter().flat_map(|comm| comm.cids()).collect();
        self.link(|link| link.stop_receiving(|cid| cids.contains(&cid)));
        self.block(|process| {
            process.link(|link| link.is_idle() && !link.has_under_way(|cid| cids.contains(&cid)))
        });
    }

    /// Waits until all members of each of these communicators do, too. All at
    /// once: members need not name them in one order, nor in one call.
    pub(crate) fn meet(&self, comms: &[Arc<Comm>]) {
        let begin = |comm: &Arc<Comm>| self.begin_accord(comm, &[0; 2]);
        let mut agreements: Vec<Agreement> = comms.iter().map(begin).collect();
        self.block(|process| {
            agreements.retain_mut(|agreement| !agreement.advance(process));
            agreements.is_empty()
        });
    }
}
