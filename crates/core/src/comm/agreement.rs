//! How processes agree on a new communicator: each tells the others its own
//! numbers for it, and what else they must know.
//!
//! | phase  | what happens                                                    |
//! |--------|-----------------------------------------------------------------|
//! | share  | everybody's row reaches everybody in its group, in log p rounds |
//! | cross  | the leaders of two groups exchange the rows of their groups     |
//! | spread | each leader hands on what it got, down a tree                   |
//!
//! A communicator of one group needs the first only. All of it goes by control messages,
//! so it needs a context that joins the processes, but no communicator: that of
//! the job will do. Nothing blocks: `MPI_Comm_idup` is an agreement that `progress`
//! moves on.
//!
//! Two groups of several jobs then agree a second time, once each member has what it needs of the
//! other group's jobs, which may be missing at any of them: at a port that is a confirmation of the
//! meeting ([`Bridge::Met`]).
//!
//! A member that cannot take part says so in its row, and a leader by a control message
//! without rows: so all fail, and none waits for ever. Only a leader that knows
//! no way to the other group cannot tell it. Where the death of a process that only the leader
//! knows parts the two groups, it tells its own.
//!
//! Where a job goes on after deaths an agreement is not over at a member before what that has told
//! the others has left. So if it was over at a member that dies then, all others have begun it, and
//! nothing is missing that one of them waits for. Hence the agreement of all members of a
//! communicator of one group goes on as long as whoever a member waits for takes part:
//!
//! | whoever a member waits for       | how the member knows                        | what it does |
//! |----------------------------------|---------------------------------------------|--------------|
//! | has died                         | it was told, as of every death              | fails        |
//! | lives, and has begun it          | it asks when it knows of any member's death | waits        |
//! | lives, and has not (yet) done so | it asks, and is told that nothing comes     | fails        |
//! | has failed in it                 | that one tells all who still wait for it    | fails        |
//!
//! Every other agreement ends with the first death that is known among those who take part; of two
//! leaders the one that knows of none asks ([`leaders`](super::leaders)).

use crate::needs;
use catena_boot::FAULT_TOLERANCE;
use catena_fabric::ProcessName;
use catena_hang::{WaitsFor, What};
use catena_link::{Cid, ReqId};
use catena_process::Wait;

use super::control::Key;
use super::leaders::{Heard, LeaderKey, Leaders};
use super::port::PortEndpoint;
use super::{Comm, Communicators};
use crate::components;
use crate::loss::{died, kind_of_death};
use crate::process::Process;
use crate::trouble::trouble_among;
use catena_objects::error::{Error, Kind, Result};

/// In place of a number: the member failed, or has no such number.
pub const NONE: u32 = u32::MAX;

/// In place of rows: nothing comes, as somebody on the way of them has died. No row is that short.
const LOST: u32 = u32::MAX - 1;

/// In place of rows: the two groups cannot go on together, as settings that must be equal differ.
const UNEQUAL: u32 = u32::MAX - 2;

/// Bytes of rows that leave without the help of whoever receives them.
const SHORT: usize = 4 << 10;

/// Processes that a context joins, and who of them take part.
#[derive(Clone, Debug)]
pub(crate) struct Circle {
    /// The context.
    pub cid: Cid,
    /// How many take part.
    pub size: u32,
    /// Which of them this process is.
    pub me: u32,
    /// Rank in the context of each participant; the same if empty.
    pub ranks: Box<[u32]>,
    /// What their control messages are about.
    pub key: Key,
}

/// The way from one leader to the other.
#[derive(Clone, Debug)]
pub(crate) enum Bridge {
    /// A context that joins them.
    Context {
        /// The context.
        cid: Cid,
        /// The other leader's rank in it.
        to: u32,
        /// What their control messages are about.
        key: Key,
    },
    /// A port of the launcher's.
    Port(PortEndpoint),
    /// What two groups that have met at a port know their meeting by, which they confirm.
    Met(u32),
}

/// The second group's part.
#[derive(Clone, Debug)]
pub(crate) struct Across {
    /// Its size, if that is known.
    pub size: Option<u32>,
    /// The context that joins this process with that group, if there is one.
    pub far: Option<Cid>,
    /// Which participant leads this group.
    pub leader: u32,
    /// At the leader; `None` if it knows no way, and all must fail.
    pub bridge: Option<Bridge>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Waits for the rows of the next so many.
    Share(u32),
    Cross,
    Spread,
    Done,
}

/// An agreement under way.
#[derive(Debug)]
pub(crate) struct Agreement {
    circle: Circle,
    across: Option<Across>,
    phase: Phase,
    /// Its number among those of all members, if it is of a communicator of one group and goes on
    /// after deaths.
    number: Option<u32>,
    /// Rows that were at hand when it last asked whoever it waits for. Of two groups: whether it
    /// has asked.
    asked: u32,
    /// At a leader that a context joins with the other: the number of the call among theirs.
    call: u32,
    /// Words in a row.
    width: usize,
    /// Messages to others that have not left yet, as far as that counts.
    leaving: Vec<ReqId>,
    /// Rows of the participants from this process on, around the circle; by
    /// rank in the end.
    ours: Vec<u32>,
    theirs: Vec<u32>,
    /// What a leader's exchange at a port is known by.
    ticket: Option<u32>,
    error: Option<Error>,
}

/// What everybody told, by rank: rows of equally many words, of which the last
/// two are the member's numbers for the new communicator.
#[derive(Debug)]
pub(crate) struct Contributions {
    width: usize,
    pub ours: Vec<u32>,
    /// Empty without a second group.
    pub theirs: Vec<u32>,
}

impl Contributions {
    /// Whether the rows, which begin with names of processes, are of one job.
    fn is_of_one_job(&self) -> bool {
        let mut all = self.rows(&self.ours).chain(self.rows(&self.theirs));
        let mut jobs = all.by_ref().map(|row| ProcessName::from_words(row).job);
        let first = jobs.next();
        jobs.all(|job| Some(job) == first)
    }

    /// The rows of a group.
    pub fn rows<'a>(&self, words: &'a [u32]) -> std::slice::ChunksExact<'a, u32> {
        words.chunks_exact(self.width)
    }
}

impl Circle {
    /// Rank in the context of the participant `by` places further on.
    fn ahead(&self, by: u32) -> u32 {
        let at = ((u64::from(self.me) + u64::from(by)) % u64::from(self.size)) as u32;
        self.ranks.get(at as usize).copied().unwrap_or(at)
    }

    fn behind(&self, by: u32) -> u32 {
        self.ahead(self.size - by)
    }

    /// Tells those who wait for this participant in the rounds from that one on that nothing comes.
    #[cold]
    fn tell_lost(&self, process: &Process, from: Option<u32>) {
        let rounds = std::iter::successors(from, |have| have.checked_mul(2));
        for have in rounds.take_while(|have| *have < self.size) {
            process
                .comms
                .control
                .send(process, self.cid, self.behind(have), &self.key, &[LOST]);
        }
    }
}

impl Agreement {
    /// Begins: every participant tells a row of equally many words. In `across`
    /// the members of the other group do the same.
    pub fn begin(process: &Process, circle: Circle, across: Option<Across>, row: &[u32]) -> Self {
        let mut agreement = Agreement {
            circle,
            across,
            phase: Phase::Share(1),
            number: None,
            asked: 0,
            call: 0,
            width: row.len(),
            leaving: Vec::new(),
            ours: row.to_vec(),
            theirs: Vec::new(),
            ticket: None,
            error: None,
        };
        if let Some(way) = agreement.way() {
            agreement.call = process.comms.leaders.begin(&way);
        }
        agreement.send_rows(process, 1);
        agreement
    }

    /// At a leader: what it knows its calls with the other leader by, if a context joins them.
    fn way(&self) -> Option<LeaderKey> {
        match self.across.as_ref()?.bridge.as_ref()? {
            Bridge::Context { cid, to, key } => Some((*cid, *to, key.clone())),
            Bridge::Port(_) | Bridge::Met(_) => None,
        }
    }

    /// Begins that of all members of a communicator of one group which has that number among these.
    pub fn begin_of_all(process: &Process, circle: Circle, number: u32, row: &[u32]) -> Self {
        Agreement {
            number: FAULT_TOLERANCE.get().then_some(number),
            ..Agreement::begin(process, circle, None, row)
        }
    }

    /// One that has failed before it began. Nobody is told: whoever waits for this member asks, or
    /// learns of the cause as it has.
    #[cold]
    pub fn failed_at_once(circle: Circle, width: usize, error: Error) -> Self {
        Agreement {
            circle,
            across: None,
            phase: Phase::Done,
            number: None,
            asked: 0,
            call: 0,
            width,
            leaving: Vec::new(),
            ours: Vec::new(),
            theirs: Vec::new(),
            ticket: None,
            error: Some(error),
        }
    }

    /// How many rows go around in the round that starts with `have` at hand.
    fn wanted(&self, have: u32) -> usize {
        have.min(self.circle.size - have) as usize * self.width
    }

    fn send_rows(&mut self, process: &Process, have: u32) {
        if have < self.circle.size {
            let rows = &self.ours[..self.wanted(have)];
            let to = self.circle.behind(have);
            let leaving =
                process
                    .comms
                    .control
                    .start(process, self.circle.cid, to, &self.circle.key, rows);
            // A long one leaves when it is received, by somebody who may have failed.
            match FAULT_TOLERANCE.get() && size_of_val(rows) <= SHORT {
                true => self.leaving.extend(leaving),
                false => leaving
                    .into_iter()
                    .for_each(|id| process.link(|link| link.detach(id))),
            }
        }
    }

    /// Whether its messages have left; all the same if it has failed, or if one could not.
    fn has_told(&mut self, process: &Process) -> bool {
        let is_failed = self.error.is_some();
        self.leaving.retain(|&id| {
            process.link(|link| {
                let stays = !is_failed && !link.is_done(id);
                if !stays {
                    link.detach(id);
                }
                stays
            })
        });
        self.leaving.is_empty()
    }

    /// Whether nothing but a control message, or a death, lets it go on.
    pub fn waits_for_control(&self) -> bool {
        let bridge = self.across.as_ref().and_then(|it| it.bridge.as_ref());
        self.leaving.is_empty() && !matches!(bridge, Some(Bridge::Port(_) | Bridge::Met(_)))
    }

    /// Does what can be done now; true if it is over. Does not progress.
    pub fn advance(&mut self, process: &Process) -> bool {
        loop {
            let moved = match self.phase {
                Phase::Share(have) => self.share(process, have),
                Phase::Cross => self.cross(process),
                Phase::Spread => self.spread(process),
                Phase::Done => return self.leaving.is_empty() || self.has_told(process),
            };
            if !moved {
                return process.is_troubled()
                    && self.is_hopeless(process)
                    && self.has_told(process);
            }
        }
    }

    /// Whether it can never be over, as a participant has died or the communicator was revoked;
    /// then it ends here. So do the others, who are told of the death themselves.
    #[cold]
    fn is_hopeless(&mut self, process: &Process) -> bool {
        if let (Some(number), Phase::Share(have)) = (self.number, self.phase) {
            return self.is_waiting_in_vain(process, number, have);
        }
        let ours = trouble_among(process, self.circle.cid, &self.circle.ranks);
        let theirs = || trouble_among(process, self.across.as_ref()?.far?, &[]);
        if let Some(error) = ours.or_else(theirs) {
            self.tell_across(process, &error);
            self.error.get_or_insert(error);
            self.phase = Phase::Done;
            return true;
        }
        let across = || match (self.phase, self.across.as_ref()?.bridge.as_ref()?) {
            (Phase::Cross, Bridge::Context { cid, .. }) => trouble_among(process, *cid, &[]),
            _ => None,
        };
        let Some(error) = across() else {
            self.ask_across(process);
            return false;
        };
        if let Some(way) = self.way() {
            process.comms.leaders.end(&way);
        }
        // The others of this group know nothing of that context, and wait for what the leader
        // hears.
        self.error.get_or_insert(error);
        self.theirs = vec![LOST];
        self.spread(process)
    }

    /// Tells the other group that nothing comes from this one, if this process leads it and has
    /// told nothing yet. A leader that a context joins with this one is told if it has asked, or
    /// when it does: whether it comes, and reads it, is not certain before.
    #[cold]
    fn tell_across(&self, process: &Process, error: &Error) {
        let across = self.across.as_ref();
        let bridge = across.and_then(|it| it.bridge.as_ref());
        match (self.phase, bridge, self.way()) {
            (Phase::Share(_), Some(Bridge::Met(ticket)), _) => {
                PortEndpoint::break_off(process, *ticket, error)
            }
            (Phase::Share(_), _, Some(way)) => process.comms.leaders.tell_nothing(process, &way),
            (Phase::Cross, _, Some(way)) => process.comms.leaders.end(&way),
            _ => {}
        }
    }

    /// Somebody has died: asks the other leader, whose group that may have been of, whether nothing
    /// comes. Where a death ends the job only those of other jobs are known, which have ended.
    #[cold]
    fn ask_across(&mut self, process: &Process) {
        if !FAULT_TOLERANCE.get() {
            return;
        }
        if let (Phase::Cross, 0, Some(way)) = (self.phase, self.asked, self.way()) {
            self.asked = 1;
            components::ask_leader(process, &way, self.call);
        }
    }

    /// Whether the rows of a round do not come, as whoever tells them has died or the communicator
    /// was revoked. If another member has died, that one is asked whether it takes part.
    fn is_waiting_in_vain(&mut self, process: &Process, number: u32, have: u32) -> bool {
        let (cid, from) = (self.circle.cid, self.circle.ahead(have));
        if let Some(error) = trouble_among(process, cid, &[from]) {
            self.lose(process, have, error);
            return true;
        }
        if self.asked == have {
            return false;
        }
        let Some(error) = trouble_among(process, cid, &[]) else {
            return false;
        };
        if !components::ask_part(process, cid, from, number) {
            self.lose(process, have, error);
            return true;
        }
        self.asked = have;
        false
    }

    /// Fails, as rows of that round do not come, and tells those who wait for this member in the
    /// rounds behind it.
    #[cold]
    fn lose(&mut self, process: &Process, have: u32, error: Error) {
        self.circle.tell_lost(process, have.checked_mul(2));
        self.error.get_or_insert(error);
        self.phase = Phase::Done;
    }

    /// What it waits for.
    pub fn describe(&self, process: &Process, waits: &mut WaitsFor) {
        let from = match self.phase {
            Phase::Share(have) if have < self.circle.size => Some(self.circle.ahead(have)),
            Phase::Spread => {
                let leader = self.across.as_ref().map_or(0, |it| it.leader);
                let place = (self.circle.me + self.circle.size - leader) % self.circle.size;
                (place != 0).then(|| self.circle.behind(place & place.wrapping_neg()))
            }
            _ => None,
        };
        let across = self.across.as_ref().and_then(|it| it.bridge.as_ref());
        let from = match (from, self.phase, across) {
            (Some(rank), ..) => Some((self.circle.cid, rank, &self.circle.key)),
            (None, Phase::Cross, Some(Bridge::Context { cid, to, key })) => Some((*cid, *to, key)),
            _ => None,
        };
        let need = match from {
            Some((cid, rank, key)) => {
                let mut need = needs::of_rank(process, What::Agreement, cid, rank);
                need.about = key.told(need.about, self.circle.size);
                need
            }
            None => needs::open(What::Meeting, ""),
        };
        waits.needs.push(need);
    }

    fn share(&mut self, process: &Process, have: u32) -> bool {
        let n = self.circle.size;
        if have >= n {
            self.ours.rotate_right(self.circle.me as usize * self.width);
            self.begin_cross(process);
            return true;
        }
        let from = self.circle.ahead(have);
        let Some(rows) =
            process
                .comms
                .control
                .receive(process, self.circle.cid, from, &self.circle.key)
        else {
            return false;
        };
        if rows == [LOST] {
            let text = "a member has died, and one that others wait for takes no part in this call \
                        for that";
            self.lose(process, have, Error::new(kind_of_death(), text));
            return true;
        }
        let wanted = self.wanted(have);
        if rows.len() == wanted {
            self.ours.extend(rows);
        } else {
            self.misfit(from, rows.len(), wanted);
            self.ours.resize(self.ours.len() + wanted, NONE);
        }
        let have = have.saturating_mul(2);
        self.send_rows(process, have);
        self.phase = Phase::Share(have);
        true
    }

    fn begin_cross(&mut self, process: &Process) {
        self.phase = match &self.across {
            None => Phase::Done,
            Some(it) if it.leader != self.circle.me => Phase::Spread,
            Some(Across { bridge: None, .. }) => Phase::Spread,
            Some(Across {
                bridge: Some(bridge),
                ..
            }) => {
                let failed = self.failed(&self.ours);
                let rows = match failed {
                    Some(_) => &[],
                    None => &self.ours[..],
                };
                match bridge {
                    Bridge::Context { cid, to, key } => {
                        let words = [&[self.call], rows].concat();
                        process.comms.control.send(process, *cid, *to, key, &words);
                        Phase::Cross
                    }
                    Bridge::Met(ticket) => {
                        let outcome = failed.map(failed_at).map_or(Ok(()), Err);
                        match PortEndpoint::confirm(process, *ticket, outcome) {
                            Ok(()) => Phase::Cross,
                            Err(error) => {
                                self.error.get_or_insert(error);
                                Phase::Spread
                            }
                        }
                    }
                    Bridge::Port(meeting) => match meeting.come(process, rows, self.width) {
                        Ok(ticket) => {
                            self.ticket = Some(ticket);
                            Phase::Cross
                        }
                        Err(error) => {
                            self.error.get_or_insert(error);
                            Phase::Spread
                        }
                    },
                }
            }
        };
    }

    fn cross(&mut self, process: &Process) -> bool {
        let bridge = self.across.as_ref().and_then(|it| it.bridge.as_ref());
        let Some(bridge) = bridge else {
            unreachable!("only a leader with a bridge crosses")
        };
        match (bridge, self.ticket) {
            (Bridge::Context { cid, to, key }, _) => {
                let way = (*cid, *to, key.clone());
                let next = || process.comms.control.receive(process, *cid, *to, key);
                match process.comms.leaders.hear(&way, self.call, LOST, next) {
                    None => return false,
                    Some(Heard::Rows(rows)) => self.theirs = rows,
                    Some(Heard::Nothing) => self.theirs = vec![LOST],
                }
                process.comms.leaders.end(&way);
            }
            (Bridge::Port(meeting), Some(ticket)) => match meeting.met(process, ticket) {
                Ok(None) => return false,
                Ok(Some(rows)) => self.theirs = rows,
                Err(error) => {
                    if error.kind() == Kind::Settings {
                        self.theirs = vec![UNEQUAL];
                    }
                    self.error.get_or_insert(error);
                }
            },
            (Bridge::Met(ticket), _) => match PortEndpoint::confirmed(process, *ticket) {
                Ok(false) => return false,
                // Rows that say nothing but that there are some.
                Ok(true) => self.theirs = vec![0; self.width],
                Err(error) => drop(self.error.get_or_insert(error)),
            },
            (Bridge::Port(_), None) => unreachable!("a leader crosses once it has a ticket"),
        }
        self.phase = Phase::Spread;
        true
    }

    /// Down a binomial tree whose root is the leader.
    fn spread(&mut self, process: &Process) -> bool {
        let n = self.circle.size;
        let leader = self.across.as_ref().map_or(0, |it| it.leader);
        let place = (self.circle.me + n - leader) % n;
        let (cid, key) = (self.circle.cid, &self.circle.key);
        let mut reach = n.next_power_of_two();
        if place != 0 {
            reach = place & place.wrapping_neg();
            let parent = self.circle.behind(reach);
            match process.comms.control.receive(process, cid, parent, key) {
                Some(rows) => self.theirs = rows,
                None => return false,
            }
        }
        while reach > 1 {
            reach /= 2;
            if place + reach < n {
                process.comms.control.send(
                    process,
                    cid,
                    self.circle.ahead(reach),
                    key,
                    &self.theirs,
                );
            }
        }
        self.phase = Phase::Done;
        true
    }

    #[cold]
    fn misfit(&mut self, from: u32, got: usize, wanted: usize) {
        let text = format!(
            "the members do not make the same call: rank {from} told {got} words where {wanted} \
            were expected. Groups, and the order of such calls, must be the same at all of them"
        );
        self.error.get_or_insert(Error::new(Kind::NotSame, text));
    }

    /// The first who said that it cannot take part.
    fn failed(&self, rows: &[u32]) -> Option<usize> {
        let mut rows = rows.chunks_exact(self.width);
        rows.position(|row| row[self.width - 2] == NONE)
    }

    /// What was told, once [`Agreement::advance`] has said that it is over.
    ///
    /// # Errors
    /// `Other` if some member could not take part, `NotSame` if members of one
    /// group made different calls.
    pub fn finish(self) -> Result<Contributions> {
        let failed = self.failed(&self.ours);
        if let Some(error) = self.error {
            return Err(error);
        }
        if self.theirs == [LOST] {
            return Err(died("a process on the way to the other group"));
        }
        if self.theirs == [UNEQUAL] {
            let text = "settings that must be equal differ between the two groups: the error at \
                        their leaders says which";
            return Err(Error::new(Kind::Settings, text));
        }
        if let Some(rank) = failed {
            return Err(Error::new(Kind::Other, failed_at(rank)));
        }
        let fits = self.across.as_ref().is_none_or(|it| {
            let n = self.theirs.len() / self.width;
            let whole = self.theirs.len().is_multiple_of(self.width);
            whole && it.size.map_or(n > 0, |size| size as usize == n)
        });
        if !fits {
            let text = "the other group did not agree: the call failed there, or it was another \
                call, or this group's leader found no way to it";
            return Err(Error::new(Kind::Other, text));
        }
        Ok(Contributions {
            width: self.width,
            ours: self.ours,
            theirs: self.theirs,
        })
    }
}

impl Wait<Process> for Agreement {
    fn is_done(&mut self, process: &Process) -> bool {
        self.advance(process)
    }

    fn describe(&self, process: &Process, waits: &mut WaitsFor) {
        self.describe(process, waits);
    }
}

fn failed_at(rank: usize) -> String {
    format!("the call failed at rank {rank} of the group, so all of it fails")
}

impl Comm {
    /// Takes part in no agreement of all members of a communicator any more, as the program frees
    /// it or ends. If it is one on which members wait for each other after a death, those who might
    /// wait for this one are told, as nobody is left here to be asked.
    pub(crate) fn withdraw(&self, process: &Process) {
        if FAULT_TOLERANCE.get() && !self.is_inter() && self.trouble(process).is_some() {
            self.circle_without_me().tell_lost(process, Some(1));
        }
    }
}

impl Leaders {
    /// Makes no call any more as a leader that the contexts join with another one which are meant:
    /// leaders that have asked are answered.
    #[inline]
    pub(crate) fn resign(&self, process: &Process, is_meant: impl Fn(Cid) -> bool) {
        for (way, asked) in self.leave(is_meant) {
            components::answer_leader(process, &way, asked);
        }
    }

    /// The world model ends: of its communicators no call follows as a leader's.
    pub(crate) fn end_world(&self, process: &Process) {
        self.is_over.set(true);
        self.resign(process, |cid| process.comms.leads_none(cid));
    }

    /// Nothing comes of this leader's call that was under way.
    fn tell_nothing(&self, process: &Process, way: &LeaderKey) {
        if let Some(asked) = self.fail(way) {
            components::answer_leader(process, way, asked);
        }
    }
}

impl Communicators {
    /// Whoever was asked takes no part in that agreement of all members of a communicator.
    pub fn takes_no_part(&self, cid: Cid, rank: u32, number: u32) {
        self.control
            .file((cid, rank), Key::members(number), vec![LOST]);
    }

    /// The other leader asks, by the number of its call and the words of the key that follow it,
    /// whether nothing comes; whether that is so. If not, it is told when it is.
    pub fn leader_asks(&self, cid: Cid, rank: u32, number: u32, key: &[u32]) -> bool {
        let way = (cid, rank, Key::from_words(key));
        self.leaders.ask(&way, number, self.leads_none(cid))
    }

    /// The other leader answers a question of the call of that number: nothing comes.
    pub fn leader_is_absent(&self, cid: Cid, rank: u32, number: u32, key: &[u32]) {
        self.control
            .file((cid, rank), Key::from_words(key), vec![LOST, number]);
    }
}

impl Agreement {
    /// Waits until all have agreed.
    pub(crate) fn conclude(mut self, process: &Process) -> Result<Contributions> {
        self.wait(process);
        self.finish()
    }

    fn wait(&mut self, process: &Process) {
        if !self.advance(process) {
            process.wait_on(false, self);
        }
    }

    /// As [`Agreement::conclude`], of two groups that have met, and `take` makes of what they have
    /// told what this process needs of it. Where the groups are of several jobs all members of both
    /// have succeeded in that, or the call fails at all.
    pub(super) fn conclude_and<T>(
        mut self,
        process: &Process,
        take: impl FnOnce(&Contributions) -> Result<T>,
    ) -> Result<(Contributions, T)> {
        let (circle, mut across) = (self.circle.clone(), self.across.clone());
        let way = self.way();
        // The second agreement is a call of the leaders as well, and comes to nothing where it is
        // not begun.
        let skip = || {
            if let Some(way) = &way {
                process.comms.leaders.begin(way);
                process.comms.leaders.tell_nothing(process, way);
            }
        };
        self.wait(process);
        let ticket = self.ticket;
        if let (Some(across), Some(ticket)) = (&mut across, ticket) {
            across.bridge = Some(Bridge::Met(ticket));
        }
        let told = match self.finish() {
            Ok(told) => told,
            Err(error) => {
                skip();
                ticket
                    .into_iter()
                    .for_each(|it| PortEndpoint::break_off(process, it, &error));
                return Err(error);
            }
        };
        let taken = take(&told);
        if told.is_of_one_job() {
            skip();
            return taken.map(|taken| (told, taken));
        }
        let mut row = told.rows(&told.ours).next().expect("a member").to_vec();
        let place = row.len() - 2;
        row[place..].fill(if taken.is_ok() { 0 } else { NONE });
        if let Some(across) = &mut across {
            across.size = None;
        }
        let all = Agreement::begin(process, circle, across, &row).conclude(process);
        // What has failed here says more.
        let taken = taken?;
        all.map(|_| (told, taken))
    }
}
