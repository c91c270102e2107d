//! Standard input of the rank that reads it.
//!
//! A rank on this host inherits the launcher's own, unless that is a terminal:
//! the rank cannot have it, as it is in another process group. What is typed,
//! or what a rank on another host is to read, is passed on: a [`Source`] here
//! reads it, and a [`Feed`] on the rank's node writes it.

use std::collections::VecDeque;
use std::io::{self, IsTerminal, PipeReader, PipeWriter};
use std::os::fd::AsFd;

use catena_boot::{Interest, Poller};

use crate::sys;

/// More is not read while the rank has not taken so much, bytes.
const AHEAD: usize = 64 << 10;

/// Reads the launcher's standard input.
#[derive(Debug)]
pub struct Source {
    token: u64,
    terminal: bool,
    /// Whether the poller watches; `None` if it cannot, as for a file, which
    /// can always be read.
    watched: Option<bool>,
    ended: bool,
    /// Whether the launcher was in the background when something was typed.
    background: bool,
    /// Bytes that were read and that the rank has not taken.
    untaken: usize,
}

impl Source {
    /// One whose poller events carry `token`.
    pub fn new(token: u64, poller: &Poller) -> Source {
        let stdin = io::stdin();
        let watched = poller.add(&stdin, token, Interest::Read).is_ok();
        Source {
            token,
            terminal: stdin.is_terminal(),
            watched: watched.then_some(true),
            ended: false,
            background: false,
            untaken: 0,
        }
    }

    /// Whether the launcher's standard input is passed on even to its own host.
    pub fn is_typed() -> bool {
        io::stdin().is_terminal()
    }

    /// Whether somebody may still answer what the rank that reads the launcher's
    /// standard input asks.
    pub fn may_answer() -> bool {
        sys::may_grow(io::stdin().as_fd())
    }

    /// Whether to call [`Source::resume`] now and then.
    pub fn is_suspended(&self) -> bool {
        self.background
    }

    /// Whether there may be something to read that no event will tell of.
    pub fn is_ready(&self) -> bool {
        self.watched.is_none() && self.wants()
    }

    /// Goes on if the launcher is in the foreground again.
    pub fn resume(&mut self, poller: &Poller) {
        if self.background && sys::in_foreground(io::stdin().as_fd()) {
            self.background = false;
            self.watch(poller);
        }
    }

    /// The rank has taken some.
    pub fn taken(&mut self, bytes: usize, poller: &Poller) {
        self.untaken = self.untaken.saturating_sub(bytes);
        self.watch(poller);
    }

    /// Nobody wants more.
    pub fn end(&mut self, poller: &Poller) {
        self.ended = true;
        self.watch(poller);
    }

    /// There is something to read: what to pass on. No bytes are the end.
    pub fn read(&mut self, poller: &Poller) -> Option<Vec<u8>> {
        let stdin = io::stdin();
        if self.terminal && !sys::in_foreground(stdin.as_fd()) {
            // Typed for somebody else; nothing tells when that changes.
            self.background = true;
            self.watch(poller);
            return None;
        }
        let mut buffer = [0; 16 << 10];
        let n = match sys::read(&stdin, &mut buffer) {
            Ok(n) => n,
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => return None,
                _ => 0,
            },
        };
        self.ended = n == 0;
        self.untaken += n;
        self.watch(poller);
        Some(buffer[..n].to_vec())
    }

    fn wants(&self) -> bool {
        !self.ended && !self.background && self.untaken < AHEAD
    }

    fn watch(&mut self, poller: &Poller) {
        let wants = self.wants();
        if self.watched.is_some_and(|watched| watched != wants) {
            let stdin = io::stdin();
            let _ = match wants {
                true => poller.add(&stdin, self.token, Interest::Read),
                false => poller.remove(&stdin),
            };
            self.watched = Some(wants);
        }
    }
}

/// Writes what was read to the rank.
#[derive(Debug)]
pub struct Feed {
    token: u64,
    to: Option<PipeWriter>,
    waiting: VecDeque<u8>,
    ended: bool,
    watched: bool,
}

impl Feed {
    /// One whose poller events carry `token`, and the rank's end of it.
    pub fn open(token: u64) -> io::Result<(Feed, PipeReader)> {
        let (rank, to) = io::pipe()?;
        sys::set_nonblocking(&to)?;
        let feed = Feed {
            token,
            to: Some(to),
            waiting: VecDeque::new(),
            ended: false,
            watched: false,
        };
        Ok((feed, rank))
    }

    /// Adds what was read; no bytes are the end.
    pub fn push(&mut self, bytes: &[u8]) {
        self.waiting.extend(bytes);
        self.ended |= bytes.is_empty();
    }

    /// Whether the rank reads no more.
    pub fn is_closed(&self) -> bool {
        self.to.is_none() && !self.ended
    }

    /// Writes as much as the rank has room for; gives how much that was.
    pub fn write(&mut self, poller: &Poller) -> usize {
        let mut taken = 0;
        while let (Some(to), false) = (&self.to, self.waiting.is_empty()) {
            match sys::write(to, self.waiting.as_slices().0) {
                Ok(n) => {
                    self.waiting.drain(..n);
                    taken += n;
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => break,
                    // The rank reads no more.
                    _ => self.to = None,
                },
            }
        }
        if self.to.is_none() {
            taken += self.waiting.len();
            self.waiting.clear();
        }
        if let Some(to) = &self.to
            && self.watched == self.waiting.is_empty()
        {
            self.watched = !self.watched;
            let _ = match self.watched {
                true => poller.add(to, self.token, Interest::Write),
                false => poller.remove(to),
            };
        }
        if self.ended && self.waiting.is_empty() {
            self.to = None;
        }
        taken
    }
}
