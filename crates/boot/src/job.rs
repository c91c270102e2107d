//! What a process knows about its job, and how that travels.

use std::os::fd::OwnedFd;

use catena_proof::{SECRET, Secret};

use crate::BootError;
use crate::jobs::{ELASTIC_SET, ElasticSet};
use crate::wire::{FrameKind, HEAD, Malformed, Reader, Writer};

/// A job as one of its processes sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// My rank in the world.
    pub rank: u32,
    /// Number of ranks.
    pub size: u32,
    /// Which of the programs of the command line I am, from 0.
    pub appnum: u32,
    /// Number of processes that the job could have (`MPI_UNIVERSE_SIZE`).
    pub universe_size: u32,
    /// Random number, the same in all ranks.
    pub job_id: u64,
    /// What only the processes of this job know, by which they tell each other from
    /// strangers; the same in all ranks. A process that is alone has none.
    pub secret: Option<Secret>,
    /// Node of each rank.
    pub node_of: Box<[u32]>,
    /// Name of each node.
    pub hosts: Box<[String]>,
    /// Ranks on my node, ascending; I am among them.
    pub local: Box<[u32]>,
    /// Processors that the ranks on my node may use together; at least 1.
    pub local_cpus: u32,
    /// Process sets by name, with their ranks in ascending order. `mpi://WORLD`
    /// and `mpi://SELF` exist in every job and are not listed.
    pub psets: Vec<(String, Vec<u32>)>,
    /// The port at which the processes that have spawned this job wait for it.
    pub parent: Option<String>,
}

impl Job {
    /// The job of a process that is alone.
    pub fn singleton(host: String, cpus: u32) -> Job {
        Job {
            rank: 0,
            size: 1,
            appnum: 0,
            universe_size: 1,
            job_id: 0,
            secret: None,
            node_of: Box::new([0]),
            hosts: Box::new([host]),
            local: Box::new([0]),
            local_cpus: cpus.max(1),
            psets: Vec::new(),
            parent: None,
        }
    }

    /// Whether more processes may come to it while it runs, or it has come so to another one.
    pub fn is_elastic(&self) -> bool {
        let has_come = self.parent.as_deref().is_some_and(ElasticSet::is_port);
        has_come
            || self
                .psets
                .iter()
                .any(|(name, _)| name.starts_with(ELASTIC_SET))
    }

    /// Name of my node.
    pub fn host(&self) -> &str {
        self.host_of(self.rank)
    }

    /// Name of a rank's node.
    pub fn host_of(&self, rank: u32) -> &str {
        &self.hosts[self.node_of[rank as usize] as usize]
    }

    /// Checks that this is the job of that random number.
    pub(crate) fn check_own(&self, job: u64) -> Result<(), BootError> {
        match job == self.job_id {
            true => Ok(()),
            false => Err(BootError::NoSuchJob(job)),
        }
    }

    /// As [`Job::read`] reads it.
    pub fn write(&self, w: &mut Writer) {
        w.u32(self.rank);
        w.u32(self.size);
        w.u32(self.appnum);
        w.u32(self.universe_size);
        w.u64(self.job_id);
        w.bytes(
            self.secret
                .as_ref()
                .map_or(&[], |secret| &secret.bytes()[..]),
        );
        w.u32(self.local_cpus);
        w.u32s(&self.node_of);
        w.u32(self.hosts.len() as u32);
        for host in &self.hosts {
            w.bytes(host.as_bytes());
        }
        w.u32(self.psets.len() as u32);
        for (name, ranks) in &self.psets {
            w.bytes(name.as_bytes());
            w.u32s(ranks);
        }
        w.bytes(self.parent.as_deref().unwrap_or_default().as_bytes());
    }

    /// Reads what `write` wrote and checks that it makes sense.
    ///
    /// # Errors
    /// If it does not.
    pub fn read(r: &mut Reader<'_>) -> Result<Job, Malformed> {
        let rank = r.u32()?;
        let size = r.u32()?;
        let appnum = r.u32()?;
        let universe_size = r.u32()?;
        let job_id = r.u64()?;
        let secret = read_secret(r)?;
        let local_cpus = r.u32()?;
        let node_of = r.u32s()?;
        let hosts = (0..r.count(4)?)
            .map(|_| r.text())
            .collect::<Result<Box<[_]>, _>>()?;
        let psets = (0..r.count(8)?)
            .map(|_| Ok((r.text()?, r.u32s()?)))
            .collect::<Result<Vec<_>, Malformed>>()?;
        let parent = Some(r.text()?).filter(|port| !port.is_empty());

        let sound = rank < size
            && node_of.len() == size as usize
            && node_of.iter().all(|&node| (node as usize) < hosts.len())
            && psets.iter().all(|(_, ranks)| {
                ranks.is_sorted_by(|a, b| a < b) && ranks.last().is_none_or(|&r| r < size)
            });
        if !sound {
            return Err(Malformed("the job record contradicts itself"));
        }
        let mine = node_of[rank as usize];
        let local = (0..size).filter(|&r| node_of[r as usize] == mine).collect();
        Ok(Job {
            rank,
            size,
            appnum,
            universe_size,
            job_id,
            secret,
            node_of: node_of.into(),
            hosts,
            local,
            local_cpus: local_cpus.max(1),
            psets,
            parent,
        })
    }
}

/// What comes along with a word about another job: its segment, or that another launcher has it.
const SEGMENT: u32 = 1;
const ABROAD: u32 = 2;

/// Another job as the launcher tells of it.
#[derive(Debug, Default)]
pub struct OtherJob {
    /// Number of ranks; 0 if there is no such job.
    pub size: u32,
    /// Node of each rank, by the numbers that all jobs of the launcher use.
    pub node_of: Box<[u32]>,
    /// Name of each node.
    pub hosts: Box<[String]>,
    /// Whether another launcher has started it, whose nodes have numbers of their own.
    pub remote: bool,
    /// Whether processes have spawned it.
    pub spawned: bool,
    /// What only processes of this launcher's jobs know, or those of the two jobs where another one
    /// has started it.
    pub secret: Option<Secret>,
    /// The memory that its ranks on my node share, if there are any.
    pub segment: Option<OwnedFd>,
    /// Whether that comes along.
    pub(crate) has_segment: bool,
}

impl OtherJob {
    /// The body of a [`FrameKind::Told`](crate::wire::FrameKind::Told): a job, if there is one of
    /// that number. Its memory does not come along until [`OtherJob::complete`] says so.
    pub(crate) fn write(w: &mut Writer, number: u64, job: Option<&Job>) {
        w.u64(number);
        w.u32(0);
        w.u32s(job.map_or(&[], |job| &job.node_of));
        let hosts = job.map_or(&[][..], |job| &job.hosts);
        w.u32(hosts.len() as u32);
        hosts.iter().for_each(|host| w.bytes(host.as_bytes()));
        w.u32(u32::from(job.is_some_and(|job| job.parent.is_some())));
    }

    /// The whole body of a [`FrameKind::Told`](crate::wire::FrameKind::Told) about a job of another
    /// launcher.
    pub(crate) fn write_abroad(w: &mut Writer, job: &Job, secret: Option<&Secret>) {
        w.u64(job.job_id);
        w.u32(ABROAD);
        w.u32s(&job.node_of);
        w.u32(job.hosts.len() as u32);
        job.hosts.iter().for_each(|host| w.bytes(host.as_bytes()));
        w.u32(0);
        w.bytes(secret.map_or(&[], |secret| &secret.bytes()[..]));
    }

    /// Whether a whole frame needs no completion.
    pub(crate) fn is_whole(frame: &[u8]) -> bool {
        let mut r = Reader::new(frame.get(HEAD + 8..).unwrap_or_default());
        r.u32() == Ok(ABROAD)
    }

    /// The random number of the job that a whole frame tells of.
    ///
    /// # Errors
    /// If it is too short.
    pub(crate) fn number_in(frame: &[u8]) -> Result<u64, Malformed> {
        Reader::new(frame.get(HEAD..).unwrap_or_default()).u64()
    }

    /// Completes a whole frame for a process on a node whose segment of that job comes along or
    /// not; `secret` is what that process may not know yet.
    pub(crate) fn complete(frame: &[u8], has_segment: bool, secret: Option<&Secret>) -> Vec<u8> {
        let mut w = Writer::new(FrameKind::Told);
        w.raw(&frame[HEAD..HEAD + 8]);
        w.u32(if has_segment { SEGMENT } else { 0 });
        w.raw(&frame[HEAD + 12..]);
        w.bytes(secret.map_or(&[], |secret| &secret.bytes()[..]));
        w.finish()
    }

    /// Reads what follows after the job's number in what [`OtherJob::complete`] made; the segment
    /// is not in it.
    ///
    /// # Errors
    /// If it is too short, or contradicts itself.
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<OtherJob, Malformed> {
        let comes = r.u32()?;
        let node_of = r.u32s()?;
        let hosts = (0..r.count(4)?)
            .map(|_| r.text())
            .collect::<Result<Box<[_]>, _>>()?;
        Ok(OtherJob {
            remote: comes == ABROAD,
            size: node_of.len() as u32,
            node_of: node_of.into(),
            hosts,
            spawned: r.u32()? != 0,
            secret: read_secret(r)?,
            segment: None,
            has_segment: comes == SEGMENT,
        })
    }
}

/// Under which key a process publishes, and asks for, what two jobs have for each other alone.
pub fn pair_key(what: &str, one: u64, other: u64) -> String {
    let (low, high) = (one.min(other), one.max(other));
    format!("{what}:{low:016x}:{high:016x}")
}

/// Whether [`pair_key`] has made that key.
pub(crate) fn is_pair_key(key: &str) -> bool {
    key.contains(':')
}

/// Reads a secret, or nothing where there is none.
fn read_secret(r: &mut Reader<'_>) -> Result<Option<Secret>, Malformed> {
    let bytes = r.bytes()?;
    match <[u8; SECRET]>::try_from(bytes) {
        Ok(bytes) => Ok(Some(Secret::from_bytes(bytes))),
        Err(_) if bytes.is_empty() => Ok(None),
        Err(_) => Err(Malformed("a secret of another length")),
    }
}
