//! Jobs that come and go, and other launchers: what the supervisor does where several parts have to
//! do with them.

use std::ops::Range;
use std::time::Duration;

use catena_boot::server::ports::SpawnCall;
use catena_boot::{Ended, SpawnRequest};

use super::Supervisor;
use super::control::{self, Control};
use super::elastic::{self as growth, Elastic};
use super::inquiries::{self, Progress};
use super::pending_verdicts::Verdict;
use super::spawner::Caller;
use super::timers::Task;
use crate::elastic::{self, Change};
use crate::inquiry::{self, Inquiry, UNKNOWN};
use crate::node::Node;
use crate::report::Failure;
use crate::sys;

impl Supervisor {
    /// Starts what processes have spawned.
    pub(super) fn take_spawns(&mut self) {
        let (processes, nodes) = (&mut self.processes, &mut self.nodes);
        for call in self.spawner.take_calls(processes, nodes) {
            let SpawnCall { caller, request } = call;
            let caller = Caller::Process(caller);
            if let Err(text) = self.spawn(&request, caller) {
                self.spawner.answer(caller, Err(text), &mut self.nodes);
            }
        }
    }

    /// Starts a job.
    fn spawn(&mut self, request: &SpawnRequest, caller: Caller) -> Result<(), String> {
        if self.faults.is_ending() || self.faults.has_failed() {
            return Err("the job is about to end".to_string());
        }
        let (processes, nodes) = (&mut self.processes, &mut self.nodes);
        let numbers = self.spawner.spawn(request, caller, processes, nodes)?;
        for number in numbers.clone() {
            self.output.add(number, &self.processes[number]);
        }
        self.learn();
        if self.spawner.is_spawning(numbers.start) {
            let limit = self.spawner.limit();
            let check = Task::CheckSpawn(numbers.start, limit);
            self.timers.after(limit, check);
        }
        Ok(())
    }

    /// Lets the user ask what the job does. Where that cannot be, who asks sees the ranks of this
    /// host alone.
    pub fn make_known(&mut self) {
        let poller = &self.nodes.base.poller;
        let address = inquiry::address(sys::user(), self.spawner.plan().job_id);
        let questions = address.and_then(|at| Control::open(&at, control::QUESTIONS, poller));
        self.questions = questions.ok();
    }

    /// Lets the user have the job grow and shrink. Where that cannot be, it says why.
    pub fn make_elastic(&mut self) {
        let poller = &self.nodes.base.poller;
        let address = elastic::address(sys::user(), std::process::id());
        match address.and_then(|at| Control::open(&at, control::CHANGES, poller)) {
            Ok(control) => {
                self.control = Some(control);
                self.elastic = Some(Elastic::new(self.spawner.plan()));
            }
            Err(error) => self.output.say(format_args!(
                "the job cannot grow or shrink, as catena grow could not reach it: {error}"
            )),
        }
    }

    /// Somebody asks this launcher for something.
    pub(super) fn hear_caller(&mut self, ready: u64) {
        let poller = &self.nodes.base.poller;
        if let Some(questions) = self.questions.as_mut().filter(|it| it.has(ready)) {
            match questions.hear(ready, poller) {
                None => {}
                Some(line) => match Inquiry::read(&line) {
                    Some(inquiry) => self.inquiries.begin(inquiry, &mut self.nodes),
                    None => questions.answer(Err(UNKNOWN.into()), poller),
                },
            }
            return;
        }
        let control = self.control.as_mut();
        let Some(line) = control.and_then(|it| it.hear(ready, poller)) else {
            return;
        };
        if let Some(answer) = self.serve(&line).transpose() {
            self.answer(answer);
        }
    }

    /// All nodes have told what somebody may want to know.
    pub(super) fn take_inquiry(&mut self, number: u32, answer: &[u8]) {
        let jobs = || self.spawner.job_ids().collect();
        let explain = |answer: &[u8], as_json| self.profiling.explain_now(answer, as_json);
        let inquiries = &mut self.inquiries;
        let progress = inquiries.answered(number, answer, &self.processes, jobs, explain);
        match (progress, &mut self.questions) {
            (Progress::Nothing, _) | (_, None) => {}
            (Progress::Again, _) => self.timers.after(inquiries::BETWEEN, Task::LookAgain),
            (Progress::Answer(text), Some(questions)) => {
                questions.answer(Ok(text), &self.nodes.base.poller);
            }
        }
    }

    /// Answers who has asked this launcher for something.
    fn answer(&mut self, answer: Result<String, String>) {
        if let Some(control) = &mut self.control {
            control.answer(answer, &self.nodes.base.poller);
        }
    }

    /// Does what somebody asks for; what to answer, if that is known already.
    fn serve(&mut self, line: &str) -> Result<Option<String>, String> {
        let change = Change::read(line).ok_or("write grow N or shrink N")?;
        let Some(elastic) = &mut self.elastic else {
            return Ok(None);
        };
        elastic.check(&self.processes, &self.nodes)?;
        match change {
            Change::Grow(count) => {
                let request = growth::more(self.spawner.plan(), count);
                self.spawn(&request, Caller::User)?;
                // It may have come to nothing already, and was answered then.
                if self.control.as_ref().is_some_and(Control::has_caller) {
                    self.elastic.iter_mut().for_each(Elastic::begin_to_grow);
                }
                Ok(None)
            }
            Change::Shrink(count) => elastic.shrink(count, &mut self.nodes).map(Some),
        }
    }

    /// The processes of a job that was started so that this one grows may be ready by now.
    pub(super) fn check_growth(&mut self) {
        let (processes, nodes) = (&self.processes, &mut self.nodes);
        let complete = self.spawner.check_growth(processes, nodes);
        complete.iter().for_each(|job| self.timers.forget(job));
    }

    /// What has become of a job that was started so that this one grows.
    pub(super) fn take_growth(&mut self) {
        let Some(outcome) = self.spawner.take_grown() else {
            return;
        };
        let Some(elastic) = &mut self.elastic else {
            return;
        };
        let (processes, nodes) = (&mut self.processes, &mut self.nodes);
        // The job may have come to its end while the others were starting, which nobody would meet
        // then.
        let left = elastic.has_left(processes, nodes);
        let outcome = outcome.and_then(|answer| match left {
            None => Ok((answer.job, self.spawner.numbers_of(answer.job))),
            Some(why) => {
                let job = answer.job;
                self.spawner.give_up_growth(job, &why, processes, nodes);
                Err(why)
            }
        });
        let answer = elastic.take_growth(outcome, nodes);
        self.answer(answer);
    }

    /// Does what processes want of other launchers, and tells these what there is to tell.
    pub(super) fn serve_abroad(&mut self) {
        let lost = self.remote.serve(&mut self.nodes);
        self.hear_all(lost);
    }

    /// Another launcher comes, was found, or says something.
    pub(super) fn handle_abroad(&mut self, token: u64) {
        self.remote.handle(token, &mut self.nodes);
        while let Some(verdict) = self.remote.next(&mut self.nodes) {
            self.hear_first(verdict);
        }
    }

    /// Judges each of these once all processes were heard.
    pub(super) fn hear_all(&mut self, verdicts: Vec<Verdict>) {
        for verdict in verdicts {
            self.hear_first(verdict);
        }
    }

    /// Judges once all processes were heard; at once where all of them are on this host.
    pub(super) fn hear_first(&mut self, verdict: Verdict) {
        if let Some(verdict) = self.hearing.ask(verdict, &mut self.nodes) {
            self.judge(verdict);
        }
    }

    /// Judges what waits for nobody any more.
    pub(super) fn judge_heard(&mut self) {
        while let Some(verdict) = self.hearing.take_heard() {
            self.spawner.note_end();
            self.judge(verdict);
        }
    }

    /// Judges what was heard of by all that could have had to say something about it.
    pub(super) fn judge(&mut self, verdict: Verdict) {
        let (tied, text) = match verdict {
            Verdict::Failed(failure, after) => return self.fail_now(failure, after),
            Verdict::LostLauncher(launcher, why) => {
                let lose = |node: &mut Node| node.lose_launcher(launcher, &why);
                (self.nodes.server(lose), why)
            }
            Verdict::FailedAbroad(job, text) => (self.nodes.server(|node| node.tied_to(job)), text),
        };
        let failure = self.faults.failed_abroad(&tied, &text, &self.processes);
        if let Some(failure) = failure {
            self.fail_now(failure, Duration::ZERO);
        }
    }

    /// Takes in who does not reach whom any more.
    pub(super) fn take_unreachable(&mut self) {
        let told = self.nodes.server(Node::take_unreachable);
        if !self.faults.is_tolerant() {
            return;
        }
        if let Some(patience) = self.apart.add(told, &self.processes) {
            self.timers.after(patience, Task::CheckApart);
        }
    }

    /// Gives hosts and processes up until those that are left reach each other.
    pub(super) fn check_apart(&mut self) {
        if let Some(patience) = self.apart.put_off(&self.processes) {
            return self.timers.after(patience, Task::CheckApart);
        }
        self.apart.begin(&self.processes);
        while let Some(cut) = self.apart.next(&self.processes) {
            if let Some(node) = cut.node {
                self.spawner.leave_node(node);
            }
            for number in cut.numbers {
                self.nodes.kill(number..number + 1, libc::SIGKILL);
                self.processes[number].abandoned = true;
                self.died(number, Ended::Lost);
            }
            self.faults.go_on(Failure::new(1, cut.text), true);
        }
    }

    /// Forgets spawned jobs that have ended, so that those that come and go leave nothing.
    pub(super) fn forget_ended(&mut self) {
        if !self.spawner.take_end() || self.faults.is_ending() {
            return;
        }
        for numbers in self.processes.spawned_jobs() {
            let is_awaited = self.spawner.is_spawning(numbers.start)
                || self.faults.is_about(&numbers)
                || self.hearing.is_about(&numbers);
            let mut all = self.processes.of(&numbers).iter();
            if !is_awaited
                && all.all(|process| process.is_settled())
                && self.spawner.forget(&numbers, &mut self.nodes)
            {
                self.vacate(numbers);
            }
        }
    }

    /// The numbers of a job that all nodes have forgotten are for others.
    fn vacate(&mut self, numbers: Range<u32>) {
        self.output.end_lines(numbers.clone());
        let free = numbers.clone();
        self.nodes.server(|node| node.give_numbers_back(free));
        self.timers.forget(&numbers);
        self.apart.forget(&numbers);
        self.faults.vacate(&numbers);
        self.processes.vacate(numbers);
    }
}
