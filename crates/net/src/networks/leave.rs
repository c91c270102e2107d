//! Leaving: a process that may end tells those that it has talked with, so that its end is no
//! death, and goes on until all that it has posted has arrived.

use catena_fabric::{Peer, Posted};

use super::Networks;
use super::receipts::Word;
use crate::ways::Via;

impl Networks {
    /// Whether everything that was posted has arrived, and those with whom packets were exchanged
    /// know that this process leaves, so that it may end, or rest: nobody needs its progress. Where
    /// the network does not tell what has arrived they are asked. To be asked again after a poll,
    /// until it is true; a peer that does not poll is waited for until all has left this process,
    /// and 10 s at least.
    pub fn is_delivered(&mut self) -> bool {
        let quiet = self.is_quiet();
        let (members, ways) = (&self.members, &self.ways);
        let is_told = |peer| is_told(members, ways.via(peer));
        let Some(questions) = self.receipts.questions(quiet, is_told) else {
            // Answers to others may be on their way.
            if quiet {
                self.receipts.end();
            }
            return quiet;
        };
        for (word, again) in questions {
            if again && let Via::Network(number) = self.ways.via(word.to) {
                let rails = &mut self.members[number as usize].rails;
                if rails.has_closed(word.to) || rails.watch(word.to).is_err() {
                    self.receipts.lose(word.to);
                    continue;
                }
            }
            self.say(word);
        }
        false
    }

    /// Whether [`Networks::is_delivered`] would have something to wait for.
    pub fn keeps(&mut self) -> bool {
        if !self.is_quiet() {
            return true;
        }
        let (members, ways) = (&self.members, &self.ways);
        let is_told = |peer| is_told(members, ways.via(peer));
        self.receipts.is_open(is_told)
    }

    /// This process stays after all, or is here again: those that it has told that it leaves are
    /// told so.
    pub fn stay(&mut self) {
        self.receipts.end();
        self.receipts.come_back();
    }

    /// Whether the networks need this process no more for what it has posted.
    pub fn is_quiet(&mut self) -> bool {
        let each = self.members.iter_mut().map(|it| it.rails.is_quiet());
        each.fold(true, |all, one| all & one)
    }

    /// Whether the networks themselves see to it that what they have taken arrives, also after the
    /// end of this process.
    pub fn tells_arrival(&self) -> bool {
        self.members.iter().all(|it| !it.counted)
    }

    /// Whether a peer that is gone may have ended without having died.
    pub(super) fn may_end(&self, peer: Peer) -> bool {
        self.exchange.judges_ends() || self.receipts.has_left(peer)
    }

    /// Whether something has come from a peer, or was sent over a connection that still stands, and
    /// it has not said since that it leaves: then it may be sent something unasked.
    pub fn is_in_contact(&self, peer: Peer) -> bool {
        let is_joined = || match self.ways.via(peer) {
            Via::Network(number) => self.members[number as usize].rails.watches(peer),
            _ => false,
        };
        let has_sent = || self.receipts.has_talked(peer) && is_joined();
        !self.receipts.has_left(peer) && (self.receipts.has_heard_of(peer) || has_sent())
    }

    /// Answers those who ask what has arrived.
    #[cold]
    #[inline(never)]
    pub(super) fn answer(&mut self) {
        for word in self.receipts.answers() {
            self.say(word);
        }
    }

    /// Sends a word of the networks' own, if that can be done now.
    fn say(&mut self, word: Word) {
        match self.ways.via(word.to) {
            Via::Network(number) => {
                let rails = &mut self.members[number as usize].rails;
                // Where nothing joins the two any more there is nothing that could seem to break.
                if !rails.is_joined(word.to) {
                    self.receipts.said(word);
                    return;
                }
                match rails.try_send(word.to, word.header(), [].as_slice()) {
                    Ok(Posted::Done) => self.receipts.said(word),
                    Ok(Posted::Full) => self.receipts.refused(word),
                    Err(lost) => self.receipts.lose(lost.peer),
                }
            }
            // It is said once the way is known.
            Via::Unknown | Via::Wanted => self.ways.want(word.to),
            Via::Nowhere => self.receipts.lose(word.to),
        }
    }
}

/// Whether it is known here, without an answer, what has arrived at a peer that is reached so.
fn is_told(members: &[super::Member], via: Via) -> bool {
    match via {
        Via::Network(number) => !members[number as usize].counted,
        _ => members.iter().all(|it| !it.counted),
    }
}
