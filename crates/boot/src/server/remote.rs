//! Jobs of other launchers, whose processes connect with those of this one at ports.
//!
//! The launcher numbers the launchers that it has reached, or that have reached it, and carries
//! what the servers tell each other ([`Word`]). Their processes have no numbers here: what
//! is known of them is their job, and what they are asked for goes from server to server.
//! Only the first server of a launcher does this.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use catena_proof::Secret;

use super::Server;
use super::far::{Heard, Opening, RemoteConnect, RemoteJob, THIRD, UnderWay};
use super::served::{Event, answer};
use super::tables::{Asker, Tie, Waiter, Who};
use crate::Job;
use crate::jobs::{Outcome, Side};
use crate::remote::{JobCard, Word};
use crate::wire::{FrameKind, Malformed, Reader, Writer};

impl Server {
    /// The ports that are to be opened: see [`Server::port_opened`].
    pub fn take_openings(&mut self) -> Vec<Opening> {
        std::mem::take(&mut self.remote.openings)
    }

    /// Opens a port under a name that says the way to this launcher, if there is one.
    pub fn port_opened(&mut self, opening: Opening, way: Option<&str>) {
        self.opened(opening, way);
        self.send_later();
    }

    /// A process wants a port to be opened.
    pub(super) fn open_port(&mut self, number: u32, ticket: u32, port: String) {
        let opening = Opening {
            number,
            ticket,
            port,
        };
        match self.has_ways {
            true => self.remote.openings.push(opening),
            false => self.opened(opening, None),
        }
    }

    fn opened(&mut self, opening: Opening, way: Option<&str>) {
        let way = way.unwrap_or_default();
        let port = format!("{}{way}", opening.port);
        self.open_port_of(&port, Some(opening.number));
        let outcome = Ok(port.into_bytes());
        self.answer_ticket(FrameKind::Met, opening.number, opening.ticket, &outcome);
    }

    /// Those who want to meet somebody at ports of other launchers: for each
    /// [`Server::visit`] or [`Server::refuse`].
    pub fn take_visits(&mut self) -> Vec<RemoteConnect> {
        std::mem::take(&mut self.remote.visits)
    }

    /// What is to be told to other launchers.
    pub fn take_words(&mut self) -> Vec<(u32, Word)> {
        std::mem::take(&mut self.remote.words)
    }

    /// Another launcher was reached, or has reached this one.
    pub fn greet(&mut self, launcher: u32, secret: Secret) {
        self.remote.secrets.insert(launcher, secret);
    }

    /// Somebody goes to a port of a launcher that was reached.
    pub fn visit(&mut self, visit: RemoteConnect, launcher: u32) {
        let mut far = visit
            .group
            .iter()
            .filter_map(|name| self.remote.find(name.0));
        if far.any(|of| of.launcher != launcher) {
            return self.refuse(&visit, THIRD.to_string());
        }
        let jobs = self.cards(visit.group.iter().map(|name| name.0));
        self.remote.last = self.remote.last.wrapping_add(1);
        let ticket = self.remote.last;
        let left = visit
            .patience
            .map(|(_, until)| until.saturating_duration_since(Instant::now()));
        let brings = !visit.value.is_empty();
        let word = Word::Visit {
            ticket,
            port: visit.port,
            value: visit.value,
            patience: left.map_or(0, |left| left.as_millis().max(1) as u64),
            jobs,
        };
        let numbers = visit.group.iter();
        let numbers = numbers.filter_map(|&(job, rank)| self.number(job, rank));
        let of = UnderWay {
            number: visit.number,
            ticket: visit.ticket,
            group: numbers.collect(),
            brings,
            met: Vec::new(),
        };
        self.remote.under_way.insert((launcher, ticket), of);
        self.remote.say(launcher, word);
    }

    /// Nobody can be met at a port of another launcher.
    pub fn refuse(&mut self, visit: &RemoteConnect, why: String) {
        self.answer_ticket(FrameKind::Met, visit.number, visit.ticket, &Err(why));
        self.send_later();
    }

    /// These jobs, as far as they are of this launcher: others know their own.
    fn cards(&self, jobs: impl Iterator<Item = u64>) -> Vec<JobCard> {
        let mut jobs: Vec<u64> = jobs.collect();
        jobs.sort_unstable();
        jobs.dedup();
        let card = |job: u64| {
            let of = self.jobs.iter().find(|of| of.job.job_id == job)?;
            Some(JobCard {
                job,
                node_of: of.job.node_of.to_vec(),
                hosts: of.job.hosts.to_vec(),
            })
        };
        jobs.into_iter().filter_map(card).collect()
    }

    /// Somebody comes to a port that is not open here: it may be that of another launcher. Gives
    /// it back if it is not.
    pub(super) fn go_abroad(
        &mut self,
        port: &str,
        side: Side,
        waiter: Waiter,
        group: Vec<(u64, u32)>,
    ) -> Option<Waiter> {
        match waiter.who {
            Who::Here(number, ticket) if side == Side::Guest && port.contains('@') => {
                self.remote.visits.push(RemoteConnect {
                    number,
                    ticket,
                    port: port.to_string(),
                    value: waiter.value,
                    group,
                    patience: waiter.patience,
                });
                None
            }
            _ => Some(waiter),
        }
    }

    /// Tells one that has waited at a port what has become of that.
    pub(super) fn answer_waiter(&mut self, who: Who, outcome: Outcome, jobs: &[u64]) {
        match who {
            Who::Here(number, ticket) => {
                self.answer_ticket(FrameKind::Met, number, ticket, &outcome);
            }
            Who::Remote(launcher, ticket) => {
                let jobs = self.cards(jobs.iter().copied());
                let of = jobs.iter().map(|card| (launcher, card.job));
                self.remote.told.extend(of);
                let word = Word::Met {
                    ticket,
                    outcome,
                    jobs,
                };
                self.remote.say(launcher, word);
            }
        }
    }

    /// Whether two groups come to a port of which one has processes of a launcher that does not
    /// know all jobs of the other one, and is not told of them.
    pub(super) fn are_strangers(&self, one: &Waiter, other: &Waiter) -> bool {
        let launcher_of = |it: &Waiter, job| match it.who {
            Who::Remote(launcher, _) => Some(launcher),
            Who::Here(..) => self.remote.find(job).map(|of| of.launcher),
        };
        let is_new = |launcher, it: &Waiter| {
            let mut jobs = it.jobs.iter();
            jobs.any(|&job| match launcher_of(it, job) {
                Some(of) => of != launcher,
                None => !self.remote.told.contains(&(launcher, job)),
            })
        };
        let pairs = [(one, other), (other, one)];
        pairs.into_iter().any(|(it, to)| {
            let is_here = matches!(it.who, Who::Here(..));
            let mut far = it.jobs.iter().filter_map(|&job| launcher_of(it, job));
            is_here && far.any(|launcher| is_new(launcher, to))
        })
    }

    /// Takes in jobs of another launcher.
    pub(super) fn learn_abroad(&mut self, launcher: u32, cards: Vec<JobCard>) {
        for card in cards {
            let is_own = self.jobs.iter().any(|of| of.job.job_id == card.job);
            if is_own || self.remote.knows(card.job) {
                continue;
            }
            let job = Job {
                size: card.node_of.len() as u32,
                job_id: card.job,
                node_of: card.node_of.into(),
                hosts: card.hosts.into(),
                ..Job::singleton(String::new(), 1)
            };
            self.remote.jobs.push(RemoteJob {
                launcher,
                job,
                has_ended: false,
                parted: BTreeSet::new(),
            });
        }
    }

    /// Takes in what another launcher says. What it asks of another node is an event.
    pub fn hear_abroad(&mut self, launcher: u32, word: Word, events: &mut Vec<Event>) -> Heard {
        match word {
            Word::Visit {
                ticket,
                port,
                value,
                patience,
                jobs,
            } => {
                if !port.contains('@') {
                    let why = format!("the port '{port}' is for jobs of its own mpirun");
                    self.answer_waiter(Who::Remote(launcher, ticket), Err(why), &[]);
                    return Heard::Done;
                }
                let limit = Duration::from_millis(patience.min(1 << 40));
                let waiter = Waiter {
                    who: Who::Remote(launcher, ticket),
                    value,
                    group: Vec::new(),
                    jobs: jobs.iter().map(|card| card.job).collect(),
                    cards: jobs,
                    patience: (patience > 0).then(|| (limit, Instant::now() + limit)),
                };
                self.meet(&port, Side::Guest, waiter, Vec::new());
            }
            Word::Leave { ticket } => {
                let who = Who::Remote(launcher, ticket);
                self.leave_ports(who);
                self.leave_meetings(|it| it == who);
            }
            Word::Confirm {
                ticket,
                by_host,
                why,
            } => {
                let outcome = if why.is_empty() { Ok(()) } else { Err(why) };
                match by_host {
                    true => self.confirmed_abroad(launcher, ticket, outcome),
                    false => self.confirm(Who::Remote(launcher, ticket), outcome),
                }
            }
            Word::Met {
                ticket,
                outcome,
                jobs,
            } => {
                let Some(mut visit) = self.remote.under_way.remove(&(launcher, ticket)) else {
                    return Heard::Done;
                };
                let names: Vec<u64> = jobs.iter().map(|card| card.job).collect();
                self.learn_abroad(launcher, jobs);
                let (number, waits) = (visit.number, visit.ticket);
                if outcome.is_ok() {
                    let own = visit.group.iter();
                    let own: Vec<u64> = own
                        .filter_map(|&it| self.name_of(it))
                        .map(|it| it.0)
                        .collect();
                    self.remote
                        .told
                        .extend(own.iter().map(|&job| (launcher, job)));
                    if visit.brings && outcome.as_ref().is_ok_and(|it| !it.is_empty()) {
                        self.estrange(&own, &names);
                        self.expect_all(&visit.group, &names);
                        visit.met = names;
                        self.remote.under_way.insert((launcher, ticket), visit);
                    }
                }
                self.answer_ticket(FrameKind::Met, number, waits, &outcome);
            }
            Word::Ask { job, rank, key } => match self.number(job, rank) {
                None => {
                    let value = Vec::new();
                    let word = Word::Answer {
                        job,
                        rank,
                        key,
                        value,
                    };
                    self.remote.say(launcher, word);
                }
                Some(number) => match self
                    .questions
                    .ask(Asker::RemoteJobs(launcher), number, &key)
                {
                    Ok(value) => self.answer_abroad(launcher, number, &key, &value),
                    Err(true) if !self.is_here(number) => events.push(Event::Ask {
                        node: self.node,
                        rank: number,
                        key,
                    }),
                    Err(_) => {}
                },
            },
            Word::Answer {
                job,
                rank,
                key,
                value,
            } => {
                let name = (job, rank, key);
                for number in self.remote.asked.remove(&name).unwrap_or_default() {
                    let frame = answer((job, rank), &name.2, &value);
                    self.later.push((number, frame));
                    self.told.push(number);
                }
            }
            Word::Failed { job, text } => {
                let of = self.remote.find(job);
                if of.is_some_and(|of| of.launcher == launcher) {
                    return Heard::Failed(job, text);
                }
            }
            Word::Parted { job, from } => {
                let mut jobs = self.remote.jobs.iter_mut();
                let is_it = |of: &&mut RemoteJob| of.launcher == launcher && of.job.job_id == job;
                if let Some(of) = jobs.find(is_it) {
                    of.parted.insert(from);
                }
            }
            Word::Gone { job } => {
                self.end_abroad(|of| of.launcher == launcher && of.job.job_id == job)
            }
            Word::Bye => {
                self.lose_launcher(launcher, "the mpirun that has opened the port has ended");
                return Heard::Bye;
            }
        }
        self.send_later();
        Heard::Done
    }

    /// A launcher is there no more; gives the processes that are connected to jobs of it that had
    /// not ended.
    pub fn lose_launcher(&mut self, launcher: u32, why: &str) -> Vec<u32> {
        let of = self.remote.jobs.iter();
        let of = of.filter(|of| of.launcher == launcher && !of.has_ended);
        let jobs: Vec<u64> = of.map(|of| of.job.job_id).collect();
        let tied = jobs.iter().flat_map(|&job| self.tied_to(job)).collect();
        let visits = std::mem::take(&mut self.remote.under_way);
        for (place, visit) in visits {
            match place.0 == launcher {
                true => {
                    let outcome = Err(why.to_string());
                    self.answer_ticket(FrameKind::Met, visit.number, visit.ticket, &outcome);
                }
                false => drop(self.remote.under_way.insert(place, visit)),
            }
        }
        for port in self.ports.open.values_mut() {
            for waiting in &mut port.waiting {
                waiting.retain(|it| !matches!(it.who, Who::Remote(of, _) if of == launcher));
            }
        }
        self.leave_meetings(|who| matches!(who, Who::Remote(of, _) if of == launcher));
        self.end_abroad(|of| of.launcher == launcher);
        self.send_later();
        tied
    }

    /// Processes that are connected to a job abroad.
    pub fn tied_to(&self, job: u64) -> Vec<u32> {
        let ties = self.ties.0.iter();
        let ties = ties
            .filter(|((_, to), tie)| *to == job && matches!(tie, Tie::Awaited | Tie::Connected));
        let numbers = ties.map(|((number, _), _)| *number);
        let is_left = |number: &u32| {
            let own = self.name_of(*number).unwrap_or_default().0;
            !self.remote.has_parted(job, own) && !self.meetings.are_strangers(own, job)
        };
        numbers.filter(is_left).collect()
    }

    /// The launchers of jobs that are connected to that of the process with this number are told
    /// that it has failed.
    pub fn tell_failure(&mut self, number: u32, text: &str) {
        let circle = self.circle_of(number);
        let (remote, own): (Vec<u64>, Vec<u64>) =
            circle.into_iter().partition(|&job| self.remote.knows(job));
        for job in remote {
            let Some(launcher) = self.remote.find(job).map(|of| of.launcher) else {
                continue;
            };
            for &job in &own {
                let text = text.to_string();
                self.remote.say(launcher, Word::Failed { job, text });
            }
        }
    }

    /// Jobs abroad have ended.
    fn end_abroad(&mut self, is_it: impl Fn(&RemoteJob) -> bool) {
        self.remote
            .jobs
            .iter_mut()
            .filter(|of| is_it(of))
            .for_each(|of| of.has_ended = true);
        self.forget_abroad();
    }

    /// Forgets jobs abroad that have ended, unless a process has met one and has not learnt of it.
    pub(super) fn forget_abroad(&mut self) {
        let ended = self.remote.jobs.iter().filter(|of| of.has_ended);
        let ended: Vec<u64> = ended.map(|of| of.job.job_id).collect();
        for job in ended {
            let mut ties = self.ties.0.iter();
            if ties.any(|((_, to), tie)| *to == job && *tie == Tie::Awaited) {
                continue;
            }
            self.remote.jobs.retain(|of| of.job.job_id != job);
            self.meetings.forget_job(job);
            let mut frame = Writer::new(FrameKind::Gone);
            frame.u64(job);
            let frame: std::sync::Arc<[u8]> = frame.finish().into();
            for number in self.ties.forget_job(job) {
                self.later.push((number, frame.clone()));
            }
            self.questions.forget(&(0..0), job);
            let asked = std::mem::take(&mut self.remote.asked);
            for (name, numbers) in asked {
                if name.0 != job {
                    self.remote.asked.insert(name, numbers);
                    continue;
                }
                for number in numbers {
                    let frame = answer((job, name.1), &name.2, &[]);
                    self.later.push((number, frame));
                }
            }
        }
    }

    /// A process here wants what one has published that is of no job of this launcher, or of one
    /// that has ended.
    pub(super) fn ask_abroad(&mut self, number: u32, job: u64, rank: u32, key: String) {
        let of = self.remote.find(job).filter(|of| !of.has_ended);
        let Some(launcher) = of.map(|of| of.launcher) else {
            let frame = answer((job, rank), &key, &[]);
            return self.later.push((number, frame));
        };
        let askers = self
            .remote
            .asked
            .entry((job, rank, key.clone()))
            .or_default();
        askers.push(number);
        if askers.len() == 1 {
            self.remote.say(launcher, Word::Ask { job, rank, key });
        }
    }

    /// A launcher has asked for what a process here has published.
    pub(super) fn answer_abroad(&mut self, launcher: u32, number: u32, key: &str, value: &[u8]) {
        let (job, rank) = self.name_of(number).unwrap_or_default();
        let word = Word::Answer {
            job,
            rank,
            key: key.to_string(),
            value: value.to_vec(),
        };
        self.remote.say(launcher, word);
    }

    /// A target for fuzzing: takes in a word of a launcher that was greeted, and forgets all of it.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn hear_stranger(&mut self, word: Word) {
        let mut events = Vec::new();
        self.greet(1, Secret::from_bytes([1; 32]));
        let heard = self.hear_abroad(1, word, &mut events);
        assert!(!matches!(heard, Heard::Failed(..)), "nobody is connected");
        self.lose_launcher(1, "that was all");
        (self.remote, self.questions) = Default::default();
        self.later.clear();
    }

    /// Takes in [`FrameKind::Ask`] of a process that another server, or this one, could not answer.
    pub(super) fn take_far_question(
        &mut self,
        number: u32,
        body: &mut Reader<'_>,
    ) -> Result<(), Malformed> {
        let (job, rank) = (body.u64()?, body.u32()?);
        let key = body.text()?;
        self.ask_abroad(number, job, rank, key);
        Ok(())
    }
}
