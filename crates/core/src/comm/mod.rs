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
pub(crate) mod control;
mod create;
mod from_group;
mod idup;
mod inter;
mod meet;
mod split_type;

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

use catena_abi as abi;
use catena_fabric::Peer;
use catena_link::Cid;
use catena_topo::reorder::Path;

use crate::bsend::Attached;
use crate::coll::CollState;
use crate::process::Process;
use crate::request::State;
use crate::topology::Topology;
use agreement::Agreement;
use catena_objects::attr::Attributes;
use catena_objects::errhandler::{ErrhandlerRef, HasErrhandler};
use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::group::{Group, Likeness};
use catena_objects::info::Info;

pub(crate) use agreement::NONE;

pub(crate) use cid::JOB;
pub use cid::{Cids, Lease};
pub use control::{ControlMessages, Key, PARTITIONS, partition_tag};
pub use from_group::{Across, Origin};
pub use inter::Peering;
pub use meet::Meeting;
pub(crate) use meet::OtherJobs;
pub use split_type::resources;

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
    /// The other half of an intercommunicator.
    pub remote: Option<Remote>,
    /// Its own handle.
    pub handle: Cell<abi::Comm>,
    /// Error handler.
    pub errhandler: RefCell<ErrhandlerRef>,
    /// Name.
    pub name: RefCell<Vec<u8>>,
    /// Cached attributes.
    pub attrs: Attributes,
    /// Hints that were given when it was made and that the library followed.
    pub info: Arc<Info>,
    /// Buffer for buffered sends on this communicator.
    pub buffer: RefCell<Option<Attached>>,
    /// Where its members are, as they last told each other; see `topology`.
    pub(crate) places: RefCell<Option<Box<[Path]>>>,
    /// Its topology, which it gets when it is made.
    pub topology: OnceCell<Arc<Topology>>,
    /// Where its collectives stand.
    pub coll: CollState,
    /// Agreements that all members have begun on it.
    agreements: Cell<u32>,
    /// Gives the number back when nobody needs the communicator any more.
    _lease: Lease,
}

/// What an intercommunicator has beside its local group.
///
/// The context of an intercommunicator leads to the *remote* group only, on
/// both planes: destinations are ranks of the remote group, and the source in
/// an envelope is the sender's rank in its own. What the members of the local
/// group do among themselves, as every collective does before or after
/// something crosses, goes through `local`: an intracommunicator with its own
/// context, tags and board. The program never sees it; errors on it are errors
/// on the intercommunicator.
///
/// A collective that crosses takes its tags from the `coll` of the
/// intercommunicator for messages that cross and from that of `local` for those
/// within the group. All members must take equally many of each, when it is
/// started, whether they send or not. Rank 0 of each group is its leader.
#[derive(Debug)]
pub struct Remote {
    /// The remote group.
    pub group: Arc<Group>,
    /// The local group by itself.
    pub local: Arc<Comm>,
}

impl Comm {
    /// A communicator that has no handle yet. Its context is not opened here.
    pub(crate) fn new(
        lease: Lease,
        group: Arc<Group>,
        remote: Option<Remote>,
        heritage: Heritage,
    ) -> Arc<Self> {
        Arc::new(Comm {
            cid: lease.cid(),
            rank: group.rank().expect("a member"),
            peers: remote.as_ref().map_or(group.size(), |r| r.group.size()),
            group,
            remote,
            handle: Cell::new(abi::consts::COMM_NULL),
            errhandler: RefCell::new(heritage.errhandler),
            name: RefCell::default(),
            attrs: heritage.attrs,
            info: heritage.info,
            buffer: RefCell::default(),
            places: RefCell::default(),
            topology: OnceCell::new(),
            coll: CollState::default(),
            agreements: Cell::new(0),
            _lease: lease,
        })
    }

    /// Size of the (local) group.
    #[inline]
    pub fn size(&self) -> u32 {
        self.group.size()
    }

    /// Its context, and that of its local group.
    pub fn cids(&self) -> impl Iterator<Item = Cid> + '_ {
        let local = self.remote.as_ref().map(|remote| remote.local.cid);
        std::iter::once(self.cid).chain(local)
    }

    /// Checks that the program may free it.
    fn check_freed(&self) -> Result<()> {
        if self.handle.get().0 < 0x1000 {
            fail!(Comm, "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed");
        }
        Ok(())
    }

    /// Whether it joins two groups.
    #[inline]
    pub fn is_inter(&self) -> bool {
        self.remote.is_some()
    }

    /// How it compares to another.
    ///
    /// # Errors
    /// `Session` if they are of different sessions.
    pub fn compare(&self, other: &Comm) -> Result<Likeness> {
        if self.cid == other.cid {
            return Ok(Likeness::Ident);
        }
        self.group.check_related(&other.group)?;
        let mut like = self.group.compare(&other.group);
        match (&self.remote, &other.remote) {
            (None, None) => {}
            (Some(a), Some(b)) => like = worse(like, a.group.compare(&b.group)),
            _ => return Ok(Likeness::Unequal),
        }
        if like == Likeness::Ident {
            like = Likeness::Congruent;
        }
        Ok(like)
    }
}

impl HasErrhandler for Comm {
    fn errhandler(&self) -> &RefCell<ErrhandlerRef> {
        &self.errhandler
    }

    /// Its name, else its handle.
    fn called(&self) -> String {
        let name = self.name.borrow();
        if name.is_empty() {
            return format!("communicator {:#x}", self.handle.get().0);
        }
        String::from_utf8_lossy(&name).into_owned()
    }
}

fn worse(a: Likeness, b: Likeness) -> Likeness {
    match (a, b) {
        (Likeness::Unequal, _) | (_, Likeness::Unequal) => Likeness::Unequal,
        (Likeness::Similar, _) | (_, Likeness::Similar) => Likeness::Similar,
        _ => Likeness::Ident,
    }
}

/// What a new communicator takes over from the one it is made of.
#[derive(Debug)]
pub(crate) struct Heritage {
    /// Error handler.
    pub errhandler: ErrhandlerRef,
    /// Attributes.
    pub attrs: Attributes,
    /// Hints that are followed.
    pub info: Arc<Info>,
}

impl Heritage {
    /// Error handler only.
    pub fn new(errhandler: ErrhandlerRef) -> Self {
        Heritage {
            errhandler,
            attrs: Attributes::default(),
            info: Arc::default(),
        }
    }

    /// What a duplicate gets, unless an argument is an error. Copy callbacks are called.
    fn of_duplicate(parent: &Comm, arguments: Result<()>) -> Result<Self> {
        arguments?;
        Ok(Heritage {
            attrs: parent.attrs.copies(parent.handle.get().0)?,
            ..Heritage::plain(parent)
        })
    }

    /// The error handler of `parent`.
    pub fn plain(parent: &Comm) -> Self {
        Heritage::new(parent.errhandler.borrow().clone())
    }
}

/// This process's numbers for a communicator on its way.
#[derive(Debug)]
struct Numbers {
    own: Lease,
    /// For the local group of an intercommunicator.
    local: Option<Lease>,
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
        for comm in local.into_iter().chain([&comm]) {
            comm.handle.set(handle);
            self.handles_by_cid.borrow_mut().insert(comm.cid.0, handle);
        }
        handle
    }

    fn take_cid(&self) -> Result<Lease> {
        self.close_unused();
        let vacant = |cid| !self.link(|link| link.in_use(cid));
        self.cids.borrow_mut().take(vacant)
    }

    /// Closes the contexts of communicators that nobody can name any more.
    /// Single messages that are pending on them complete.
    fn close_unused(&self) {
        let unused = self.cids.borrow_mut().reclaim();
        for cid in unused {
            self.link(|link| link.close(cid));
            self.drop_control(cid);
            self.handles_by_cid.borrow_mut().remove(&cid.0);
        }
    }

    /// `MPI_Comm_disconnect`: waits until nothing is pending on the communicator,
    /// then frees it.
    ///
    /// # Errors
    /// As [`Process::comm_free`].
    pub fn comm_disconnect(&self, comm: Arc<Comm>) -> Result<()> {
        comm.check_freed()?;
        self.flush(&comm.buffer);
        // Collectives first: they begin messages.
        let left = self.active_on(&comm);
        self.finish(left, |process, request| {
            !matches!(request.state(process), Ok(State::Pending))
        });
        for cid in comm.cids() {
            let left = self.link(|link| link.pending(cid));
            self.finish(left, |process, &id| {
                !process.link(|link| link.is_under_way(id))
            });
        }
        self.comm_free(comm)
    }

    /// Waits until each of these is over. Cost: each is asked once more than it
    /// is found under way.
    fn finish<T>(&self, mut left: Vec<T>, is_over: impl Fn(&Process, &T) -> bool) {
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
        self.objects.comms.remove(comm.handle.get().0);
        self.leave_board(&comm);
        if let Some(remote) = &comm.remote {
            self.leave_board(&remote.local);
        }
        drop(comm);
        self.close_unused();
        self.part_from_idle_jobs();
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
