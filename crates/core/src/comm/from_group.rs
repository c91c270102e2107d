//! Communicators of groups alone (MPI-5, chapters 7.4.2 and 7.6.2): no
//! communicator joins the processes, so their control messages go by the context of the
//! job, and a string tells one agreement from others under way.

use std::sync::Arc;

use catena_abi as abi;
use catena_fabric::Peer;

use super::agreement::{Bridge, Circle};
use super::control::{AgreementScope, Key};
use super::jobs::comm_of_jobs;
use super::port;
use super::{Comm, Inherited, JOB};
use crate::process::Process;
use catena_objects::errhandler::ErrhandlerRef;
use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::group::Group;

/// What such a communicator is made with.
#[derive(Debug)]
pub struct Origin<'a> {
    /// Tells this call from others; the same at all processes.
    pub tag: &'a [u8],
    /// Error handler.
    pub errhandler: ErrhandlerRef,
}

/// The remote group as the leader names it.
#[derive(Debug)]
pub struct Across {
    /// The group.
    pub group: Arc<Group>,
    /// The other leader's rank in it.
    pub leader: i32,
}

impl Origin<'_> {
    fn inherited(&self) -> Inherited {
        Inherited::new(self.errhandler.clone())
    }

    /// # Errors
    /// `Group` if a member is of another job.
    fn circle(&self, process: &Process, group: &Group, meeting: AgreementScope) -> Result<Circle> {
        let ranks = group.members().map(|peer| process.rank_in_job(peer));
        Ok(Circle {
            cid: JOB,
            size: group.size(),
            me: group.rank().expect("a member"),
            ranks: ranks.collect::<Result<_>>()?,
            key: Key::new(meeting, self.tag),
        })
    }
}

impl Origin<'_> {
    /// `MPI_Comm_create_from_group`: collective over `group`. `None` at a
    /// process that is not in it.
    ///
    /// # Errors
    /// `Other` if the call fails at another member, `Group` if a job has ended of which one is.
    pub fn create_comm(self, process: &Process, group: &Arc<Group>) -> Result<Option<abi::Comm>> {
        if group.rank().is_none() {
            return Ok(None);
        }
        let of_job = |group: &Arc<Group>| {
            let circle = self.circle(process, group, AgreementScope::FromGroup)?;
            circle.gather_group(process, group, self.inherited())
        };
        let made = match group.members().all(|peer| process.is_of_own_job(peer)) {
            true => of_job(group),
            false => comm_of_jobs(process, group, self.tag, of_job, self.errhandler.clone()),
        };
        made.map(Some)
    }

    /// `MPI_Intercomm_create_from_groups`: collective over both groups. Only
    /// the leader looks at `across`, but for an empty group, which makes no
    /// communicator.
    ///
    /// # Errors
    /// `Group` if this process is not in `local` or a job has ended, `Rank` for bad leaders,
    /// `Comm` if the groups overlap; `Other` at members whose leader, or other
    /// group, failed.
    pub fn create_intercomm(
        self,
        process: &Process,
        local: &Arc<Group>,
        leader: i32,
        across: Result<Across>,
    ) -> Result<Option<abi::Comm>> {
        if local.size() == 0 || across.as_ref().is_ok_and(|it| it.group.size() == 0) {
            return Ok(None);
        }
        let Some(me) = local.rank() else {
            fail!(Group, "this process is not in the local group");
        };
        let leader = local.check_rank(leader)? as u32;
        let joined = self.join_local(process, local)?;
        let circle = match &joined {
            Some(comm) => comm.circle(),
            None => self.circle(process, local, AgreementScope::FromGroups)?,
        };
        let bridge = if leader == me {
            across.and_then(|it| {
                let there = it.group.check_rank(it.leader)?;
                bridge_to(process, it.group.member(there), self.tag).map(Some)
            })
        } else {
            Ok(None)
        };
        let made = circle.join_groups(process, leader, bridge, local, self.inherited());
        joined.map_or(Ok(()), |comm| comm.free(process))?;
        made.map(Some)
    }

    /// The communicator of a group whose members are of several jobs; none where they are of one,
    /// as the context of the job joins them.
    fn join_local(&self, process: &Process, local: &Arc<Group>) -> Result<Option<Arc<Comm>>> {
        if local.members().all(|peer| process.is_of_own_job(peer)) {
            return Ok(None);
        }
        let of_job = |group: &Arc<Group>| {
            let circle = self.circle(process, group, AgreementScope::FromGroups)?;
            circle.gather_group(process, group, self.inherited())
        };
        let tag = [self.tag, b"\0members"].concat();
        let comm = comm_of_jobs(process, local, &tag, of_job, self.errhandler.clone())?;
        process.comm(comm).map(Some)
    }
}

/// The way from this leader to the other.
fn bridge_to(process: &Process, leader: Peer, tag: &[u8]) -> Result<Bridge> {
    if !process.is_of_own_job(leader) {
        process.other_jobs.open_home(process)?;
        return Ok(Bridge::Port(port::PortEndpoint::of_leaders(
            process, leader, tag,
        )));
    }
    Ok(Bridge::Context {
        cid: JOB,
        to: process.rank_in_job(leader)?,
        key: Key::new(AgreementScope::LeadersFromGroups, tag),
    })
}
