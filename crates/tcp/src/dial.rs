//! How two processes come to one connection.
//!
//! Who wants to send first calls, at one address of the peer's after the other,
//! and greets; who is called checks the greeting and answers it. Where both
//! call at the same time there are two connections: both send over the one that
//! the lower rank made, and end the other when nothing is left in it.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use catena_fabric::{Peer, PeerLost, Posted};

use crate::addr::{self, Interface};
use crate::frame::Greeting;
use crate::init::{Tcp, TcpError};
use crate::link::{Link, Stage};
use crate::recv::End;
use crate::socket::{Options, Socket};

/// How long the kernel may take to connect to one address while others are left.
const TRY: Duration = Duration::from_secs(2);
/// How long a peer that has closed its connection counts as alive: the launcher
/// may know why, and says it better.
const GRACE: Duration = Duration::from_millis(500);
/// Guests that have not greeted, at most: then the first of them must go.
const GUESTS: usize = 4096;

/// A peer as this process reaches it.
#[derive(Debug, Default)]
pub(crate) struct Target {
    port: u16,
    /// Empty until the peer is known.
    addresses: Vec<IpAddr>,
    /// The connection that is sent over.
    pub link: Option<usize>,
    calling: Option<Box<Calling>>,
    /// When it closed its connection, and where it was.
    closed: Option<(Instant, IpAddr)>,
    /// Set once it is gone.
    pub lost: Option<Box<PeerLost>>,
}

/// An attempt to reach a peer.
#[derive(Debug)]
struct Calling {
    /// Addresses that were not tried yet.
    rest: VecDeque<IpAddr>,
    at: IpAddr,
    /// The connection that is being made.
    link: usize,
    /// What came of the addresses that were tried.
    tried: Vec<String>,
}

impl Target {
    /// Learns where it is.
    pub fn learn(&mut self, address: &[u8], ours: &[Interface]) -> Option<()> {
        let (port, all) = addr::decode(address)?;
        (self.port, self.addresses) = (port, addr::in_order(all, ours));
        Some(())
    }
}

impl Tcp {
    fn options(&self) -> Options {
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
        let target = &mut self.peers[peer.0 as usize];
        if let Some(lost) = &target.lost {
            return Err(PeerLost::clone(lost));
        }
        let busy = target.calling.is_some() || target.closed.is_some();
        if busy || target.addresses.is_empty() {
            return Ok(Posted::Full);
        }
        let rest = VecDeque::from(target.addresses.clone());
        self.try_next(peer, rest, Vec::new());
        match &self.peers[peer.0 as usize].lost {
            Some(lost) => Err(PeerLost::clone(lost)),
            None => Ok(Posted::Full),
        }
    }

    /// Tries the next address.
    fn try_next(&mut self, peer: Peer, mut rest: VecDeque<IpAddr>, mut tried: Vec<String>) {
        let port = self.peers[peer.0 as usize].port;
        while let Some(at) = rest.pop_front() {
            let to = SocketAddr::from((at, port));
            match self.try_one(peer, to) {
                Ok(link) => {
                    let calling = Calling {
                        rest,
                        at,
                        link,
                        tried,
                    };
                    self.peers[peer.0 as usize].calling = Some(Box::new(calling));
                    return;
                }
                Err(error) => tried.push(format!("{at}: {error}")),
            }
        }
        let cause = format!(
            "it cannot be reached at port {port} of {}",
            tried.join(", ")
        );
        self.lose(peer, cause);
    }

    fn try_one(&mut self, peer: Peer, to: SocketAddr) -> io::Result<usize> {
        let socket = Socket::connect(to, self.options())?;
        let at = self.add(Link::new(socket, Stage::Calling, Some(peer)))?;
        self.young.push(at);
        Ok(at)
    }

    /// A connection that this process tried to make is of no use.
    fn missed(&mut self, at: usize, peer: Peer, why: &str) {
        self.remove(at);
        let target = &mut self.peers[peer.0 as usize];
        if let Some(mut calling) = target.calling.take_if(|calling| calling.link == at)
            && target.link.is_none()
        {
            calling.tried.push(format!("{}: {why}", calling.at));
            self.try_next(peer, calling.rest, calling.tried);
        }
    }

    /// The kernel has connected, or not.
    pub(crate) fn connected(&mut self, at: usize) {
        let Some(link) = &mut self.links[at] else {
            return;
        };
        let (Stage::Calling, Some(peer)) = (link.stage, link.peer) else {
            return;
        };
        link.stage = Stage::Greeted;
        let failed = link.socket.error();
        let greeting = self.greeting(peer).encode();
        let link = self.links[at].as_mut().expect("looked at above");
        let greeted = failed.and_then(|()| {
            link.out.add(&greeting);
            link.flush()?;
            self.watch.change(link.socket.fd(), at as u64, false)
        });
        match greeted {
            Ok(()) => self.wait(at),
            Err(error) => self.missed(at, peer, &error.to_string()),
        }
    }

    /// Somebody calls. A guest may take its time to greet: it may be computing.
    pub(crate) fn welcome(&mut self) {
        while let Ok(socket) = Socket::accept(&self.listener, self.options()) {
            if let Ok(at) = self.add(Link::new(socket, Stage::Guest, None)) {
                self.young.push(at);
            }
            let mut guests = self.young.iter().filter(|&&at| {
                let link = self.links[at].as_ref();
                link.is_some_and(|link| link.stage == Stage::Guest)
            });
            let first = guests.next().copied();
            if let (Some(first), true) = (first, guests.count() >= GUESTS) {
                self.counters.strays += 1;
                self.remove(first);
            }
        }
    }

    /// The other end has greeted.
    pub(crate) fn greeted(&mut self, at: usize, bytes: &[u8]) -> Result<(), End> {
        let greeting = Greeting::decode(bytes).ok_or(End::Nonsense)?;
        let (from, processes) = (Peer(greeting.from), self.peers.len());
        let link = self.links[at].as_ref().expect("just read");
        let sound = greeting.job == self.job
            && greeting.to == self.me.0
            && (from.0 as usize) < processes
            && from != self.me
            && greeting.packet as usize == self.config.packet
            && link.peer.is_none_or(|peer| peer == from)
            && self.peers[from.0 as usize].lost.is_none();
        if !sound {
            return Err(End::Nonsense);
        }
        let answer = self.greeting(from).encode();
        let link = self.links[at].as_mut().expect("just read");
        let ours = link.ours;
        (link.stage, link.peer) = (Stage::Open, Some(from));
        if !ours {
            link.out.add(&answer);
            link.flush().map_err(End::Failed)?;
        }
        self.wait(at);
        self.young.retain(|&young| young != at);
        self.open.push(at);
        let me = self.me;
        let target = &mut self.peers[from.0 as usize];
        target.closed = None;
        let calling = target.calling.take_if(|calling| calling.link == at);
        if let (Some(calling), Some(link)) = (calling, &mut self.links[at]) {
            link.tried = calling.tried;
        }
        let Some(old) = target.link else {
            target.link = Some(at);
            return Ok(());
        };
        let before = self.links[old].as_ref().is_some_and(|old| old.ours);
        let lower = if ours { me } else { from };
        let kept = if before == ours || lower == me.min(from) {
            target.link = Some(at);
            old
        } else {
            at
        };
        self.retire(kept);
        Ok(())
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
        let (stage, peer, there) = (link.stage, link.peer, link.socket.there);
        self.counters.strays += u64::from(matches!(end, End::Nonsense));
        match (stage, peer) {
            (Stage::Calling | Stage::Greeted, Some(peer)) => {
                self.missed(at, peer, &end.to_string());
            }
            (Stage::Open, Some(peer)) => {
                let target = &mut self.peers[peer.0 as usize];
                // If not, another one leads there, or is about to.
                let only = target.link == Some(at) && target.calling.is_none();
                target.link.take_if(|link| *link == at);
                match end {
                    // The other end still reads what waits.
                    End::Closed if !only && !link.out.is_empty() => self.retire(at),
                    End::Closed if only => {
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
        for at in self.young.clone() {
            // Who has connected may take its time to answer, as above; whether
            // its host lives the kernel finds out.
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
                self.missed(at, peer, &why);
            }
        }
    }

    /// Watches a new connection.
    fn add(&mut self, link: Link) -> io::Result<usize> {
        let at = self.free.pop().unwrap_or_else(|| {
            self.links.push(None);
            self.links.len() - 1
        });
        let (fd, calling) = (link.socket.fd(), link.stage == Stage::Calling);
        self.links[at] = Some(link);
        let watched = self.watch.add(fd, at as u64, calling);
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
