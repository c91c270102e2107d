//! A stream of frames to another process of the launcher, in both directions,
//! that never waits.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use catena_boot::wire::{Inbox, MAX_BODY, Malformed, Writer};
use catena_boot::{Interest, Poller};
use catena_job::MessageKind;

use crate::sys;

/// What a daemon says first, so that what shells print before is told apart.
pub const GREETING: &[u8] = b"\0catena daemon\n";

/// Longest body of a frame. A fence has that of all ranks.
const LIMIT: usize = MAX_BODY + 4096;

/// Why nothing can be heard any more.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// The other side has closed the stream, or the network has.
    Closed,
    /// The other side has said nothing for this time.
    Silent(Duration),
    /// The other side talks nonsense.
    Malformed(Malformed),
}

/// A stream of frames.
#[derive(Debug)]
pub struct Link {
    /// What is read.
    input: OwnedFd,
    /// What is written to; `None` if that is the same.
    output: Option<OwnedFd>,
    /// Tokens of the poller for both.
    tokens: [u64; 2],
    inbox: Inbox,
    /// Longest body of a frame, bytes.
    limit: usize,
    /// What came before the greeting, while that is awaited.
    before: Option<Vec<u8>>,
    /// What came before it for sure.
    chatter: Vec<u8>,
    outbox: VecDeque<Vec<u8>>,
    /// How much of the first frame is written.
    written: usize,
    /// Whether the poller watches for room.
    watched: bool,
    heard: Instant,
    said: Instant,
    /// When this process last looked at the time.
    ticked: Instant,
}

impl Link {
    /// One over two descriptors, or one. The first token is for reading.
    pub fn new(
        input: OwnedFd,
        output: Option<OwnedFd>,
        tokens: [u64; 2],
        poller: &Poller,
    ) -> io::Result<Link> {
        sys::set_nonblocking(&input)?;
        output.as_ref().map_or(Ok(()), sys::set_nonblocking)?;
        poller.add(&input, tokens[0], Interest::Read)?;
        let now = Instant::now();
        Ok(Link {
            input,
            output,
            tokens,
            inbox: Inbox::default(),
            limit: LIMIT,
            before: None,
            chatter: Vec::new(),
            outbox: VecDeque::new(),
            written: 0,
            watched: false,
            heard: now,
            said: now,
            ticked: now,
        })
    }

    /// This link where the other side greets before its first frame; shells may
    /// print things before that.
    #[must_use]
    pub fn greeted(self) -> Link {
        Link {
            before: Some(Vec::new()),
            ..self
        }
    }

    /// This link with frames of at most `limit` bytes.
    #[must_use]
    pub fn limited(self, limit: usize) -> Link {
        Link { limit, ..self }
    }

    /// The descriptor that is read, for another link.
    pub fn into_input(self, poller: &Poller) -> OwnedFd {
        let _ = poller.remove(&self.input);
        self.input
    }

    /// What came before the greeting since the last call.
    pub fn take_chatter(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.chatter)
    }

    /// Has a frame sent at the next [`Link::flush`].
    pub fn push(&mut self, frame: Vec<u8>) {
        self.outbox.push_back(frame);
    }

    /// Whether all was sent.
    pub fn is_empty(&self) -> bool {
        self.outbox.is_empty()
    }

    /// Sends what waits, as far as there is room.
    ///
    /// # Errors
    /// [`End::Closed`].
    pub fn flush(&mut self, poller: &Poller) -> Result<(), End> {
        let to = self.output.as_ref().unwrap_or(&self.input);
        while let Some(first) = self.outbox.front() {
            match sys::write(to, &first[self.written..]) {
                Ok(n) => self.written += n,
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => break,
                    _ => return Err(End::Closed),
                },
            }
            self.said = Instant::now();
            if self.written == first.len() {
                self.written = 0;
                self.outbox.pop_front();
            }
        }
        let waiting = !self.outbox.is_empty();
        if waiting != self.watched {
            self.watched = waiting;
            let _ = match (&self.output, waiting) {
                (Some(to), true) => poller.add(to, self.tokens[1], Interest::Write),
                (Some(to), false) => poller.remove(to),
                (None, true) => poller.modify(&self.input, self.tokens[0], Interest::ReadWrite),
                (None, false) => poller.modify(&self.input, self.tokens[0], Interest::Read),
            };
        }
        Ok(())
    }

    /// Takes in what has arrived.
    ///
    /// # Errors
    /// [`End::Closed`]; what had arrived before can still be taken.
    pub fn receive(&mut self) -> Result<(), End> {
        let mut buffer = [0; 64 << 10];
        // Bounded: somebody who talks without end shall not keep this process
        // from its other work.
        for _ in 0..16 {
            match sys::read(&self.input, &mut buffer) {
                Ok(0) => return Err(End::Closed),
                Ok(n) => {
                    self.heard = Instant::now();
                    match self.before.is_some() {
                        true => self.skim(&buffer[..n]),
                        false => self.inbox.push(&buffer[..n]),
                    }
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => break,
                    _ => return Err(End::Closed),
                },
            }
        }
        Ok(())
    }

    /// Looks for the greeting.
    fn skim(&mut self, bytes: &[u8]) {
        let mut before = self.before.take().unwrap_or_default();
        before.extend_from_slice(bytes);
        let greeting = before.windows(GREETING.len()).position(|w| w == GREETING);
        // Its beginning may be at the end.
        let sure = greeting.unwrap_or((before.len() + 1).saturating_sub(GREETING.len()));
        self.chatter.extend(before.drain(..sure));
        match greeting {
            Some(_) => self.inbox.push(&before[GREETING.len()..]),
            None => self.before = Some(before),
        }
    }

    /// The next frame that is not only a sign of life.
    ///
    /// # Errors
    /// [`End::Malformed`].
    pub fn next(&mut self) -> Result<Option<(MessageKind, Vec<u8>)>, End> {
        loop {
            let frame = self.inbox.next(self.limit).map_err(End::Malformed)?;
            let Some((kind, body)) = frame else {
                return Ok(None);
            };
            match MessageKind::from_byte(kind).map_err(End::Malformed)? {
                MessageKind::Alive => {}
                kind => return Ok(Some((kind, body.to_vec()))),
            }
        }
    }

    /// When to call [`Link::tick`] again, if the other side may be silent for
    /// `limit`.
    pub fn next_time(&self, limit: Duration) -> Instant {
        (self.said + limit / 4).min(self.heard + limit)
    }

    /// Gives a sign of life if it is time. What this process was away for, as it was stopped or had
    /// no processor, is no silence of the other side: it may have been stopped as well.
    ///
    /// # Errors
    /// [`End::Silent`] if the other side has given none for `limit`.
    pub fn tick(&mut self, limit: Duration, now: Instant) -> Result<(), End> {
        let away = now.saturating_duration_since(self.ticked);
        self.ticked = now;
        if away >= limit / 2 {
            self.heard = now;
        }
        if now >= self.heard + limit {
            return Err(End::Silent(limit));
        }
        if now >= self.said + limit / 4 {
            self.said = now;
            // One that waits says as much.
            if self.outbox.is_empty() {
                self.push(Writer::new(MessageKind::Alive).finish());
            }
        }
        Ok(())
    }

    /// Forgets how long the other side was silent: this process was stopped.
    pub fn wake(&mut self) {
        self.heard = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn own_absence_is_no_silence_of_the_other_side() {
        let poller = Poller::new().unwrap();
        let (one, _other) = UnixStream::pair().unwrap();
        let mut link = Link::new(one.into(), None, [1, 1], &poller).unwrap();
        let limit = Duration::from_secs(30);
        let begin = link.heard;
        // Both are stopped for longer than that.
        let back = begin + 2 * limit;
        assert_eq!(link.tick(limit, back), Ok(()));
        // Then the other side is silent, while this one looks at the time.
        let mut told = Ok(());
        for step in 1..=4 {
            assert_eq!(told, Ok(()));
            told = link.tick(limit, back + limit * step / 4);
        }
        assert_eq!(told, Err(End::Silent(limit)));
    }
}
