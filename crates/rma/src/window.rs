//! A window (MPI-5, chapter 12.2), and how its targets are reached.
//!
//! Everything here is touched under the library's lock, but for what `control` shares.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fmt;
use std::sync::Arc;

use catena_abi::{self as abi, Aint, consts};
use catena_fabric::Kind;
use catena_objects::attr::Attributes;
use catena_objects::errhandler::{ErrhandlerRef, HasErrhandler};
use catena_objects::group::Group;
use catena_shm::{Bell, Neighbour};

use crate::access::Epochs;
use crate::attached::Attached;
use crate::control::Control;
use crate::exposed::{Exposed, Shown};
use crate::heap::{self, Mapping, Recent};
use crate::hints::Hints;
use crate::message::record::Trouble;
use crate::message::state::{ELSEWHERE, Far, GateProxy, Meetings, Proxy};
use crate::notices::Notices;
use crate::sparse::Sparse;
use catena_base::mailbox::Mailbox;
use catena_base::ticket_lock::Mode;

/// How a window's memory came to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    /// `MPI_Win_create`
    Create,
    /// `MPI_Win_allocate`
    Allocate,
    /// `MPI_Win_allocate_shared`
    Shared,
    /// `MPI_Win_create_dynamic`
    Dynamic,
}

impl Flavor {
    /// The value of `MPI_WIN_CREATE_FLAVOR`.
    pub const fn value(self) -> c_int {
        match self {
            Flavor::Create => consts::WIN_FLAVOR_CREATE,
            Flavor::Allocate => consts::WIN_FLAVOR_ALLOCATE,
            Flavor::Shared => consts::WIN_FLAVOR_SHARED,
            Flavor::Dynamic => consts::WIN_FLAVOR_DYNAMIC,
        }
    }
}

/// How a target's memory is reached.
#[derive(Clone, Debug)]
pub enum Reach {
    /// It is mapped here, at this address.
    Mapped {
        /// Where it begins.
        base: *mut u8,
        /// What keeps it mapped; nothing for memory of this process.
        keep: Option<Arc<Mapping>>,
    },
    /// The kernel copies to and from it.
    Kernel {
        /// Its process.
        of: Neighbour,
        /// Where it begins there.
        addr: u64,
        /// Its mailbox, mapped here; null if there is none.
        mailbox: *const Mailbox,
    },
    /// It is this process's, on a device.
    Device {
        /// Where it begins there.
        base: *mut u8,
    },
    /// The target carries the operations out: it is on another host, the kernel lets nobody at its
    /// memory, or that is on a device.
    Message {
        /// Where it begins there.
        addr: u64,
    },
}

/// A member of the window as a target. There are as many of these as windows times members, so it
/// is small: what few of them need is elsewhere, see `Sparse`.
#[derive(Debug)]
pub struct Target {
    /// How its memory is reached.
    pub reach: Reach,
    /// Bytes of its window.
    pub size: u64,
    /// Bytes of a unit of displacement.
    pub unit: i64,
    /// Whether an epoch of this process is open to it; see `epoch`.
    pub open: Cell<bool>,
    /// How this process holds its lock, or waits for it: it is `open` once it holds it.
    pub locked: Cell<Option<Mode>>,
    /// Whether a network may read and write its memory, which is on another host; see
    /// [`Path`](crate::place::Path).
    pub(crate) by_network: Cell<bool>,
    /// Its number among the members of this node; `ELSEWHERE` if it is on another one.
    pub(crate) local: u32,
}

const _: () = assert!(size_of::<Target>() == 48);

/// The members of a window on this node, and the other nodes. All windows over the same processes
/// share it.
#[derive(Debug, PartialEq)]
pub(crate) struct Node {
    /// Their ranks.
    pub ranks: Box<[u32]>,
    /// The number of this process among them.
    pub me: u32,
    /// The lowest rank of each node.
    pub leaders: Box<[u32]>,
    /// The number of this node among all.
    pub leader_number: usize,
    /// The doorbells of the other members here, by rank.
    pub bells: Box<[Option<Bell>]>,
}

/// Values of attributes, to which programs get pointers.
#[derive(Debug)]
pub struct Facts {
    /// `MPI_WIN_SIZE`
    pub size: Aint,
    /// `MPI_WIN_DISP_UNIT`
    pub disp_unit: c_int,
    /// `MPI_WIN_CREATE_FLAVOR`
    pub flavor: c_int,
    /// `MPI_WIN_MODEL`
    pub model: c_int,
}

/// A window.
pub struct Window {
    /// Its handle.
    pub handle: abi::Win,
    /// The group of the communicator that it was made with.
    pub group: Arc<Group>,
    /// This process's rank.
    pub me: u32,
    /// How its memory came.
    pub flavor: Flavor,
    /// The memory of this process; null for a dynamic one.
    pub base: *mut u8,
    /// Values of attributes. Programs keep their addresses.
    pub facts: Box<Facts>,
    /// By rank.
    pub targets: Box<[Target]>,
    /// What the members share.
    pub control: Control,
    /// Error handler.
    pub errhandler: RefCell<ErrhandlerRef>,
    /// Name.
    pub name: RefCell<Vec<u8>>,
    /// Cached attributes.
    pub attrs: Attributes,
    /// Hints.
    pub hints: RefCell<Hints>,
    /// Where this process is in its epochs.
    pub epochs: Epochs,
    /// What this process has attached to a dynamic window.
    pub attached: RefCell<Attached>,
    /// Its number here: what messages to this process call it.
    pub(crate) number: u32,
    /// Its numbers at the members, by rank, unless all are that one; see [`Window::number_at`].
    pub(crate) numbers: Option<Box<[u32]>>,
    /// Who is where.
    pub(crate) node: Arc<Node>,
    /// What is known of targets by messages.
    pub(crate) fars: Sparse<Far>,
    /// What keeps the mailboxes of targets mapped.
    pub(crate) _mailboxes: Box<[Arc<Mapping>]>,
    /// Whether this process's mailbox is read for it.
    pub(crate) reads_mailbox: bool,
    /// Of a dynamic window: for each target the chunks with the table of what it has attached, and
    /// with that.
    pub(crate) recents: Sparse<Recent>,
    /// The kind of memory that this process's is.
    pub(crate) kind: Kind,
    /// Whether some targets are reached by messages.
    pub(crate) has_messages: Cell<bool>,
    /// Whether members of this node are.
    pub(crate) has_near_messages: Cell<bool>,
    /// What went wrong in operations at targets, by rank, and was not told yet.
    pub(crate) troubles: RefCell<Vec<(u32, Trouble)>>,
    /// Origins elsewhere that hold this member's lock or wait for it.
    pub(crate) proxies: RefCell<Vec<Proxy>>,
    /// Members elsewhere that are inside of the gate, which this member keeps, or wait there.
    pub(crate) gate_proxies: RefCell<Vec<GateProxy>>,
    /// Meetings of hosts.
    pub(crate) meetings: Meetings,
    /// Its memory, where networks reach it.
    pub(crate) exposed: Exposed,
    /// What is attached of that others were told how networks reach it, by address.
    pub(crate) shown: RefCell<BTreeMap<u64, Shown>>,
    /// Counters of notifications.
    pub(crate) notices: Notices,
    /// What a network has not carried out and why, which was not told yet.
    pub(crate) failure: RefCell<Option<(u32, String)>>,
    /// The piece of the heap that it gives back.
    pub(crate) piece: Option<*mut u8>,
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window")
            .field("handle", &self.handle)
            .field("flavor", &self.flavor)
            .finish_non_exhaustive()
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if let Some(piece) = self.piece {
            heap::give(piece);
        }
    }
}

impl HasErrhandler for Window {
    fn errhandler(&self) -> &RefCell<ErrhandlerRef> {
        &self.errhandler
    }

    /// Its name, else its handle.
    fn called(&self) -> String {
        let name = self.name.borrow();
        if name.is_empty() {
            return format!("window {:#x}", self.handle.0);
        }
        String::from_utf8_lossy(&name).into_owned()
    }
}

impl Window {
    /// Number of members.
    pub fn size(&self) -> u32 {
        self.targets.len() as u32
    }

    /// What messages to a member call it.
    #[inline]
    pub(crate) fn number_at(&self, rank: u32) -> u32 {
        let numbers = self.numbers.as_ref();
        numbers.map_or(self.number, |numbers| numbers[rank as usize])
    }

    /// What is known of a target by messages.
    #[inline]
    pub(crate) fn far(&self, rank: u32) -> &Far {
        self.fars.of(rank, self.size())
    }

    /// What was attached by a target of a dynamic window when it was looked at last.
    #[inline]
    pub(crate) fn recent(&self, rank: u32) -> &Recent {
        self.recents.of(rank, self.size())
    }

    /// Whether a target is reached by messages, and whether one of this node is.
    pub(crate) fn needs_messages(&self) -> (bool, bool) {
        let by_message = |target: &&Target| matches!(target.reach, Reach::Message { .. });
        let mut targets = self.targets.iter().filter(by_message).peekable();
        let some = targets.peek().is_some();
        (some, targets.any(|target| target.local != ELSEWHERE))
    }

    /// Wakes a member that sleeps.
    pub fn ring(&self, rank: u32) {
        if let Some(bell) = &self.node.bells[rank as usize] {
            bell.ring();
        }
    }

    /// The address behind one of the window's own attributes; `None` for other keys.
    pub fn attribute(&self, key: c_int) -> Option<*mut std::ffi::c_void> {
        let facts = &*self.facts;
        Some(match key {
            consts::WIN_BASE => self.base.cast(),
            consts::WIN_SIZE => (&raw const facts.size).cast_mut().cast(),
            consts::WIN_DISP_UNIT => (&raw const facts.disp_unit).cast_mut().cast(),
            consts::WIN_CREATE_FLAVOR => (&raw const facts.flavor).cast_mut().cast(),
            consts::WIN_MODEL => (&raw const facts.model).cast_mut().cast(),
            _ => return None,
        })
    }
}
