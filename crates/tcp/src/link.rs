//! One connection: what waits to leave, and what has begun to arrive.

use std::io;
use std::time::Instant;

use catena_base::PayloadRoom;
use catena_fabric::row::Row;
use catena_fabric::{Payload, Peer};

use crate::greeting::Handshake;
use crate::liveness::Probe;
use crate::room::ReceiveBuffer;
use crate::socket::{Socket, Watch, is_lack};

/// How far a connection is.
#[derive(Debug)]
pub(crate) enum Stage {
    /// We called; the kernel is at it.
    Calling,
    /// Both ends prove that they belong to the job.
    Greeting(Box<Handshake>),
    /// The other end has, and was not added yet: see [`Unmet`](crate::callers::Unmet).
    Unmet,
    /// Both have.
    Open,
    /// This process has removed the other one: see `depart`.
    Departing,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Link {
    pub socket: Socket,
    pub stage: Stage,
    /// Whether this process called; else the other end did.
    pub ours: bool,
    /// The other end; `None` before it has proven who it is.
    pub peer: Option<Peer>,
    /// When it began.
    pub since: Instant,
    /// Addresses that were tried before, and what came of them.
    pub tried: Vec<String>,
    pub out: Out,
    /// The beginning of a frame.
    pub partial: Option<ReceiveBuffer>,
    /// Another connection leads to the peer: this one ends when it is empty.
    pub retired: bool,
    pub row: Row,
    /// What waits could leave, and does so with the next poll.
    pub holds: bool,
    /// The kernel may keep packets of ours.
    pub gathers: bool,
    /// The connection is in the list of those that gather or have gathered.
    pub held: bool,
    /// A packet found no room.
    pub full: bool,
    /// The connection is in the list of those with something to send.
    pub waiting: bool,
    /// Why the other end takes nothing any more. What it had sent before may be unread here.
    pub deaf: Option<io::Error>,
    /// Something was dropped, as the other end takes nothing any more.
    drops: bool,
    /// The number of the poll before which the connection began.
    pub born: u64,
    /// A connection that carries nothing, by which the other end's host is asked whether it lives.
    pub probe: Option<Box<Probe>>,
    /// Since when it has been seen to have something that waits to be acknowledged: what was before
    /// is no silence.
    pub awaited: Option<Instant>,
    /// Sleepers are woken when it can be written.
    heeded: bool,
}

impl Link {
    /// One to a peer that this process calls, or from somebody who calls.
    pub fn new(socket: Socket, stage: Stage, peer: Option<Peer>) -> Link {
        Link {
            socket,
            ours: peer.is_some(),
            stage,
            peer,
            since: Instant::now(),
            tried: Vec::new(),
            out: Out::default(),
            partial: None,
            retired: false,
            row: Row::default(),
            holds: false,
            gathers: false,
            held: false,
            full: false,
            waiting: false,
            deaf: None,
            drops: false,
            born: 0,
            probe: None,
            awaited: None,
            heeded: false,
        }
    }

    /// Sending has failed: what waits is dropped, and so is what follows. What has arrived is read
    /// first, then the connection ends.
    #[cold]
    pub fn deafen(&mut self, error: io::Error) {
        self.out = Out::default();
        self.drops = true;
        self.deaf = Some(error);
    }

    /// Whether something that was sent may be lost if the connection is gone now.
    pub fn loses(&self) -> bool {
        self.drops || !self.out.is_empty() || self.socket.is_unacknowledged()
    }

    /// Whether sleepers are woken when connection `at`, this one, can be
    /// written.
    pub fn heed(&mut self, watch: &Watch, at: usize, write: bool) {
        if self.heeded != write {
            self.heeded = write;
            // A failure shows when the socket is next used.
            let _ = watch.change(&self.socket, at as u64, write);
        }
    }

    /// Whether the kernel may keep packets of ours; if not, it sends what it has
    /// kept.
    #[inline]
    pub fn gather(&mut self, keep: bool) {
        if self.gathers != keep {
            self.gathers = keep;
            self.socket.gather(keep);
        }
    }

    /// Hands what waits to the kernel, as far as it takes it; whether it took
    /// something.
    pub fn flush(&mut self) -> io::Result<bool> {
        let mut moved = false;
        while !self.out.is_empty() {
            match self.socket.send(self.out.bytes()) {
                Ok(sent) => self.out.drop_front(sent),
                Err(error) if is_lack(&error) => return Ok(moved),
                Err(error) => return Err(error),
            }
            moved = true;
        }
        if self.retired {
            self.socket.shut();
        }
        Ok(moved)
    }
}

/// What waits to leave over a connection: frames, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Out {
    all: Vec<u8>,
    /// Bytes of them that have left.
    left: usize,
}

impl Out {
    /// Whether there is nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What waits.
    pub fn bytes(&self) -> &[u8] {
        &self.all[self.left..]
    }

    /// The first bytes have left.
    fn drop_front(&mut self, len: usize) {
        self.left += len;
        if self.left == self.all.len() {
            self.all.clear();
            self.left = 0;
        }
    }

    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.all.extend_from_slice(bytes);
    }

    /// Adds a payload but for its first `done` bytes.
    pub fn add_payload<P: Payload>(&mut self, payload: &P, done: usize) {
        let (at, len) = (self.all.len(), payload.len());
        self.all.reserve(len);
        // SAFETY: as much was reserved, and the payload writes all of it.
        unsafe {
            payload.write(PayloadRoom::new(self.all.as_mut_ptr().add(at), len));
            self.all.set_len(at + len);
        }
        self.all.drain(at..at + done);
    }
}
