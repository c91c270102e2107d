//! Which jobs are connected (MPI-5, chapter 11.10.4), and the end of jobs that processes had
//! spawned.
//!
//! A process is tied to a job that it has learnt of: connected to it until it says that it has
//! parted, and told when the job has ended, as it may have its memory attached even then. Two jobs
//! are connected until all processes of one of them that were tied to the other have parted from
//! it: the other ones may be slower, and lose nothing any more. The end of a process touches the
//! jobs that its own is connected to, by whichever of their processes and over however many jobs;
//! and no others.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::Server;
use super::served::{Member, Served};
use super::tables::Tie;
use crate::wire::{FrameKind, Writer};

impl Server {
    /// The jobs that are connected to that of the process with this number, which is the
    /// first of them, as their numbers. Empty if there is no such process.
    pub fn connected_to(&self, number: u32) -> Vec<Range<u32>> {
        let numbers = |job: u64| {
            let of = self.jobs.iter().find(|of| of.job.job_id == job)?;
            Some(of.numbers())
        };
        let circle = self.circle_of(number).into_iter();
        circle.filter_map(numbers).collect()
    }

    /// The jobs that are connected to that of the process with this number, also those of other
    /// launchers; its own is the first.
    pub(super) fn circle_of(&self, number: u32) -> Vec<u64> {
        let Some(own) = self.job_of(number) else {
            return Vec::new();
        };
        let job_of = |number| self.job_of(number).map(|of| of.job.job_id);
        let ties = self.ties.0.iter();
        let ties = ties.filter_map(|((number, to), tie)| Some(((job_of(*number)?, *to), *tie)));
        // Of each job to each other one: whether some process has not parted.
        let mut holds: BTreeMap<(u64, u64), bool> = BTreeMap::new();
        for (pair, tie) in ties {
            *holds.entry(pair).or_default() |= tie != Tie::Parted;
        }
        let has_parted = |from, to| {
            self.remote.has_parted(from, to) || holds.get(&(from, to)).is_some_and(|holds| !holds)
        };
        let ties = holds.iter().filter(|(_, holds)| **holds);
        let ties = ties.map(|(pair, _)| *pair);
        let ties = ties.filter(|&(from, to)| !has_parted(to, from));
        let ties: Vec<(u64, u64)> = ties
            .filter(|&(from, to)| !self.meetings.are_strangers(from, to))
            .collect();
        let mut circle = vec![own.job.job_id];
        let mut at = 0;
        while let Some(&job) = circle.get(at) {
            for &(a, b) in &ties {
                for (from, to) in [(a, b), (b, a)] {
                    if from == job && !circle.contains(&to) {
                        circle.push(to);
                    }
                }
            }
            at += 1;
        }
        circle
    }

    /// The members of a group, by their numbers, have met another one: each will learn of the jobs
    /// of that.
    pub(super) fn expect_all(&mut self, group: &[u32], jobs: &[u64]) {
        for &number in group {
            let own = self.job_of(number).map(|of| of.job.job_id);
            for &job in jobs.iter().filter(|&&job| Some(job) != own) {
                self.ties.expect(number, job);
                self.remote.meet_again(job, own.unwrap_or_default());
            }
        }
    }

    /// A process has parted from a job. The launcher of a job abroad is told if it was the last one
    /// of its own job to do so.
    pub fn leave_job(&mut self, number: u32, job: u64) {
        self.ties.leave_job(number, job);
        let Some(own) = self.job_of(number) else {
            return;
        };
        let (numbers, own) = (own.numbers(), own.job.job_id);
        let mut ties = numbers.map(|number| self.ties.0.get(&(number, job)));
        if ties.all(|tie| tie.is_none_or(|tie| *tie == Tie::Parted)) {
            self.remote.say_parted(own, job);
        }
    }

    /// Whether a process that has met the job of the process with this number has not learnt
    /// of it yet.
    pub fn is_awaited(&self, number: u32) -> bool {
        let job = self.job_of(number).map(|of| of.job.job_id);
        let mut ties = self.ties.0.iter();
        ties.any(|((_, to), tie)| Some(*to) == job && *tie == Tie::Awaited)
    }

    /// Forgets the job of the process with this number: all of its processes have ended. Those
    /// that had learnt of it are told; its numbers are [given back](Server::give_numbers_back) once
    /// all servers have forgotten it. The first job is never forgotten.
    pub fn forget(&mut self, number: u32) {
        let is_it = |of: &Served| of.numbers().contains(&number);
        let Some(at) = self.jobs.iter().position(is_it).filter(|&at| at > 0) else {
            return;
        };
        let gone = self.jobs.remove(at);
        let (numbers, job) = (gone.numbers(), gone.job.job_id);
        for slot in &mut self.clients {
            let of = slot.as_ref().and_then(|client| client.rank);
            if of.is_some_and(|of| numbers.contains(&of))
                && let Some(client) = slot.take()
            {
                let _ = self.poller.remove(&client.socket);
            }
        }
        while self.clients.pop_if(|last| last.is_none()).is_some() {}
        for number in numbers.clone() {
            self.close_ports_of(number);
            self.ties.forget(number);
            self.members[number as usize] = Member::default();
        }
        if let Some(port) = &gone.job.parent {
            self.close_port(port, "the job that was spawned has ended");
        }
        self.close_ports_to(job);
        self.meetings.forget_job(job);
        self.remote.say_gone(job);
        self.questions.forget(&numbers, job);
        self.deaths.retain(|(dead, _)| !numbers.contains(dead));
        self.told.retain(|number| !numbers.contains(number));
        let is_there = |number: &u32| !numbers.contains(number);
        self.ports.calls.retain(|it| is_there(&it.caller.number));
        self.ports.given_up.retain(|(number, _)| is_there(number));
        self.unreachable
            .retain(|(one, other)| is_there(one) && is_there(other));
        let mut frame = Writer::new(FrameKind::Gone);
        frame.u64(job);
        let frame: Arc<[u8]> = frame.finish().into();
        for number in self.ties.forget_job(job) {
            self.send_to(number, frame.clone());
        }
    }

    /// Numbers in a row for the processes of a job that comes: some that others had, or new ones.
    /// Gives the first. They are taken until they are [given back](Server::give_numbers_back).
    pub fn reserve(&mut self, size: u32) -> u32 {
        let fits = |free: &mut Range<u32>| free.len() >= size as usize;
        let Some(free) = self.free.iter_mut().find_map(|it| fits(it).then_some(it)) else {
            let first = self.members.len() as u32;
            self.members
                .resize((first + size) as usize, Member::default());
            return first;
        };
        let first = free.start;
        free.start += size;
        self.free.retain(|free| !free.is_empty());
        first
    }

    /// Nobody has these numbers any more.
    pub fn give_numbers_back(&mut self, numbers: Range<u32>) {
        self.free.push(numbers);
        self.free.sort_by_key(|free| free.start);
        self.free.dedup_by(|after, before| {
            let joined = before.end == after.start;
            if joined {
                before.end = after.end;
            }
            joined
        });
        let all = self.members.len() as u32;
        if let Some(last) = self.free.pop_if(|last| last.end == all) {
            self.members.truncate(last.start as usize);
        }
    }
}
