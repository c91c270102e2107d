//! How the job fails, and how it is ended.
//!
//! Judges, and does nothing itself: what is to be done comes back as [`Action`]s.
//!
//! | module       | what it has                                                      |
//! |--------------|------------------------------------------------------------------|
//! | `partial`    | failures that touch some jobs, while others go on                 |
//! | `late`       | failures after MPI_Finalize                                      |
//! | `interrupts` | signals that are to end the job                                  |

#[cfg(test)]
mod tests;

use std::mem;
use std::ops::Range;
use std::time::{Duration, Instant};

use catena_abi::consts::ERR_PROC_ABORTED;
use catena_boot::{
    Ended, FAULT_STATUS, FAULT_TOLERANCE, FaultStatus, LAUNCH_GRACE, LAUNCH_TAKEOVER, OtherMpi,
};
use catena_job::{Exit, NodeCommand, Plan, setting};

use super::action::Action;
use super::interrupts::Interrupts;
use super::late::{Judged, LateFailures};
use super::nodes::Ties;
use super::partial::{Ending, Partials, Taken};
use super::process::{Process, Processes};
use super::timers::Task;

use crate::report::{self, Failure};
use crate::takeover;

/// How long the ranks may go on when one says that another is gone. The cause, which ends them at
/// once, may have to come from a busy host.
const HEARSAY: Duration = Duration::from_secs(2);

/// How long a rank may take from closing its connection without a word to
/// ending, or the others from its end to theirs. Leaving out MPI_Finalize is
/// wrong, but programs do it, and their ranks end one after the other: those of
/// the OSU latency test with threads a second apart.
const SILENT: Duration = Duration::from_secs(2);

/// After that, it is strange that a rank has ended without MPI while others
/// use it.
const STRANGE: Duration = Duration::from_secs(1);

/// After that, the user is told whom an interrupted job waits for.
const WAITING: Duration = Duration::from_secs(1);

/// What a rank of Open MPI ends the job with when a connection to another is lost
/// (its MPI_ERR_UNKNOWN).
const OPEN_MPI_LOST: i32 = 14;

/// What a rank did that used MPI to its end.
const SILENTLY: &str = "ended without MPI_Finalize (or MPI_Session_finalize)";

/// Of one that has started this launcher no more is known.
const OR_KILLED: &str = ", or was killed: the launcher that has started it knows";

/// How the job fails, and how far it is with its end.
pub struct Faults {
    /// Whether the job goes on when a rank dies.
    tolerant: bool,
    /// Whose end the status tells of then.
    fault_status: FaultStatus,
    /// How long ranks that were asked to end may take, before they are killed.
    grace: Duration,
    /// Whether programs of other MPIs are given Catena's libraries.
    takeover: bool,
    /// What to do about the next rank that has another MPI in it.
    foreign: OtherMpi,
    /// What ends the job.
    failure: Option<Failure>,
    /// What has failed without ending the job.
    fault: Option<Failure>,
    /// The first of those that is no death.
    fault_of_living: Option<Failure>,
    /// What ends some jobs, while others go on.
    partials: Partials,
    /// Those that have failed after MPI_Finalize, while others may finish.
    late: LateFailures,
    /// The first of those that have started this launcher that has left without MPI_Finalize.
    first_gone: Option<u32>,
    /// Whether ranks wait in a fence.
    fencing: bool,
    /// How many processes have died of which all others were told.
    deaths: u32,
    /// Whether the ranks were asked to end, and how many were still running then.
    ending: bool,
    ended: usize,
    interrupts: Interrupts,
}

impl Faults {
    /// Those of a job that has not failed.
    pub fn new(plan: &Plan) -> Faults {
        Faults {
            tolerant: setting(&FAULT_TOLERANCE, &plan.env),
            fault_status: setting(&FAULT_STATUS, &plan.env),
            grace: setting(&LAUNCH_GRACE, &plan.env),
            takeover: setting(&LAUNCH_TAKEOVER, &plan.env),
            foreign: plan.foreign,
            failure: None,
            fault: None,
            fault_of_living: None,
            partials: Partials::default(),
            late: LateFailures::default(),
            first_gone: None,
            fencing: false,
            deaths: 0,
            ending: false,
            ended: 0,
            interrupts: Interrupts::default(),
        }
    }

    /// Whether the job goes on when a rank dies.
    pub fn is_tolerant(&self) -> bool {
        self.tolerant
    }

    /// Whether something ends the job.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Whether the ranks were asked to end.
    pub fn is_ending(&self) -> bool {
        self.ending
    }

    /// Whether the job is to end although nobody may read what is left of its output.
    pub fn is_hurried(&self) -> bool {
        self.interrupts.is_hurried()
    }

    /// Whether a failure of a process may leave others untouched.
    pub fn may_spare(&self, failure: &Failure, processes: &Processes) -> bool {
        failure.rank.is_some() && self.failure.is_none() && processes.iter().any(|it| it.job > 0)
    }

    /// Remembers the first failure, or the cause of what was only hearsay, and
    /// has the ranks asked to end after a while: those that are connected to the one that
    /// has failed, if one has, else all.
    pub fn fail(
        &mut self,
        failure: Failure,
        after: Duration,
        processes: &mut Processes,
        ties: &mut dyn Ties,
    ) -> Vec<Action> {
        let ending = self.failure.is_some();
        let failure = match self.partials.take(failure, processes, ties, ending) {
            Taken::Known => return Vec::new(),
            Taken::New(id) if after.is_zero() => {
                return self.end_some(id, libc::SIGTERM, processes);
            }
            Taken::New(id) => return vec![Action::After(after, Task::EndSome(id, libc::SIGTERM))],
            Taken::All(failure) => failure,
        };
        let is_told = |known: &Failure| !known.hearsay || failure.hearsay || self.ending;
        if self.failure.as_ref().is_some_and(is_told) {
            return Vec::new();
        }
        self.failure = Some(failure);
        // Whoever is gone may have said how.
        self.find_cause(processes, ties);
        let is_known = self.failure.as_ref().is_some_and(|known| !known.hearsay);
        match is_known || after.is_zero() {
            true => self.end(processes, ties),
            false => vec![Action::After(after, Task::End)],
        }
    }

    /// The job goes on after a failure, of which its status tells: after a death, or something
    /// else.
    pub fn go_on(&mut self, failure: Failure, is_death: bool) {
        if !is_death {
            self.fault_of_living.get_or_insert_with(|| failure.clone());
        }
        self.fault.get_or_insert(failure);
    }

    /// Asks all ranks to end, and has them killed soon.
    pub fn end(&mut self, processes: &Processes, ties: &mut dyn Ties) -> Vec<Action> {
        if self.ending {
            return Vec::new();
        }
        self.find_cause(processes, ties);
        self.ending = true;
        let failed = self.failure.as_ref().and_then(|failure| failure.rank);
        let was_there = |(number, process): &(u32, &Process)| {
            process.running && process.pid != 0 && failed != Some(*number)
        };
        self.ended += processes.numbered().filter(was_there).count();
        let text = self.failure.as_ref().and_then(|it| it.text.clone());
        let mut actions = vec![Action::TellAbroad(0..processes.len() as u32, text)];
        if ties.has_guests() {
            // Once these have ended, their launcher may take no more output.
            let cause = self.cause_in_words(processes);
            if let Some(failure) = &mut self.failure {
                failure.text = None;
            }
            actions.extend(cause.map(Action::Say));
            actions.push(Action::Flush);
        }
        let signal = self.interrupts.signal();
        actions.push(Action::Command(NodeCommand::End { signal }));
        if signal == libc::SIGINT {
            actions.push(Action::After(WAITING, Task::MentionWait));
        }
        actions.push(Action::After(self.grace, Task::Kill));
        actions
    }

    /// Asks the processes to end that are connected to one that has failed, or kills them.
    pub fn end_some(&mut self, id: u32, signal: i32, processes: &mut Processes) -> Vec<Action> {
        let Some(Ending { numbers, failure }) = self.partials.end(id) else {
            return Vec::new();
        };
        let mut actions = Vec::new();
        if let Some(failure) = failure {
            if let Some(number) = failure.rank {
                let text = failure.text.clone();
                actions.push(Action::TellAbroad(number..number + 1, text));
            }
            let mut ended = 0;
            for number in numbers.iter().cloned().flatten() {
                let process = &mut processes[number];
                ended += usize::from(process.running && Some(number) != failure.rank);
                process.abandoned = true;
            }
            if let Some(text) = &failure.text {
                let size: usize = numbers.iter().map(|of| of.len()).sum();
                let rest = report::rest(ended, Some(size - 1));
                actions.push(Action::Say(format!("{text}{rest}")));
            }
            // It was told; only the status is left.
            self.go_on(Failure::silent(failure.status), false);
            let kill = Task::EndSome(id, libc::SIGKILL);
            actions.push(Action::After(self.grace, kill));
        }
        let signal = |numbers| Action::Command(NodeCommand::SignalJob { numbers, signal });
        actions.extend(numbers.into_iter().map(signal));
        actions
    }

    /// A signal comes that is to end the job, all of whose ranks may have ended (`finishing`). The
    /// first one is passed on to the ranks, a second one kills them.
    pub fn interrupt(&mut self, signal: i32, finishing: bool) -> Option<Action> {
        let is_second = self.interrupts.take(signal, Instant::now())?;
        if finishing {
            self.failure.get_or_insert(report::interrupted(signal));
            return is_second.then_some(Action::DropOutput);
        }
        Some(match is_second || self.ending {
            true => Action::Command(NodeCommand::Signal {
                signal: libc::SIGKILL,
                groups: true,
            }),
            false => Action::Fail(report::interrupted(signal), Duration::ZERO),
        })
    }

    /// The job has taken too long.
    pub fn time_out(&mut self, limit: Duration) -> Action {
        self.interrupts.hurry();
        Action::Fail(report::timed_out(limit), Duration::ZERO)
    }

    /// Tells the user who presses Ctrl-C whom the job still waits for.
    pub fn mention_wait(&self, processes: &Processes) -> Option<Action> {
        let running = processes.iter().filter(|p| p.running && p.pid != 0);
        let ranks = match running.count() {
            0 => return None,
            1 => "1 rank has".to_string(),
            n => format!("{n} ranks have"),
        };
        Some(Action::Say(format!(
            "{ranks} not ended yet and will be killed {} s after the interrupt \
             (CATENA_LAUNCH_GRACE); a second Ctrl-C kills at once",
            self.grace.as_secs_f64()
        )))
    }

    /// A process has ended that was neither abandoned nor being spawned; `unread` says that nobody
    /// reads the job's output.
    pub fn ended(
        &mut self,
        number: u32,
        exit: Exit,
        processes: &Processes,
        unread: bool,
    ) -> Vec<Action> {
        let process = &processes[number];
        let (joined, finalized) = (process.joined.is_some(), process.finalized);
        match exit {
            Exit::Code(0) if finalized => Vec::new(),
            Exit::Code(0) if joined => vec![Action::After(SILENT, Task::CheckSilent(number))],
            Exit::Code(0) => {
                let strange = Action::After(STRANGE, Task::CheckStrange(number));
                let waiting = self.check_fence(processes);
                [strange].into_iter().chain(waiting).collect()
            }
            // It has said more than its status does.
            _ if process.aborted || process.unstarted => Vec::new(),
            Exit::Signal(libc::SIGPIPE) if unread => {
                let failure = Failure::silent(128 + libc::SIGPIPE);
                vec![Action::Fail(failure, Duration::ZERO)]
            }
            _ => {
                let failure = report::ended(&process.who(), exit).of(number);
                let mut actions = vec![Action::Died(number, exit.into())];
                // Where nobody uses MPI, nobody waits for it.
                let is_missed = || processes.iter().any(|p| p.joined.is_some());
                match (self.tolerant && (joined || !is_missed()), finalized) {
                    (true, _) => self.go_on(failure, !finalized),
                    // Others can finish without it.
                    (false, true) => self.late.add(number, failure),
                    (false, false) => actions.push(Action::Fail(failure, Duration::ZERO)),
                }
                actions
            }
        }
    }

    /// Nodes that had these processes of the first job, or none any more, are lost.
    pub fn lost(&mut self, failure: Failure) -> Option<Action> {
        match self.tolerant {
            true => {
                self.go_on(failure, true);
                None
            }
            false => Some(Action::Fail(failure, Duration::ZERO)),
        }
    }

    /// A rank wants the job to end, as `failure` says, with this code.
    pub fn aborted(&self, failure: Failure, code: i32) -> Action {
        // It may see that another has died before the system tells so here.
        match [ERR_PROC_ABORTED, OPEN_MPI_LOST].contains(&code) {
            true => Action::Fail(failure.hearsay(), HEARSAY),
            false => Action::Fail(failure, Duration::ZERO),
        }
    }

    /// A rank has the library of another MPI in it, which could have found its place by PMIx if it
    /// is `served`.
    pub fn foreign(
        &mut self,
        number: u32,
        library: &str,
        served: bool,
        processes: &Processes,
    ) -> Option<Action> {
        let program = &processes[number].app.program;
        let own = takeover::in_place_of(library);
        let ranks = processes.len();
        let text = report::foreign(
            &program.to_string_lossy(),
            library,
            own.as_deref(),
            self.takeover,
            served,
            ranks,
        );
        // Once for all ranks.
        match mem::replace(&mut self.foreign, OtherMpi::Allow) {
            OtherMpi::Stop => Some(Action::Fail(Failure::new(1, text), Duration::ZERO)),
            OtherMpi::Warn => Some(Action::Say(text)),
            OtherMpi::Allow => None,
        }
    }

    /// A rank sent nonsense to the server.
    pub fn broken(&self, number: u32, cause: &str, processes: &Processes) -> Action {
        let text = format!(
            "{} sent what mpirun cannot read ({cause}); use the mpirun that belongs to its library",
            processes[number].who()
        );
        Action::Fail(Failure::new(1, text).of(number), Duration::ZERO)
    }

    /// One of those that have started this launcher has closed its connection.
    pub fn guest_left(&mut self, number: u32, processes: &Processes) {
        let process = &processes[number];
        if !process.finalized && !process.aborted {
            // Its launcher ends the others for it.
            self.first_gone.get_or_insert(number);
        }
    }

    /// A child of this launcher has closed its connection.
    pub fn left(&self, number: u32, processes: &Processes) -> Option<Action> {
        let process = &processes[number];
        let is_awaited = !process.finalized && !process.abandoned;
        is_awaited.then_some(Action::After(SILENT, Task::CheckSilent(number)))
    }

    /// A rank has left without MPI_Finalize some time ago.
    pub fn check_silent(
        &mut self,
        number: u32,
        processes: &mut Processes,
        ties: &dyn Ties,
    ) -> Option<Action> {
        if self.failure.is_some() || !processes.any_running() {
            return None;
        }
        let failure = self.silent(number, processes, ties);
        match (self.tolerant, processes[number].exit) {
            (false, _) | (true, None) => Some(Action::Fail(failure, Duration::ZERO)),
            (true, Some(Exit::Code(0))) => {
                processes[number].abandoned = true;
                self.go_on(failure, true);
                Some(Action::Died(number, Ended::Code(0)))
            }
            // Its death was told.
            (true, Some(_)) => None,
        }
    }

    /// A rank has ended without MPI_Init some time ago.
    pub fn check_strange(&self, number: u32, processes: &Processes) -> Option<Action> {
        let is_waiting = |p: &Process| p.running && p.joined.is_some() && !p.finalized;
        let other = processes.iter().position(is_waiting)?;
        self.failure.is_none().then(|| {
            Action::Say(format!(
                "{} has ended without MPI_Init, while rank {other} uses MPI and may wait for it \
                 for ever",
                processes[number].who()
            ))
        })
    }

    /// Ranks wait in a fence, or do so no longer.
    pub fn set_fencing(&mut self, fencing: bool) {
        self.fencing = fencing;
    }

    /// Ranks that wait in a fence for one that has ended wait for ever.
    pub fn check_fence(&self, processes: &Processes) -> Option<Action> {
        let is_gone = |p: &Process| p.job == 0 && p.exit.is_some() && p.joined.is_none();
        let mut all = processes.numbered();
        let (number, gone) = all.find(|(_, p)| self.fencing && is_gone(p))?;
        let text = format!(
            "{} ended without MPI_Init, and others wait for it",
            gone.who()
        );
        Some(Action::Fail(
            Failure::new(1, text).of(number),
            Duration::ZERO,
        ))
    }

    /// Judges those that may be waited for in vain, although they have failed after MPI_Finalize;
    /// and says when next. None if there are no such.
    pub fn judge_late(
        &mut self,
        processes: &Processes,
        ties: &mut dyn Ties,
    ) -> Option<(Vec<Judged>, Option<Instant>)> {
        match self.late.is_empty() {
            true => None,
            false => Some(self.late.judge(processes, ties, Instant::now())),
        }
    }

    /// One more process has died: what all are told.
    pub fn died(&mut self, number: u32, how: Ended) -> NodeCommand {
        self.deaths += 1;
        NodeCommand::Died {
            rank: number,
            epoch: self.deaths,
            how,
        }
    }

    /// Jobs of another launcher to which these processes are connected have failed.
    pub fn failed_abroad(
        &self,
        tied: &[u32],
        text: &str,
        processes: &Processes,
    ) -> Option<Failure> {
        let &first = tied.first()?;
        if self.tolerant || self.ending {
            return None;
        }
        let text = format!(
            "a job of another mpirun has failed, to which {} is connected: {text}",
            processes[first].who()
        );
        Some(Failure::new(1, text).of(first))
    }

    /// Whether a failure still is about one of these processes, and may end others.
    pub fn is_about(&self, numbers: &Range<u32>) -> bool {
        self.partials.will_end(numbers.start) || self.late.has(numbers)
    }

    /// Nobody has these numbers any more.
    pub fn vacate(&mut self, numbers: &Range<u32>) {
        self.partials.vacate(numbers);
    }

    /// Who is said to be gone may have left without MPI_Finalize: the others
    /// notice that first. Or it has failed after MPI_Finalize.
    pub fn find_cause(&mut self, processes: &Processes, ties: &mut dyn Ties) {
        let by = self.failure.as_ref().filter(|known| known.hearsay);
        if !self.ending
            && let Some(by) = by.map(|known| known.rank)
        {
            let gone = self.who_is_gone(by, processes, ties);
            let silent = gone.map(|number| self.silent(number, processes, ties));
            self.failure = silent.or(self.late.first()).or(self.failure.take());
        }
    }

    /// The process that has left without MPI_Finalize, as far as it can be told when `by` says that
    /// somebody is gone. Among the processes that have started this launcher it is the first one
    /// that left, because their own launcher ends the others for it.
    fn who_is_gone(
        &self,
        by: Option<u32>,
        processes: &Processes,
        ties: &mut dyn Ties,
    ) -> Option<u32> {
        let guest = self.first_gone.filter(|guest| {
            let circle = ties.connected_to(*guest);
            by.is_some_and(|by| circle.iter().any(|of| of.contains(&by)))
        });
        let is_silent = |(number, p): &(u32, &Process)| {
            let left = p.exit == Some(Exit::Code(0)) && p.joined.is_some() && !p.finalized;
            left && !p.aborted && (p.job > 0 || guest.is_none() || guest == Some(*number))
        };
        let found = processes.numbered().find(is_silent);
        found.map(|(number, _)| number)
    }

    /// The fault of a rank that left without MPI_Finalize.
    fn silent(&self, number: u32, processes: &Processes, ties: &dyn Ties) -> Failure {
        let how = match ties.is_guest(number) {
            true => OR_KILLED,
            false => "",
        };
        let text = format!("{} {SILENTLY}{how}", processes[number].who());
        Failure::new(1, text).of(number)
    }

    /// What the job has failed by, if it has.
    pub fn cause(&self) -> Option<&Failure> {
        self.failure.as_ref().or(match self.fault_status {
            FaultStatus::First => self.fault.as_ref(),
            FaultStatus::Survivors => self.fault_of_living.as_ref().or(self.fault.as_ref()),
        })
    }

    /// Why the job fails, and what became of the others.
    pub fn cause_in_words(&self, processes: &Processes) -> Option<String> {
        let failure = self.cause()?;
        let others = failure.rank.map(|_| processes.len() - 1);
        let rest = report::rest(self.ended, others);
        failure.text.as_ref().map(|text| format!("{text}{rest}"))
    }

    /// What ends the job, in words, without what became of the others.
    pub fn failure_in_words(&self) -> Option<&str> {
        self.failure.as_ref()?.text.as_deref()
    }

    /// What is said of a job that is over, and has done no harm by leaving MPI_Finalize out.
    pub fn mention_silent(&self, processes: &Processes) -> Option<String> {
        if let Some(first) = self.first_gone {
            let who = processes[first].who();
            return Some(format!("{who} {SILENTLY}{OR_KILLED}"));
        }
        let is_silent = |p: &&Process| p.joined.is_some() && !p.finalized && !p.abandoned;
        let process = processes.iter().find(is_silent)?;
        Some(format!("{} {SILENTLY}", process.who()))
    }

    /// Output of the job was lost, which the user was told.
    pub fn output_was_lost(&mut self) {
        self.failure.get_or_insert(Failure::silent(1));
    }

    /// Whether nothing was at fault but those that have died, and that does not count as some are
    /// left that have ended well.
    pub fn is_survived(&self, processes: &Processes) -> bool {
        let well = |process: &Process| process.exit == Some(Exit::Code(0));
        self.fault_status == FaultStatus::Survivors
            && self.fault_of_living.is_none()
            && processes.iter().any(well)
    }

    /// What the launcher ends with, where `survived` says as much as [`Faults::is_survived`], and
    /// `fault` is the status of what had failed by then.
    pub fn status(&self, survived: bool, fault: Option<i32>) -> i32 {
        match (fault, &self.failure) {
            (_, Some(failure)) => failure.status,
            (Some(_), None) if survived => 0,
            (status, None) => status.unwrap_or(0),
        }
    }
}
