//! Having nothing to do: whom to ping, what to sleep on, when to leave.

use std::collections::HashSet;
use std::time::Instant;

use catena_base::Waker;
use catena_fabric::{Peer, PeerLost, Sleeper};
use catena_link::Awaited;

use super::poll::RATIO;
use super::{Networks, PING_EVERY, Stage, with_host};
use crate::ways::Via;

/// What became of those that are awaited.
#[derive(Debug, Default)]
pub struct Watched {
    /// They are lost.
    pub lost: Vec<PeerLost>,
    /// They are gone, and have ended as far as is known here: if one has died, its launcher tells.
    pub ended: Vec<PeerLost>,
    /// Their loss shows only when something is sent to them: they are to be pinged.
    pub unwatched: Vec<Peer>,
}

/// Polls to one look at the clock, unless they are seldom.
const CLOCK: u32 = 1024;

impl Networks {
    /// Whether it is time to look at whom this process waits for; asked after a poll.
    #[inline]
    pub fn may_ping(&mut self) -> bool {
        self.is_time_to_look() && Instant::now() >= self.next_ping
    }

    /// Whether it is time to look at what no poll looks at: now and then, and after a sleep. Asked
    /// after a poll.
    #[inline]
    pub fn is_time_to_look(&self) -> bool {
        self.turn
            .is_multiple_of(if self.seldom { RATIO } else { CLOCK })
    }

    /// Looks after the awaited processes that were awaited at the last look, too.
    pub fn watch(&mut self, Awaited { mut named, any }: Awaited) -> Watched {
        self.next_ping = Instant::now() + PING_EVERY;
        let mut watched = Watched::default();
        // Any of them may be the one that sends: one of each host stands for it.
        let mut hosts = HashSet::new();
        let mut first = |peer: &Peer| hosts.insert(self.exchange.node_of(*peer));
        named.extend(any.into_iter().filter(&mut first));
        let before = std::mem::replace(&mut self.awaited, named);
        let between_jobs = self.exchange.judges_ends();
        let both: Vec<Peer> = self.awaited.intersection(&before).copied().collect();
        for peer in both {
            // Nothing is sent to one that may have ended: a network might take that for its death.
            // What another job's process is that has never said anything, alive, ended or dead, its
            // launcher knows; where the network does not tell what has arrived a ping would find
            // the first two alike.
            let via = self.ways.via(peer);
            let is_counted = match via {
                Via::Network(number) => self.members[number as usize].counted,
                _ => !self.tells_arrival(),
            };
            let is_unknown = between_jobs && is_counted && !self.receipts.has_talked(peer);
            let is_over = via == Via::Nowhere && self.may_end(peer);
            if self.receipts.has_left(peer) || is_unknown || is_over {
                watched.ended.extend(self.look_for_end(peer, is_unknown));
                continue;
            }
            // What was sent to it may not have left: a network that connects with the first packet
            // keeps it for a peer that is not there any more, and a ping behind it.
            let is_silent = between_jobs && is_counted && !self.receipts.has_heard_of(peer);
            if is_silent && let Some(end) = self.look_for_end(peer, true) {
                self.give_up_packets(&end);
                watched.ended.push(end);
                continue;
            }
            let looked = match via {
                Via::Network(number) => {
                    let rails = &mut self.members[number as usize].rails;
                    match rails.watch(peer) {
                        Ok(true) if self.exchange.is_nobody() && rails.has_closed(peer) => {
                            let cause = "nobody listens any more where it did".to_owned();
                            rails.mark_lost(peer, &cause);
                            Err(PeerLost { peer, cause })
                        }
                        looked => looked,
                    }
                }
                _ => Ok(false),
            };
            match looked {
                Ok(true) => {}
                Ok(false) => watched.unwatched.push(peer),
                Err(loss) => watched.lost.push(with_host(&*self.exchange, loss)),
            }
        }
        watched
    }

    /// Looks whether a process is gone that may have ended, without sending it anything: whoever
    /// waits for it waits no more. One that has never said anything is asked for at the launcher,
    /// which knows it no more once its job has ended.
    fn look_for_end(&mut self, peer: Peer, is_unknown: bool) -> Option<PeerLost> {
        let Via::Network(number) = self.ways.via(peer) else {
            if is_unknown {
                self.ways.want(peer);
            }
            return None;
        };
        if self.receipts.is_lost(peer) || !is_unknown && !self.receipts.has_left_for_good(peer) {
            return None;
        }
        let rails = &mut self.members[number as usize].rails;
        let is_gone = rails.has_closed(peer) || rails.watch(peer).is_err();
        is_gone.then(|| {
            self.receipts.lose(peer);
            let cause = "it has ended".to_owned();
            with_host(&*self.exchange, PeerLost { peer, cause })
        })
    }

    /// What was sent to one that has ended leaves no more, and is tried no more.
    fn give_up_packets(&mut self, end: &PeerLost) {
        if let Via::Network(number) = self.ways.via(end.peer) {
            let rails = &mut self.members[number as usize].rails;
            rails.mark_lost(end.peer, &end.cause);
        }
    }

    /// Declares a peer dead, because the launcher said so: sends to it and operations on its memory
    /// end, also those that wait for it to tell how it is reached. What it sent before its death
    /// may still arrive.
    pub fn mark_lost(&mut self, peer: Peer, cause: &str) {
        if self.ways.give_up(peer) {
            self.lost.entry(peer).or_insert_with(|| cause.to_owned());
        }
        for member in &mut self.members {
            member.rails.mark_lost(peer, cause);
        }
        self.receipts.lose(peer);
        self.look_next();
    }

    /// The next poll looks at everything.
    pub fn look_next(&mut self) {
        self.turn = u32::MAX;
    }

    /// What wakes this process while it sleeps on [`Networks::sleeper`].
    pub fn waker(&self) -> Waker {
        self.wake_socket.waker()
    }

    /// What a process with nothing to do may sleep on, its wake socket among it, or
    /// `None` if there may be something to do. The next poll looks at everything. `is_rung`: it has
    /// a doorbell in shared memory, by which the launcher wakes it.
    pub fn sleeper(&mut self, is_rung: bool) -> Option<Sleeper> {
        self.look_next();
        if self.receipts.has_answers_due() && !self.receipts.answers().is_empty() {
            return None;
        }
        self.wake_socket.silence();
        let mut sleeper = Sleeper::new(Some(self.wake_socket.fd()));
        for member in &mut self.members {
            sleeper = sleeper.or(member.rails.sleeper()?);
        }
        let leaving = matches!(self.stage, Stage::Leaving | Stage::FenceBegun);
        let asking = self.ways.wanted() > 0;
        let hearing = !is_rung && self.exchange.tells_of_deaths();
        if leaving || asking || hearing {
            // Looking for one answer takes in the other: there is no sleep for both.
            let fd = self.exchange.descriptor();
            let fd = fd.filter(|_| !(leaving && asking));
            sleeper = sleeper.or(Sleeper::new(fd));
        }
        Some(sleeper)
    }

    /// Says that this process needs the others no more; true once all have
    /// said so. Until then the networks are to be polled: what others wait for may
    /// not have left yet.
    ///
    /// # Errors
    /// What the exchange says.
    pub fn leave_together(&mut self) -> Result<bool, String> {
        if self.stage == Stage::Active {
            self.stage = Stage::Leaving;
        }
        // Where publishing is a fence, there cannot be another one yet.
        if self.stage == Stage::Leaving && self.exchange.ask(self.me)?.is_some() {
            self.exchange.begin_fence()?;
            self.stage = Stage::FenceBegun;
        }
        if self.stage == Stage::FenceBegun && self.exchange.fence_done()? {
            self.stage = Stage::Done;
        }
        Ok(self.stage == Stage::Done)
    }
}
