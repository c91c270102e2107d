//! What a server keeps of ports, of values that are exchanged on demand, and of which processes are
//! tied to which jobs.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::names::Entry;
use crate::jobs::SpawnRequest;
use crate::remote::JobCard;

/// A process that waits, and what its answer is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// The process with that number.
    Here(u32, u32),
    /// One of the jobs of that launcher.
    Remote(u32, u32),
}

/// One that waits at a port.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) who: Who,
    pub(super) value: Vec<u8>,
    /// The numbers of those that it speaks for, as far as they are of this launcher.
    pub(super) group: Vec<u32>,
    /// The jobs that they are of.
    pub(super) jobs: Vec<u64>,
    /// A process of another launcher.
    pub(super) cards: Vec<JobCard>,
    /// How long it waits, and until when.
    pub(super) patience: Option<(Duration, Instant)>,
}

/// A port that is open.
#[derive(Debug)]
pub(super) struct Port {
    /// The number of the process that has opened it; none for that of a new job.
    pub(super) owner: Option<u32>,
    /// Those that wait, by side.
    pub(super) waiting: [VecDeque<Waiter>; 2],
}

/// A process that wants a new job, by a name that no other one gets: its number may be another
/// one's before the answer is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnCaller {
    /// The number of the process.
    pub number: u32,
    /// The random number of its job, which nobody else has.
    pub job: u64,
    /// What its answer is known by.
    pub(super) ticket: u32,
}

/// A process wants a new job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpawnCall {
    /// Who wants it.
    pub caller: SpawnCaller,
    /// What it wants.
    pub request: SpawnRequest,
}

/// A service that was published.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) port: String,
    /// The number of the process that has published it.
    pub(super) owner: u32,
    /// Where other launchers find it.
    pub(super) _entry: Option<Entry>,
}

/// The ports, and what processes want of the launcher.
#[derive(Debug, Default)]
pub(super) struct Ports {
    pub(super) open: HashMap<String, Port>,
    /// When the first of those that wait loses patience: not later, but earlier if that one waits
    /// no more.
    pub(super) until: Option<Instant>,
    /// Services that were published.
    pub(super) services: HashMap<String, Service>,
    pub calls: Vec<SpawnCall>,
    /// Processes that cannot meet the job that they have spawned, by their numbers, and its port.
    pub given_up: Vec<(u32, String)>,
}

/// A process that waits for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asker {
    /// A rank of this node.
    Rank(u32),
    /// Another node.
    Node(u32),
    /// Another launcher.
    RemoteJobs(u32),
}

/// What is known of a value, by number of its process and key.
#[derive(Debug)]
pub(super) enum Answer {
    Known(Arc<[u8]>),
    Awaited(Vec<Asker>),
}

/// Values and questions.
#[derive(Debug, Default)]
pub(super) struct Questions(pub HashMap<(u32, String), Answer>);

impl Questions {
    /// The value, if it is known; else whether this is the first question.
    pub(super) fn ask(&mut self, asker: Asker, rank: u32, key: &str) -> Result<Arc<[u8]>, bool> {
        let answer = self
            .0
            .entry((rank, key.to_string()))
            .or_insert_with(|| Answer::Awaited(Vec::new()));
        match answer {
            Answer::Known(value) => Ok(Arc::clone(value)),
            Answer::Awaited(askers) => {
                let first = askers.is_empty();
                if !askers.contains(&asker) {
                    askers.push(asker);
                }
                Err(first)
            }
        }
    }

    /// Forgets what these processes have published, and who of them has asked for something.
    /// What others have published for their `job` alone goes, too.
    pub fn forget(&mut self, numbers: &Range<u32>, job: u64) {
        let job = format!("{job:016x}");
        let for_it = |key: &str| {
            let mut words = key.split(':').skip(1);
            words.any(|word| word == job)
        };
        self.0
            .retain(|(rank, key), _| !numbers.contains(rank) && !for_it(key));
        for answer in self.0.values_mut() {
            if let Answer::Awaited(askers) = answer {
                let gone = |asker: &Asker| matches!(asker, Asker::Rank(me) if numbers.contains(me));
                askers.retain(|asker| !gone(asker));
            }
        }
    }

    /// Whether somebody here waits for that value. An answer that nobody waits for comes from
    /// before the end of the job that it was about: its numbers may be those of another one by now.
    pub(super) fn is_awaited(&self, rank: u32, key: &str) -> bool {
        matches!(
            self.0.get(&(rank, key.to_string())),
            Some(Answer::Awaited(_))
        )
    }

    /// The value is known from now on; gives who has waited for it.
    pub(super) fn learn(&mut self, rank: u32, key: &str, value: &Arc<[u8]>) -> Vec<Asker> {
        let known = Answer::Known(Arc::clone(value));
        match self.0.insert((rank, key.to_string()), known) {
            Some(Answer::Awaited(askers)) => askers,
            _ => Vec::new(),
        }
    }
}

/// What a process has to do with another job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tie {
    /// It has spawned the job, or its group has met it at a port, and it has not asked for it
    /// yet: it is connected, and the job is kept until it has.
    Awaited,
    Connected,
    /// It has learnt of the job, and has parted from it.
    Parted,
    /// It has ended and had not parted.
    Left,
}

/// What processes have to do with other jobs, by number of the process and job.
#[derive(Debug, Default)]
pub(super) struct Ties(pub BTreeMap<(u32, u64), Tie>);

impl Ties {
    /// A process is connected to a job.
    pub fn join(&mut self, number: u32, job: u64) {
        self.0.insert((number, job), Tie::Connected);
    }

    /// A process will learn of a job, or say that it is connected to it again.
    pub(super) fn expect(&mut self, number: u32, job: u64) {
        let tie = self.0.entry((number, job)).or_insert(Tie::Awaited);
        if *tie == Tie::Parted {
            *tie = Tie::Awaited;
        }
    }

    /// A process has parted from a job, if it had learnt of it.
    pub fn leave_job(&mut self, number: u32, job: u64) {
        self.0
            .entry((number, job))
            .and_modify(|tie| *tie = Tie::Parted);
    }

    /// Processes that were to learn of these jobs will not, but for those that are about to.
    pub fn give_up(&mut self, group: &[u32], jobs: &[u64]) {
        for number in group {
            for job in jobs {
                let tie = self.0.get_mut(&(*number, *job));
                tie.filter(|tie| **tie == Tie::Awaited)
                    .into_iter()
                    .for_each(|tie| *tie = Tie::Parted);
            }
        }
    }

    /// A process has ended. Whether it had parted counts as long as its job is there.
    pub fn leave(&mut self, number: u32) {
        let own = self.0.range_mut((number, 0)..=(number, u64::MAX));
        for (_, tie) in own.filter(|(_, tie)| **tie != Tie::Parted) {
            *tie = Tie::Left;
        }
    }

    /// Nobody has this number any more.
    pub fn forget(&mut self, number: u32) {
        self.0.retain(|&(of, _), _| of != number);
    }

    /// A job is gone; gives the processes that had learnt of it.
    pub(super) fn forget_job(&mut self, job: u64) -> Vec<u32> {
        let tied = self.0.keys().filter(|(_, to)| *to == job);
        let tied = tied.map(|(number, _)| *number).collect();
        self.0.retain(|(_, to), _| *to != job);
        tied
    }
}
