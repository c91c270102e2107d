//! Having nothing to do: whom to ping, what to sleep on, when to leave.

use std::collections::HashSet;
use std::time::Instant;

use catena_base::Button;
use catena_fabric::{Peer, PeerLost, Sleeper};
use catena_link::Awaited;

use super::{Networks, PING_EVERY, Stage, with_host};
use crate::peer_table::Via;

/// Polls to one look at the clock.
const CLOCK: u32 = 1024;

impl Networks {
    /// Whether it is time to look whom this process waits for; asked after a poll.
    #[inline]
    pub fn may_ping(&mut self) -> bool {
        self.turn.is_multiple_of(CLOCK) && Instant::now() >= self.next_ping
    }

    /// Looks after those among the awaited that were so at the last look, too: who
    /// of them is lost, and whose loss nobody would notice unless something is sent
    /// to them.
    pub fn watch(&mut self, Awaited { mut named, any }: Awaited) -> (Vec<PeerLost>, Vec<Peer>) {
        self.next_ping = Instant::now() + PING_EVERY;
        let (mut lost, mut unwatched) = (Vec::new(), Vec::new());
        // Any of them may be the one that sends: one of each host stands for it.
        let mut hosts = HashSet::new();
        let mut first = |peer: &Peer| hosts.insert(self.exchange.node_of(*peer));
        named.extend(any.into_iter().filter(&mut first));
        let before = std::mem::replace(&mut self.awaited, named);
        for &peer in self.awaited.intersection(&before) {
            let watched = match self.peers.via(peer) {
                Via::Network(number) => self.members[number as usize].rails.watch(peer),
                _ => Ok(false),
            };
            match watched {
                Ok(true) => {}
                Ok(false) => unwatched.push(peer),
                Err(loss) => lost.push(with_host(&*self.exchange, loss)),
            }
        }
        (lost, unwatched)
    }

    /// The next poll looks at everything.
    pub fn look_next(&mut self) {
        self.turn = u32::MAX;
    }

    /// What wakes this process while it sleeps on [`Networks::sleeper`].
    pub fn button(&self) -> Button {
        self.buzzer.button()
    }

    /// What a process with nothing to do may sleep on, its buzzer among it, or
    /// `None` if there may be something to do. The next poll looks at everything.
    pub fn sleeper(&mut self) -> Option<Sleeper> {
        self.look_next();
        self.buzzer.silence();
        let mut sleeper = Sleeper::new(Some(self.buzzer.fd()));
        for member in &mut self.members {
            sleeper = sleeper.or(member.rails.sleeper()?);
        }
        let parting = matches!(self.stage, Stage::Leaving | Stage::Parting);
        let asking = self.peers.wanted() > 0;
        if parting || asking {
            // Who looks for one answer takes in the other.
            let fd = self.exchange.descriptor();
            let fd = fd.filter(|_| !(parting && asking));
            sleeper = sleeper.or(Sleeper::new(fd));
        }
        Some(sleeper)
    }

    /// Says that this process needs the others no more; true once all have
    /// said so. Until then it is to be polled: what others wait for may not
    /// have left yet.
    ///
    /// # Errors
    /// What the exchange says.
    pub fn part(&mut self) -> Result<bool, String> {
        if self.stage == Stage::Open {
            self.stage = Stage::Leaving;
        }
        // Where publishing is a fence, there cannot be another one yet.
        if self.stage == Stage::Leaving && self.exchange.ask(self.me)?.is_some() {
            self.exchange.begin_fence()?;
            self.stage = Stage::Parting;
        }
        if self.stage == Stage::Parting && self.exchange.fence_done()? {
            self.stage = Stage::Parted;
        }
        Ok(self.stage == Stage::Parted)
    }
}
