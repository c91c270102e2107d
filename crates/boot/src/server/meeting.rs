//! Groups that have met at a port, until both say that they have what they need of each other.
//!
//! What the leaders tell each other there is no promise: a member may lack descriptors or memory
//! for the other group's job. So each leader confirms the meeting, or says why it comes to nothing,
//! and is answered once both have: both groups go on with the other, or none does. Until then the
//! jobs are not connected: the end of one does not end the other, but the meeting. That of a new
//! job and those who have spawned it is the end of the new job.
//!
//! ```text
//! Meet ──► Met ──► Confirm ──► Met (empty, or why not)
//! ```

use super::Server;
use super::met::{End, Met, pair, pairs};
use super::tables::{Tie, Waiter, Who};
use crate::jobs::{Outcome, Side};
use crate::remote::Word;

/// Why a meeting comes to nothing if nobody says more.
const LEFT: &str = "a process of the other group has ended while the two groups met";

/// What the names of ports begin with at which new jobs meet those who have spawned them.
pub(crate) const SPAWN: &str = "spawn:";

impl Server {
    /// Processes of these jobs will be tied to each other, but are not connected before a meeting
    /// was confirmed, unless they are now.
    pub(super) fn estrange(&mut self, one: &[u64], other: &[u64]) {
        let job_of = |number| self.job_of(number).map(|of| of.job.job_id);
        let holds = |tie: &Tie| matches!(tie, Tie::Awaited | Tie::Connected);
        let is_tied = |of: (u64, u64)| {
            let mut ties = self.ties.0.iter();
            ties.any(|(&(number, to), tie)| {
                holds(tie) && job_of(number).is_some_and(|job| pair(job, to) == of)
            })
        };
        let mut new = pairs(one, other);
        new.retain(|&of| !is_tied(of));
        self.meetings.strangers.extend(new);
    }

    /// Two groups have met at a port, the first from that side, and are told of each other.
    pub(super) fn begin_meeting(&mut self, port: &str, side: Side, one: Waiter, other: Waiter) {
        // Processes of one job need nothing of each other, and confirm nothing.
        if pairs(&one.jobs, &other.jobs).is_empty() {
            return;
        }
        self.estrange(&one.jobs, &other.jobs);
        self.expect_all(&one.group, &other.jobs);
        self.expect_all(&other.group, &one.jobs);
        let mut ends = [End::from(one), End::from(other)];
        if side == Side::Guest {
            ends.reverse();
        }
        let port = port.to_string();
        self.meetings.all.push(Met { port, ends });
    }

    /// One of two groups that have met says that it has what it needs, or why it has not.
    pub(super) fn confirm(&mut self, who: Who, outcome: Result<(), String>) {
        let Some(at) = self.meetings.all.iter().position(|it| it.has(who)) else {
            return match who {
                Who::Here(number, ticket) => self.confirm_abroad(number, ticket, outcome),
                // It was told why.
                Who::Remote(..) => {}
            };
        };
        if let Err(why) = outcome {
            return self.break_off(at, &why);
        }
        let ends = &mut self.meetings.all[at].ends;
        let own = ends.iter_mut().filter(|end| end.who == who);
        own.for_each(|end| end.has_confirmed = true);
        if ends.iter().all(|end| end.has_confirmed) {
            let met = self.meetings.all.swap_remove(at);
            self.acquaint(&met.pairs());
            for end in met.ends {
                self.answer_meeting(end.who, Ok(()));
            }
        }
    }

    /// These jobs are connected as far as their processes are tied.
    fn acquaint(&mut self, pairs: &[(u64, u64)]) {
        for of in pairs {
            self.meetings.strangers.remove(of);
        }
    }

    /// A meeting comes to nothing.
    fn break_off(&mut self, at: usize, why: &str) {
        let met = self.meetings.all.swap_remove(at);
        let [host, guest] = &met.ends;
        for (own, other) in [(host, guest), (guest, host)] {
            self.ties.give_up(&own.group, &other.jobs);
        }
        self.give_up_new_job(&met.port, host.who);
        for end in met.ends {
            self.answer_meeting(end.who, Err(why.to_string()));
        }
    }

    /// Those who have come to a port do not meet: if it is that of a new job, that is to end.
    pub(super) fn give_up_new_job(&mut self, port: &str, host: Who) {
        if let Who::Here(number, _) = host
            && port.starts_with(SPAWN)
        {
            self.ports.given_up.push((number, port.to_string()));
        }
    }

    fn answer_meeting(&mut self, who: Who, outcome: Result<(), String>) {
        match who {
            Who::Here(..) => {
                let outcome: Outcome = outcome.map(|()| Vec::new());
                self.answer_waiter(who, outcome, &[]);
            }
            Who::Remote(launcher, ticket) => {
                let word = Word::Confirm {
                    ticket,
                    by_host: true,
                    why: outcome.err().unwrap_or_default(),
                };
                self.remote.say(launcher, word);
            }
        }
    }

    /// The meetings of some groups come to nothing, as these are gone.
    pub(super) fn leave_meetings(&mut self, is_gone: impl Fn(Who) -> bool) {
        let has_left = |met: &Met| met.ends.iter().any(|end| is_gone(end.who));
        while let Some(at) = self.meetings.all.iter().position(has_left) {
            self.break_off(at, LEFT);
        }
    }

    /// The meetings at a port come to nothing.
    pub(super) fn break_off_at(&mut self, port: &str, why: &str) {
        while let Some(at) = self.meetings.all.iter().position(|it| it.port == port) {
            self.break_off(at, why);
        }
    }

    /// Whether a new job and those who have spawned it have not met, or have not both confirmed
    /// that: its port.
    pub fn is_awaited_at(&self, port: &str) -> bool {
        self.has_port(port) || self.meetings.all.iter().any(|it| it.port == port)
    }

    /// A process here says what it does of a meeting at a port of another launcher, which is told.
    fn confirm_abroad(&mut self, number: u32, ticket: u32, outcome: Result<(), String>) {
        let mut under_way = self.remote.under_way.iter();
        let found = under_way.find(|(_, it)| (it.number, it.ticket) == (number, ticket));
        // If there is none it is under way to the process that the meeting has come to nothing.
        if let Some((launcher, ticket)) = found.map(|(place, _)| *place) {
            let word = Word::Confirm {
                ticket,
                by_host: false,
                why: outcome.err().unwrap_or_default(),
            };
            self.remote.say(launcher, word);
        }
    }

    /// A meeting with a group of another launcher, at a port of that, was confirmed by both, or why
    /// not.
    pub(super) fn confirmed_abroad(
        &mut self,
        launcher: u32,
        ticket: u32,
        outcome: Result<(), String>,
    ) {
        let Some(visit) = self.remote.under_way.remove(&(launcher, ticket)) else {
            return;
        };
        let own = visit.group.iter();
        let own: Vec<u64> = own
            .filter_map(|&it| self.name_of(it))
            .map(|it| it.0)
            .collect();
        match &outcome {
            Ok(()) => self.acquaint(&pairs(&own, &visit.met)),
            Err(_) => self.ties.give_up(&visit.group, &visit.met),
        }
        self.answer_meeting(Who::Here(visit.number, visit.ticket), outcome);
    }
}
