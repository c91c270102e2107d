//! Communicators of groups alone (MPI-5, chapters 7.4.2 and 7.6.2): no
//! communicator joins the processes, so their control messages go by the context of the
//! job, and a string tells one agreement from others under way.

use std::sync::Arc;

use catena_abi as abi;
use catena_fabric::Peer;

use super::agreement::{Bridge, Circle};
use super::control::{Key, Meeting};
use super::{Comm, Heritage, JOB};
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
    fn heritage(&self) -> Heritage {
        Heritage::new(self.errhandler.clone())
    }

    /// # Errors
    /// `Group` if a member is of another job.
    fn circle(&self, process: &Process, group: &Group, meeting: Meeting) -> Result<Circle> {
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

impl Process {
    /// `MPI_Comm_create_from_group`: collective over `group`. `None` at a
    /// process that is not in it.
    ///
    /// # Errors
    /// `Other` if the call fails at another member, `Group` if a job has ended of which one is.
    pub fn comm_create_from_group(
        &self,
        group: &Arc<Group>,
        origin: Origin<'_>,
    ) -> Result<Option<abi::Comm>> {
        if group.rank().is_none() {
            return Ok(None);
        }
        let of_job = |group: &Arc<Group>| {
            let circle = origin.circle(self, group, Meeting::FromGroup)?;
            self.gather_group(circle, group, origin.heritage())
        };
        let made = match group.members().all(|peer| self.is_of_own_job(peer)) {
            true => of_job(group),
            false => self.comm_of_jobs(group, origin.tag, of_job, origin.errhandler.clone()),
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
    pub fn intercomm_create_from_groups(
        &self,
        local: &Arc<Group>,
        leader: i32,
        across: Result<Across>,
        origin: Origin<'_>,
    ) -> Result<Option<abi::Comm>> {
        if local.size() == 0 || across.as_ref().is_ok_and(|it| it.group.size() == 0) {
            return Ok(None);
        }
        let Some(me) = local.rank() else {
            fail!(Group, "this process is not in the local group");
        };
        let leader = local.check_rank(leader)? as u32;
        let joined = self.join_local(local, &origin)?;
        let circle = match &joined {
            Some(comm) => comm.circle(),
            None => origin.circle(self, local, Meeting::FromGroups)?,
        };
        let bridge = if leader == me {
            across.and_then(|it| {
                let there = it.group.check_rank(it.leader)?;
                self.bridge_to(it.group.member(there), origin.tag).map(Some)
            })
        } else {
            Ok(None)
        };
        let made = self.join_groups(circle, leader, bridge, local, origin.heritage());
        joined.map_or(Ok(()), |comm| self.comm_free(comm))?;
        made.map(Some)
    }

    /// The communicator of a group whose members are of several jobs; none where they are of one, as the
    /// context of the job joins them.
    fn join_local(&self, local: &Arc<Group>, origin: &Origin<'_>) -> Result<Option<Arc<Comm>>> {
        if local.members().all(|peer| self.is_of_own_job(peer)) {
            return Ok(None);
        }
        let of_job = |group: &Arc<Group>| {
            let circle = origin.circle(self, group, Meeting::FromGroups)?;
            self.gather_group(circle, group, origin.heritage())
        };
        let tag = [origin.tag, b"\0members"].concat();
        let comm = self.comm_of_jobs(local, &tag, of_job, origin.errhandler.clone())?;
        self.comm(comm).map(Some)
    }

    /// The way from this leader to the other.
    fn bridge_to(&self, leader: Peer, tag: &[u8]) -> Result<Bridge> {
        if !self.is_of_own_job(leader) {
            self.open_home()?;
            return Ok(Bridge::Port(self.leaders_meeting(leader, tag)));
        }
        Ok(Bridge::Context {
            cid: JOB,
            to: self.rank_in_job(leader)?,
            key: Key::new(Meeting::LeadersFromGroups, tag),
        })
    }
}
