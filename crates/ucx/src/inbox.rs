//! What UCX's callbacks leave behind.
//!
//! Callbacks run while the transport makes progress, when it is borrowed
//! already. So they touch nothing of it but the inbox, which lives apart and is
//! only reached through its address; the transport looks into it when no call
//! of UCX's is under way.

use std::ffi::c_void;
use std::ptr::NonNull;

use catena_base::PeerBytes;
use catena_fabric::introduction::Introductions;
use catena_fabric::{Deliver, Header, Peer};
use catena_ucx_sys::{Ep, Library, Request, Status};

/// Who takes packets at the moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taker {
    deliver: *mut c_void,
    give: unsafe fn(*mut c_void, Peer, Header, PeerBytes<'_>),
}

impl Taker {
    /// Gives packets to `deliver`.
    pub fn new<D: Deliver>(deliver: &mut D) -> Taker {
        unsafe fn give<D: Deliver>(to: *mut c_void, from: Peer, header: Header, p: PeerBytes<'_>) {
            // SAFETY: lent for as long as the taker is there, to nobody else.
            unsafe { (*to.cast::<D>()).deliver(from, header, p) }
        }
        Taker {
            deliver: (&raw mut *deliver).cast(),
            give: give::<D>,
        }
    }

    /// Gives it one.
    ///
    /// # Safety
    /// What the taker was made of is still lent.
    pub unsafe fn take(self, from: Peer, header: Header, payload: PeerBytes<'_>) {
        // SAFETY: as promised.
        unsafe { (self.give)(self.deliver, from, header, payload) }
    }
}

/// The kind of a word that is none about a right, but by which a process introduces itself.
pub(crate) const INTRODUCTION: u8 = u8::MAX;

/// A peer's word about a right to its memory.
#[derive(Debug)]
pub(crate) struct Word {
    pub from: Peer,
    /// One of [`word_kind`](crate::keys::word_kind).
    pub kind: u8,
    /// That of the right, or what an introduction says.
    pub number: u64,
    /// The right, if the word tells what it is.
    pub packed: Vec<u8>,
}

/// What callbacks need and what they leave behind.
#[derive(Debug)]
pub(crate) struct Inbox {
    pub library: Library,
    /// Number of the job, and of its processes.
    pub job: u32,
    pub processes: u32,
    /// Of a process that adds others.
    pub introductions: Option<Introductions>,
    pub taker: Option<Taker>,
    /// Packets delivered, and messages thrown away.
    pub received: u64,
    pub strays: u64,
    /// Operations that are done, by number.
    pub done: Vec<(usize, Status)>,
    /// Peers the way to whom has failed.
    pub failed: Vec<(Peer, Status)>,
    pub words: Vec<Word>,
}

/// The inbox, at an address of its own.
#[derive(Debug)]
pub(crate) struct Shared(NonNull<Inbox>);

// SAFETY: whoever has the transport has it; callbacks run in the transport's
// calls only.
unsafe impl Send for Shared {}

impl Shared {
    pub fn new(inbox: Inbox) -> Shared {
        Shared(NonNull::from(Box::leak(Box::new(inbox))))
    }

    /// Its address. It may be read and written while no call of UCX's is under
    /// way, and by callbacks.
    pub fn at(&self) -> *mut Inbox {
        self.0.as_ptr()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: ours; the worker whose callbacks write it is gone.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// What UCX is given with the way to a peer, to tell of its failure. A peer has one way at most,
/// ever, or one for each time that it is added; its endpoint is known by this, not by its address,
/// which may be that of another endpoint once it is closed.
#[derive(Debug)]
pub(crate) struct Witness {
    inbox: *mut Inbox,
    pub peer: Peer,
}

impl Witness {
    /// Of the way to that peer.
    pub fn of(peer: Peer, shared: &Shared) -> Box<Witness> {
        let inbox = shared.at();
        Box::new(Witness { inbox, peer })
    }

    /// What UCX is given.
    pub fn given(&self) -> *mut c_void {
        (&raw const *self).cast_mut().cast()
    }
}

/// Those of all peers of a job. They stay where they are.
#[derive(Debug)]
pub(crate) struct Witnesses(Box<[Witness]>);

// SAFETY: as for `Shared`.
unsafe impl Send for Witnesses {}

impl Witnesses {
    pub fn new(peers: usize, shared: &Shared) -> Witnesses {
        let inbox = shared.at();
        let peers = (0..peers as u32).map(Peer);
        Witnesses(peers.map(|peer| Witness { inbox, peer }).collect())
    }

    /// What UCX is given with the way to a peer.
    pub fn of(&self, peer: Peer) -> *mut c_void {
        self.0[peer.0 as usize].given()
    }
}

/// What an operation's callback is given.
#[derive(Debug)]
struct Operation {
    inbox: *mut Inbox,
    number: usize,
}

/// All operations. They stay where they are, and are known by their numbers.
#[derive(Debug)]
pub(crate) struct Operations(Box<[Operation]>);

// SAFETY: as for `Shared`.
unsafe impl Send for Operations {}

impl Operations {
    pub fn new(count: usize, shared: &Shared) -> Operations {
        let inbox = shared.at();
        Operations(
            (0..count)
                .map(|number| Operation { inbox, number })
                .collect(),
        )
    }

    /// What the callback of an operation is given.
    pub fn of(&self, number: usize) -> *mut c_void {
        (&raw const self.0[number]).cast_mut().cast()
    }
}

/// An operation is done, in one way or another.
///
/// # Safety
/// Called by UCX for an operation that was given one of [`Operations`].
pub(crate) unsafe extern "C" fn done(request: *mut Request, status: Status, given: *mut c_void) {
    // SAFETY: as promised; nobody else looks into the inbox now.
    unsafe {
        let Operation { inbox, number } = *given.cast::<Operation>();
        (*inbox).done.push((number, status));
        (*inbox).library.request_free(request);
    }
}

/// The way to a peer has failed.
///
/// # Safety
/// Called by UCX with one of [`Witnesses`].
pub(crate) unsafe extern "C" fn failed(given: *mut c_void, _: *mut Ep, status: Status) {
    // SAFETY: as promised; nobody else looks into the inbox now.
    unsafe {
        let Witness { inbox, peer } = *given.cast::<Witness>();
        (*inbox).failed.push((peer, status));
    }
}
