//! Standard input of the ranks that read it.
//!
//! One rank on this host inherits the launcher's own, unless that is a terminal:
//! the rank cannot have it, as it is in another process group. What is typed,
//! or what a rank on another host or several ranks are to read, is passed on: a [`Source`] here
//! reads it, and a [`Feed`] for each of these ranks writes it.

use std::collections::VecDeque;
use std::io::{self, IsTerminal, PipeReader, PipeWriter};
use std::os::fd::AsFd;
use std::sync::Arc;

use catena_boot::{Interest, Poller};

use crate::sys;

/// More is not read while no rank has taken all but so much, bytes.
const AHEAD: u64 = 64 << 10;

/// More is not read while some rank has not taken so much, bytes: each node keeps it once for all
/// its ranks.
const BEHIND: u64 = 64 << 20;

/// How much the ranks of a node have taken, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// By each of them.
    pub slowest: u64,
    /// By one of them.
    pub fastest: u64,
}

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
    /// By node that has ranks which read it: what these have taken; none if they want no more.
    taken: Vec<(u32, Option<Taken>)>,
    /// Whether it was told that ranks wait for others that do not read.
    was_held: bool,
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
            taken: nodes
                .into_iter()
                .map(|node| (node, Some(Taken::default())))
                .collect(),
            was_held: false,
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

    /// The ranks of a node have taken this much more, and may want more or not. Gives the node for
    /// whose ranks all others wait, once.
    pub fn taken(&mut self, node: u32, bytes: Taken, more: bool, poller: &Poller) -> Option<u32> {
        for (of, taken) in &mut self.taken {
            if *of == node {
                *taken = taken.filter(|_| more).map(|taken| Taken {
                    slowest: taken.slowest + bytes.slowest,
                    fastest: taken.fastest + bytes.fastest,
                });
            }
        }
        self.ended |= self.taken.iter().all(|(_, taken)| taken.is_none());
        self.watch(poller);
        let (at, _) = self.reading().min_by_key(|(_, taken)| taken.slowest)?;
        let is_held = !self.ended && self.untaken().slowest >= BEHIND;
        (is_held && !std::mem::replace(&mut self.was_held, true)).then_some(at)
    }

    /// The nodes whose ranks want more, with what they have taken.
    fn reading(&self) -> impl Iterator<Item = (u32, Taken)> {
        self.taken
            .iter()
            .filter_map(|(node, taken)| Some((*node, (*taken)?)))
    }

    /// Bytes that were read, and that the slowest and the fastest rank have not taken.
    fn untaken(&self) -> Taken {
        let least = |taken: Option<u64>| taken.map_or(0, |taken| self.read.saturating_sub(taken));
        Taken {
            slowest: least(self.reading().map(|(_, taken)| taken.slowest).min()),
            fastest: least(self.reading().map(|(_, taken)| taken.fastest).max()),
        }
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
        let untaken = self.untaken();
        let has_room = untaken.fastest < AHEAD && untaken.slowest < BEHIND;
        !self.ended && !self.background && has_room
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
    /// What it has not taken, of the first piece from the byte `begun` on. The feeds of a node
    /// share the pieces.
    waiting: VecDeque<Arc<[u8]>>,
    begun: usize,
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
            begun: 0,
            ended: false,
            watched: false,
        };
        Ok((feed, rank))
    }

    /// Adds what was read; no bytes are the end.
    pub fn push(&mut self, bytes: &Arc<[u8]>) {
        match bytes.is_empty() {
            true => self.ended = true,
            false => self.waiting.push_back(Arc::clone(bytes)),
        }
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
        while let (Some(to), Some(piece)) = (&self.to, self.waiting.front()) {
            match sys::write(to, &piece[self.begun..]) {
                Ok(n) => {
                    self.taken += n as u64;
                    self.begun += n;
                    if self.begun == piece.len() {
                        self.waiting.pop_front();
                        self.begun = 0;
                    }
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
            let all: usize = self.waiting.iter().map(|piece| piece.len()).sum();
            self.taken += (all - self.begun) as u64;
            self.waiting.clear();
            self.begun = 0;
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
