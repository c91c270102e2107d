//! Intercommunicators (MPI-5, chapter 7.6).

use std::collections::HashSet;
use std::sync::Arc;

use catena_abi as abi;
use catena_fabric::{Peer, ProcessName};

use super::agreement::{Across, Agreement, Bridge, Circle};
use super::control::{AgreementScope, Key};
use super::create::{ready, row};
use super::{Comm, Half, Inherited};
use crate::p2p;
use crate::process::Process;
use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::group::Group;

/// How a leader finds the other: arguments of `MPI_Intercomm_create` that count
/// at leaders only.
#[derive(Clone, Copy, Debug)]
pub struct RemoteLeader {
    /// The communicator that joins the leaders.
    pub comm: abi::Comm,
    /// The other leader's rank in it.
    pub leader: i32,
    /// Tells this call from others between the two.
    pub tag: i32,
}

impl Comm {
    /// `MPI_Intercomm_create`: collective over the two local communicators.
    ///
    /// # Errors
    /// `Comm` for bad communicators and groups that overlap, `Rank` for bad
    /// leaders, `Tag`; `Other` at members whose leader, or other group, failed.
    pub fn create_intercomm(
        self: &Arc<Self>,
        process: &Process,
        leader: i32,
        remote_leader: RemoteLeader,
    ) -> Result<abi::Comm> {
        if self.is_inter() {
            fail!(
                Comm,
                "the local communicator must be an intracommunicator: merge it first"
            );
        }
        if leader as u32 >= self.size() {
            fail!(
                Rank,
                "the local leader is rank {leader}, but the local communicator has ranks 0 to {}",
                self.size() - 1
            );
        }
        let leader = leader as u32;
        let bridge = if leader == self.rank {
            remote_leader.bridge(process).map(Some)
        } else {
            Ok(None)
        };
        let inherited = Inherited::plain(self);
        self.circle()
            .join_groups(process, leader, bridge, &self.group, inherited)
    }
}

impl RemoteLeader {
    fn bridge(self, process: &Process) -> Result<Bridge> {
        let RemoteLeader { comm, leader, tag } = self;
        let peer = process.comm_ref(comm)?;
        let tag = p2p::send_tag(tag)?;
        if leader as u32 >= peer.peers {
            fail!(
                Rank,
                "the remote leader is rank {leader}, but the peer communicator has ranks 0 to {}",
                peer.peers - 1
            );
        }
        Ok(Bridge::Context {
            cid: peer.cid,
            to: leader as u32,
            key: Key::new(AgreementScope::Leaders, &tag.to_ne_bytes()),
        })
    }
}

impl Circle {
    /// Makes the intercommunicator of two groups, one of which is a circle. A
    /// leader that cannot build the bridge makes all fail.
    pub(super) fn join_groups(
        self,
        process: &Process,
        leader: u32,
        bridge: Result<Option<Bridge>>,
        group: &Arc<Group>,
        inherited: Inherited,
    ) -> Result<abi::Comm> {
        let (bridge, argument) = match bridge {
            Ok(bridge) => (bridge, Ok(())),
            Err(e) => (None, Err(e)),
        };
        let ready = ready(process, argument, true);
        let across = Across {
            size: None,
            far: None,
            leader,
            bridge,
        };
        let row = row(process.name_of(process.me).to_words(), &ready);
        let agreement = Agreement::begin(process, self, Some(across), &row);
        let made = agreement.conclude_and(process, |told| {
            let names = told.rows(&told.theirs).map(ProcessName::from_words);
            let met = process.other_jobs.meet(process, names.clone())?;
            let peers = names.map(|name| known_peer(process, name));
            Ok((met, peers.collect::<Result<Vec<Peer>>>()?))
        });
        if made.is_err() {
            process.other_jobs.part_from_idle(process);
        }
        let (((), numbers), (told, (_met, peers))) = (ready?, made?);
        let ours: HashSet<Peer> = group.members().collect();
        if let Some(rank) = peers.iter().position(|p| ours.contains(p)) {
            fail!(
                Comm,
                "the groups overlap: rank {rank} of the other group is in this one, too"
            );
        }
        let theirs = Half::new(group.sibling(peers, process.me), told.rows(&told.theirs));
        let ours = Half::new(group.clone(), told.rows(&told.ours));
        let new = numbers.establish(process, ours, Some(theirs), inherited);
        Ok(new.publish(process))
    }
}

/// The peer that a process of the other group is here.
fn known_peer(process: &Process, name: ProcessName) -> Result<Peer> {
    match process.peer_of(name) {
        Some(peer) => Ok(peer),
        None => fail!(
            Comm,
            "rank {} of job {:016x} is in the other group, and there is no such process",
            name.rank,
            name.job
        ),
    }
}

impl Comm {
    /// `MPI_Intercomm_merge`: collective over both groups. If both are `high`,
    /// or none, the group whose first member has the lower number comes first.
    ///
    /// # Errors
    /// `Comm` for an intracommunicator, `NotSame` if the members of a group
    /// do not agree on `high`.
    pub fn merge(self: &Arc<Self>, process: &Process, high: bool) -> Result<abi::Comm> {
        let Some(remote) = &self.remote else {
            fail!(Comm, "the communicator is not an intercommunicator");
        };
        let ready = ready(process, Ok(()), false);
        let told = self.agree(process, &row([high.into()], &ready));
        let (((), numbers), told) = (ready?, told?);
        let mut sides = [
            (&self.group, &told.ours[..]),
            (&remote.group, &told.theirs[..]),
        ];
        for (_, words) in sides {
            if told.rows(words).any(|row| row[0] != words[0]) {
                fail!(NotSame, "the members of a group do not agree on high");
            }
        }
        sides.sort_by_key(|(group, words)| (words[0], process.name_of(group.member(0))));
        let peers: Vec<Peer> = sides
            .iter()
            .flat_map(|(group, _)| group.members())
            .collect();
        let rows = sides.into_iter().flat_map(|(_, words)| told.rows(words));
        let ours = Half::new(self.group.sibling(peers, process.me), rows);
        let new = numbers.establish(process, ours, None, Inherited::plain(self));
        Ok(new.publish(process))
    }
}
