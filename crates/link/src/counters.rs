//! What really happened, counted. What every message touches anyway counts it:
//! its context; the rest counts rare things only.

use catena_base::ring::INLINE;

/// How messages leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Short enough to travel within its envelope.
    Inline,
    /// Sent without asking the receiver.
    Eager,
    /// Announced; the receiver decides how the bytes come.
    Rendezvous,
}

/// Messages and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub messages: u64,
    /// How many bytes in all.
    pub bytes: u64,
}

impl Tally {
    /// Counts a message.
    pub fn add(&mut self, bytes: u64) {
        self.messages += 1;
        self.bytes += bytes;
    }
}

/// Messages in one direction, by [`Protocol`]; but the inline ones count as
/// eager, too. So a short message, the hot path, is counted once.
///
/// Two arrays, so that the compiler adds to memory and does not vectorise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    messages: [u64; 3],
    bytes: [u64; 3],
}

/// The eager messages that are not inline.
const LONG: usize = Protocol::Inline as usize;
const EAGER: usize = Protocol::Eager as usize;
const ANNOUNCED: usize = Protocol::Rendezvous as usize;

impl Flow {
    #[inline(always)]
    fn add(&mut self, at: usize, len: u64) {
        self.messages[at] += 1;
        // An announced length is only the peer's word.
        self.bytes[at] = self.bytes[at].wrapping_add(len);
    }

    /// Counts a message that nobody was asked about.
    #[inline(always)]
    pub(crate) fn eager(&mut self, len: u64) {
        self.add(EAGER, len);
        if len > INLINE as u64 {
            self.add(LONG, len);
        }
    }

    /// Counts an announced message.
    pub(crate) fn announced(&mut self, len: u64) {
        self.add(ANNOUNCED, len);
    }

    fn absorb(&mut self, other: &Flow) {
        for at in [LONG, EAGER, ANNOUNCED] {
            self.messages[at] += other.messages[at];
            self.bytes[at] = self.bytes[at].wrapping_add(other.bytes[at]);
        }
    }

    fn at(&self, at: usize) -> Tally {
        Tally {
            messages: self.messages[at],
            bytes: self.bytes[at],
        }
    }

    /// Messages of one protocol.
    pub fn by(&self, protocol: Protocol) -> Tally {
        match protocol {
            Protocol::Inline => Tally {
                messages: self.messages[EAGER] - self.messages[LONG],
                bytes: self.bytes[EAGER].wrapping_sub(self.bytes[LONG]),
            },
            Protocol::Eager => self.at(LONG),
            Protocol::Rendezvous => self.at(ANNOUNCED),
        }
    }

    /// Messages of all protocols.
    pub fn all(&self) -> Tally {
        Tally {
            messages: self.messages[EAGER] + self.messages[ANNOUNCED],
            bytes: self.bytes[EAGER].wrapping_add(self.bytes[ANNOUNCED]),
        }
    }
}

/// Messages of a communicator, or of all, of both planes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages sent.
    pub sent: Flow,
    /// Messages that arrived, or were announced by their senders.
    pub received: Flow,
    /// Those among the received that found no receive posted.
    pub unexpected: u64,
}

impl Traffic {
    pub(crate) fn absorb(&mut self, other: &Traffic) {
        self.sent.absorb(&other.sent);
        self.received.absorb(&other.received);
        self.unexpected += other.unexpected;
    }
}

/// Counts since the endpoint was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Messages in communicators that are closed.
    pub(crate) past: Traffic,
    /// Messages that receivers asked us to stream, and the bytes they wanted.
    pub streamed: Tally,
    /// Announced messages that receivers got without asking for a stream.
    pub fetched: Tally,
    /// Bytes of messages that left compressed, and the bytes that they became.
    pub compressed: u64,
    /// See [`Counters::compressed`].
    pub compressed_to: u64,
    /// Messages that we asked to be streamed, and the bytes that came.
    pub asked: Tally,
    /// Messages that came without a stream, and the bytes that we read out of
    /// peers' memory.
    pub got: Tally,
    /// Bytes of them that their senders wrote into our memory.
    pub put: u64,
    /// Messages that were lent, and that nobody began to read in time.
    pub taken_back: u64,
    /// Remote reads and writes that the route refused, so that the message was streamed.
    pub fallbacks: u64,
    /// Sends that had to queue because a route was full.
    pub queued: u64,
    /// Packets kept because an earlier one, or their communicator, was missing.
    pub parked: u64,
    /// Packets thrown away: duplicate, foreign, stale or garbage.
    pub dropped: u64,
}

impl Counters {
    /// Messages that came without a stream, and their bytes, whoever copied
    /// them.
    pub fn copied(&self) -> Tally {
        Tally {
            bytes: self.got.bytes + self.put,
            ..self.got
        }
    }
}
