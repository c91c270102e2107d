//! Standard input of the ranks that read it.
//!
//! One rank on this host inherits the launcher's own, unless that is a terminal:
//! the rank cannot have it, as it is in another process group. What is typed,
//! or what a rank on another host or several ranks are to read, is passed on: a [`Source`] here
//! reads it, and a [`Feed`] for each of these ranks writes it.

use std::collections::VecDeque;
use std::io::{self, IsTerminal, PipeReader, PipeWriter};
use std::os::fd::AsFd;

use catena_boot::{Interest, Poller};

use crate::sys;

/// More is not read while a rank has not taken so much, bytes.
const AHEAD: u64 = 64 << 10;

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
    /// Bytes that were read.
    read: u64,
    /// By node that has ranks which read it: bytes that all of these have taken; none if they want no more.
    taken: Vec<(u32, Option<u64>)>,
}

impl Source {
    /// One for ranks on these nodes, whose poller events carry `token`.
    pub fn new(nodes: impl IntoIterator<Item = u32>, token: u64, poller: &Poller) -> Source {
        let stdin = io::stdin();
        let watched = poller.add(&stdin, token, Interest::Read).is_ok();
        Source {
            token,
            terminal: stdin.is_terminal(),
            watched: watched.then_some(true),
            ended: false,
            background: false,
            read: 0,
            taken: nodes.into_iter().map(|node| (node, Some(0))).collect(),
        }
    }

    /// Whether the launcher's standard input is passed on even to its own host.
    pub fn is_typed() -> bool {
        io::stdin().is_terminal()
    }

    /// Whether somebody may still answer what a rank that reads the launcher's
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

    /// The ranks of a node have taken some, and may want more or not.
    pub fn taken(&mut self, node: u32, bytes: u32, more: bool, poller: &Poller) {
        for (of, taken) in &mut self.taken {
            if *of == node {
                *taken = taken.filter(|_| more).map(|taken| taken + u64::from(bytes));
            }
        }
        self.ended |= self.taken.iter().all(|(_, taken)| taken.is_none());
        self.watch(poller);
    }

    /// Bytes that were read and that some rank has not taken.
    fn untaken(&self) -> u64 {
        let least = self.taken.iter().filter_map(|(_, taken)| *taken).min();
        least.map_or(0, |taken| self.read.saturating_sub(taken))
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
        self.read += n as u64;
        self.watch(poller);
        Some(buffer[..n].to_vec())
    }

    fn wants(&self) -> bool {
        !self.ended && !self.background && self.untaken() < AHEAD
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

/// Writes what was read to a rank.
#[derive(Debug)]
pub struct Feed {
    token: u64,
    /// Bytes that the rank has taken.
    taken: u64,
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
            taken: 0,
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

    /// Bytes that the rank has taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Writes as much as the rank has room for.
    pub fn write(&mut self, poller: &Poller) {
        while let (Some(to), false) = (&self.to, self.waiting.is_empty()) {
            match sys::write(to, self.waiting.as_slices().0) {
                Ok(n) => {
                    self.waiting.drain(..n);
                    self.taken += n as u64;
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
            self.taken += self.waiting.len() as u64;
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
    }
}
