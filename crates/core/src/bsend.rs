//! Buffered sends (MPI-5, chapter 3.6): buffers attached to the process, a
//! session or a communicator. The closest one that there is counts.
//!
//! A buffered message is copied to memory of the library. What the program
//! attached is taken as the account of how much may be under way: each message
//! costs its packed size and a little more, which `MPI_BSEND_OVERHEAD` covers.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use catena_abi::consts;
use catena_link::{Mode, Plane, ReqId, Sent, Source};

use crate::buffer::SendBuf;
use crate::comm::Comm;
use crate::process::Process;
use crate::session::Session;
use catena_objects::error::Result;
use catena_objects::fail;

/// What a message costs besides its bytes. Programs add `MPI_BSEND_OVERHEAD` to them, which is 512
/// in the standard's binary interface, 128 in that of Open MPI and 96 in that of MPICH.
const OVERHEAD: u64 = 96;

/// An attached buffer.
#[derive(Debug)]
pub struct Attached {
    /// Address that the program gave.
    pub addr: usize,
    /// Its size in bytes.
    pub size: u64,
    /// In the order in which they were sent.
    pending: Vec<Pending>,
}

#[derive(Debug)]
struct Pending {
    id: ReqId,
    cost: u64,
    number: u64,
}

/// The place for a buffer.
pub type Slot = RefCell<Option<Attached>>;

/// What a buffer is attached to.
#[derive(Clone, Debug)]
pub enum Holder {
    /// All communicators without one of their own.
    Process,
    /// The communicators of a session.
    Session(Arc<Session>),
    /// A communicator.
    Comm(Arc<Comm>),
}

impl Holder {
    /// Where it has its buffer.
    pub fn slot<'a>(&'a self, process: &'a Process) -> &'a Slot {
        match self {
            Holder::Process => &process.buffer,
            Holder::Session(session) => &session.buffer,
            Holder::Comm(comm) => &comm.buffer,
        }
    }
}

/// Buffered messages of the process, counted; under the library's lock.
static SENT: AtomicU64 = AtomicU64::new(0);

/// A point in the sequence of buffered sends.
#[derive(Clone, Copy, Debug)]
pub struct Mark(u64);

impl Mark {
    /// Behind everything that was sent so far.
    pub fn now() -> Self {
        Mark(SENT.load(Relaxed))
    }
}

impl Attached {
    /// A buffer with nothing in it.
    pub fn new(addr: usize, size: u64) -> Self {
        Attached {
            addr,
            size,
            pending: Vec::new(),
        }
    }

    /// Whether the library finds the memory (`MPI_BUFFER_AUTOMATIC`).
    pub fn automatic(&self) -> bool {
        self.addr == consts::BUFFER_AUTOMATIC
    }

    fn used(&self) -> u64 {
        self.pending.iter().map(|p| p.cost).sum()
    }

    fn settle(&mut self, process: &Process) {
        self.pending.retain(|p| {
            process.link(|link| {
                let done = link.is_done(p.id);
                if done {
                    link.take(p.id);
                }
                !done
            })
        });
    }
}

impl Process {
    /// `MPI_Bsend`: copies the message and returns.
    ///
    /// # Errors
    /// `Buffer` if no buffer is attached or what is left of it is too small.
    pub fn bsend(&self, comm: &Comm, buf: &SendBuf, dest: u32, tag: i32) -> Result<()> {
        let cost = buf.len() + OVERHEAD;
        let session = comm.group.session();
        let session = session.and_then(|s| self.objects.sessions.get(s.0));
        let of_session = session.as_ref().map(|s| &s.buffer);
        let slots = [Some(&comm.buffer), of_session, Some(&self.buffer)];
        let attached = |slot: &&Slot| slot.borrow().is_some();
        let Some(slot) = slots.into_iter().flatten().find(attached) else {
            fail!(
                Buffer,
                "no buffer is attached: call MPI_Buffer_attach, MPI_Session_attach_buffer or \
                MPI_Comm_attach_buffer first"
            );
        };
        let fits = |process: &Process| {
            let mut slot = slot.borrow_mut();
            let b = slot.as_mut().expect("attached, as just checked");
            b.settle(process);
            b.automatic() || b.used() + cost <= b.size
        };
        if !fits(self) {
            // What is under way may be done after a round of progress.
            self.progress();
            if !fits(self) {
                let (size, used) = slot
                    .borrow()
                    .as_ref()
                    .map_or((0, 0), |b| (b.size, b.used()));
                fail!(
                    Buffer,
                    "the message needs {cost} bytes of buffer, {OVERHEAD} of them for \
                    its envelope, but {used} of the {size} attached are in use"
                );
            }
        }
        let copy = SendBuf::Owned(buf.to_owned_bytes()?);
        let sent =
            self.link(|link| link.send(comm.cid, Plane::User, dest, tag, Mode::Standard, copy));
        if let (Sent::Pending(id), Some(b)) = (sent, slot.borrow_mut().as_mut()) {
            let number = SENT.load(Relaxed);
            SENT.store(number + 1, Relaxed);
            b.pending.push(Pending { id, cost, number });
        }
        Ok(())
    }

    /// Bytes in use and bytes in all of the buffer that is attached there; 0 if
    /// none is.
    pub fn buffer_use(&self, slot: &Slot) -> (u64, u64) {
        slot.borrow_mut().as_mut().map_or((0, 0), |b| {
            b.settle(self);
            (b.used(), if b.automatic() { 0 } else { b.size })
        })
    }

    /// Whether the messages before `until` in the buffer there have left. Does
    /// not progress.
    pub fn is_flushed(&self, slot: &Slot, until: Mark) -> bool {
        match slot.borrow_mut().as_mut() {
            None => true,
            Some(b) => {
                b.settle(self);
                b.pending.first().is_none_or(|p| p.number >= until.0)
            }
        }
    }

    /// Waits until all messages in the buffer there have left; a lost peer's
    /// count as having left.
    pub fn flush(&self, slot: &Slot) {
        let until = Mark::now();
        self.block(|process| process.is_flushed(slot, until));
    }
}
