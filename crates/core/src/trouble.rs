//! What failures mean for communicators: which members are dead, what can go on, and what ends
//! with an error.
//!
//! Members learn of a death at different moments, and a call of several steps may have ended at
//! some of them after the first one, and at others after the last. So members that go on would
//! number their calls differently, and might take a message of one call for that of another. So
//! would members that called different things. Hence the rule: once a collective has failed at a
//! member, for whatever reason, that member runs no other one on the communicator, whether it has
//! been told of a death itself or not: it [notes the end](Comm::note_end). Whoever sends or
//! receives messages of a collective has failed in none before, and so all of them have numbered
//! their calls alike.
//!
//! A call that lacks memory is none of these: it has gone [on without data](crate::coll) to its end
//! ([decision 45](../../../docs/decisions/0045-calls-go-on-without-data.md)).
//!
//! Everything here asks first whether `link` knows of any loss or revocation, which is one load:
//! a process that knows of none pays nothing more.

use std::cell::RefMut;
use std::sync::Arc;

use catena_fabric::Peer;
use catena_link::{Cid, ReqId};
use catena_objects::error::{Error, Kind, Result};
use catena_objects::group::Group;

use crate::comm::{Comm, Communicators};
use crate::loss::{died, revoked};
use crate::process::Process;

/// Whether nothing at all can be complete any more among the members for an error, not only no
/// collective.
pub(crate) fn is_of_death(error: &Error) -> bool {
    matches!(
        error.kind(),
        Kind::ProcFailed | Kind::ProcAborted | Kind::Revoked
    )
}

impl Comm {
    /// Whether a collective has failed on it for another reason than a death.
    pub(crate) fn has_given_up(&self) -> bool {
        let ended = self.failed.ended.borrow();
        ended.as_ref().is_some_and(|error| !is_of_death(error))
    }

    /// Refuses a call on a communicator that was revoked.
    ///
    /// # Errors
    /// `Revoked`.
    #[inline]
    pub fn check_not_revoked(&self) -> Result<()> {
        match self.failed.is_revoked() {
            true => Err(revoked()),
            false => Ok(()),
        }
    }

    /// A rank, those of a remote group behind the local ones, in the words of the program.
    fn words(&self, rank: u32) -> String {
        match rank.checked_sub(self.size()) {
            None => format!("rank {rank}"),
            Some(rank) => format!("rank {rank} of the remote group"),
        }
    }
}

impl Comm {
    /// The members of a communicator that are known to have died, as ranks, those of a remote
    /// group behind the local ones, in the order in which that became known.
    pub fn failed_ranks(&self, process: &Process) -> RefMut<'_, Vec<u32>> {
        let mut ranks = self.failed.ranks.borrow_mut();
        let losses = process.link(|link| link.losses());
        if self.failed.seen.replace(losses) != losses {
            let lost: Vec<Peer> = process.link(|link| link.lost_peers().collect());
            let remote = self.remote.as_ref().map(|it| &it.group);
            let behind = |peer| Some(remote?.rank_of(peer)? + self.size());
            let rank = |peer| self.group.rank_of(peer).or_else(|| behind(peer));
            let mut new: Vec<u32> = lost.into_iter().filter_map(rank).collect();
            new.retain(|rank| !ranks.contains(rank));
            new.sort_unstable();
            ranks.extend(new);
        }
        ranks
    }

    /// Why no collective on the communicator can be complete any more, if that is so: it was
    /// revoked, a member has died, or one has failed for a death before. Cost without any failure:
    /// one load.
    #[inline]
    pub fn trouble(&self, process: &Process) -> Option<Error> {
        process.is_troubled().then(|| self.trouble_slow(process))?
    }

    #[cold]
    fn trouble_slow(&self, process: &Process) -> Option<Error> {
        if self.failed.is_revoked() {
            return Some(revoked());
        }
        let first = self.failed_ranks(process).first().copied();
        let death = first.map(|first| died(&self.words(first)));
        let error = death.or_else(|| self.failed.ended.borrow().clone())?;
        self.quit_board(process, &error);
        Some(error)
    }

    /// A collective on the communicator has failed: no other one is run on it any more, on the
    /// board or by messages.
    #[cold]
    pub(crate) fn note_end(&self, process: &Process, error: &Error) {
        let ended = || match error.kind() {
            Kind::ProcFailed | Kind::Revoked => error.clone(),
            kind => {
                let text = format!(
                    "an earlier collective on the communicator failed ({error}): free it, and make \
                     another one"
                );
                Error::new(kind, text)
            }
        };
        self.failed.ended.borrow_mut().get_or_insert_with(ended);
        process.link(|link| link.note_trouble());
    }

    /// An agreement of the members on something else than a call, as on a duplicate, has failed.
    /// Only for a death may that be otherwise at others.
    #[cold]
    pub(crate) fn note_no_agreement(&self, process: &Process, error: &Error) {
        if matches!(error.kind(), Kind::ProcFailed | Kind::Revoked) {
            self.note_end(process, error);
        }
    }

    /// Makes sure that a collective on the communicator may be run.
    ///
    /// # Errors
    /// What [`Comm::trouble`] says.
    #[inline]
    pub(crate) fn check_whole(&self, process: &Process) -> Result<()> {
        self.trouble(process).map_or(Ok(()), Err)
    }
}

/// Why processes that a context joins cannot agree any more: one of these ranks has died, or
/// any if there are none.
#[cold]
pub(crate) fn trouble_among(process: &Process, cid: Cid, ranks: &[u32]) -> Option<Error> {
    if process
        .comms
        .at(cid)
        .is_some_and(|it| it.failed.is_revoked())
    {
        return Some(revoked());
    }
    let dead = process.link(|link| {
        let mut members = (0..).zip(link.members(cid));
        let dead = |&(rank, (peer, _)): &(u32, (Peer, Cid))| {
            (ranks.is_empty() || ranks.contains(&rank)) && link.is_lost(peer)
        };
        members.find(dead).map(|(rank, _)| rank)
    })?;
    Some(died(&format!("rank {dead}")))
}

/// Whether a transfer is a receive that any may match, on a communicator of which a member has
/// died that the program has not acknowledged: then it cannot be waited for.
#[inline]
pub(crate) fn is_interrupted(process: &Process, id: ReqId) -> bool {
    process.is_troubled() && is_interrupted_slow(process, id)
}

#[cold]
fn is_interrupted_slow(process: &Process, id: ReqId) -> bool {
    let open = process.link(|link| link.is_open(id).then(|| link.cid(id)));
    let comm = open.and_then(|cid| process.comms.at(cid));
    comm.is_some_and(|comm| comm.has_unacknowledged(process))
}

impl Comm {
    /// Whether a member has died that the program has not acknowledged.
    pub(crate) fn has_unacknowledged(&self, process: &Process) -> bool {
        self.failed_ranks(process).len() > self.failed.acked.get()
    }

    /// Why a receive from any source cannot be waited for, if that is so; `Pending` says that the
    /// receive stays.
    #[cold]
    pub(crate) fn interruption(&self, process: &Process, stays: bool) -> Error {
        let rank = self
            .failed_ranks(process)
            .get(self.failed.acked.get())
            .copied();
        let who = self.words(rank.unwrap_or_default());
        let (kind, rest) = match stays {
            true => (Kind::ProcFailedPending, "; the receive stays"),
            false => (Kind::ProcFailed, ""),
        };
        let text = format!(
            "{who} has died, and may have been the one to send{rest}: MPI_Comm_ack_failed \
            says that others are waited for"
        );
        Error::new(kind, text).on(self.handle.get())
    }

    /// `MPI_Comm_get_failed`: those members that are known here to have died, in the order in
    /// which that became known, of both groups.
    pub fn get_failed(&self, process: &Process) -> Arc<Group> {
        self.failed_group(process, usize::MAX)
    }

    /// The first of these processes, at most this many.
    fn failed_group(&self, process: &Process, most: usize) -> Arc<Group> {
        let peers: Vec<Peer> = {
            let ranks = self.failed_ranks(process);
            let peer = |&rank: &u32| self.peer_at(rank);
            ranks.iter().take(most).map(peer).collect()
        };
        self.group.sibling(peers, process.me)
    }

    /// Those that the program has acknowledged (`MPIX_Comm_failure_get_acked`).
    pub fn acknowledged(&self, process: &Process) -> Arc<Group> {
        self.failed_group(process, self.failed.acked.get())
    }

    /// `MPI_Comm_ack_failed`: acknowledges the first of them, at most so many; says how many are
    /// acknowledged from now on. Never fewer than before.
    pub fn acknowledge(&self, process: &Process, most: usize) -> usize {
        let known = self.failed_ranks(process).len();
        let acked = self.failed.acked.get().max(known.min(most));
        self.failed.acked.set(acked);
        acked
    }

    /// A communicator is revoked here (`MPI_Comm_revoke`, or somebody has told): whatever is
    /// under way on it ends. False if it was before. Tells nobody.
    pub fn revoke_here(self: &Arc<Self>, process: &Process) -> bool {
        if self.failed.revoked.replace(true) {
            return false;
        }
        for cid in self.cids() {
            process.link(|link| {
                link.net().failures_mut().revoke(cid);
                link.revoke(cid);
            });
        }
        let boards = self.remote.as_ref().map(|it| &it.local);
        for comm in boards.into_iter().chain([self]) {
            comm.failed.revoked.set(true);
            comm.lose_board(process, &revoked());
        }
        true
    }
}

impl Communicators {
    /// A communicator was revoked whose handle is freed here: what is under way on it ends.
    pub fn revoke_freed(&self, process: &Process, cid: Cid) {
        match self.orphans.comm_of(cid) {
            Some(comm) => {
                comm.revoke_here(process);
            }
            None => process.link(|link| link.revoke(cid)),
        }
    }

    /// Somebody has died: boards with dead members are of no more use. A member that looks on
    /// would wait for ever for what was never written.
    pub fn lose_boards_of_dead(&self, process: &Process) {
        for comm in self.made().chain([self.world.clone()]) {
            let local = comm.remote.as_ref().map(|it| it.local.clone());
            for comm in local.into_iter().chain([comm]) {
                let dead = comm.failed_ranks(process).clone();
                for rank in dead.into_iter().filter(|&rank| rank < comm.size()) {
                    comm.lose_member(process, rank, &died(&format!("rank {rank}")));
                }
            }
        }
    }
}

impl Comm {
    /// The process of a rank, those of a remote group behind the local ones.
    pub(crate) fn peer_at(&self, rank: u32) -> Peer {
        match (rank.checked_sub(self.size()), &self.remote) {
            (Some(rank), Some(remote)) => remote.group.member(rank as usize),
            _ => self.group.member(rank as usize),
        }
    }
}
