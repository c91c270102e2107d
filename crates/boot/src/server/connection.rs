//! One client of the server and what waits to be sent to it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use crate::wire::Inbox;
use crate::{Interest, Poller, sys};

/// Bytes that wait to be sent to one client.
#[derive(Debug)]
struct Outgoing {
    bytes: Arc<[u8]>,
    sent: usize,
    /// What goes with the first byte.
    along: Option<OwnedFd>,
}

/// A process that has connected.
#[derive(Debug)]
pub(super) struct Client {
    pub socket: UnixStream,
    /// By the word of the kernel.
    pub pid: u32,
    /// Once it is taken in.
    pub rank: Option<u32>,
    pub inbox: Inbox,
    outbox: VecDeque<Outgoing>,
    /// Whether the poller watches for room to write.
    writing: bool,
    /// To be disconnected once everything is sent.
    pub closing: bool,
}

impl Client {
    /// One that has not said anything.
    pub fn new(socket: UnixStream, pid: u32) -> Client {
        Client {
            socket,
            pid,
            rank: None,
            inbox: Inbox::default(),
            outbox: VecDeque::new(),
            writing: false,
            closing: false,
        }
    }

    /// Has `bytes` sent at the next [`Client::flush`], and a descriptor along with them.
    pub fn push(&mut self, bytes: Arc<[u8]>, along: Option<OwnedFd>) {
        self.outbox.push_back(Outgoing {
            bytes,
            sent: 0,
            along,
        });
    }

    /// Sends what waits, as far as there is room; gives whether the client
    /// stays connected.
    pub fn flush(&mut self, poller: &Poller, token: u64) -> bool {
        while let Some(first) = self.outbox.front_mut() {
            let along = first.along.as_ref().filter(|_| first.sent == 0);
            let along = along.map(AsFd::as_fd);
            match sys::send(&self.socket, &first.bytes[first.sent..], along) {
                Ok(n) => first.sent += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return false,
            }
            if first.sent == first.bytes.len() {
                self.outbox.pop_front();
            }
        }
        let writing = !self.outbox.is_empty();
        if writing != self.writing {
            let interest = if writing {
                Interest::ReadWrite
            } else {
                Interest::Read
            };
            self.writing = writing;
            if poller.modify(&self.socket, token, interest).is_err() {
                return false;
            }
        }
        writing || !self.closing
    }
}
