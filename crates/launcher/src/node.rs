//! The ranks of one node: starts them, serves them, reads what they write, and
//! ends them. A [`NodeEvent`] tells what happens, and a [`NodeCommand`] what shall be done.
//!
//! Every rank leads a process group, so its children end with it. A rank that
//! has ended stays a zombie until its job is over: its number, which is that
//! of its group, cannot be used by somebody else meanwhile.

mod counts;
mod family;
mod findings;
mod heir;
mod heirs;
mod place_names;
mod profile;
mod recorder;
mod spawn;
mod start;
mod timeline;
pub mod token;
mod traces;
mod waits;

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use catena_boot::server::{Event, Server};
use catena_boot::{Interest, Poller};
use catena_job::{Exit, NodeCommand, NodeEvent, Question, WINDOW};
use catena_shm::Notifier;

use crate::foreign::{Stage, Users, Watch};
use crate::pmix::{self, Pmix};
use crate::stdin::{Feed, Taken};
use crate::sys::{self, Guard};
use family::Orphans;
use heir::Heir;
use recorder::Recorder;

pub use findings::MISSED;
pub use start::{Input, SPARE_FILES};
pub(crate) use start::{choose, find, own_names, variables};

/// How often ranks are looked at that go on without their first process: the parent of such a rank
/// may be another process, so nobody tells of its end.
const LOOK_PERIOD: Duration = Duration::from_millis(250);

/// One rank.
struct Local {
    rank: u32,
    pid: i32,
    /// How that process has ended, and when that was seen. The rank may go on without it: see
    /// `heirs`.
    first_exit: Option<(Exit, Instant)>,
    /// The process that has called MPI_Init, if it is another one.
    joined: Option<Heir>,
    /// How a process of the rank has failed that was an orphan.
    orphan_exit: Option<Exit>,
    /// Whether one has.
    is_known: bool,
    running: bool,
    /// Whether it wanted the end, and so may take its time to end.
    aborted: bool,
    /// Its stdout and stderr, until their ends were seen.
    pipes: [Option<PipeReader>; 2],
}

impl Local {
    /// Lets go of a process that has ended.
    fn bury(self) {
        sys::reap(self.pid);
        sweep(self.pid as u32);
        let joined = self.joined.iter();
        joined.for_each(|joined| sweep(joined.pid() as u32));
    }
}

/// The ranks of this node.
pub struct Node {
    number: u32,
    server: Server,
    /// What serves programs of Open MPI, if there are any.
    pmix: Option<Pmix>,
    /// In the order in which they were started; a place is free once the job that had it is
    /// forgotten.
    processes: Vec<Option<Local>>,
    /// Where the first job's processes have started this launcher, and are no children of it: the
    /// process of each rank, once that has connected and as long as it stays.
    guests: Vec<Option<u32>>,
    /// Looks for other MPIs in ranks, until one was found.
    watch: Option<Watch>,
    /// When to look at ranks that go on without their first process, if there are any.
    next_look: Option<Instant>,
    orphans: Orphans,
    users: Users,
    /// Guards processes that have left the groups of their ranks.
    guard: Guard,
    /// Where processes report that they could not execute their program; the
    /// other end stays open, as a pipe without one is always ready.
    failures: (PipeReader, PipeWriter),
    /// Standard input of the ranks that read it, if they do not inherit it.
    feeds: Vec<Feed>,
    /// How much of it was told to have been taken, bytes.
    fed: Taken,
    /// Bytes of each kind of stream that nobody has taken yet.
    untaken: [usize; 2],
    /// Whether the streams wait for that.
    paused: [bool; 2],
    finishing: bool,
    done: bool,
    /// What wakes the processes of each job, by their numbers.
    notifiers: Vec<(Range<u32>, Notifier)>,
    /// Where the processes of each job tell what they do.
    traces: Vec<(Range<u32>, File)>,
    /// What checked mode has found in jobs that are forgotten, as it is told.
    found: Vec<u8>,
    /// What the ranks of jobs that are forgotten have counted, as it is told.
    counted: Vec<u8>,
    /// The number of the last question for what the library has counted; 0 if nobody has asked.
    counts_asked: u32,
    /// What takes the calls of ranks one by one, once somebody has asked for them.
    recorder: Option<Recorder>,
    /// Spawned jobs that are to be forgotten here.
    forgetting: Vec<Range<u32>>,
}

impl Node {
    /// Its number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Whether all ranks have ended, and all that they wrote was told.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Handles a token that the poller gave.
    pub fn handle(&mut self, token: u64, poller: &Poller, events: &mut Vec<NodeEvent>) {
        match token {
            token::SERVER => self.serve(events),
            token::FAILURES => self.take_failures(events),
            token::PMIX => self.serve_pmix(events),
            feed if feed >= token::FEED => self.feed(poller, events),
            stream => {
                self.read((stream / 2) as usize, (stream % 2) as usize, poller, events);
            }
        }
    }

    /// Does what was ordered.
    pub fn obey(&mut self, command: &NodeCommand, poller: &Poller, events: &mut Vec<NodeEvent>) {
        match command {
            NodeCommand::EndFence(parts) => {
                self.server.end_fence(parts);
                self.tell_pmix(command.encode());
            }
            NodeCommand::End { signal } => self.end(*signal),
            NodeCommand::Signal { signal, groups } => self.signal(*signal, *groups),
            NodeCommand::Stdin(bytes) => {
                let bytes: Arc<[u8]> = bytes.as_slice().into();
                self.feeds.iter_mut().for_each(|feed| feed.push(&bytes));
                self.feed(poller, events);
            }
            NodeCommand::Unwanted { which } => {
                for process in self.processes.iter_mut().flatten() {
                    // Which the rank shall learn.
                    process.pipes[*which] = None;
                }
            }
            NodeCommand::Taken { which, bytes, .. } => {
                self.taken(*which, *bytes as usize, poller, events)
            }
            NodeCommand::Pass(told) => self.exchange(told, events),
            NodeCommand::Died { rank, epoch, how } => {
                let ended = self.server.died(*rank, *epoch, *how);
                events.extend(ended.map(NodeEvent::Said));
                self.notify();
            }
            NodeCommand::Finish => self.finish(poller, events),
            NodeCommand::EndJobFence { first, parts } => self.server.end_fence_of(*first, parts),
            NodeCommand::SignalJob { numbers, signal } => self.signal_job(numbers, *signal),
            NodeCommand::Survey { number, question } => self.answer(*number, *question, events),
            NodeCommand::ForgetJob { numbers } => self.forget_later(numbers.clone()),
            // That takes more than a node has: see `start_job`.
            NodeCommand::StartJob(_) => {}
        }
    }

    /// Answers a question that all nodes are asked.
    fn answer(&mut self, number: u32, question: Question, events: &mut Vec<NodeEvent>) {
        let answer = match question {
            Question::Hear => {
                self.serve(events);
                Vec::new()
            }
            Question::Waits => self.waits(false),
            Question::WaitsInFull => self.waits(true),
            Question::Traces => self.traces(),
            Question::Findings => self.findings(),
            Question::Profile => self.profile(),
            Question::Count => {
                self.ask_for_counts();
                Vec::new()
            }
            Question::Counted => self.counts(),
            Question::Timeline => self.timeline(false),
            Question::EndOfTimeline => self.timeline(true),
            Question::Glances => self.glances(),
        };
        events.push(NodeEvent::Surveyed { number, answer });
    }

    /// Some children may have ended.
    pub fn children(&mut self, events: &mut Vec<NodeEvent>) {
        // Whether a process is known counts for when its rank has ended.
        self.hear(events);
        self.bury_orphans();
        let mut ended = Vec::new();
        let mut asks = false;
        for process in self.processes.iter_mut().flatten().filter(|p| p.running) {
            asks |= process.look_at_first();
        }
        let family = asks.then(|| self.family());
        let family = family.map_or(Some(Vec::new()), |family| family);
        for process in self.processes.iter_mut().flatten().filter(|p| p.running) {
            if let Some(exit) = process.exit(family.as_deref(), &mut self.users) {
                process.running = false;
                ended.push((process.rank, process.pid, exit));
            }
        }
        if !ended.is_empty() {
            // They may have said something since, before they ended: that comes first.
            self.hear(events);
        }
        for (rank, pid, exit) in ended {
            if self.process(rank).is_some_and(|process| !process.is_known) {
                self.tell_starting(rank, pid, events);
            }
            events.push(NodeEvent::Ended { rank, exit });
        }
        let mut all = self.processes.iter().flatten();
        let is_any = all.any(Local::is_orphaned);
        self.next_look = is_any.then(|| Instant::now() + LOOK_PERIOD);
    }

    /// When to call [`Node::tick`] next.
    pub fn next_time(&self) -> Option<Instant> {
        let unknown = |p: &Local| p.running && !p.is_known;
        let waiting = self.processes.iter().flatten().any(unknown);
        let watch = self.watch.as_ref().filter(|_| waiting);
        let watch = watch.map(Watch::next_time);
        let others = [self.server.next_time(), self.next_look];
        watch.into_iter().chain(others.into_iter().flatten()).min()
    }

    /// Looks at ranks that have not called MPI_Init or go on without their first process, and at
    /// those that wait at ports, if it is time.
    pub fn tick(&mut self, events: &mut Vec<NodeEvent>) {
        let now = Instant::now();
        if self.next_look.is_some_and(|at| at <= now) {
            self.children(events);
        }
        if self.server.next_time().is_some_and(|at| at <= now) {
            self.server.expire(now);
            self.notify();
        }
        let Some(mut watch) = self.watch.take_if(|watch| watch.is_due(now)) else {
            return;
        };
        watch.begin();
        let all = self.processes.iter().flatten();
        let mut unknown = all.filter(|p| p.running && !p.is_known);
        let found = unknown.find_map(|process| {
            let (library, stage) = watch.look(process.pid as u32)?;
            // Those that are served ask in time, or end their MPI_Init without.
            let served = self.serves(&library);
            (!served || stage == Stage::Alone).then_some((process.rank, library, served))
        });
        // What a process has asked meanwhile was told before it went on.
        self.serve(events);
        self.serve_pmix(events);
        let found = found.filter(|(rank, ..)| self.process(*rank).is_some_and(|p| !p.is_known));
        if let Some((rank, library, served)) = found {
            let library = library.display().to_string();
            return events.push(NodeEvent::Foreign {
                rank,
                library,
                served,
            });
        }
        watch.has_looked(now, Instant::now());
        self.watch = Some(watch);
    }

    /// Whether programs with this library are served by PMIx here.
    fn serves(&self, library: &Path) -> bool {
        self.pmix.is_some() && pmix::serves(library)
    }

    /// Tells of the library of another MPI in whose MPI_Init the rank was seen, which has ended
    /// without having asked for its place: it has failed, or run alone.
    fn tell_starting(&mut self, rank: u32, pid: i32, events: &mut Vec<NodeEvent>) {
        let watch = self.watch.as_ref();
        let library = watch.and_then(|watch| watch.starting(pid as u32)).cloned();
        if let Some(library) = library {
            self.watch = None;
            let served = self.serves(&library);
            let library = library.display().to_string();
            events.push(NodeEvent::Foreign {
                rank,
                library,
                served,
            });
        }
    }

    /// Kills all ranks with their children, and forgets them.
    pub fn destroy(&mut self) {
        self.signal(libc::SIGKILL, true);
        self.processes.drain(..).flatten().for_each(Local::bury);
        self.pmix = None;
    }

    /// Takes in all that processes here have said, in whichever way.
    fn hear(&mut self, events: &mut Vec<NodeEvent>) {
        self.serve(events);
        self.serve_pmix(events);
        self.take_failures(events);
    }

    /// Takes in what processes here have said to the server.
    pub fn serve(&mut self, events: &mut Vec<NodeEvent>) {
        for event in self.server.step() {
            match event {
                // It is about to end by itself.
                Event::Abort { rank, .. } if self.is_guest(rank) => {
                    self.guests[rank as usize] = None;
                }
                Event::Abort { rank, .. } => {
                    self.process(rank)
                        .into_iter()
                        .for_each(|p| p.aborted = true);
                }
                Event::Joined { rank, pid } if self.is_guest(rank) => {
                    self.guests[rank as usize] = Some(pid);
                }
                Event::Left { rank, .. } if self.is_guest(rank) => {
                    self.guests[rank as usize] = None;
                }
                Event::Joined { rank, pid } => {
                    if let Some(process) = self.process(rank) {
                        process.is_known = true;
                        let (first, pid) = (process.pid, pid as i32);
                        if first != pid {
                            process.joined = Some(Heir::new(pid, first));
                            if !sys::is_in_group(pid, first) {
                                self.guard.watch_process(pid);
                            }
                        }
                    }
                }
                _ => {}
            }
            events.push(NodeEvent::Said(event));
        }
        self.notify();
    }

    /// Wakes the processes that the server has told what they had not asked for just now.
    fn notify(&mut self) {
        for number in self.server.take_told() {
            self.wake(number);
        }
    }

    /// Has a process look at what it was told. One that cannot be woken hears of it when it looks.
    fn wake(&mut self, number: u32) {
        if !self.notifiers.iter().any(|(of, _)| of.contains(&number)) {
            let Ok(Some((segment, numbers))) = self.server.segment_of(number) else {
                return;
            };
            if let Ok(notifier) = Notifier::open(segment, numbers.len() as u32) {
                if !self.server.is_branch() {
                    notifier.heed_parting();
                }
                self.notifiers.push((numbers, notifier));
            }
        }
        let notifier = self.notifiers.iter().find(|(of, _)| of.contains(&number));
        if let (Some((_, notifier)), Some(at)) = (notifier, self.server.local_number(number)) {
            notifier.notify(at);
        }
    }

    /// Takes in which jobs the processes here have parted from, as far as they have not said so by
    /// messages.
    fn hear_of_parting(&mut self) {
        for (numbers, notifier) in &self.notifiers {
            for number in numbers.clone() {
                let here = self.server.is_here(number);
                let at = self.server.local_number(number).filter(|_| here);
                let parted = at.into_iter().flat_map(|at| notifier.parted(at));
                parted.for_each(|job| self.server.leave_job(number, job));
            }
        }
    }

    fn process(&mut self, rank: u32) -> Option<&mut Local> {
        self.processes.iter_mut().flatten().find(|p| p.rank == rank)
    }

    /// Takes in what the PMIx server says.
    fn serve_pmix(&mut self, events: &mut Vec<NodeEvent>) {
        let Some(pmix) = &mut self.pmix else { return };
        let Ok(told) = pmix.hear() else {
            let text = pmix.explain();
            self.pmix = None;
            return events.push(NodeEvent::Failed { status: 1, text });
        };
        for mut told in told {
            match &mut told {
                // It does not know which process it is.
                NodeEvent::Said(Event::Joined { rank, pid }) => {
                    if let Some(process) = self.process(*rank) {
                        process.is_known = true;
                        *pid = process.pid as u32;
                    }
                }
                NodeEvent::Said(Event::Abort { rank, .. }) => {
                    self.process(*rank)
                        .into_iter()
                        .for_each(|p| p.aborted = true);
                }
                _ => {}
            }
            events.push(told);
        }
    }

    fn tell_pmix(&mut self, frame: Vec<u8>) {
        if let Some(pmix) = &mut self.pmix {
            pmix.tell(frame);
        }
    }

    /// Sends what waits.
    pub fn flush(&mut self, poller: &Poller) {
        if let Some(pmix) = &mut self.pmix {
            pmix.flush(poller);
        }
    }

    fn take_failures(&mut self, events: &mut Vec<NodeEvent>) {
        while let Some((rank, stage, error)) = sys::read_failure(&self.failures.0) {
            let error = error.raw_os_error().unwrap_or_default();
            events.push(NodeEvent::NotStarted { rank, stage, error });
        }
    }

    /// Asks all ranks to end, by a signal.
    fn end(&self, signal: i32) {
        // One that aborts is about to end, and writes its output first.
        self.signal_ranks(signal, |p| !p.aborted);
        // So that one that is stopped gets to know.
        self.signal_ranks(libc::SIGCONT, |p| !p.aborted);
        self.signal_guests(signal);
    }

    /// Sends a signal to the processes that have started this launcher, and lets go of those that
    /// have aborted.
    fn signal_guests(&self, signal: i32) {
        for (number, pid) in (0..).zip(&self.guests) {
            match pid {
                Some(pid) => sys::kill(*pid as i32, signal),
                None => self.server.dismiss(number),
            }
        }
    }

    fn signal(&self, signal: i32, groups: bool) {
        self.signal_guests(signal);
        if groups {
            return self.signal_ranks(signal, |_| true);
        }
        let processes = self.processes.iter().flatten();
        processes
            .filter(|it| it.running)
            .for_each(|it| it.signal_alone(signal));
    }

    /// Sends a signal to all processes of some ranks.
    fn signal_ranks(&self, signal: i32, are_meant: impl Fn(&Local) -> bool) {
        let meant = self.processes.iter().flatten().filter(|it| are_meant(it));
        let meant: Vec<i32> = meant.map(|it| it.pid).collect();
        meant.iter().for_each(|&pid| sys::kill_group(pid, signal));
        self.signal_far(signal, |first| meant.contains(&first));
    }

    /// Takes in what another node has for this one.
    pub fn exchange(&mut self, told: &NodeEvent, events: &mut Vec<NodeEvent>) {
        match told {
            NodeEvent::Said(Event::Ask { node, rank, key }) => {
                events.extend(self.server.ask(*node, *rank, key).map(NodeEvent::Said));
            }
            NodeEvent::Said(Event::Answer {
                rank, key, value, ..
            }) => {
                let answers = self.server.answer(*rank, key, value);
                events.extend(answers.into_iter().map(NodeEvent::Said));
            }
            NodeEvent::Said(Event::Tell { rank, frame }) => {
                self.server.pass_on(*rank, frame.clone());
                self.notify();
            }
            NodeEvent::ServerMessage { .. } => self.tell_pmix(told.encode()),
            _ => {}
        }
    }

    /// Passes standard input on, and tells how much of it all ranks that read it have taken.
    fn feed(&mut self, poller: &Poller, events: &mut Vec<NodeEvent>) {
        self.feeds.iter_mut().for_each(|feed| feed.write(poller));
        let open = self.feeds.iter().filter(|feed| !feed.is_closed());
        let taken = open.map(Feed::taken);
        let range = taken.fold(None, |range: Option<(u64, u64)>, taken| {
            let (least, most) = range.unwrap_or((taken, taken));
            Some((least.min(taken), most.max(taken)))
        });
        let (slowest, fastest) = range.unwrap_or_default();
        // The fastest one may have gone meanwhile.
        let told = self.fed;
        self.fed = Taken {
            slowest: told.slowest.max(slowest),
            fastest: told.fastest.max(fastest),
        };
        // No more than what is passed on at once, and so it fits.
        let slowest = (self.fed.slowest - told.slowest) as u32;
        let fastest = (self.fed.fastest - told.fastest) as u32;
        let (node, more) = (self.number, range.is_some());
        if slowest > 0 || fastest > 0 || !more && !self.feeds.is_empty() {
            events.push(NodeEvent::Fed {
                node,
                slowest,
                fastest,
                more,
            });
        }
    }

    /// Reads what a rank wrote. Gives whether there may be more.
    fn read(
        &mut self,
        at: usize,
        which: usize,
        poller: &Poller,
        events: &mut Vec<NodeEvent>,
    ) -> bool {
        let Some(Some(process)) = self.processes.get_mut(at) else {
            return false;
        };
        let Some(pipe) = &process.pipes[which] else {
            return false;
        };
        let mut buffer = [0; 64 << 10];
        let n = match sys::read(pipe, &mut buffer) {
            Ok(n) => n,
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => return false,
                _ => 0,
            },
        };
        events.push(NodeEvent::Output {
            rank: process.rank,
            which,
            bytes: buffer[..n].to_vec(),
        });
        if n == 0 {
            if !self.paused[which] {
                let _ = poller.remove(pipe);
            }
            process.pipes[which] = None;
            return false;
        }
        self.untaken[which] += n;
        if self.untaken[which] > WINDOW && !self.paused[which] {
            self.pause(which, true, poller);
        }
        true
    }

    fn pause(&mut self, which: usize, paused: bool, poller: &Poller) {
        self.paused[which] = paused;
        for (at, process) in (0u64..).zip(&self.processes) {
            let Some(pipe) = process.as_ref().and_then(|it| it.pipes[which].as_ref()) else {
                continue;
            };
            let _ = match paused {
                true => poller.remove(pipe),
                false => poller.add(pipe, at * 2 + which as u64, Interest::Read),
            };
        }
    }

    fn taken(&mut self, which: usize, bytes: usize, poller: &Poller, events: &mut Vec<NodeEvent>) {
        self.untaken[which] = self.untaken[which].saturating_sub(bytes);
        if self.paused[which] && self.untaken[which] <= WINDOW {
            self.pause(which, false, poller);
        }
        if self.finishing {
            self.drain(poller, events);
        }
    }

    /// All ranks of the job have ended: takes what is left of their output and
    /// of their children.
    fn finish(&mut self, poller: &Poller, events: &mut Vec<NodeEvent>) {
        self.signal(libc::SIGKILL, true);
        self.finishing = true;
        self.drain(poller, events);
    }

    /// Reads all that is there, as far as somebody takes it.
    fn drain(&mut self, poller: &Poller, events: &mut Vec<NodeEvent>) {
        for which in 0..2 {
            for at in 0..self.processes.len() {
                while !self.paused[which] && self.read(at, which, poller, events) {}
            }
        }
        if !self.done && self.paused == [false; 2] {
            self.done = true;
            self.destroy();
            events.push(NodeEvent::Done { node: self.number });
        }
    }
}

/// Removes what a process that was killed has left in memory: libfabric's
/// provider for shared memory has files there that are named by process, user
/// and number.
fn sweep(pid: u32) {
    let path = |number| format!("/dev/shm/{pid}:{}:{number}", sys::user());
    let gone = |&number: &u32| std::fs::remove_file(path(number)).is_ok();
    (0..).take_while(gone).for_each(drop);
}
