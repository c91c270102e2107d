//! Intercommunicators (MPI-5, chapter 7.6).

use std::collections::HashSet;
use std::sync::Arc;

use catena_abi as abi;
use catena_fabric::{Peer, ProcessName};

use super::agreement::{Across, Agreement, Bridge, Circle};
use super::control::{Key, Meeting};
use super::create::row;
use super::{Comm, Half, Heritage};
use crate::p2p;
use crate::process::Process;
use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::group::Group;

/// How a leader finds the other: arguments of `MPI_Intercomm_create` that count
/// at leaders only.
#[derive(Clone, Copy, Debug)]
pub struct Peering {
    /// The communicator that joins the leaders.
    pub comm: abi::Comm,
    /// The other leader's rank in it.
    pub leader: i32,
    /// Tells this call from others between the two.
    pub tag: i32,
}

impl Process {
    /// `MPI_Intercomm_create`: collective over the two local communicators.
    ///
    /// # Errors
    /// `Comm` for bad communicators and groups that overlap, `Rank` for bad
    /// leaders, `Tag`; `Other` at members whose leader, or other group, failed.
    pub fn intercomm_create(
        &self,
        local: &Arc<Comm>,
        leader: i32,
        peering: Peering,
    ) -> Result<abi::Comm> {
        if local.is_inter() {
            fail!(
                Comm,
                "the local communicator must be an intracommunicator: merge it first"
            );
        }
        if leader as u32 >= local.size() {
            fail!(
                Rank,
                "the local leader is rank {leader}, but the local communicator has ranks 0 to {}",
                local.size() - 1
            );
        }
        let leader = leader as u32;
        let bridge = if leader == local.rank {
            self.bridge(peering).map(Some)
        } else {
            Ok(None)
        };
        let heritage = Heritage::plain(local);
        self.join_groups(local.circle(), leader, bridge, &local.group, heritage)
    }

    fn bridge(&self, peering: Peering) -> Result<Bridge> {
        let Peering { comm, leader, tag } = peering;
        let peer = self.comm_ref(comm)?;
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
            key: Key::new(Meeting::Leaders, &tag.to_ne_bytes()),
        })
    }

    /// Makes the intercommunicator of two groups, one of which is a circle. A
    /// leader that cannot build the bridge makes all fail.
    pub(super) fn join_groups(
        &self,
        circle: Circle,
        leader: u32,
        bridge: Result<Option<Bridge>>,
        group: &Arc<Group>,
        heritage: Heritage,
    ) -> Result<abi::Comm> {
        let (bridge, argument) = match bridge {
            Ok(bridge) => (bridge, Ok(())),
            Err(e) => (None, Err(e)),
        };
        let ready = self.ready(argument, true);
        let across = Across {
            size: None,
            far: None,
            leader,
            bridge,
        };
        let row = row(self.name_of(self.me).to_words(), &ready);
        let agreement = Agreement::begin(self, circle, Some(across), &row);
        let made = self.conclude_and(agreement, |told| {
            let names = told.rows(&told.theirs).map(ProcessName::from_words);
            let met = self.meet_jobs(names.clone())?;
            let peers = names.map(|name| self.known_peer(name));
            Ok((met, peers.collect::<Result<Vec<Peer>>>()?))
        });
        if made.is_err() {
            self.part_from_idle_jobs();
        }
        let (((), numbers), (told, (_met, peers))) = (ready?, made?);
        let ours: HashSet<Peer> = group.members().collect();
        if let Some(rank) = peers.iter().position(|p| ours.contains(p)) {
            fail!(
                Comm,
                "the groups overlap: rank {rank} of the other group is in this one, too"
            );
        }
        let theirs = Half::new(group.sibling(peers, self.me), told.rows(&told.theirs));
        let ours = Half::new(group.clone(), told.rows(&told.ours));
        let new = self.establish(numbers, ours, Some(theirs), heritage);
        Ok(self.publish(new))
    }

    /// The peer that a process of the other group is here.
    fn known_peer(&self, name: ProcessName) -> Result<Peer> {
        match self.peer_of(name) {
            Some(peer) => Ok(peer),
            None => fail!(
                Comm,
                "rank {} of job {:016x} is in the other group, and there is no such process",
                name.rank,
                name.job
            ),
        }
    }

    /// `MPI_Intercomm_merge`: collective over both groups. If both are `high`,
    /// or none, the group whose first member has the lower number comes first.
    ///
    /// # Errors
    /// `Comm` for an intracommunicator, `NotSame` if the members of a group
    /// do not agree on `high`.
    pub fn intercomm_merge(&self, comm: &Arc<Comm>, high: bool) -> Result<abi::Comm> {
        let Some(remote) = &comm.remote else {
            fail!(Comm, "the communicator is not an intercommunicator");
        };
        let ready = self.ready(Ok(()), false);
        let told = self.members_agree(comm, &row([high.into()], &ready));
        let (((), numbers), told) = (ready?, told?);
        let mut sides = [
            (&comm.group, &told.ours[..]),
            (&remote.group, &told.theirs[..]),
        ];
        for (_, words) in sides {
            if told.rows(words).any(|row| row[0] != words[0]) {
                fail!(NotSame, "the members of a group do not agree on high");
            }
        }
        sides.sort_by_key(|(group, words)| (words[0], self.name_of(group.member(0))));
        let peers: Vec<Peer> = sides
            .iter()
            .flat_map(|(group, _)| group.members())
            .collect();
        let rows = sides.into_iter().flat_map(|(_, words)| told.rows(words));
        let ours = Half::new(comm.group.sibling(peers, self.me), rows);
        let new = self.establish(numbers, ours, None, Heritage::plain(comm));
        Ok(self.publish(new))
    }
}
