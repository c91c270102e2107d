//! What a server keeps of other launchers: their jobs, who goes to their ports, and who waits for
//! what.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use catena_proof::Secret;

use crate::remote::Word;
use crate::wire::{FrameKind, Writer};
use crate::{Job, OtherJob};

/// Why groups with processes of more than two launchers cannot connect.
pub(super) const THIRD: &str = "the groups have processes of more than two mpiruns, some of which \
                                know nothing of each other: MPI_Comm_accept and MPI_Comm_connect \
                                join the processes of two; connect the third one with each of \
                                them, group by group";

/// A process wants a port to be opened, to which other launchers find the way.
#[derive(Debug)]
pub struct Opening {
    /// The number of the process.
    pub number: u32,
    pub(super) ticket: u32,
    /// The name that it has given the port; the launcher adds the way.
    pub port: String,
}

/// A process wants to meet a group at a port of another launcher.
#[derive(Debug)]
pub struct RemoteConnect {
    pub(super) number: u32,
    pub(super) ticket: u32,
    /// The port.
    pub port: String,
    pub(super) value: Vec<u8>,
    pub(super) group: Vec<(u64, u32)>,
    /// How long it waits, and until when.
    pub patience: Option<(Duration, Instant)>,
}

/// What is to be done about what another launcher has said.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nothing.
    Done,
    /// This job has failed there, and why.
    Failed(u64, String),
    /// All that there was has ended.
    Bye,
}

/// A job of another launcher.
#[derive(Debug)]
pub(super) struct RemoteJob {
    pub(super) launcher: u32,
    pub(super) job: Job,
    /// Whether it has ended, and is kept for those that have not learnt of it yet.
    pub(super) has_ended: bool,
    /// The jobs here from which all of its processes have parted.
    pub(super) parted: BTreeSet<u64>,
}

/// A visit that another launcher was told of.
#[derive(Debug)]
pub(super) struct UnderWay {
    pub(super) number: u32,
    pub(super) ticket: u32,
    pub(super) group: Vec<u32>,
    /// Whether the group goes on with the other one, as far as it knows.
    pub(super) brings: bool,
    /// The jobs that were met there: both confirm that then.
    pub(super) met: Vec<u64>,
}

/// What a server keeps of other launchers.
#[derive(Debug, Default)]
pub(super) struct RemoteJobs {
    pub(super) jobs: Vec<RemoteJob>,
    /// What processes of both launchers know and others do not, by launcher.
    pub(super) secrets: BTreeMap<u32, Secret>,
    pub(super) openings: Vec<Opening>,
    pub(super) visits: Vec<RemoteConnect>,
    /// By launcher and ticket there.
    pub(super) under_way: BTreeMap<(u32, u32), UnderWay>,
    pub(super) last: u32,
    /// The jobs here that a launcher knows, by launcher.
    pub(super) told: BTreeSet<(u32, u64)>,
    /// The processes that wait for what a process abroad has published.
    pub(super) asked: HashMap<(u64, u32, String), Vec<u32>>,
    pub(super) words: Vec<(u32, Word)>,
}

impl RemoteJobs {
    pub(super) fn find(&self, job: u64) -> Option<&RemoteJob> {
        self.jobs.iter().find(|of| of.job.job_id == job)
    }

    /// Whether a job is known.
    pub fn knows(&self, job: u64) -> bool {
        self.find(job).is_some()
    }

    /// What there is to tell of a job to a process that asks for it.
    pub fn tell(&self, job: u64) -> Option<Writer> {
        let of = self.find(job)?;
        let mut w = Writer::new(FrameKind::Told);
        OtherJob::write_abroad(&mut w, &of.job, self.secrets.get(&of.launcher));
        Some(w)
    }

    /// Whether that is a job abroad all of whose processes have parted from one here.
    pub fn has_parted(&self, job: u64, from: u64) -> bool {
        self.find(job).is_some_and(|of| of.parted.contains(&from))
    }

    /// Processes of a job here and of that one, if it is abroad, have met.
    pub fn meet_again(&mut self, job: u64, own: u64) {
        if let Some(of) = self.jobs.iter_mut().find(|of| of.job.job_id == job) {
            of.parted.remove(&own);
        }
    }

    /// All processes of a job here have parted from one that may be abroad.
    pub fn say_parted(&mut self, own: u64, from: u64) {
        if let Some(launcher) = self.find(from).map(|of| of.launcher) {
            self.say(launcher, Word::Parted { job: own, from });
        }
    }

    /// Has a launcher told something.
    pub fn say(&mut self, launcher: u32, word: Word) {
        self.words.push((launcher, word));
    }

    /// A job here has ended.
    pub fn say_gone(&mut self, job: u64) {
        for &launcher in self.secrets.keys() {
            self.words.push((launcher, Word::Gone { job }));
        }
    }

    /// A process is gone: it waits nowhere any more.
    pub fn leave(&mut self, number: u32) {
        self.openings.retain(|it| it.number != number);
        self.visits.retain(|it| it.number != number);
        for askers in self.asked.values_mut() {
            askers.retain(|it| *it != number);
        }
        let words = &mut self.words;
        self.under_way.retain(|&(launcher, ticket), visit| {
            if visit.number == number {
                words.push((launcher, Word::Leave { ticket }));
            }
            visit.number != number
        });
    }
}
