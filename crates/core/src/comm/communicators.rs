//! The communicators of a process: how programs name them, by handles, and messages, by contexts;
//! and what is kept for those that are on their way, and of those that are gone.
//!
//! | field              | rule                                                                     |
//! |--------------------|--------------------------------------------------------------------------|
//! | `recent`           | a communicator is there as long as its handle is; `forget_recent` first   |
//! | `by_cid`           | as long as the context is open                                            |
//! | `cids`             | taken before others hear of a number, given back when its context closes  |
//! | `control`, `leaders` | what is kept by context goes with it                                    |

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_link::Cid;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::table::{ObjectKind, Table, decode};

use super::Comm;
use super::cid::{Cids, HandlesByCid};
use super::control::ControlMessages;
use super::leaders::Leaders;
use super::orphans::Orphans;
use crate::phase;

/// A handle, and the communicator behind it.
type Known = (abi::Comm, *const Arc<Comm>);

/// Communicators that are found without a look into their table, at most: programs go to and fro
/// between a few.
const PLACES: usize = 4;

/// Where that one is kept. Handles that are made one after the other have different places, as have
/// the predefined ones.
#[inline(always)]
fn place(h: abi::Comm) -> usize {
    h.0 % PLACES
}

/// The places of communicators as long as none is known. Whatever handle a program makes up, it is
/// not the one at its place: that is one of the next place.
fn nobody() -> [Cell<Known>; PLACES] {
    std::array::from_fn(|place| Cell::new((abi::Comm(place + 1), std::ptr::null())))
}

/// The communicators of a process.
pub struct Communicators {
    /// All but the predefined ones.
    table: &'static Table<Arc<Comm>>,
    /// `MPI_COMM_WORLD`, which programs know in the world model only.
    pub world: Arc<Comm>,
    /// `MPI_COMM_SELF`, as well.
    pub own: Arc<Comm>,
    /// Those that were named last, each at the place that [`place`] gives its handle.
    recent: [Cell<Known>; PLACES],
    by_cid: RefCell<HandlesByCid>,
    pub(super) cids: RefCell<Cids>,
    /// Those whose handles were freed.
    pub(crate) orphans: Orphans,
    /// What came for those that are to be made, or for crates above this one.
    pub control: ControlMessages,
    /// Calls of two groups that this process leads one of.
    pub(crate) leaders: Leaders,
}

impl fmt::Debug for Communicators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Communicators")
            .field("made", &self.table.len())
            .finish_non_exhaustive()
    }
}

impl Communicators {
    /// The two predefined ones, which have their handles; `table` has those that are made, and
    /// `cids` gives their numbers.
    pub(crate) fn new(
        table: &'static Table<Arc<Comm>>,
        [world, own]: [Arc<Comm>; 2],
        cids: Cids,
    ) -> Self {
        let handle = |comm: &Arc<Comm>| (comm.cid, comm.handle.get());
        Communicators {
            table,
            by_cid: RefCell::new(HandlesByCid::from([handle(&world), handle(&own)])),
            world,
            own,
            recent: nobody(),
            cids: RefCell::new(cids),
            orphans: Orphans::default(),
            control: ControlMessages::default(),
            leaders: Leaders::default(),
        }
    }

    /// The communicator behind a handle, for calls that free none.
    ///
    /// # Errors
    /// `Comm` for `MPI_COMM_NULL`, freed and made-up handles.
    #[inline]
    pub fn find(&self, h: abi::Comm) -> Result<&Arc<Comm>> {
        let (handle, comm) = self.recent[place(h)].get();
        if h == handle {
            // SAFETY: `find_slow` found it there, where it stays until it is
            // freed, and `forget_recent` was called since then if it was. The
            // hot path calls no callback and frees no communicator while it
            // holds the borrow; others clone it at once.
            return Ok(unsafe { &*comm });
        }
        self.find_slow(h)
    }

    /// Finds one that was not among those named last.
    #[inline(never)]
    fn find_slow(&self, h: abi::Comm) -> Result<&Arc<Comm>> {
        let predefined = phase::world_model().is_some();
        let comm = match h {
            consts::COMM_WORLD if predefined => &self.world,
            consts::COMM_SELF if predefined => &self.own,
            // SAFETY: as above.
            _ => unsafe { self.table.borrow(h.0) }.ok_or_else(|| bad_comm(h))?,
        };
        self.recent[place(h)].set((h, comm));
        Ok(comm)
    }

    /// A communicator goes, or the world model with its own: they may be among those that were
    /// named last.
    pub(crate) fn forget_recent(&self) {
        for (recent, nobody) in self.recent.iter().zip(nobody()) {
            recent.set(nobody.get());
        }
    }

    /// The handle of the communicator that a context belongs to.
    pub(crate) fn handle_of(&self, cid: Cid) -> Option<abi::Comm> {
        self.by_cid.borrow().get(cid)
    }

    /// The handle that the communicator of a context has, or had when it was freed.
    #[cold]
    pub(crate) fn handle_once(&self, cid: Cid) -> Option<abi::Comm> {
        self.handle_of(cid).or_else(|| self.orphans.handle_of(cid))
    }

    /// The communicator that a context belongs to, of those that have handles.
    pub fn at(&self, cid: Cid) -> Option<Arc<Comm>> {
        let handle = self.handle_of(cid)?;
        [&self.world, &self.own]
            .into_iter()
            .find(|it| it.handle.get() == handle)
            .cloned()
            .or_else(|| self.table.get(handle.0))
    }

    /// Those that were made and not freed.
    pub(crate) fn made(&self) -> impl Iterator<Item = Arc<Comm>> + use<> {
        self.table.all().into_iter().map(|(_, comm)| comm)
    }

    /// Those that end with the world model: those of no session.
    pub(crate) fn of_world(&self) -> Vec<Arc<Comm>> {
        let made = self.made().filter(|comm| comm.group.session().is_none());
        [&self.world, &self.own]
            .into_iter()
            .cloned()
            .chain(made)
            .collect()
    }

    /// Gives a communicator its handle.
    pub(super) fn insert(&self, comm: &Arc<Comm>) -> abi::Comm {
        let handle = abi::Comm(self.table.insert(comm.clone()));
        let local = comm.remote.as_ref().map(|r| &r.local);
        for half in local.into_iter().chain([comm]) {
            half.handle.set(handle);
            self.by_cid.borrow_mut().insert(half.cid, handle);
        }
        handle
    }

    /// Makes its handle a dead one.
    pub(super) fn remove(&self, comm: &Comm) {
        self.table.remove(comm.handle.get().0);
    }

    /// A context is closed: nothing is kept for it any more.
    pub(super) fn forget_context(&self, cid: Cid) {
        self.control.forget(cid);
        self.leaders.forget(cid);
        self.by_cid.borrow_mut().remove(cid);
    }

    /// Whether a communicator is being made here to which that context belongs: others may have it
    /// already.
    pub fn is_coming(&self, cid: Cid) -> bool {
        self.handle_of(cid).is_none() && self.cids.borrow().is_in_use(cid)
    }

    /// Whether this process makes no call as a leader by that context: it has not got the
    /// communicator, or leaves it.
    pub(super) fn leads_none(&self, cid: Cid) -> bool {
        self.at(cid)
            .is_none_or(|comm| self.leaders.is_over.get() && comm.group.session().is_none())
    }
}

#[cold]
fn bad_comm(h: abi::Comm) -> Error {
    // One of Catena's that was freed: no address of a program is as low as its number.
    let was_given = decode(ObjectKind::Comm, h.0).is_some_and(|key| key.generation < 1 << 12);
    let text = match h {
        consts::COMM_NULL => "the communicator is MPI_COMM_NULL".to_owned(),
        consts::COMM_WORLD | consts::COMM_SELF => {
            "MPI_COMM_WORLD and MPI_COMM_SELF exist from MPI_Init to MPI_Finalize; a session makes \
            communicators by MPI_Comm_create_from_group"
                .to_owned()
        }
        // An address, as Open MPI's are, or a number of MPICH's.
        _ if !was_given && h.0 as u64 >= 1 << 32 || h.0 as u64 >> 24 == 0x44 => format!(
            "{:#x} is not a communicator of Catena; it looks like one of another MPI library: the \
             program, or a library that it needs, was compiled with the mpi.h of that one; compile \
             both with Catena's mpicc, or see `ldd` for what brings a second MPI library",
            h.0
        ),
        _ => format!("{:#x} is not a communicator, or was freed", h.0),
    };
    Error::new(Kind::Comm, text)
}
