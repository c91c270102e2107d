//! How two processes come to one connection.
//!
//! The process that wants to send first calls, at one address of the peer's after
//! the other, and the two prove to each other that they belong to the job (see
//! `greeting`). Where both call at the same time there are two connections: both
//! send over the one that the lower rank made, and end the other when nothing is
//! left in it.
//!
//! A process that has too many callers, or whose caller was computing for too long,
//! hangs up. Nothing was sent over such a connection, so the caller calls again.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use catena_fabric::{Peer, PeerLost, Posted};

use crate::end::End;
use crate::error::TcpError;
use crate::greeting::{Greeting, Handshake, Refused};
use crate::init::Tcp;
use crate::link::{Link, Stage};
use crate::socket::{Options, Socket};
use crate::target::{Again, Calling};

/// How long the kernel may take to connect to one address while others are left.
const TRY: Duration = Duration::from_secs(2);
/// How long a peer that has closed its connection counts as alive: the launcher
/// may know why, and says it better.
const GRACE: Duration = Duration::from_millis(500);
/// What it may mean that a peer closes a connection in the middle of the greeting.
const HUNG_UP: &str = "it hung up on the greeting: it is of another job or version of Catena, or \
                       does not know the secret of this job";

/// Whether the other end has closed a connection before it has read what was sent.
fn is_reset(end: &End) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    let kinds = [BrokenPipe, ConnectionAborted, ConnectionReset];
    matches!(end, End::Failed(error) if kinds.contains(&error.kind()))
}

impl Tcp {
    pub(crate) fn options(&self) -> Options {
        Options {
            timeout: self.config.timeout,
            kernel: self.config.kernel,
        }
    }

    fn greeting(&self, to: Peer) -> Greeting {
        Greeting {
            from: self.me.0,
            to: to.0,
            packet: self.config.packet as u32,
            job: self.job,
        }
    }

    /// There is no connection to a peer: makes one, if it is known where it is
    /// and it lives.
    #[cold]
    #[inline(never)]
    pub(crate) fn call(&mut self, peer: Peer) -> Result<Posted, PeerLost> {
        self.counters.full += 1;
        self.losses.check(peer)?;
        let target = &mut self.peers[peer.0 as usize];
        let busy = target.calling.is_some() || target.closed.is_some();
        if busy || target.addresses.is_empty() {
            return Ok(Posted::Full);
        }
        let rest = VecDeque::from(target.addresses.clone());
        self.try_next(peer, rest, Vec::new());
        self.losses.check(peer)?;
        Ok(Posted::Full)
    }

    /// Tries the next address.
    fn try_next(&mut self, peer: Peer, mut rest: VecDeque<IpAddr>, mut tried: Vec<String>) {
        while let Some(at) = rest.pop_front() {
            match self.try_one(peer, at) {
                Ok(link) => {
                    let calling = Calling {
                        rest,
                        at,
                        link: Some(link),
                        again: Again::new(Instant::now()),
                        tried,
                    };
                    self.peers[peer.0 as usize].calling = Some(Box::new(calling));
                    return;
                }
                Err(error) => tried.push(format!("{at}: {error}")),
            }
        }
        let cause = format!(
            "it cannot be reached at port {} of {}",
            self.peers[peer.0 as usize].port,
            tried.join(", ")
        );
        self.lose(peer, cause);
    }

    fn try_one(&mut self, peer: Peer, at: IpAddr) -> io::Result<usize> {
        let to = SocketAddr::from((at, self.peers[peer.0 as usize].port));
        let socket = Socket::connect(to, self.options())?;
        let at = self.add(Link::new(socket, Stage::Calling, Some(peer)))?;
        self.young.push(at);
        Ok(at)
    }

    /// A connection that this process tried to make is of no use. If the peer has
    /// hung up, `heard` tells whether it had taken the greeting; it is then called
    /// again, a few times.
    fn missed(&mut self, at: usize, peer: Peer, why: &str, heard: Option<bool>) {
        let now = Instant::now();
        let since = self.links[at].as_ref().map_or(now, |link| link.since);
        self.remove(at);
        let timeout = self.config.timeout;
        let target = &mut self.peers[peer.0 as usize];
        let calling = target
            .calling
            .take_if(|calling| calling.link == Some(at))
            .filter(|_| target.link.is_none());
        let Some(mut calling) = calling else { return };
        let goes_on = |heard| calling.again.goes_on(heard, now - since, now, timeout);
        if heard.is_some_and(goes_on) {
            calling.link = None;
            target.calling = Some(calling);
            self.again.push(peer);
        } else {
            calling.tried.push(format!("{}: {why}", calling.at));
            self.try_next(peer, calling.rest, calling.tried);
        }
    }

    /// Calls those again whose pause is over.
    fn call_again(&mut self, now: Instant) {
        for peer in mem::take(&mut self.again) {
            let target = &mut self.peers[peer.0 as usize];
            // It may have called meanwhile, or be lost.
            let idle = target.link.is_some() || self.losses.get(peer).is_some();
            let calling = target.calling.take_if(|calling| calling.link.is_none());
            let Some(mut calling) = calling.filter(|_| !idle) else {
                continue;
            };
            if now < calling.again.next {
                target.calling = Some(calling);
                self.again.push(peer);
                continue;
            }
            match self.try_one(peer, calling.at) {
                Ok(link) => {
                    calling.link = Some(link);
                    self.peers[peer.0 as usize].calling = Some(calling);
                }
                Err(error) => {
                    calling.tried.push(format!("{}: {error}", calling.at));
                    self.try_next(peer, calling.rest, calling.tried);
                }
            }
        }
    }

    /// The kernel has connected, or not.
    pub(crate) fn connected(&mut self, at: usize) {
        let Some(link) = &self.links[at] else {
            return;
        };
        let Some(peer) = link.peer else {
            return;
        };
        let hung_up = match link.socket.error() {
            Ok(()) => match link.socket.receive(&mut [0]) {
                Ok(0) => End::Closed,
                // The caller speaks first.
                Ok(_) => End::Refused(Refused::Version),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if let Err(end) = self.begin_to_greet(at, peer) {
                        self.ended(at, &end);
                    }
                    return;
                }
                Err(error) => End::Failed(error),
            },
            Err(error) => End::Failed(error),
        };
        let unheard = matches!(hung_up, End::Closed) || is_reset(&hung_up);
        self.missed(at, peer, &hung_up.to_string(), unheard.then_some(false));
    }

    fn begin_to_greet(&mut self, at: usize, peer: Peer) -> Result<(), End> {
        let greeting = self.greeting(peer);
        let (handshake, call) = Handshake::call(greeting, &self.secret).map_err(End::Failed)?;
        let link = self.links[at].as_mut().expect("it is connected");
        link.stage = Stage::Greeting(Box::new(handshake));
        let watched = self.watch.change(&link.socket, at as u64, false);
        watched.map_err(End::Failed)?;
        self.say(at, &call)
    }

    /// The other end of connection `at` has proven that it is `from`.
    pub(crate) fn opened(&mut self, at: usize, from: Peer) {
        let link = self.links[at].as_mut().expect("just read");
        let ours = link.ours;
        (link.stage, link.peer) = (Stage::Open, Some(from));
        self.wait(at);
        self.young.retain(|&young| young != at);
        self.open.push(at);
        let me = self.me;
        let target = &mut self.peers[from.0 as usize];
        target.closed = None;
        // What this process has tried so far tells why it goes this way, also if the peer's call
        // was quicker than its own next one.
        if let (Some(calling), Some(link)) = (&target.calling, &mut self.links[at]) {
            link.tried.clone_from(&calling.tried);
        }
        target
            .calling
            .take_if(|calling| calling.link.is_none_or(|link| link == at));
        let Some(old) = target.link else {
            target.link = Some(at);
            return;
        };
        let before = self.links[old].as_ref().is_some_and(|old| old.ours);
        let lower = if ours { me } else { from };
        let retired = if before == ours || lower == me.min(from) {
            target.link = Some(at);
            old
        } else {
            at
        };
        self.retire(retired);
    }

    /// A connection ends when nothing waits in it any more.
    fn retire(&mut self, at: usize) {
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
        let (peer, there) = (link.peer, link.socket.there);
        let open = matches!(link.stage, Stage::Open);
        let stray = matches!(end, End::Nonsense | End::Refused(_));
        self.counters.strays += u64::from(stray);
        match (open, peer) {
            (false, Some(peer)) => match end {
                End::Closed => self.missed(at, peer, HUNG_UP, Some(true)),
                end => {
                    let unheard = is_reset(end).then_some(false);
                    self.missed(at, peer, &end.to_string(), unheard);
                }
            },
            (true, Some(peer)) => {
                let target = &mut self.peers[peer.0 as usize];
                // If not, another one leads there, or is about to.
                let only = target.link == Some(at) && target.calling.is_none();
                target.link.take_if(|link| *link == at);
                // The peer may have ended with what it sent over an older one unread here.
                let leads_there = |(n, it): (usize, &Option<Link>)| {
                    let of = it.as_ref().filter(|it| it.peer == Some(peer) && n != at);
                    of.is_some_and(|it| matches!(it.stage, Stage::Open))
                };
                let others = self.links.iter().enumerate().any(leads_there);
                match end {
                    // The other end still reads what waits.
                    End::Closed if !only && !link.out.is_empty() => self.retire(at),
                    end if only && (others || matches!(end, End::Closed)) => {
                        target.closed = Some((Instant::now(), there));
                        self.closed.push(peer);
                        self.remove(at);
                    }
                    end if only => drop(self.lose(peer, format!("{end} (to {there})"))),
                    _ => self.remove(at),
                }
            }
            _ => self.remove(at),
        }
    }

    /// Ends what has taken long enough.
    pub(crate) fn tidy(&mut self) {
        let now = Instant::now();
        for peer in mem::take(&mut self.closed) {
            match self.peers[peer.0 as usize].closed {
                Some((since, there)) if now.duration_since(since) >= GRACE => {
                    self.lose(peer, format!("{} (to {there})", End::Closed));
                }
                Some(_) => self.closed.push(peer),
                // It has called again.
                None => {}
            }
        }
        self.call_again(now);
        for at in self.young.clone() {
            // A peer that has connected may take its time to answer: it may be
            // computing. Whether its host lives the kernel finds out.
            let Some(Link {
                stage: Stage::Calling,
                peer: Some(peer),
                since,
                ..
            }) = &self.links[at]
            else {
                continue;
            };
            let (peer, age) = (*peer, now.duration_since(*since));
            let calling = self.peers[peer.0 as usize].calling.as_ref();
            let last = calling.is_none_or(|calling| calling.rest.is_empty());
            let limit = if last { self.config.timeout } else { TRY };
            if age > limit {
                let why = format!("no answer within {} s", limit.as_secs());
                self.missed(at, peer, &why, None);
            }
        }
    }

    /// Watches a new connection.
    pub(crate) fn add(&mut self, link: Link) -> io::Result<usize> {
        let at = self.free.pop().unwrap_or_else(|| {
            self.links.push(None);
            self.links.len() - 1
        });
        let calling = matches!(link.stage, Stage::Calling);
        let watched = self.watch.add(&link.socket, at as u64, calling);
        self.links[at] = Some(link);
        if watched.is_err() {
            self.remove(at);
        }
        watched.map(|()| at)
    }

    /// Closes a connection.
    pub(crate) fn remove(&mut self, at: usize) {
        if self.links[at].take().is_some() {
            for list in [
                &mut self.open,
                &mut self.young,
                &mut self.held,
                &mut self.waiting,
            ] {
                list.retain(|&it| it != at);
            }
            self.guests.door.leave(at);
            self.free.push(at);
        }
    }

    /// Learns how a peer is reached; until then its route is full.
    ///
    /// # Errors
    /// [`TcpError::Address`] if that is no address.
    pub fn connect(&mut self, peer: Peer, address: &[u8]) -> Result<(), TcpError> {
        let learnt = self.peers[peer.0 as usize].learn(address, &self.interfaces);
        learnt.ok_or(TcpError::Address { rank: peer.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{PAUSE, REFUSALS};

    const TIMEOUT: Duration = Duration::from_secs(60);

    #[test]
    fn a_peer_that_refuses_is_not_asked_for_ever() {
        let begun = Instant::now();
        let mut again = Again::new(begun);
        let mut calls = 1;
        while again.goes_on(true, Duration::ZERO, begun, TIMEOUT) {
            calls += 1;
        }
        assert_eq!(calls, REFUSALS);
    }

    #[test]
    fn a_peer_with_too_many_callers_is_called_until_the_timeout() {
        let begun = Instant::now();
        let mut again = Again::new(begun);
        let (mut now, mut pauses) = (begun, Vec::new());
        while again.goes_on(false, Duration::ZERO, now, TIMEOUT) {
            pauses.push(again.next - now);
            now = again.next;
        }
        assert!(now - begun > TIMEOUT && now - begun < 2 * TIMEOUT);
        assert_eq!(pauses[..3], [1, 2, 4].map(|n| n * PAUSE));
        assert_eq!(pauses.iter().max(), Some(&(128 * PAUSE)));
    }

    #[test]
    fn a_process_that_computes_for_long_does_not_give_up() {
        let begun = Instant::now();
        let mut again = Again::new(begun);
        for n in 1..100 {
            let now = begun + 2 * n * TIMEOUT;
            assert!(again.goes_on(true, 2 * TIMEOUT, now, TIMEOUT));
            assert_eq!(again.next, now, "at once");
        }
    }
}
