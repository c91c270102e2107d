//! Point-to-point communication (MPI-5, chapter 3), above the engine.

use std::cell::Cell;

use catena_abi::{self as abi, consts};
use catena_fabric::PeerLost;
use catena_link::{Completion, Envelope, Failure, MessageId, Mode, Plane, ReqId, Selector, Sent};

use crate::buffer::{RecvBuf, SendBuf};
use crate::comm::Comm;
use crate::error::{Error, Kind, Result};
use crate::fail;
use crate::request::{self, Done};
use crate::world::World;

/// Largest tag (`MPI_TAG_UB`).
pub const TAG_UB: i32 = i32::MAX;

/// A message between `MPI_Mprobe` and `MPI_Mrecv`.
#[derive(Debug)]
pub struct Message {
    id: Cell<Option<MessageId>>,
    /// Who and how long, for errors.
    pub envelope: Envelope,
}

/// Checks a destination; `None` for `MPI_PROC_NULL`.
///
/// # Errors
/// `Rank` if the communicator has no such rank.
#[inline]
pub fn destination(comm: &Comm, dest: i32) -> Result<Option<u32>> {
    if (dest as u32) < comm.peers {
        Ok(Some(dest as u32))
    } else if dest == consts::PROC_NULL {
        Ok(None)
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
        Ok(None)
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

#[cold]
fn lost(lost: &PeerLost) -> Error {
    Error::new(
        Kind::ProcAborted,
        format!("process {} is gone: {}", lost.peer.0, lost.cause),
    )
}

/// The error that a failed transfer is reported with.
#[cold]
pub(crate) fn failure(f: &Failure) -> Error {
    match f {
        Failure::Truncated {
            source,
            tag,
            sent,
            room,
        } => Error::new(
            Kind::Truncate,
            format!(
                "the message from rank {source} with tag {tag} has {sent} bytes, but the \
                receive has room for {room}"
            ),
        ),
        Failure::Lost(peer) => lost(peer),
    }
}

impl World {
    /// Starts a send.
    #[inline]
    pub fn isend(
        &self,
        comm: &Comm,
        buf: SendBuf,
        dest: u32,
        tag: i32,
        mode: Mode,
    ) -> abi::Request {
        match self
            .link()
            .send(comm.cid, Plane::User, dest, tag, mode, buf)
        {
            Sent::Done => request::SENT,
            Sent::Pending(id) => request::transfer(id),
        }
    }

    /// Sends, and returns when the buffer may be used again.
    ///
    /// # Errors
    /// `ProcAborted` if the peer is gone.
    #[inline]
    pub fn send(&self, comm: &Comm, buf: SendBuf, dest: u32, tag: i32, mode: Mode) -> Result<()> {
        match self
            .link()
            .send(comm.cid, Plane::User, dest, tag, mode, buf)
        {
            Sent::Done => Ok(()),
            Sent::Pending(id) => self.finish_send(id),
        }
    }

    fn finish_send(&self, id: ReqId) -> Result<()> {
        match self.await_transfer(id).error {
            None => Ok(()),
            Some(f) => Err(failure(&f)),
        }
    }

    /// Starts a receive.
    #[inline]
    pub fn irecv(&self, comm: &Comm, buf: RecvBuf, source: i32, tag: i32) -> abi::Request {
        let sel = Selector { source, tag };
        request::transfer(self.link().recv(comm.cid, Plane::User, sel, buf))
    }

    /// Receives.
    #[inline]
    pub fn recv(&self, comm: &Comm, buf: RecvBuf, source: i32, tag: i32) -> Completion {
        let sel = Selector { source, tag };
        let id = self.link().recv(comm.cid, Plane::User, sel, buf);
        self.await_transfer(id)
    }

    /// Progresses until a transfer is done; takes its result.
    #[inline]
    pub(crate) fn await_transfer(&self, id: ReqId) -> Completion {
        if !self.link().is_done(id) {
            self.block(|w| w.link().is_done(id));
        }
        self.link().take(id)
    }

    /// Looks for a message once, after one round of progress.
    pub fn iprobe(&self, comm: &Comm, source: i32, tag: i32) -> Option<Envelope> {
        let sel = Selector { source, tag };
        self.link().probe(comm.cid, Plane::User, sel).or_else(|| {
            self.progress();
            self.link().probe(comm.cid, Plane::User, sel)
        })
    }

    /// Waits for a message without receiving it.
    pub fn probe(&self, comm: &Comm, source: i32, tag: i32) -> Envelope {
        // Another thread may free the communicator while this one waits.
        let cid = comm.cid;
        let mut found = None;
        self.block(|w| {
            found = w.link().probe(cid, Plane::User, Selector { source, tag });
            found.is_some()
        });
        found.expect("block returns when it is found")
    }

    /// Takes a message out of the queue, to be received by its handle.
    pub fn improbe(&self, comm: &Comm, source: i32, tag: i32) -> Option<(abi::Message, Envelope)> {
        let sel = Selector { source, tag };
        let found = self.link().mprobe(comm.cid, Plane::User, sel).or_else(|| {
            self.progress();
            self.link().mprobe(comm.cid, Plane::User, sel)
        });
        found.map(|(id, envelope)| self.add_message(id, envelope))
    }

    /// Waits for a message and takes it out of the queue.
    pub fn mprobe(&self, comm: &Comm, source: i32, tag: i32) -> (abi::Message, Envelope) {
        // Another thread may free the communicator while this one waits.
        let cid = comm.cid;
        let mut found = None;
        self.block(|w| {
            found = w.link().mprobe(cid, Plane::User, Selector { source, tag });
            found.is_some()
        });
        let (id, envelope) = found.expect("block returns when it is found");
        self.add_message(id, envelope)
    }

    fn add_message(&self, id: MessageId, envelope: Envelope) -> (abi::Message, Envelope) {
        let message = Message {
            id: Cell::new(Some(id)),
            envelope,
        };
        (
            abi::Message(self.objects.messages.insert(message.into())),
            envelope,
        )
    }

    /// Starts to receive a matched message; its handle is dead from now on.
    ///
    /// # Errors
    /// `Request` if the handle is not one of a matched message.
    pub fn imrecv(&self, handle: abi::Message, buf: RecvBuf) -> Result<abi::Request> {
        if handle == consts::MESSAGE_NO_PROC {
            return Ok(request::NOWHERE);
        }
        let message = self.objects.messages.remove(handle.0);
        match message.and_then(|m| m.id.take()) {
            Some(id) => Ok(request::transfer(self.link().mrecv(id, buf))),
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
    /// As [`World::imrecv`].
    pub fn mrecv(&self, handle: abi::Message, buf: RecvBuf) -> Result<Done> {
        let mut request = self.imrecv(handle, buf)?;
        self.wait(&mut request)
    }
}
