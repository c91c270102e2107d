//! Communicators (MPI-5, chapter 7.4).
//!
//! A communicator is a group, or two, and a *context* that keeps its messages
//! apart. Each process numbers its contexts as it likes (local CIDs); when a
//! communicator is made, its members tell each other their numbers, once, and
//! `link` keeps the peer's number with the peer. So an envelope always carries
//! the receiver's number, no agreement on a common one is ever needed, and a
//! send looks nothing up that it would not look up anyway.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use catena_abi as abi;
use catena_fabric::Peer;
use catena_link::Cid;

use crate::attr::Attributes;
use crate::bsend::Attached;
use crate::coll::CollState;
use crate::errhandler::ErrhandlerRef;
use crate::error::Result;
use crate::fail;
use crate::group::{Group, Likeness};
use crate::info::Info;
use crate::world::World;

/// A communicator.
#[derive(Debug)]
pub struct Comm {
    /// This process's number for it.
    pub cid: Cid,
    /// This process's rank in the (local) group.
    pub rank: u32,
    /// Number of processes that a rank argument may name: the size of the
    /// remote group of an intercommunicator, else of the group.
    pub peers: u32,
    /// The (local) group.
    pub group: Arc<Group>,
    /// The remote group of an intercommunicator.
    pub remote: Option<Arc<Group>>,
    /// Its own handle.
    pub handle: Cell<abi::Comm>,
    /// Error handler.
    pub errhandler: RefCell<ErrhandlerRef>,
    /// Name.
    pub name: RefCell<String>,
    /// Cached attributes.
    pub attrs: RefCell<Attributes>,
    /// Hints.
    pub info: RefCell<Arc<Info>>,
    /// Buffer for buffered sends on this communicator.
    pub buffer: RefCell<Option<Attached>>,
    /// Where its collectives stand.
    pub coll: CollState,
}

impl Comm {
    /// Size of the (local) group.
    #[inline]
    pub fn size(&self) -> u32 {
        self.group.size()
    }

    /// Whether it joins two groups.
    #[inline]
    pub fn is_inter(&self) -> bool {
        self.remote.is_some()
    }

    /// The group that rank arguments refer to.
    pub fn peer_group(&self) -> &Arc<Group> {
        self.remote.as_ref().unwrap_or(&self.group)
    }

    /// How it compares to another.
    pub fn compare(&self, other: &Comm) -> Likeness {
        if self.cid == other.cid {
            return Likeness::Ident;
        }
        let mut like = self.group.compare(&other.group);
        match (&self.remote, &other.remote) {
            (None, None) => {}
            (Some(a), Some(b)) => like = worse(like, a.compare(b)),
            _ => return Likeness::Unequal,
        }
        if like == Likeness::Ident {
            Likeness::Congruent
        } else {
            like
        }
    }
}

fn worse(a: Likeness, b: Likeness) -> Likeness {
    match (a, b) {
        (Likeness::Unequal, _) | (_, Likeness::Unequal) => Likeness::Unequal,
        (Likeness::Similar, _) | (_, Likeness::Similar) => Likeness::Similar,
        _ => Likeness::Ident,
    }
}

/// Numbers for contexts. A freed one rests until the cursor comes round, so
/// that a message nobody received is not taken for one of a newer
/// communicator.
#[derive(Debug)]
pub struct Cids {
    taken: BTreeSet<u32>,
    cursor: u32,
    /// Communicators that were freed while operations under way or persistent
    /// requests still need them (MPI-5, 7.4.3).
    leaving: Vec<Arc<Comm>>,
}

/// Numbers in use before the cursor may turn round.
const ROUND: u32 = 1 << 12;

impl Cids {
    /// Numbers from 0 on.
    pub fn new() -> Self {
        Cids {
            taken: BTreeSet::new(),
            cursor: 0,
            leaving: Vec::new(),
        }
    }

    /// Takes a number that is vacant in `link` as well.
    pub fn take(&mut self, vacant: impl Fn(Cid) -> bool) -> Cid {
        let round = ROUND.max(2 * self.taken.len() as u32);
        loop {
            let cid = self.cursor;
            self.cursor = if cid + 1 >= round { 0 } else { cid + 1 };
            if vacant(Cid(cid)) && self.taken.insert(cid) {
                return Cid(cid);
            }
        }
    }

    /// Gives a number back.
    pub fn give_back(&mut self, cid: Cid) {
        self.taken.remove(&cid.0);
    }
}

impl Default for Cids {
    fn default() -> Self {
        Cids::new()
    }
}

/// What a new communicator takes over from the one it is made of.
pub struct Heritage {
    /// Error handler.
    pub errhandler: ErrhandlerRef,
    /// Attributes.
    pub attrs: Attributes,
    /// Hints.
    pub info: Arc<Info>,
}

impl Heritage {
    /// Error handler only.
    pub fn plain(parent: &Comm) -> Self {
        Heritage {
            errhandler: parent.errhandler.borrow().clone(),
            attrs: Attributes::default(),
            info: Arc::default(),
        }
    }
}

impl World {
    /// Makes the communicator of `members` whose local number is `cid` and
    /// whose members' own numbers are `cids`. No communication.
    pub(crate) fn install(
        &self,
        cid: Cid,
        members: Arc<Group>,
        cids: &[u32],
        heritage: Heritage,
    ) -> Arc<Comm> {
        let rank = members.rank().expect("a member");
        let lanes: Vec<(Peer, Cid)> = members
            .members()
            .iter()
            .zip(cids)
            .map(|(&peer, &cid)| (peer, Cid(cid)))
            .collect();
        self.link().open(cid, rank, lanes);
        let comm = Arc::new(Comm {
            cid,
            rank,
            peers: members.size(),
            group: members,
            remote: None,
            handle: Cell::new(abi::consts::COMM_NULL),
            errhandler: RefCell::new(heritage.errhandler),
            name: RefCell::default(),
            attrs: RefCell::new(heritage.attrs),
            info: RefCell::new(heritage.info),
            buffer: RefCell::default(),
            coll: CollState::default(),
        });
        self.handles_by_cid
            .borrow_mut()
            .insert(cid.0, comm.handle.get());
        comm
    }

    /// Gives a communicator its handle.
    pub(crate) fn publish(&self, comm: Arc<Comm>, predefined: Option<abi::Comm>) -> abi::Comm {
        let handle =
            predefined.unwrap_or_else(|| abi::Comm(self.objects.comms.insert(comm.clone())));
        comm.handle.set(handle);
        self.handles_by_cid.borrow_mut().insert(comm.cid.0, handle);
        handle
    }

    pub(crate) fn take_cid(&self) -> Cid {
        self.retire_unused();
        self.cids.borrow_mut().take(|cid| !self.link().in_use(cid))
    }

    /// Retires the freed communicators that nothing needs any more.
    fn retire_unused(&self) {
        let unused: Vec<Arc<Comm>> = {
            let mut cids = self.cids.borrow_mut();
            cids.leaving
                .extract_if(.., |comm| Arc::strong_count(comm) == 1)
                .collect()
        };
        unused.iter().for_each(|comm| self.retire(comm));
    }

    /// Closes the context of a communicator that nobody can name any more.
    /// Single messages that are pending on it complete.
    fn retire(&self, comm: &Comm) {
        self.link().close(comm.cid);
        self.cids.borrow_mut().give_back(comm.cid);
        self.handles_by_cid.borrow_mut().remove(&comm.cid.0);
    }

    /// `MPI_Comm_dup` and its relatives: collective over `comm`.
    ///
    /// # Errors
    /// What an attribute's copy callback returns.
    pub fn comm_dup(&self, comm: &Arc<Comm>, info: Option<Arc<Info>>) -> Result<abi::Comm> {
        if comm.is_inter() {
            fail!(Unsupported, "intercommunicators cannot be duplicated yet");
        }
        let attrs = comm.attrs.borrow().copies(comm.handle.get().0)?;
        let cid = self.take_cid();
        let cids = self.share(comm, &cid.0.to_ne_bytes())?;
        let heritage = Heritage {
            errhandler: comm.errhandler.borrow().clone(),
            attrs,
            info: info.unwrap_or_else(|| comm.info.borrow().duplicate()),
        };
        let new = self.install(cid, comm.group.clone(), &words(&cids), heritage);
        Ok(self.publish(new, None))
    }

    /// `MPI_Comm_split`: collective over `comm`; `None` for a negative color
    /// (`MPI_UNDEFINED`).
    ///
    /// # Errors
    /// `Arg` for a negative color other than `MPI_UNDEFINED`.
    pub fn comm_split(&self, comm: &Arc<Comm>, color: i32, key: i32) -> Result<Option<abi::Comm>> {
        if comm.is_inter() {
            fail!(Unsupported, "intercommunicators cannot be split yet");
        }
        if color < 0 && color != abi::consts::UNDEFINED {
            fail!(
                Arg,
                "the color is {color}: it must not be negative unless it is MPI_UNDEFINED"
            );
        }
        let cid = self.take_cid();
        let mut mine = [0; 12];
        mine[..4].copy_from_slice(&color.to_ne_bytes());
        mine[4..8].copy_from_slice(&key.to_ne_bytes());
        mine[8..].copy_from_slice(&cid.0.to_ne_bytes());
        let all = words(&self.share(comm, &mine)?);
        if color < 0 {
            self.cids.borrow_mut().give_back(cid);
            return Ok(None);
        }
        let mut members: Vec<(i32, usize)> = (0..comm.size() as usize)
            .filter(|&r| all[3 * r] as i32 == color)
            .map(|r| (all[3 * r + 1] as i32, r))
            .collect();
        members.sort_unstable();
        let peers: Vec<Peer> = members
            .iter()
            .map(|&(_, r)| comm.group.members()[r])
            .collect();
        let cids: Vec<u32> = members.iter().map(|&(_, r)| all[3 * r + 2]).collect();
        let group = Group::new(peers, self.me);
        let new = self.install(cid, group, &cids, Heritage::plain(comm));
        Ok(Some(self.publish(new, None)))
    }

    /// `MPI_Comm_create`: collective over `comm`, disjoint groups allowed.
    ///
    /// # Errors
    /// `Group` if a member of `group` is not in `comm`.
    pub fn comm_create(&self, comm: &Arc<Comm>, group: &Arc<Group>) -> Result<Option<abi::Comm>> {
        if comm.is_inter() {
            fail!(
                Unsupported,
                "MPI_Comm_create on an intercommunicator does not exist yet"
            );
        }
        let ranks = self.ranks_in(comm, group)?;
        let cid = self.take_cid();
        let all = words(&self.share(comm, &cid.0.to_ne_bytes())?);
        if group.rank().is_none() {
            self.cids.borrow_mut().give_back(cid);
            return Ok(None);
        }
        let cids: Vec<u32> = ranks.iter().map(|&r| all[r as usize]).collect();
        let new = self.install(cid, group.clone(), &cids, Heritage::plain(comm));
        Ok(Some(self.publish(new, None)))
    }

    /// `MPI_Comm_create_group`: collective over the members of `group` only.
    ///
    /// # Errors
    /// `Group` if a member of `group` is not in `comm`.
    pub fn comm_create_group(
        &self,
        comm: &Arc<Comm>,
        group: &Arc<Group>,
        tag: i32,
    ) -> Result<Option<abi::Comm>> {
        if comm.is_inter() {
            fail!(Comm, "MPI_Comm_create_group needs an intracommunicator");
        }
        let ranks = self.ranks_in(comm, group)?;
        if group.rank().is_none() {
            return Ok(None);
        }
        let cid = self.take_cid();
        let all = self.share_among(comm, &ranks, tag, &cid.0.to_ne_bytes())?;
        let new = self.install(cid, group.clone(), &words(&all), Heritage::plain(comm));
        Ok(Some(self.publish(new, None)))
    }

    fn ranks_in(&self, comm: &Comm, group: &Group) -> Result<Vec<u32>> {
        let all: Vec<i32> = (0..group.size() as i32).collect();
        let ranks = group.translate(&all, &comm.group)?;
        match ranks.iter().position(Option::is_none) {
            None => Ok(ranks.into_iter().flatten().collect()),
            Some(r) => fail!(Group, "rank {r} of the group is not in the communicator"),
        }
    }

    /// `MPI_Comm_free`, `MPI_Comm_disconnect`: after this the handle is dead.
    /// What was started on it goes on.
    ///
    /// # Errors
    /// `Comm` for a predefined one, and what a delete callback returns.
    pub fn comm_free(&self, comm: Arc<Comm>) -> Result<()> {
        let handle = comm.handle.get();
        if handle.0 < 0x1000 {
            fail!(Comm, "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed");
        }
        comm.attrs.borrow().delete_all(handle.0)?;
        self.flush_buffer(&comm)?;
        self.objects.comms.remove(handle.0);
        self.leave_board(&comm);
        self.cids.borrow_mut().leaving.push(comm);
        self.retire_unused();
        Ok(())
    }
}

/// Reads a gathered array of native 32-bit words.
fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|w| u32::from_ne_bytes(*w))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_numbers_rest_before_they_return() {
        let mut cids = Cids::new();
        let first = cids.take(|_| true);
        cids.give_back(first);
        assert_ne!(cids.take(|_| true), first);
        for _ in 0..2 * ROUND {
            let cid = cids.take(|cid| cid.0 != 7);
            assert_ne!(cid.0, 7);
            cids.give_back(cid);
        }
        assert_eq!(cids.taken.len(), 1);
    }
}
