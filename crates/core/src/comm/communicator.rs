//! What a communicator is: its groups, its context, and what the program has attached to it.

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

use catena_abi as abi;
use catena_link::Cid;
use catena_objects::attr::Attributes;
use catena_objects::errhandler::{ErrhandlerRef, HasErrhandler};
use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::group::{Comparison, Group};
use catena_objects::info::Info;
use catena_topo::reorder::Path;

use super::cid::Lease;
use super::failed::FailedMembers;
use crate::attached::Slot;
use crate::coll::CollState;
use crate::compress::Wishes;
use crate::topology::{Adjacent, Graph, Grid, Topology};

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
    /// Which of its messages are compressed.
    pub compress: Cell<Wishes>,
    /// Buffer for buffered sends on this communicator.
    pub buffer: Slot,
    /// Where its members are, as they last told each other; see `topology`.
    pub(crate) places: RefCell<Option<Box<[Path]>>>,
    /// Its topology, which it gets when it is made.
    pub topology: OnceCell<Arc<Topology>>,
    /// Where its collectives stand.
    pub coll: CollState,
    /// Which members have died, and whether it was revoked.
    pub failed: FailedMembers,
    /// Agreements that all members have begun on it.
    pub(super) agreements: Cell<u32>,
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
        inherited: Inherited,
    ) -> Arc<Self> {
        Arc::new(Comm {
            cid: lease.cid(),
            rank: group.rank().expect("a member"),
            peers: remote.as_ref().map_or(group.size(), |r| r.group.size()),
            group,
            remote,
            handle: Cell::new(abi::consts::COMM_NULL),
            errhandler: RefCell::new(inherited.errhandler),
            name: RefCell::default(),
            attrs: inherited.attrs,
            info: inherited.info,
            compress: Cell::new(inherited.compress),
            buffer: Slot::default(),
            places: RefCell::default(),
            topology: OnceCell::new(),
            coll: CollState::default(),
            failed: FailedMembers::default(),
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

    /// Whether a request that is no transfer may hold it, besides its handle and the call that
    /// asks.
    pub(super) fn is_held(self: &Arc<Self>) -> bool {
        let local = self.remote.as_ref().map(|remote| &remote.local);
        Arc::strong_count(self) > 2 || local.is_some_and(|it| Arc::strong_count(it) > 1)
    }

    /// Checks that the program may free it.
    pub(super) fn check_freed(&self) -> Result<()> {
        if self.handle.get().0 < 0x1000 {
            fail!(Comm, "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed");
        }
        Ok(())
    }

    /// Checks that it does not join two groups.
    ///
    /// # Errors
    /// `Comm` if it does.
    pub fn check_intra(&self) -> Result<()> {
        match self.is_inter() {
            false => Ok(()),
            true => fail!(
                Comm,
                "the communicator must be an intracommunicator: merge it first"
            ),
        }
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
    pub fn compare(&self, other: &Comm) -> Result<Comparison> {
        if self.cid == other.cid {
            return Ok(Comparison::Ident);
        }
        self.group.check_related(&other.group)?;
        let mut like = self.group.compare(&other.group);
        match (&self.remote, &other.remote) {
            (None, None) => {}
            (Some(a), Some(b)) => like = worse(like, a.group.compare(&b.group)),
            _ => return Ok(Comparison::Unequal),
        }
        if like == Comparison::Ident {
            like = Comparison::Congruent;
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

fn worse(a: Comparison, b: Comparison) -> Comparison {
    match (a, b) {
        (Comparison::Unequal, _) | (_, Comparison::Unequal) => Comparison::Unequal,
        (Comparison::Similar, _) | (_, Comparison::Similar) => Comparison::Similar,
        _ => Comparison::Ident,
    }
}

/// What a new communicator takes over from the one it is made of.
#[derive(Debug)]
pub(crate) struct Inherited {
    /// Error handler.
    pub errhandler: ErrhandlerRef,
    /// Attributes.
    pub attrs: Attributes,
    /// Hints that are followed.
    pub info: Arc<Info>,
    /// Which messages are compressed.
    pub compress: Wishes,
}

impl Inherited {
    /// Error handler only.
    pub fn new(errhandler: ErrhandlerRef) -> Self {
        Inherited {
            errhandler,
            attrs: Attributes::default(),
            info: Arc::default(),
            compress: Wishes::from_settings(),
        }
    }

    /// What a duplicate gets, unless an argument is an error: what `hints` say, or, without any,
    /// what its parent has. Copy callbacks are called.
    pub(super) fn of_duplicate(parent: &Comm, hints: Result<Option<Wishes>>) -> Result<Self> {
        Ok(Inherited {
            compress: hints?.unwrap_or_else(|| parent.compress.get()),
            attrs: parent.attrs.copies(parent.handle.get().0)?,
            ..Inherited::plain(parent)
        })
    }

    /// The error handler of `parent`.
    pub fn plain(parent: &Comm) -> Self {
        Inherited::new(parent.errhandler.borrow().clone())
    }
}

impl Comm {
    /// Its topology.
    ///
    /// # Errors
    /// `Topology` if it has none.
    pub fn topology(&self) -> Result<&Arc<Topology>> {
        match self.topology.get() {
            Some(topology) => Ok(topology),
            None => fail!(Topology, "the communicator has no topology"),
        }
    }

    /// Its grid.
    ///
    /// # Errors
    /// `Topology` if it has none.
    pub fn grid(&self) -> Result<&Grid> {
        match &**self.topology()? {
            Topology::Cart(grid) => Ok(grid),
            _ => fail!(Topology, "the communicator's topology is not a grid"),
        }
    }

    /// Its graph, if every process knows it.
    ///
    /// # Errors
    /// `Topology` if it has none.
    pub fn graph(&self) -> Result<&Graph> {
        match &**self.topology()? {
            Topology::Graph(graph) => Ok(graph),
            _ => fail!(
                Topology,
                "the communicator's topology was not made by MPI_Graph_create"
            ),
        }
    }

    /// This process's edges in its distributed graph.
    ///
    /// # Errors
    /// `Topology` if it has none.
    pub fn adjacent(&self) -> Result<&Adjacent> {
        match &**self.topology()? {
            Topology::DistGraph(own) => Ok(own),
            _ => fail!(
                Topology,
                "the communicator's topology is not a distributed graph"
            ),
        }
    }
}
