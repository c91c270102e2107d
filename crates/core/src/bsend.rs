//! Buffered sends (MPI-5, chapter 3.6): buffers attached to the process, a
//! session or a communicator. The closest one that there is counts.

use crate::needs;
use catena_hang::WaitsFor;
use std::sync::Arc;

use catena_link::{Mode, Plane, ReqId, Sent, Source};

use crate::attached::OVERHEAD;
use crate::buffer::SendBuf;
use crate::comm::Comm;
use crate::process::Process;
use crate::session::Session;
use catena_objects::error::Result;
use catena_objects::fail;

pub use crate::attached::{Attached, Mark, Slot};

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

impl Comm {
    /// `MPI_Bsend`: copies the message and returns.
    ///
    /// # Errors
    /// `Buffer` if no buffer is attached or what is left of it is too small.
    pub fn bsend(&self, process: &Process, buf: &SendBuf, dest: u32, tag: i32) -> Result<()> {
        let cost = buf.len() + OVERHEAD;
        let session = self.group.session();
        let session = session.and_then(|s| process.objects.sessions.get(s.0));
        let of_session = session.as_ref().map(|s| &s.buffer);
        let slots = [Some(&self.buffer), of_session, Some(&process.buffer)];
        let attached = |slot: &&Slot| slot.borrow().as_ref().is_some_and(|it| !it.leaves);
        let Some(slot) = slots.into_iter().flatten().find(attached) else {
            fail!(
                Buffer,
                "no buffer is attached: call MPI_Buffer_attach, MPI_Session_attach_buffer or \
                MPI_Comm_attach_buffer first"
            );
        };
        let fits = |process: &Process| {
            let mut slot = slot.borrow_mut();
            // Another thread may have detached it, while progress was in a function of the program.
            slot.as_mut().is_some_and(|b| {
                b.settle(|id| has_left(process, id));
                b.automatic() || cost.saturating_add(b.used()) <= b.size
            })
        };
        if !fits(process) {
            // What is under way may be done after a round of progress.
            process.progress();
            if !fits(process) {
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
            process.link(|link| link.send(self.cid, Plane::User, dest, tag, Mode::Standard, copy));
        if let (Sent::Pending(id), Some(b)) = (sent, slot.borrow_mut().as_mut()) {
            b.add(id, cost);
        }
        Ok(())
    }
}

/// Whether a message has left; then its request is gone.
fn has_left(process: &Process, id: ReqId) -> bool {
    process.link(|link| {
        let done = link.is_done(id);
        if done {
            link.take(id);
        }
        done
    })
}

impl Slot {
    /// Bytes in use and bytes in all of the buffer that is attached there; 0 if
    /// none is.
    pub fn usage(&self, process: &Process) -> (u64, u64) {
        self.borrow_mut().as_mut().map_or((0, 0), |b| {
            b.settle(|id| has_left(process, id));
            (b.used(), if b.automatic() { 0 } else { b.size })
        })
    }

    /// Whether the messages before `until` in the buffer there have left. Does
    /// not progress.
    pub fn is_flushed(&self, process: &Process, until: Mark) -> bool {
        match self.borrow_mut().as_mut() {
            None => true,
            Some(b) => {
                b.settle(|id| has_left(process, id));
                b.is_flushed(until)
            }
        }
    }

    /// Waits until all messages in the buffer there have left; a lost peer's
    /// count as having left. Costs nothing where no buffer is attached.
    pub fn flush(&self, process: &Process) {
        if self.borrow().is_none() {
            return;
        }
        let until = Mark::now();
        process.block(
            |process, waits| self.describe_flush(process, until, waits),
            |process| self.is_flushed(process, until),
        );
    }

    /// What the messages before `until` in the buffer there wait for.
    pub(crate) fn describe_flush(&self, process: &Process, until: Mark, waits: &mut WaitsFor) {
        let left = self.borrow().as_ref().map(|it| it.not_left(until));
        let left = left.into_iter().flatten();
        left.for_each(|id| needs::describe_inner_transfer(process, id, waits));
    }
}
