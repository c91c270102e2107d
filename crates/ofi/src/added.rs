//! Processes of other jobs, which are added one by one, and removed: see
//! [`introduction`]. Until such a process has welcomed this one its route is full.
//!
//! A removed one keeps its number until the provider has given back all that it had for it. Where
//! that does not happen by itself, as a peer that does not poll has it, the connection is ended;
//! the peer is told over the next one, which the provider makes when it polls.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use catena_fabric::Peer;
use catena_fabric::frame::FRAME;
use catena_fabric::introduction::{Introductions, WORD, Word};

use crate::contexts::Contexts;

/// Words under way at once.
pub(crate) const WORDS: usize = 16;
/// Bytes of one with its frame, in a buffer.
pub(crate) const STRIDE: usize = (FRAME + WORD).next_multiple_of(64);

/// How long what is under way to a removed peer may take, before its connection is ended.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// For how long a provider does not take words to a peer before it is seen to whether that is
/// there.
pub(crate) const STUCK: Duration = Duration::from_secs(1);

/// How often a word is sent again that has not arrived, where nobody takes connections.
pub(crate) const TRIES: u32 = 3;

/// For how long a word is sent again that has not arrived, and how long a try waits for the next
/// one: a peer that has not seen yet that its connection was ended takes no other one. For a
/// farewell the time begins when what is under way is ended.
pub(crate) const WORD_TIME: Duration = Duration::from_secs(5);
pub(crate) const PAUSE: Duration = Duration::from_millis(50);

/// What an endpoint keeps of the processes that are added.
#[derive(Debug)]
pub(crate) struct Added {
    pub(crate) introductions: Introductions,
    /// The address in the vector of each that is reached.
    pub(crate) addresses: HashMap<Peer, u64>,
    pub(crate) departing: BTreeMap<Peer, Departing>,
    /// Those that are there.
    pub(crate) there: BTreeSet<Peer>,
    /// The words under way.
    pub(crate) words: [Option<Word>; WORDS],
    pub(crate) contexts: Contexts,
    /// Peers to whom the provider takes no words.
    pub(crate) stuck: HashMap<Peer, Stuck>,
    /// Peers at which a word has not arrived, and none has since.
    pub(crate) missed: HashMap<Peer, Missed>,
    /// Where their buffers begin in the endpoint's memory.
    pub(crate) at: usize,
}

/// A peer to which the provider takes no words.
#[derive(Debug)]
pub(crate) struct Stuck {
    pub(crate) since: Instant,
    /// A connection to where it takes some.
    pub(crate) knock: Option<OwnedFd>,
}

/// A peer at which a word has not arrived.
#[derive(Debug)]
pub(crate) struct Missed {
    pub(crate) since: Instant,
    pub(crate) tries: u32,
    /// When the next may be sent.
    pub(crate) again: Instant,
}

/// A process that was removed.
#[derive(Debug)]
pub(crate) struct Departing {
    /// When what is under way to it is ended at the latest.
    pub(crate) until: Instant,
    /// Whether its connection was ended. It is told all the same, over another one.
    pub(crate) is_ended: bool,
    /// When a farewell may be sent again that has not arrived.
    pub(crate) again: Instant,
}

impl Added {
    /// None yet. The buffers of words begin `at` there in the endpoint's memory.
    pub(crate) fn new(introductions: Introductions, at: usize) -> Added {
        Added {
            introductions,
            addresses: HashMap::new(),
            departing: BTreeMap::new(),
            there: BTreeSet::new(),
            words: [None; WORDS],
            contexts: Contexts::new(WORDS),
            stuck: HashMap::new(),
            missed: HashMap::new(),
            at,
        }
    }

    /// Whether there is something to do in each poll.
    pub(crate) fn has_to_do(&self) -> bool {
        self.introductions.has_to_do() || !self.departing.is_empty()
    }

    /// Whether those that were removed have been told so, as far as they can be.
    pub(crate) fn has_said_goodbye(&self) -> bool {
        let mut departing = self.departing.iter();
        departing.all(|(peer, it)| it.is_ended || self.has_said_all_to(*peer))
    }

    pub(crate) fn has_said_all_to(&self, peer: Peer) -> bool {
        let mut words = self.words.iter().flatten();
        self.introductions.has_let_go(peer) && words.all(|it| it.to != peer)
    }

    /// Whether a process is there.
    pub(crate) fn knows(&self, peer: Peer) -> bool {
        self.there.contains(&peer)
    }

    /// Whether something is to be said now.
    pub(crate) fn has_words(&self) -> bool {
        self.introductions.next().is_some()
    }

    /// Whether everything has ended that was under way to a process that was removed.
    pub(crate) fn has_let_go(&self, peer: Peer) -> bool {
        !self.departing.contains_key(&peer)
    }
}
