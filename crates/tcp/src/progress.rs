//! Polling, losses, sleeping.

use std::mem;
use std::time::{Duration, Instant};

use catena_base::clock::{ticks, ticks_in};
use catena_fabric::{Deliver, Sleeper};

use crate::init::Tcp;
use crate::link::Stage;
use crate::socket::LISTENERS;

/// Connections that are read without asking first which of them can be, at
/// most: a read that finds nothing costs less than the question.
const FEW: usize = 3;
/// Polls to one that looks after callers, where few connections are read.
const LOOK_EVERY: u64 = 64;
/// The longest time between two such polls, where polls are seldom.
const LOOK_WITHIN: Duration = Duration::from_micros(50);

impl Tcp {
    /// Moves what can move; how many packets were delivered.
    pub(crate) fn drain<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        self.turn += 1;
        let mut count = 0;
        if !self.held.is_empty() {
            self.push();
        }
        if !self.waiting.is_empty() {
            count += usize::from(self.flush());
        }
        let late = || ticks().wrapping_sub(self.looked) > ticks_in(LOOK_WITHIN);
        if self.open.len() > FEW || self.look_next || self.turn.is_multiple_of(LOOK_EVERY) || late()
        {
            self.look_next = false;
            count += self.look(deliver);
        } else {
            for n in (0..self.open.len()).rev() {
                // Reading may end connections.
                if let Some(&at) = self.open.get(n) {
                    count += self.read(at, deliver);
                }
            }
        }
        if !self.waiting.is_empty() {
            self.flush();
        }
        self.losses.deliver(deliver);
        count
    }

    /// Ends rows of packets: has the kernel send what it keeps.
    #[cold]
    pub(crate) fn push(&mut self) {
        for at in self.held.drain(..) {
            if let Some(link) = &mut self.links[at] {
                (link.held, link.holds) = (false, false);
                link.row.end(&self.config.pace);
                link.gather(false);
            }
        }
    }

    /// Sends what waits, as far as the kernel takes it; whether it took
    /// something.
    #[inline(never)]
    fn flush(&mut self) -> bool {
        let mut moved = false;
        for n in (0..self.waiting.len()).rev() {
            let Some(&at) = self.waiting.get(n) else {
                continue;
            };
            let link = self.links[at].as_mut().expect("it has something to send");
            match link.flush() {
                Ok(some) => moved |= some,
                Err(error) => link.deafen(error),
            }
            if link.out.is_empty() && !mem::take(&mut link.full) {
                link.waiting = false;
                link.heed(&self.watch, at, false);
                self.waiting.swap_remove(n);
            }
        }
        moved
    }

    /// Whether there is something that ends by itself.
    fn has_to_tidy(&self) -> bool {
        let lists = [&self.young, &self.halves];
        lists.iter().any(|it| !it.is_empty())
            || !(self.again.is_empty() && self.closed.is_empty() && self.departing.is_empty())
    }

    /// Asks which sockets can be used, and uses them.
    #[inline(never)]
    fn look<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        self.looked = ticks();
        self.open_eyes();
        let mut count = 0;
        for number in self.watch.ready() {
            if let Some(listener) = number.checked_sub(LISTENERS) {
                self.welcome(listener as usize);
                continue;
            }
            let at = number as usize;
            let Some(link) = &self.links[at] else {
                continue;
            };
            if link.born == self.turn {
                // What was ready is a connection that has ended since, and had the same number.
                continue;
            }
            match link.stage {
                Stage::Calling => self.connected(at),
                Stage::Greeting(_) => self.greet(at),
                Stage::Unmet => self.still_unmet(at),
                Stage::Open => count += self.read(at, deliver),
                Stage::Departing => self.discard(at),
            }
        }
        if self.has_to_tidy() {
            self.tidy();
        }
        if self.looked.wrapping_sub(self.judged) > ticks_in(self.config.judge_every()) {
            self.judge();
        }
        if !self.guests.door.is_empty() {
            self.expire(Instant::now());
        }
        count
    }

    /// Whether something that was posted would be lost if this process ended now: it has not left,
    /// or has not arrived. Cost: a system call for each connection.
    pub fn keeps(&self) -> bool {
        let mut open = self.links.iter().flatten();
        !self.waiting.is_empty()
            || !self.held.is_empty()
            || open.any(|link| {
                matches!(link.stage, Stage::Open | Stage::Departing)
                    && link.socket.is_unacknowledged()
            })
    }

    /// What to sleep on.
    pub fn sleeper(&mut self) -> Sleeper {
        self.push();
        self.look_next = true;
        for &at in &self.waiting {
            let link = self.links[at].as_mut().expect("it has something to send");
            link.heed(&self.watch, at, true);
        }
        self.counters.sleeps += 1;
        let sleeper = Sleeper::new(Some(self.watch.fd()));
        match self.shut_eyes() {
            Some(limit) => sleeper.within(limit),
            None => sleeper,
        }
    }
}
