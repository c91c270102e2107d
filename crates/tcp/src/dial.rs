//! How two processes come to one connection.
//!
//! The process that wants to send first calls, at one address of the peer's after
//! the other, and the two prove to each other that they belong to the job (see
//! `greeting`). Where both call at the same time there are two connections: both
//! send over the one that the process with the lower name made, and end the other when nothing is
//! left in it.
//!
//! A process that has too many callers, or whose caller was computing for too long,
//! hangs up. Nothing was sent over such a connection, so the caller calls again. So it
//! does while an address does not answer, until all that is left of the time limit is
//! over, and for as long as it lacks descriptors itself.

use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use catena_fabric::{Peer, PeerLost, Posted};

use crate::end::End;
use crate::error::TcpError;
use crate::greeting::{Greeting, Handshake, Refused};
use crate::init::Tcp;
use crate::link::{Link, Stage};
use crate::socket::{Options, Socket, remedy};
use crate::target::{Calling, Miss};

/// How long the kernel may take to connect to one address while others are left.
const TRY: Duration = Duration::from_secs(2);
/// What it may mean that a peer closes a connection in the middle of the greeting.
const HUNG_UP: &str = "it hung up on the greeting: it is of another job or version of Catena, or \
                       does not know the secret of this job";

/// Says once that this process lacks what a connection needs, and what helps.
#[cold]
pub(crate) fn tell_lack(error: &io::Error) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.swap(true, Relaxed) {
        catena_base::tell!(
            "catena: a connection waits, as this process cannot open it now: {error}; it goes on \
             once there is room: {}",
            remedy(error)
        );
    }
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
            from: self.members.me(),
            to: self.members.name(to).expect("it is called"),
            packet: self.config.packet as u32,
        }
    }

    /// There is no connection to a peer: makes one, if it is known where it is
    /// and it lives.
    #[cold]
    #[inline(never)]
    pub(crate) fn call(&mut self, peer: Peer) -> Result<Posted, PeerLost> {
        self.counters.full += 1;
        self.losses.check(peer)?;
        self.begin_to_call(peer);
        self.losses.check(peer)?;
        Ok(Posted::Full)
    }

    /// Calls a peer unless that is being done already, or nobody knows where it is; whether it is
    /// called now.
    pub(crate) fn begin_to_call(&mut self, peer: Peer) -> bool {
        if self
            .members
            .name(peer)
            .is_none_or(|it| self.is_departing(it))
        {
            return false;
        }
        let target = &mut self.peers[peer.0 as usize];
        if target.calling.is_some() || target.closing.is_some() || target.addresses.is_empty() {
            return false;
        }
        let calling = Calling::new(target.addresses.clone(), Instant::now());
        self.try_next(peer, Box::new(calling));
        true
    }

    /// Tries the next address.
    fn try_next(&mut self, peer: Peer, mut calling: Box<Calling>) {
        let timeout = self.config.timeout;
        while calling.next(Instant::now(), timeout) {
            match self.try_one(peer, calling.at) {
                Ok(link) => {
                    calling.link = Some(link);
                    self.peers[peer.0 as usize].calling = Some(calling);
                    return;
                }
                Err(error) => {
                    let miss = Miss::of(&error, calling.at);
                    if miss == Miss::Lacking {
                        tell_lack(&error);
                    }
                    calling.note(&error.to_string());
                    if calling.missed(miss, Instant::now(), timeout) {
                        self.pause(peer, calling);
                        return;
                    }
                }
            }
        }
        let port = self.peers[peer.0 as usize].port;
        let tried = calling.tried.join(", ");
        let cause = format!("it cannot be reached at port {port} of {tried}");
        match calling.has_ended() {
            true => self.lose_ended(peer, cause),
            false => drop(self.lose(peer, cause)),
        }
    }

    /// A peer is called again after a while.
    fn pause(&mut self, peer: Peer, mut calling: Box<Calling>) {
        calling.link = None;
        self.peers[peer.0 as usize].calling = Some(calling);
        self.again.push(peer);
    }

    fn try_one(&mut self, peer: Peer, at: IpAddr) -> io::Result<usize> {
        let to = SocketAddr::from((at, self.peers[peer.0 as usize].port));
        let socket = Socket::connect(to, self.options())?;
        let at = self.add(Link::new(socket, Stage::Calling, Some(peer)))?;
        self.young.push(at);
        Ok(at)
    }

    /// A connection that this process tried to make is of no use, for a reason that `end` tells. If
    /// the peer has hung up, `heard` tells whether it had taken the greeting; it is then called
    /// again, a few times.
    pub(crate) fn missed(&mut self, at: usize, peer: Peer, end: &End, heard: Option<bool>) {
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
        let again = match (heard, end) {
            (Some(heard), _) => calling.hung_up(heard, now - since, now, timeout),
            (None, End::Failed(error)) => {
                let miss = Miss::of(error, calling.at);
                if miss == Miss::Lacking {
                    tell_lack(error);
                }
                calling.missed(miss, now, timeout)
            }
            (None, End::Silent(_)) => calling.missed(Miss::Silent, now, timeout),
            (None, _) => calling.missed(Miss::Useless, now, timeout),
        };
        if again {
            self.pause(peer, calling);
        } else {
            let why = match (heard, end) {
                (Some(true), End::Closed) => HUNG_UP.to_string(),
                _ => end.to_string(),
            };
            calling.note(&why);
            self.try_next(peer, calling);
        }
    }

    /// Calls those again whose pause is over.
    pub(crate) fn call_again(&mut self, now: Instant) {
        for peer in mem::take(&mut self.again) {
            let target = &mut self.peers[peer.0 as usize];
            // It may have called meanwhile, or be lost.
            let idle = target.link.is_some() || self.losses.get(peer).is_some();
            let calling = target.calling.take_if(|calling| calling.link.is_none());
            let Some(calling) = calling.filter(|_| !idle) else {
                continue;
            };
            if now < calling.again.next {
                target.calling = Some(calling);
                self.again.push(peer);
                continue;
            }
            self.try_next(peer, calling);
        }
    }

    /// Gives connections up that the kernel has not made in time.
    pub(crate) fn give_up_young(&mut self, now: Instant) {
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
            let last = calling.is_none_or(|calling| calling.is_last());
            let limit = if last { self.config.timeout } else { TRY };
            if age > limit {
                self.missed(at, peer, &End::Silent(limit), None);
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
        let unheard = matches!(hung_up, End::Closed) || hung_up.is_reset();
        self.missed(at, peer, &hung_up, unheard.then_some(false));
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
        // If it fails the kernel gives up a peer that is too busy to read, which the next look
        // finds.
        let _ = link.socket.open();
        self.wait(at);
        self.young.retain(|&young| young != at);
        self.open.push(at);
        let (me, name) = (Some(self.members.me()), self.members.name(from));
        let target = &mut self.peers[from.0 as usize];
        // It has called again, if it has not lost anything.
        target.closing.take_if(|closing| !closing.loses);
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
        let caller = if ours { me } else { name };
        let retired = if before == ours || caller == me.min(name) {
            target.link = Some(at);
            old
        } else {
            at
        };
        self.retire(retired);
    }

    /// Watches a new connection.
    pub(crate) fn add(&mut self, mut link: Link) -> io::Result<usize> {
        link.born = self.turn;
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
                &mut self.halves,
            ] {
                list.retain(|&it| it != at);
            }
            self.unmet.retain(|it| it.at != at);
            self.departing.retain(|it| it.at != at);
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
