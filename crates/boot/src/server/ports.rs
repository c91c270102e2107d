//! Ports, at which the leaders of two groups meet and exchange what their groups need to
//! know of each other; and what else processes that come and go want of the launcher.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Server;
use super::far::THIRD;
use super::served::{Event, Served};
use super::tables::{Port, Service, Waiter, Who};
use crate::jobs::{
    Death, ElasticSet, Ended, Outcome, Side, SpawnAnswer, SpawnRequest, write_outcome,
};
use crate::wire::{FrameKind, Malformed, Reader, Writer};
use crate::{Job, OtherJob};

pub use super::tables::{SpawnCall, SpawnCaller};

/// Most bytes of a port's name.
pub const MAX_PORT: usize = 200;

/// What the names of ports begin with that are open to each job by itself: see [`group_port`].
const GROUP: &str = "group:";

/// The port at which processes of several jobs meet that make a communicator of a group: `job`
/// comes to those of the jobs before it in the group. `mark` tells groups that do so at the same
/// time from each other. It needs not be opened.
pub fn group_port(job: u64, mark: u64) -> String {
    format!("{GROUP}{job:016x}:{mark:016x}")
}

/// The job that comes to such a port, if it is one.
fn job_of_group_port(port: &str) -> Option<u64> {
    u64::from_str_radix(port.strip_prefix(GROUP)?.get(..16)?, 16).ok()
}

/// Why nobody comes to such a port.
const GONE: &str = "a job that members of the group are of has ended";

/// Why nobody is met at a port.
fn no_port(port: &str) -> String {
    format!("there is no port '{port}': it was closed, or the process that had opened it has ended")
}

impl Server {
    /// The port at which a job that was spawned meets those who have spawned it.
    pub(super) fn open_port_of(&mut self, port: &str, owner: Option<u32>) {
        let waiting = Default::default();
        let port = port.to_string();
        self.ports
            .open
            .entry(port)
            .or_insert(Port { owner, waiting });
    }

    /// The process with that number is connected to a job, of which it may not have learnt yet.
    pub fn tie(&mut self, number: u32, job: u64) {
        self.ties.expect(number, job);
    }

    /// Whether the process with that number has said that other jobs can meet it.
    pub fn is_ready(&self, number: u32) -> bool {
        let member = self.members.get(number as usize);
        member.is_some_and(|member| member.ready)
    }

    /// Whether the process with that number has said that it has called MPI_Init.
    pub fn has_world(&self, number: u32) -> bool {
        let member = self.members.get(number as usize);
        member.is_some_and(|member| member.has_world)
    }

    /// Tells processes, by their numbers, of a version of the process set of an elastic job.
    pub fn tell_set(&mut self, to: &[u32], set: &ElasticSet) {
        let frame: Arc<[u8]> = set.frame().into();
        for &number in to {
            self.later.push((number, frame.clone()));
            self.told.push(number);
        }
        self.send_later();
    }

    /// Takes in a job that processes have spawned, as [`Server::add`] does, and opens the
    /// port that `job` names as its parents'.
    ///
    /// # Errors
    /// As [`Server::add`].
    ///
    /// # Panics
    /// As [`Server::add`].
    pub fn add_spawned(&mut self, first: u32, job: Job, appnums: Vec<u32>) -> std::io::Result<()> {
        let port = job.parent.clone().filter(|_| !self.is_branch);
        self.add(first, job, appnums)?;
        port.iter().for_each(|port| self.open_port_of(port, None));
        Ok(())
    }

    /// Takes in what a process of another node wants, whose server cannot do it.
    ///
    /// # Errors
    /// If it is malformed; nothing is done then.
    pub fn call(&mut self, number: u32, kind: u8, body: &[u8]) -> Result<(), Malformed> {
        let kind = FrameKind::from_byte(kind)?;
        if !kind.is_about_jobs() || self.job_of(number).is_none() {
            return Err(Malformed("a call that is none"));
        }
        self.take_job_frame(number, kind, &mut Reader::new(body))?;
        self.send_later();
        Ok(())
    }

    /// Gives a rank of this node what another server has for it.
    pub fn pass_on(&mut self, number: u32, frame: Vec<u8>) {
        if self.is_here(number) {
            self.send_to(number, frame.into());
            self.told.push(number);
        }
    }

    /// What is for processes of other nodes: their numbers, and whole frames.
    pub fn take_outward(&mut self) -> Vec<(u32, Arc<[u8]>)> {
        std::mem::take(&mut self.outward)
    }

    /// A process is gone: its ports close, and it is connected to no job.
    pub fn left(&mut self, number: u32) {
        self.close_ports_of(number);
        self.remote.leave(number);
        self.ties.leave(number);
        self.send_later();
    }

    /// Whether a process is on this node, as far as its job is known.
    pub fn is_here(&self, number: u32) -> bool {
        let of = self.job_of(number);
        let node = of.map(|of| of.job.node_of[(number - of.first) as usize]);
        node == Some(self.node)
    }

    /// A frame as processes of this node get it: one that tells of a job brings its segment along,
    /// if it has ranks here and the process with that number shares memory with them.
    pub(super) fn with_segment(
        &self,
        number: u32,
        frame: Arc<[u8]>,
    ) -> (Arc<[u8]>, Option<OwnedFd>) {
        if frame.get(4) != Some(&FrameKind::Told.into()) || OtherJob::is_whole(&frame) {
            return (frame, None);
        }
        let job = OtherJob::number_in(&frame);
        let of = self.jobs.iter().find(|of| job == Ok(of.job.job_id));
        let first = self.jobs[0].numbers();
        let is_first = of.is_some_and(|of| of.first == first.start);
        let is_apart = self.is_apart && (is_first || first.contains(&number));
        let segment = of.filter(|_| !is_apart).and_then(Served::segment);
        let secret = self.jobs[0].job.secret.as_ref();
        let frame = OtherJob::complete(&frame, segment.is_some(), secret);
        (frame.into(), segment)
    }

    /// Tells a process of a job, to which it is connected from now on.
    fn tell_job(&mut self, number: u32, job: u64) {
        let of = self.jobs.iter().find(|of| of.job.job_id == job);
        let remote = self.remote.tell(job).filter(|_| of.is_none());
        if of.is_some() || remote.is_some() {
            self.ties.join(number, job);
        }
        let frame = remote.unwrap_or_else(|| {
            let mut w = Writer::new(FrameKind::Told);
            OtherJob::write(&mut w, job, of.map(|of| &of.job));
            w
        });
        self.later.push((number, frame.finish().into()));
        self.told.push(number);
        self.forget_abroad();
    }

    /// Closes a port: all who wait there are told why.
    pub fn close_port(&mut self, port: &str, why: &str) {
        self.break_off_at(port, why);
        self.shut_port(port, why);
        self.send_later();
    }

    fn shut_port(&mut self, port: &str, why: &str) {
        let Some(closed) = self.ports.open.remove(port) else {
            return;
        };
        for waiter in closed.waiting.into_iter().flatten() {
            self.answer_waiter(waiter.who, Err(why.into()), &[]);
        }
    }

    /// When [`Server::expire`] has something to do.
    pub fn next_time(&self) -> Option<Instant> {
        self.ports.until
    }

    /// Tells those who have waited for too long at a port that nobody has come.
    pub fn expire(&mut self, now: Instant) {
        if self.ports.until.is_none_or(|until| until > now) {
            return;
        }
        let (mut late, mut next) = (Vec::new(), None);
        for (name, port) in &mut self.ports.open {
            for waiting in &mut port.waiting {
                waiting.retain(|waiter| {
                    let limit = waiter.patience.filter(|(_, until)| *until <= now);
                    match limit {
                        Some((limit, _)) => late.push((waiter.who, name.clone(), limit)),
                        None => next = first(next, waiter),
                    }
                    limit.is_none()
                });
            }
        }
        self.ports.until = next;
        for (who, port, limit) in late {
            let why = format!(
                "nobody has come from the other side to the port '{port}' for {} s; the info key \
                timeout, or CATENA_CONNECT_TIMEOUT for MPI_Comm_connect, changes the limit",
                limit.as_secs_f64()
            );
            self.answer_waiter(who, Err(why), &[]);
        }
        self.send_later();
    }

    /// Processes that have told that they do not reach others any more, and whom, by number.
    pub fn take_unreachable(&mut self) -> Vec<(u32, u32)> {
        std::mem::take(&mut self.unreachable)
    }

    /// What processes want that only the launcher as a whole can do.
    pub fn take_spawn_calls(&mut self) -> Vec<SpawnCall> {
        std::mem::take(&mut self.ports.calls)
    }

    /// Processes that cannot meet the job that they have spawned, by their numbers, and its port,
    /// where nobody has been met.
    pub fn take_given_up(&mut self) -> Vec<(u32, String)> {
        std::mem::take(&mut self.ports.given_up)
    }

    /// Whether there is that port. That of a job that was spawned goes once those who have spawned
    /// it are met.
    pub fn has_port(&self, port: &str) -> bool {
        self.ports.open.contains_key(port)
    }

    /// The present process with that number, as one that has spawned.
    pub(super) fn spawn_caller(&self, number: u32, ticket: u32) -> Option<SpawnCaller> {
        let job = self.name_of(number)?.0;
        Some(SpawnCaller {
            number,
            job,
            ticket,
        })
    }

    /// Answers a [`SpawnCall`]: with the new job, or why there is none. Nothing happens if the
    /// caller's job was forgotten.
    pub fn spawned(&mut self, caller: SpawnCaller, outcome: Result<SpawnAnswer, String>) {
        let SpawnCaller { number, ticket, .. } = caller;
        if self.spawn_caller(number, ticket) != Some(caller) {
            return;
        }
        if let Ok(answer) = &outcome {
            let own = self.name_of(number).unwrap_or_default().0;
            self.estrange(&[own], &[answer.job]);
            self.ties.expect(number, answer.job);
        }
        let outcome = outcome.map(|answer| answer.to_bytes());
        self.answer_ticket(FrameKind::Spawned, number, ticket, &outcome);
        self.send_later();
    }

    /// Tells all processes here that the one with that number has died, also those that come
    /// later. No fence waits for it any more; the event, if that is the end of one.
    pub fn died(&mut self, number: u32, epoch: u32, how: Ended) -> Option<Event> {
        let (job, rank) = self.name_of(number)?;
        let death = Death {
            job,
            rank,
            epoch,
            how,
        };
        let frame: Arc<[u8]> = death.frame().into();
        for served in 0..self.members.len() as u32 {
            if served != number && self.members[served as usize].pid.is_some() {
                self.send_to(served, frame.clone());
                self.told.push(served);
            }
        }
        self.deaths.push((number, frame));
        self.close_ports_of(number);
        self.send_later();
        self.fence_without(number)
    }

    /// The processes that were told something that they had not asked for just now: they
    /// may be asleep, and do not watch the socket.
    pub fn take_told(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.told)
    }

    /// The job and the rank there of the process with that number.
    pub fn name_of(&self, number: u32) -> Option<(u64, u32)> {
        let of: &Served = self.job_of(number)?;
        Some((of.job.job_id, number - of.first))
    }

    /// A process is gone: nobody meets it, and its ports close.
    pub(super) fn close_ports_of(&mut self, number: u32) {
        self.leave_meetings(|who| matches!(who, Who::Here(of, _) if of == number));
        for port in self.ports.open.values_mut() {
            for waiting in &mut port.waiting {
                waiting.retain(|waiter| !matches!(waiter.who, Who::Here(of, _) if of == number));
            }
        }
        let is_used = |name: &String, port: &mut Port| {
            job_of_group_port(name).is_none() || port.waiting.iter().any(|it| !it.is_empty())
        };
        self.ports.open.retain(is_used);
        let owned =
            |(name, port): (&String, &Port)| (port.owner == Some(number)).then(|| name.clone());
        let owned: Vec<String> = self.ports.open.iter().filter_map(owned).collect();
        for port in owned {
            self.shut_port(&port, &no_port(&port));
            // Another process may have published it.
            self.ports.services.retain(|_, it| it.port != port);
        }
        self.ports.services.retain(|_, it| it.owner != number);
    }

    /// Takes in a frame about ports and other jobs from the process with that number. Answers are
    /// sent once no client is being served.
    pub(super) fn take_job_frame(
        &mut self,
        number: u32,
        kind: FrameKind,
        body: &mut Reader<'_>,
    ) -> Result<(), Malformed> {
        match kind {
            FrameKind::Learn => {
                let job = body.u64()?;
                self.tell_job(number, job);
            }
            FrameKind::Join => {
                let job = body.u64()?;
                if self.jobs.iter().any(|of| of.job.job_id == job) || self.remote.knows(job) {
                    self.ties.join(number, job);
                }
                self.forget_abroad();
            }
            FrameKind::Part => {
                let job = body.u64()?;
                self.leave_job(number, job);
            }
            FrameKind::Ready => {
                if let Some(member) = self.members.get_mut(number as usize) {
                    member.ready = true;
                }
            }
            FrameKind::World => {
                if let Some(member) = self.members.get_mut(number as usize) {
                    member.has_world = true;
                }
            }
            FrameKind::Unreachable => {
                let (job, rank) = (body.u64()?, body.u32()?);
                let pair = self.number(job, rank).map(|other| (number, other));
                if let Some(pair) = pair.filter(|it| !self.unreachable.contains(it)) {
                    self.unreachable.push(pair);
                }
            }
            FrameKind::Spawn => {
                let ticket = body.u32()?;
                let request = SpawnRequest::read(body)?;
                let caller = self.spawn_caller(number, ticket);
                let call = caller.map(|caller| SpawnCall { caller, request });
                self.ports.calls.extend(call);
            }
            FrameKind::Ask => self.take_far_question(number, body)?,
            FrameKind::OpenPort => {
                let ticket = body.u32()?;
                let port = port_name(body)?;
                self.open_port(number, ticket, port);
            }
            FrameKind::ClosePort => {
                let port = port_name(body)?;
                match self.ports.open.get(&port).map(|it| it.owner) {
                    Some(Some(owner)) if owner == number => {
                        self.shut_port(&port, &no_port(&port));
                    }
                    Some(None) => self.ports.given_up.push((number, port)),
                    _ => {}
                }
            }
            FrameKind::Meet => {
                let ticket = body.u32()?;
                let port = port_name(body)?;
                let side = Side::from_number(body.u32()?)?;
                let value = body.bytes()?.to_vec();
                let group = (0..body.count(12)?)
                    .map(|_| Ok((body.u64()?, body.u32()?)))
                    .collect::<Result<Vec<_>, Malformed>>()?;
                let numbers = group.iter();
                let numbers = numbers.filter_map(|&(job, rank)| self.number(job, rank));
                let mut jobs: Vec<u64> = group.iter().map(|name| name.0).collect();
                jobs.sort_unstable();
                jobs.dedup();
                let waiter = Waiter {
                    who: Who::Here(number, ticket),
                    value,
                    group: numbers.collect(),
                    jobs,
                    cards: Vec::new(),
                    patience: match body.u64()? {
                        0 => None,
                        millis => {
                            let limit = Duration::from_millis(millis.min(1 << 40));
                            Some((limit, Instant::now() + limit))
                        }
                    },
                };
                self.meet(&port, side, waiter, group);
            }
            FrameKind::Confirm => {
                let who = Who::Here(number, body.u32()?);
                let why = body.text()?;
                self.confirm(who, if why.is_empty() { Ok(()) } else { Err(why) });
            }
            FrameKind::Publicize | FrameKind::LookUp | FrameKind::Withdraw => {
                let ticket = body.u32()?;
                let service = body.text()?;
                let port = match kind {
                    FrameKind::LookUp => None,
                    _ => Some(port_name(body)?),
                };
                let outcome = self.name_service(number, kind, service, port);
                self.answer_ticket(FrameKind::Met, number, ticket, &outcome);
            }
            _ => return Err(Malformed("a message at the wrong time")),
        }
        Ok(())
    }

    /// Publishes a service, looks it up or withdraws it.
    fn name_service(
        &mut self,
        number: u32,
        kind: FrameKind,
        service: String,
        port: Option<String>,
    ) -> Outcome {
        let known = self.ports.services.get(&service);
        match (kind, known, port) {
            (FrameKind::LookUp, Some(it), _) => Ok(it.port.clone().into_bytes()),
            (FrameKind::LookUp, None, _) => self.look_up_elsewhere(&service),
            (FrameKind::Publicize, Some(_), _) => Err(format!(
                "the service '{service}' is published already: MPI_Unpublish_name withdraws it"
            )),
            (FrameKind::Publicize, None, Some(port)) => {
                let entry = self.names.as_ref();
                let entry = entry.map(|names| names.publish(&service, &port));
                let it = Service {
                    port,
                    owner: number,
                    _entry: entry.transpose()?,
                };
                self.ports.services.insert(service, it);
                Ok(Vec::new())
            }
            (_, Some(known), Some(port)) if known.port == port => {
                self.ports.services.remove(&service);
                Ok(Vec::new())
            }
            _ => Err(format!(
                "the service '{service}' is not published with that port"
            )),
        }
    }

    /// The port of a service that no job of this launcher has published.
    fn look_up_elsewhere(&self, service: &str) -> Outcome {
        let Some(names) = &self.names else {
            return Err(format!(
                "no job of this mpirun has published the service '{service}'; those of all jobs of \
                 a user are known where CATENA_NAMES=user is set for both, or a directory"
            ));
        };
        match names.look_up(service) {
            Ok(Some(port)) => Ok(port.into_bytes()),
            Ok(None) => Err(format!(
                "no running job of this user has published the service '{service}' in {}, or it \
                 was withdrawn; jobs on other hosts see it if CATENA_NAMES is a directory that all \
                 of them share",
                names.path().display()
            )),
            Err(why) => Err(format!(
                "no job of this mpirun has published the service '{service}', and where others \
                 would have, {why}"
            )),
        }
    }

    /// A job has ended: nobody comes from there to groups of several jobs.
    pub(super) fn close_ports_to(&mut self, job: u64) {
        let names = self.ports.open.keys();
        let to = names.filter(|name| job_of_group_port(name) == Some(job));
        for port in to.cloned().collect::<Vec<_>>() {
            self.shut_port(&port, GONE);
        }
    }

    /// `waiter` comes to a port, on behalf of `group`.
    pub(super) fn meet(&mut self, port: &str, side: Side, waiter: Waiter, group: Vec<(u64, u32)>) {
        let comes = job_of_group_port(port);
        if let Some(job) = comes {
            if !self.jobs.iter().any(|of| of.job.job_id == job) {
                return self.answer_waiter(waiter.who, Err(GONE.into()), &[]);
            }
            self.open_port_of(port, None);
        }
        let Some(open) = self.ports.open.get_mut(port) else {
            if let Some(waiter) = self.go_abroad(port, side, waiter, group) {
                self.answer_waiter(waiter.who, Err(no_port(port)), &[]);
            }
            return;
        };
        let [host, guest] = [side.index(), 1 - side.index()];
        let Some(other) = open.waiting[guest].pop_front() else {
            self.ports.until = first(self.ports.until, &waiter);
            return open.waiting[host].push_back(waiter);
        };
        if self.are_strangers(&waiter, &other) {
            // Whoever is there first waits on for others.
            let (stays, comes) = match side {
                Side::Host => (waiter, other),
                Side::Guest => (other, waiter),
            };
            self.answer_waiter(comes.who, Err(THIRD.into()), &[]);
            return match side {
                Side::Host => self.meet(port, side, stays, group),
                Side::Guest => self.wait_again(port, stays),
            };
        }
        // Nobody has opened those of groups and of new jobs, and nobody closes them.
        let is_idle = |open: &Port| open.waiting.iter().all(|it| it.is_empty());
        let open = self.ports.open.get(port);
        if open.is_some_and(|open| open.owner.is_none() && is_idle(open)) {
            self.ports.open.remove(port);
        }
        for one in [&waiter, &other] {
            if let Who::Remote(launcher, _) = one.who {
                self.learn_abroad(launcher, one.cards.clone());
            }
        }
        for (to, from) in [(&waiter, &other), (&other, &waiter)] {
            self.answer_waiter(to.who, Ok(from.value.clone()), &from.jobs);
        }
        // Whoever brings nothing says that its call has failed, and so does the other one's.
        match waiter.value.is_empty() || other.value.is_empty() {
            false => self.begin_meeting(port, side, waiter, other),
            true => {
                let host = match side {
                    Side::Host => waiter.who,
                    Side::Guest => other.who,
                };
                self.give_up_new_job(port, host);
            }
        }
    }

    /// One that has accepted waits on, as the first one.
    fn wait_again(&mut self, port: &str, waiter: Waiter) {
        if let Some(open) = self.ports.open.get_mut(port) {
            self.ports.until = first(self.ports.until, &waiter);
            open.waiting[Side::Host.index()].push_front(waiter);
        }
    }

    /// Somebody waits at no port any more.
    pub(super) fn leave_ports(&mut self, who: Who) {
        for port in self.ports.open.values_mut() {
            for waiting in &mut port.waiting {
                waiting.retain(|waiter| waiter.who != who);
            }
        }
    }

    pub(super) fn answer_ticket(
        &mut self,
        kind: FrameKind,
        number: u32,
        ticket: u32,
        outcome: &Outcome,
    ) {
        self.later.push((number, frame(kind, ticket, outcome)));
        self.told.push(number);
    }

    /// Sends what was to be sent once no client is being served.
    pub(super) fn send_later(&mut self) {
        for (number, frame) in std::mem::take(&mut self.later) {
            self.send_to(number, frame);
        }
    }
}

/// When the first one loses patience, of those so far and this one.
fn first(so_far: Option<Instant>, waiter: &Waiter) -> Option<Instant> {
    let until = waiter.patience.map(|(_, until)| until);
    so_far.into_iter().chain(until).min()
}

fn frame(kind: FrameKind, ticket: u32, outcome: &Outcome) -> Arc<[u8]> {
    let mut w = Writer::new(kind);
    w.u32(ticket);
    write_outcome(&mut w, outcome);
    w.finish().into()
}

fn port_name(body: &mut Reader<'_>) -> Result<String, Malformed> {
    let port = body.text()?;
    match port.len() <= MAX_PORT {
        true => Ok(port),
        false => Err(Malformed("the name of a port is too long")),
    }
}
