//! What a server keeps of other launchers: their jobs, who goes to their ports, and who waits for what.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use catena_proof::Secret;

use crate::abroad::Word;
use crate::wire::{FrameKind, Writer};
use crate::{Job, OtherJob};

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
pub struct FarVisit {
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
    /// A job has failed there to which these processes here are connected, and why.
    Failed(Vec<u32>, String),
    /// All that there was has ended.
    Bye,
}

/// A job of another launcher.
#[derive(Debug)]
pub(super) struct FarJob {
    pub(super) launcher: u32,
    pub(super) job: Job,
    /// Whether it has ended, and is kept for those that have not learnt of it yet.
    pub(super) has_ended: bool,
}

/// A visit that another launcher was told of.
#[derive(Debug)]
pub(super) struct UnderWay {
    pub(super) number: u32,
    pub(super) ticket: u32,
    pub(super) group: Vec<u32>,
}

/// What a server keeps of other launchers.
#[derive(Debug, Default)]
pub(super) struct Abroad {
    pub(super) jobs: Vec<FarJob>,
    /// What processes of both launchers know and others do not, by launcher.
    pub(super) secrets: BTreeMap<u32, Secret>,
    pub(super) openings: Vec<Opening>,
    pub(super) visits: Vec<FarVisit>,
    /// By launcher and ticket there.
    pub(super) under_way: BTreeMap<(u32, u32), UnderWay>,
    pub(super) last: u32,
    /// The processes that wait for what a process abroad has published.
    pub(super) asked: HashMap<(u64, u32, String), Vec<u32>>,
    pub(super) words: Vec<(u32, Word)>,
}

impl Abroad {
    pub(super) fn find(&self, job: u64) -> Option<&FarJob> {
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
