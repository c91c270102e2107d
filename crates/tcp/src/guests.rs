//! Callers that have not proven yet that they belong to the job. What they cost is
//! bounded: their number, the time that each may take, and how many are looked at
//! while packets arrive ([`Door`]).

use std::io;
use std::time::{Duration, Instant};

use catena_fabric::{Peer, ProcessName};

use crate::callers::ASLEEP;
use crate::dial::tell_lack;
use crate::end::End;
use crate::greeting::{Greeting, Handshake, Refused, Step};
use crate::init::Tcp;
use crate::link::{Link, Stage};
use crate::socket::{LISTENERS, Socket, is_lack};

/// Callers that are taken in at once, at most: a packet may arrive meanwhile.
const AT_ONCE: usize = 2;
impl Tcp {
    /// Somebody calls at one of the listening sockets.
    pub(crate) fn welcome(&mut self, listener: usize) {
        let now = Instant::now();
        let busy = self.guests.is_busy(self.counters.received, self.turn);
        for _ in 0..AT_ONCE {
            if busy && !self.guests.may_open(self.turn) {
                return;
            }
            let socket = match Socket::accept(&self.listeners[listener]) {
                Ok(socket) => socket,
                Err(error) => {
                    self.lacks_for_callers(&error);
                    return;
                }
            };
            let from = socket.there;
            let stage = Stage::Greeting(Box::new(Handshake::await_call()));
            let at = match self.add(Link::new(socket, stage, None)) {
                Ok(at) => at,
                Err(error) => {
                    self.lacks_for_callers(&error);
                    return;
                }
            };
            if let Some(gone) = self.guests.door.enter(at, from, now) {
                self.send_away(gone);
            }
            // Its call may have come with it.
            self.greet(at);
        }
        // The next callers may wake a rank that sleeps only if there is time for them.
        if busy {
            let _ = self.guests.may_open(self.turn);
        }
    }

    /// A caller could not be let in. If this process lacks descriptors for it, callers wait, and do
    /// not wake it before its next look.
    fn lacks_for_callers(&mut self, error: &io::Error) {
        if error.kind() != io::ErrorKind::WouldBlock && is_lack(error) {
            tell_lack(error);
            self.mute(true);
        }
    }

    /// This process is about to sleep. Callers for whom there is no time are not to wake
    /// it: gives the time after which it is to look after them, if there are any.
    pub(crate) fn shut_eyes(&mut self) -> Option<Duration> {
        // It leaves its processor to others, so that its time is not free.
        self.guests.seen.1 = self.turn;
        self.guests.ask = 0;
        if !self.guests.shut {
            return None;
        }
        if !self.guests.muted {
            self.mute(true);
        }
        let spent = self.guests.spent();
        self.guests.asleep = Some(Instant::now());
        Some(self.guests.door.opens_in(spent) * ASLEEP)
    }

    /// Hears the callers again for whom there was no time, if there is now.
    pub(crate) fn open_eyes(&mut self) {
        if self.guests.muted && self.guests.may_open(self.turn) {
            self.mute(false);
        }
    }

    fn mute(&mut self, mute: bool) {
        for (number, listener) in (LISTENERS..).zip(&self.listeners) {
            // Both are open, so the kernel does not refuse.
            let _ = self.watch.mute(listener, number, mute);
        }
        self.guests.muted = mute;
    }

    /// Ends callers that have taken too long.
    pub(crate) fn expire(&mut self, now: Instant) {
        while let Some(late) = self.guests.door.overdue(now, self.config.timeout) {
            self.guests.door.leave(late);
            self.send_away(late);
        }
    }

    fn send_away(&mut self, guest: usize) {
        self.counters.strays += 1;
        self.remove(guest);
    }

    /// Goes on with the handshake of connection `at`.
    pub(crate) fn greet(&mut self, at: usize) {
        if let Err(end) = self.try_greet(at) {
            self.ended(at, &end);
        }
    }

    fn try_greet(&mut self, at: usize) -> Result<(), End> {
        while let Some(link) = &mut self.links[at]
            && let Stage::Greeting(handshake) = &mut link.stage
        {
            let len = match link.socket.receive(handshake.room()) {
                Ok(0) => return Err(End::Closed),
                Ok(len) => len,
                Err(error) if is_lack(&error) => break,
                Err(error) => return Err(End::Failed(error)),
            };
            let step = handshake.take(len, &self.secret).map_err(End::Refused)?;
            match (step, link.peer) {
                (None, _) => {}
                (Some(Step::Challenge(greeting, challenge)), _) => {
                    self.check(greeting).map_err(End::Refused)?;
                    if let Some(earlier) = self.guests.door.vouch(at, greeting.from) {
                        self.send_away(earlier);
                    }
                    self.say(at, &challenge)?;
                }
                (Some(Step::Welcome(greeting, welcome)), _) => {
                    let peer = self.check(greeting).map_err(End::Refused)?;
                    self.guests.door.pass(at);
                    let Some(peer) = peer else {
                        self.keep_waiting(at, greeting.from, welcome);
                        return Ok(());
                    };
                    if !self.is_silent(at) {
                        // It has removed this process, which has begun anew, since it called.
                        self.remove(at);
                        return Ok(());
                    }
                    self.welcome_in(at, peer, &welcome)?;
                }
                (Some(Step::Prove(proof)), _) => self.say(at, &proof)?,
                (Some(Step::Open), Some(peer)) => self.opened(at, peer),
                (Some(Step::Open), None) => return Err(End::Refused(Refused::Astray)),
            }
        }
        Ok(())
    }

    /// The peer that calls, if what it says fits this process; its proof is another question.
    /// `None` if it is one that may be added later.
    fn check(&self, greeting: Greeting) -> Result<Option<Peer>, Refused> {
        let me = self.members.me();
        let sound = greeting.to == me
            && greeting.from != me
            && greeting.packet as usize == self.config.packet;
        match self.members.peer(greeting.from).filter(|_| sound) {
            // It is welcome once both have begun anew.
            Some(peer) if self.begins_anew(peer, greeting.from) => Ok(None),
            Some(peer) if self.losses.get(peer).is_none() => Ok(Some(peer)),
            None if sound && self.members.is_alone() => Ok(None),
            _ => Err(Refused::Astray),
        }
    }

    /// Whether a process that calls has begun anew with this one, which is not done with what was
    /// before.
    pub(crate) fn begins_anew(&self, peer: Peer, name: ProcessName) -> bool {
        let target = &self.peers[peer.0 as usize];
        let is_leaving = target.closing.as_ref().is_some_and(|it| it.has_left);
        target.has_left || is_leaving || self.is_departing(name)
    }

    /// Sends a message of the handshake.
    pub(crate) fn say(&mut self, at: usize, message: &[u8]) -> Result<(), End> {
        let link = link_at(&mut self.links, at);
        link.out.add(message);
        link.flush().map_err(End::Failed)?;
        if !link.out.is_empty() {
            self.wait(at);
        }
        Ok(())
    }
}

/// A connection that was just used.
fn link_at(links: &mut [Option<Link>], at: usize) -> &mut Link {
    links[at].as_mut().expect("just used")
}
