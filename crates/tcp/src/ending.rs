//! How connections end, and what that says of the other end.
//!
//! | what happens                                         | what it is                                              |
//! |------------------------------------------------------|---------------------------------------------------------|
//! | the peer's host answers nothing for the time limit   | the loss of the peer                                    |
//! | the only connection is closed, or refused            | the end of the peer, unless it calls again soon         |
//! | a connection fails with something unacknowledged in it | the loss of the peer: what is lost was told to be sent |
//! | one fails with nothing in it                         | nothing: the peer is called again, which tells the rest |
//! | one of two is closed                                 | nothing: what is in it still arrives                    |
//! | the peer has said that it removes this process       | that, once all is read that it had sent                 |
//!
//! A peer that has ended has let go of its connections: whether it died its launcher knows.

use std::mem;
use std::time::Instant;

use catena_fabric::{Peer, PeerLost};

use crate::end::End;
use crate::init::Tcp;
use crate::link::{Link, Stage};
use crate::socket::is_silence;
use crate::target::Closing;

impl Tcp {
    /// A connection ends when nothing waits in it any more.
    pub(crate) fn retire(&mut self, at: usize) {
        if let Some(link) = &mut self.links[at] {
            link.retired = true;
            self.wait(at);
        }
    }

    /// Connection `at` is of no more use.
    #[cold]
    #[inline(never)]
    pub(crate) fn ended(&mut self, at: usize, end: &End) {
        let Some(link) = &self.links[at] else {
            return;
        };
        let (peer, open) = (link.peer, matches!(link.stage, Stage::Open));
        let stray = matches!(end, End::Nonsense | End::Refused(_));
        self.counters.strays += u64::from(stray);
        match (open, peer) {
            (false, Some(peer)) => {
                let heard = match end {
                    End::Closed => Some(true),
                    end => end.is_reset().then_some(false),
                };
                self.missed(at, peer, end, heard);
            }
            (true, Some(peer)) => self.open_ended(at, peer, end),
            (_, None) => self.remove(at),
        }
    }

    /// Connection `at`, over which packets went, is of no more use.
    fn open_ended(&mut self, at: usize, peer: Peer, end: &End) {
        let link = self.links[at].as_ref().expect("it has just ended");
        let (loses, there) = (link.loses(), link.socket.there);
        // The other end may have reset it after it had closed it.
        let later = match end {
            End::Closed => link.socket.error().err().map(End::Failed),
            _ => None,
        };
        let end = later.as_ref().unwrap_or(end);
        let cause = format!("{end} (to {there})");
        if let End::Failed(error) = end
            && is_silence(error.kind())
        {
            // The kernel has asked as often as it was told to.
            self.lose(peer, cause);
            return;
        }
        let target = &mut self.peers[peer.0 as usize];
        // If not, another one leads there, or is about to.
        let only = target.link == Some(at) && target.calling.is_none();
        target.link.take_if(|link| *link == at);
        if matches!(end, End::Closed) {
            match (only, loses) {
                (true, loses) => {
                    self.remove(at);
                    self.close(peer, Closing::new(cause, loses, true, self.turn));
                }
                // The other end still reads what waits.
                (false, true) => self.half_closed(at),
                (false, false) => self.remove(at),
            }
            return;
        }
        self.remove(at);
        if matches!(end, End::Left) {
            self.close(peer, Closing::left(cause, self.turn));
            return;
        }
        let loses = loses || matches!(end, End::Nonsense);
        if loses {
            // What was sent was told to have left: nobody is to send more as if it had arrived.
            self.close(peer, Closing::new(cause, true, false, self.turn));
        } else if only && !self.begin_to_call(peer) {
            self.close(peer, Closing::new(cause, false, false, self.turn));
        }
    }

    /// The other end of a connection sends nothing more, and still reads.
    fn half_closed(&mut self, at: usize) {
        if !self.halves.contains(&at) {
            let link = self.links[at].as_ref().expect("it has just ended");
            // That nothing more comes is readable for ever.
            self.watch.remove(&link.socket);
            self.halves.push(at);
            self.retire(at);
        }
    }

    /// A peer is gone, unless it calls again soon. Other connections of its may have something that
    /// was not read yet.
    fn close(&mut self, peer: Peer, closing: Closing) {
        let target = &mut self.peers[peer.0 as usize];
        target.link = None;
        match &mut target.closing {
            Some(earlier) => {
                earlier.loses |= closing.loses;
                earlier.has_left |= closing.has_left;
            }
            None => {
                target.closing = Some(closing);
                self.closed.push(peer);
            }
        }
        if !self.is_read(peer)
            && self.peers[peer.0 as usize]
                .closing
                .as_ref()
                .is_some_and(Closing::is_certain)
        {
            self.conclude(peer);
        }
    }

    /// Whether there is a connection over which a peer may have sent something that was not read
    /// yet.
    fn is_read(&self, peer: Peer) -> bool {
        let mut others = self.links.iter().flatten();
        others.any(|it| it.peer == Some(peer) && matches!(it.stage, Stage::Open))
    }

    /// A peer that was about to count as gone does.
    fn conclude(&mut self, peer: Peer) {
        let Some(closing) = self.peers[peer.0 as usize].closing.take() else {
            return;
        };
        match (closing.has_left, closing.has_ended) {
            (true, _) => self.lose_left(peer, closing.cause),
            (_, true) => self.lose_ended(peer, closing.cause),
            (_, false) => drop(self.lose(peer, closing.cause)),
        }
    }

    /// Something has arrived from a peer that is about to count as gone: there may be more.
    #[cold]
    pub(crate) fn still_read(&mut self, at: usize) {
        if let Some(Link {
            peer: Some(peer), ..
        }) = &self.links[at]
            && let Some(closing) = &mut self.peers[peer.0 as usize].closing
        {
            closing.since = Instant::now();
        }
    }

    /// Ends what has taken long enough.
    pub(crate) fn tidy(&mut self) {
        let now = Instant::now();
        for peer in mem::take(&mut self.closed) {
            match &self.peers[peer.0 as usize].closing {
                Some(it) if it.is_over(now, self.turn) => self.conclude(peer),
                Some(_) => self.closed.push(peer),
                // It has called again.
                None => {}
            }
        }
        for at in self.halves.clone() {
            let Some(link) = &self.links[at] else {
                continue;
            };
            match link.socket.error() {
                Err(error) => self.ended(at, &End::Failed(error)),
                Ok(()) if !link.loses() => self.remove(at),
                Ok(()) => {}
            }
        }
        self.call_again(now);
        self.give_up_young(now);
        self.give_up_departing(now);
    }

    /// The peer is gone; the first cause stays. The next poll tells it.
    #[cold]
    pub(crate) fn lose(&mut self, peer: Peer, cause: String) -> PeerLost {
        match self.losses.add(peer, cause) {
            Ok(lost) => {
                self.let_go(peer);
                lost
            }
            Err(known) => known,
        }
    }

    /// The peer has ended, which it may have been free to do. The next poll tells it.
    #[cold]
    pub(crate) fn lose_ended(&mut self, peer: Peer, cause: String) {
        if self.losses.add_end(peer, cause).is_ok() {
            self.let_go(peer);
        }
    }

    /// The peer has removed this process. The next poll tells it.
    #[cold]
    fn lose_left(&mut self, peer: Peer, cause: String) {
        if self.losses.add_left(peer, cause).is_ok() {
            self.let_go(peer);
            self.peers[peer.0 as usize].has_left = true;
        }
    }

    fn let_go(&mut self, peer: Peer) {
        let target = &mut self.peers[peer.0 as usize];
        (target.link, target.closing) = (None, None);
        for at in 0..self.links.len() {
            if self.links[at]
                .as_ref()
                .is_some_and(|it| it.peer == Some(peer))
            {
                self.remove(at);
            }
        }
    }
}
