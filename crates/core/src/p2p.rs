//! Point-to-point communication (MPI-5, chapter 3), above the engine.

use crate::beside;
use crate::needs;
use catena_hang::WaitsFor;
use catena_link::Context;
use std::cell::Cell;

use catena_abi::{self as abi, consts};
use catena_link::{
    Cid, Completion, Envelope, Failure, MessageId, Mode, Plane, ReqId, Selector, Sent, Sink,
};

use crate::buffer::{RecvBuf, SendBuf};
use crate::coll::ends::Key;
use crate::comm::Comm;
use crate::failure::failure;
pub use crate::message::Message;
use crate::process::Process;
use crate::request::{self, Done};
use crate::trouble::is_interrupted;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;

/// Largest tag (`MPI_TAG_UB`).
pub const TAG_UB: i32 = i32::MAX;

/// A message that was taken out of the queue, and what it is.
pub type Matched = (abi::Message, Envelope);

/// Checks a destination; `None` for `MPI_PROC_NULL`.
///
/// # Errors
/// `Rank` if the communicator has no such rank.
#[inline]
pub fn destination(comm: &Comm, dest: i32) -> Result<Option<u32>> {
    if (dest as u32) < comm.peers {
        Ok(Some(dest as u32))
    } else if dest == consts::PROC_NULL {
        comm.check_not_revoked().map(|()| None)
    } else {
        Err(bad_rank(comm, dest, "destination"))
    }
}

/// Checks a source; `None` for `MPI_PROC_NULL`.
///
/// # Errors
/// `Rank` if the communicator has no such rank.
#[inline]
pub fn source(comm: &Comm, source: i32) -> Result<Option<i32>> {
    if (source as u32) < comm.peers || source == consts::ANY_SOURCE {
        Ok(Some(source))
    } else if source == consts::PROC_NULL {
        comm.check_not_revoked().map(|()| None)
    } else {
        Err(bad_rank(comm, source, "source"))
    }
}

#[cold]
fn bad_rank(comm: &Comm, rank: i32, what: &str) -> Error {
    let n = comm.peers;
    let also = if what == "source" {
        ", MPI_ANY_SOURCE"
    } else {
        ""
    };
    Error::new(
        Kind::Rank,
        format!(
            "the {what} is rank {rank}, but the communicator has ranks 0 to \
        {} (or MPI_PROC_NULL{also})",
            n - 1
        ),
    )
}

/// Checks a tag to send with.
///
/// # Errors
/// `Tag` if it is negative.
#[inline]
pub fn send_tag(tag: i32) -> Result<i32> {
    if tag < 0 {
        return Err(bad_tag(tag, ""));
    }
    Ok(tag)
}

/// Checks a tag to receive.
///
/// # Errors
/// `Tag` if it is negative and not `MPI_ANY_TAG`.
#[inline]
pub fn recv_tag(tag: i32) -> Result<i32> {
    if tag < 0 && tag != consts::ANY_TAG {
        return Err(bad_tag(tag, " (or MPI_ANY_TAG)"));
    }
    Ok(tag)
}

#[cold]
fn bad_tag(tag: i32, also: &str) -> Error {
    Error::new(
        Kind::Tag,
        format!("the tag is {tag}: it must be 0 to {TAG_UB}{also}"),
    )
}

impl Comm {
    /// Starts a send.
    #[inline]
    pub fn isend(
        &self,
        process: &Process,
        buf: SendBuf,
        dest: u32,
        tag: i32,
        mode: Mode,
    ) -> abi::Request {
        match process.link(|link| link.send(self.cid, Plane::User, dest, tag, mode, buf)) {
            Sent::Done => request::SENT,
            Sent::Pending(id) => {
                beside::expect_transfer(process, id);
                request::transfer(id)
            }
        }
    }

    /// Sends, and returns when the buffer may be used again.
    ///
    /// # Errors
    /// `ProcAborted` if the peer is gone.
    #[inline]
    pub fn send(
        &self,
        process: &Process,
        buf: SendBuf,
        dest: u32,
        tag: i32,
        mode: Mode,
    ) -> Result<()> {
        match process.link(|link| link.send(self.cid, Plane::User, dest, tag, mode, buf)) {
            Sent::Done => Ok(()),
            Sent::Pending(id) => finish_send(process, id),
        }
    }
}

fn finish_send(process: &Process, id: ReqId) -> Result<()> {
    match await_transfer(process, id).error {
        None => Ok(()),
        Some(f) => Err(failure(&f)),
    }
}

impl Comm {
    /// Starts a receive.
    #[inline]
    pub fn irecv(&self, process: &Process, buf: RecvBuf, source: i32, tag: i32) -> abi::Request {
        let sel = Selector { source, tag };
        let is_long = buf.capacity() >= beside::LONG;
        let id = process.link(|link| link.recv(self.cid, Plane::User, sel, buf));
        if is_long {
            beside::expect_transfer(process, id);
        }
        request::transfer(id)
    }

    /// Receives.
    #[inline]
    pub fn recv(&self, process: &Process, buf: RecvBuf, source: i32, tag: i32) -> Completion {
        let sel = Selector { source, tag };
        let id = process.link(|link| link.recv(self.cid, Plane::User, sel, buf));
        await_transfer(process, id)
    }
}

/// Progresses until a transfer is done; takes its result.
#[inline]
pub(crate) fn await_transfer(process: &Process, id: ReqId) -> Completion {
    let is_done = |process: &Process| process.link(|link| link.is_done(id));
    if !is_done(process) {
        process.block(
            |process, waits| needs::describe_transfer(process, id, waits),
            |process| is_done(process) || is_interrupted(process, id),
        );
        if !is_done(process) {
            process.link(|link| link.interrupt(id));
        }
    }
    process.link(|link| link.take(id))
}

impl Comm {
    /// Looks for a message once, after one round of progress.
    ///
    /// # Errors
    /// `ProcAborted` if none can come, as its sender is gone.
    pub fn iprobe(&self, process: &Process, source: i32, tag: i32) -> Result<Option<Envelope>> {
        let (cid, sel) = (self.cid, Selector { source, tag });
        look(process, cid, sel, |process| {
            process.link(|link| link.probe(cid, Plane::User, sel))
        })
    }

    /// Waits for a message without receiving it.
    ///
    /// # Errors
    /// As [`Comm::iprobe`].
    pub fn probe(&self, process: &Process, source: i32, tag: i32) -> Result<Envelope> {
        let (cid, sel) = (self.cid, Selector { source, tag });
        look_until(process, cid, sel, |process| {
            process.link(|link| link.probe(cid, Plane::User, sel))
        })
    }

    /// Takes a message out of the queue, to be received by its handle.
    ///
    /// # Errors
    /// As [`Comm::iprobe`].
    pub fn improbe(&self, process: &Process, source: i32, tag: i32) -> Result<Option<Matched>> {
        let (cid, sel) = (self.cid, Selector { source, tag });
        let found = look(process, cid, sel, |process| {
            process.link(|link| link.mprobe(cid, Plane::User, sel))
        })?;
        Ok(found.map(|(id, envelope)| add_message(process, id, envelope)))
    }

    /// Waits for a message and takes it out of the queue.
    ///
    /// # Errors
    /// As [`Comm::iprobe`].
    pub fn mprobe(&self, process: &Process, source: i32, tag: i32) -> Result<Matched> {
        let (cid, sel) = (self.cid, Selector { source, tag });
        let (id, envelope) = look_until(process, cid, sel, |process| {
            process.link(|link| link.mprobe(cid, Plane::User, sel))
        })?;
        Ok(add_message(process, id, envelope))
    }
}

/// What `find` finds, if need be after one round of progress.
fn look<T>(
    process: &Process,
    cid: Cid,
    sel: Selector,
    find: impl Fn(&Process) -> Option<T>,
) -> Result<Option<T>> {
    let found = find(process).or_else(|| {
        process.progress();
        find(process)
    });
    match found
        .is_none()
        .then(|| process.link(|link| link.seek(cid, Plane::User, sel)))
    {
        Some(Some(gone)) => Err(failure(&gone)),
        Some(None) if is_deserted(process, cid, sel) => Err(failure(&Failure::Interrupted)),
        _ => Ok(found),
    }
}

/// Waits until `find` finds something. Another thread may free the communicator
/// meanwhile.
fn look_until<T>(
    process: &Process,
    cid: Cid,
    sel: Selector,
    find: impl Fn(&Process) -> Option<T>,
) -> Result<T> {
    let mut end = None;
    let describe = |process: &Process, waits: &mut WaitsFor| {
        let context = Context::new(cid, Plane::User);
        let mut need = needs::message(process, context, sel);
        need.key = Some(Key::Probe(context, sel).to_words());
        waits.needs.push(need);
    };
    process.block(describe, |process| {
        let gone = || process.link(|link| link.seek(cid, Plane::User, sel));
        end = find(process)
            .map(Ok)
            .or_else(|| gone().map(|gone| Err(failure(&gone))))
            .or_else(|| {
                let deserted = is_deserted(process, cid, sel);
                deserted.then(|| Err(failure(&Failure::Interrupted)))
            });
        end.is_some()
    });
    end.expect("block returns when it is found")
}

/// Whether a message from any source is sought, of which a member has died that the program
/// has not acknowledged.
fn is_deserted(process: &Process, cid: Cid, sel: Selector) -> bool {
    let any = sel.source == consts::ANY_SOURCE && process.is_troubled();
    any && process
        .comms
        .at(cid)
        .is_some_and(|comm| comm.has_unacknowledged(process))
}

fn add_message(process: &Process, id: MessageId, envelope: Envelope) -> Matched {
    let message = Message {
        id: Cell::new(Some(id)),
        envelope,
    };
    (
        abi::Message(process.objects.messages.insert(message.into())),
        envelope,
    )
}

/// Starts to receive a matched message; its handle is dead from now on.
///
/// # Errors
/// `Request` if the handle is not one of a matched message.
pub fn imrecv(process: &Process, handle: abi::Message, buf: RecvBuf) -> Result<abi::Request> {
    if handle == consts::MESSAGE_NO_PROC {
        return Ok(request::NOWHERE);
    }
    let message = process.objects.messages.remove(handle.0);
    match message.and_then(|m| m.id.take()) {
        Some(id) => Ok(request::transfer(process.link(|link| link.mrecv(id, buf)))),
        None if handle == consts::MESSAGE_NULL => {
            fail!(Request, "the message is MPI_MESSAGE_NULL")
        }
        None => fail!(
            Request,
            "{:#x} is not a matched message, or was received already",
            handle.0
        ),
    }
}

/// Receives a matched message.
///
/// # Errors
/// As [`imrecv`].
pub fn mrecv(process: &Process, handle: abi::Message, buf: RecvBuf) -> Result<Done> {
    let mut request = imrecv(process, handle, buf)?;
    request::wait(process, &mut request)
}
