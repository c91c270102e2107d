//! Having nothing to do: whom to hail, what to sleep on, when to leave.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use catena_base::Button;
use catena_boot::BootError;
use catena_fabric::{Peer, PeerLost, Sleeper};
use catena_link::Awaited;

use super::{KEY, Networks, Stage, at_its_host};
use crate::routes::ways::Via;

/// How often a process looks whom it waits for.
pub(super) const HAIL_EVERY: Duration = Duration::from_secs(1);

/// Polls to one look at the clock.
const CLOCK: u32 = 1024;

impl Networks {
    /// Whether it is time to look whom this process waits for; asked after a poll.
    #[inline]
    pub fn may_hail(&mut self) -> bool {
        self.turn.is_multiple_of(CLOCK) && Instant::now() >= self.next_hail
    }

    /// Looks after those among the awaited that were so at the last look, too: who
    /// of them is lost, and whose loss nobody would notice unless something is sent
    /// to them.
    pub fn watch(&mut self, Awaited { mut named, any }: Awaited) -> (Vec<PeerLost>, Vec<Peer>) {
        self.next_hail = Instant::now() + HAIL_EVERY;
        let (mut lost, mut unwatched) = (Vec::new(), Vec::new());
        // Somebody may be looking at the job.
        let Ok(boot) = self.boot.try_borrow() else {
            return (lost, unwatched);
        };
        // Any of them may be the one that sends: one of each host stands for it.
        let mut hosts = HashSet::new();
        let node = |peer: &Peer| boot.job().node_of[peer.0 as usize];
        named.extend(any.into_iter().filter(|peer| hosts.insert(node(peer))));
        let before = std::mem::replace(&mut self.awaited, named);
        for &peer in self.awaited.intersection(&before) {
            let watched = match self.ways.to(peer) {
                Via::Network(number) => self.members[number as usize].rails.watch(peer),
                _ => Ok(false),
            };
            match watched {
                Ok(true) => {}
                Ok(false) => unwatched.push(peer),
                Err(loss) => lost.push(at_its_host(boot.job(), loss)),
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
        let asking = self.ways.wanted() > 0;
        if parting || asking {
            // Who looks for one answer takes in the other.
            let boot = self.boot.try_borrow().ok().filter(|_| !(parting && asking));
            let fd = boot.and_then(|boot| boot.descriptor());
            sleeper = sleeper.or(Sleeper::new(fd));
        }
        Some(sleeper)
    }

    /// Says that this process needs the others no more; true once all have
    /// said so. Until then it is to be polled: what others wait for may not
    /// have left yet.
    ///
    /// # Errors
    /// If the launcher is gone.
    pub fn part(&mut self) -> Result<bool, BootError> {
        if self.stage == Stage::Open {
            self.stage = Stage::Leaving;
        }
        let mut boot = self.boot.borrow_mut();
        let me = boot.job().rank;
        // Where publishing is a fence, there cannot be another one yet.
        if self.stage == Stage::Leaving && boot.ask(me, KEY)?.is_some() {
            boot.begin_fence()?;
            self.stage = Stage::Parting;
        }
        if self.stage == Stage::Parting && boot.fence_done()? {
            self.stage = Stage::Parted;
        }
        Ok(self.stage == Stage::Parted)
    }
}
