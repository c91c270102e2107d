//! Standard input of the rank that reads it.
//!
//! If the launcher's own standard input is a terminal, the rank cannot have
//! it, as it is in another process group; so what is typed is passed on.
//! Anything else the rank inherits.

use std::io::{self, IsTerminal, PipeReader, PipeWriter};
use std::os::fd::AsFd;

use catena_boot::{Interest, Poller};

use crate::sys;

/// Passes on what is typed.
#[derive(Debug)]
pub struct Forward {
    from_token: u64,
    to_token: u64,
    to: Option<PipeWriter>,
    waiting: Vec<u8>,
    /// Which side is watched.
    reading: bool,
    writing: bool,
    ended: bool,
    /// Whether the launcher was in the background when something was typed.
    background: bool,
}

impl Forward {
    /// If the launcher's standard input is a terminal: the forwarding and the
    /// rank's end of it.
    pub fn open(tokens: (u64, u64), poller: &Poller) -> io::Result<Option<(Forward, PipeReader)>> {
        if !io::stdin().is_terminal() {
            return Ok(None);
        }
        let (rank, to) = io::pipe()?;
        sys::set_nonblocking(&to)?;
        let mut forward = Forward {
            from_token: tokens.0,
            to_token: tokens.1,
            to: Some(to),
            waiting: Vec::new(),
            reading: false,
            writing: false,
            ended: false,
            background: false,
        };
        forward.watch(poller);
        Ok(Some((forward, rank)))
    }

    /// Whether to call [`Forward::resume`] now and then.
    pub fn is_suspended(&self) -> bool {
        self.background
    }

    /// Goes on if the launcher is in the foreground again.
    pub fn resume(&mut self, poller: &Poller) {
        if self.background && sys::in_foreground(io::stdin().as_fd()) {
            self.background = false;
            self.watch(poller);
        }
    }

    /// Something was typed.
    pub fn read(&mut self, poller: &Poller) {
        let stdin = io::stdin();
        if !sys::in_foreground(stdin.as_fd()) {
            // Typed for somebody else; nothing tells when that changes.
            self.background = true;
            self.set_reading(false, poller);
            return;
        }
        let mut buffer = [0; 4096];
        match sys::read(&stdin, &mut buffer) {
            Ok(0) => self.ended = true,
            Ok(n) => self.waiting.extend_from_slice(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.ended = true,
        }
        self.write(poller);
    }

    /// The rank has room.
    pub fn write(&mut self, poller: &Poller) {
        while let (Some(to), false) = (&self.to, self.waiting.is_empty()) {
            match sys::write(to, &self.waiting) {
                Ok(n) => drop(self.waiting.drain(..n)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // The rank reads no more.
                Err(_) => {
                    self.ended = true;
                    self.waiting.clear();
                }
            }
        }
        self.watch(poller);
    }

    /// Watches the terminal, or the rank while it has no room.
    fn watch(&mut self, poller: &Poller) {
        let blocked = !self.waiting.is_empty();
        if let Some(to) = &self.to
            && self.writing != blocked
        {
            let _ = match blocked {
                true => poller.add(to, self.to_token, Interest::Write),
                false => poller.remove(to),
            };
            self.writing = blocked;
        }
        if self.ended && !blocked {
            self.to = None;
        }
        self.set_reading(!self.ended && !blocked && !self.background, poller);
    }

    fn set_reading(&mut self, reading: bool, poller: &Poller) {
        if self.reading != reading {
            let stdin = io::stdin();
            let _ = match reading {
                true => poller.add(&stdin, self.from_token, Interest::Read),
                false => poller.remove(&stdin),
            };
            self.reading = reading;
        }
    }
}
