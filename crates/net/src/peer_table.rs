//! Which process each peer is: the table *(job, rank) -> peer*.
//!
//! A process numbers the processes that it can reach as it likes. Those of one job have
//! numbers in a row, in the order of their ranks, so that the table takes memory for jobs
//! and for the nodes of their processes alone, and a group of all processes of a job is a
//! row, whichever job it is. The process's own job has the numbers from 0 on.
//!
//! Jobs come when processes connect, and go when they part. The numbers of a job that is
//! gone are given to the next one that fits.

use std::ops::Range;

use catena_fabric::{Peer, ProcessName};

/// A job as the table keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct JobEntry {
    /// Its random number; `None` once it is gone.
    job: Option<u64>,
    /// It is gone, and its numbers are not for others yet.
    held: bool,
    /// The peer of its rank 0.
    first: u32,
    /// The node of each rank.
    node_of: Box<[u32]>,
    /// Whether this process is connected to it.
    connected: bool,
}

impl JobEntry {
    /// Whether its numbers are for others.
    fn is_free(&self) -> bool {
        self.job.is_none() && !self.held
    }

    fn peers(&self) -> Range<u32> {
        self.first..self.first + self.node_of.len() as u32
    }
}

/// The processes that this one knows, by job and rank.
///
/// # Examples
/// ```
/// use catena_fabric::{Peer, ProcessName};
/// use catena_net::PeerTable;
///
/// // Two processes on a node were started together; three others are met later.
/// let mut table = PeerTable::new(7, vec![0, 0]);
/// assert_eq!(table.add(8, vec![0, 1, 1]), 2..5);
/// let name = ProcessName { job: 8, rank: 1 };
/// assert_eq!(table.peer(name), Some(Peer(3)));
/// assert_eq!(table.name(Peer(3)), Some(name));
/// assert_eq!(table.node(Peer(3)), Some(1));
/// ```
#[derive(Clone, Debug)]
pub struct PeerTable {
    /// In the order of their peers; no peer lies between two of them.
    jobs: Vec<JobEntry>,
}

impl PeerTable {
    /// The table of a process that knows its own job: a number that tells it from others,
    /// and the node of each rank.
    pub fn new(job: u64, node_of: impl Into<Box<[u32]>>) -> PeerTable {
        let entry = JobEntry {
            job: Some(job),
            held: false,
            first: 0,
            node_of: node_of.into(),
            connected: true,
        };
        PeerTable { jobs: vec![entry] }
    }

    /// Peers that have a number, those of jobs that are gone among them.
    #[inline]
    pub fn len(&self) -> usize {
        self.jobs.last().map_or(0, |last| last.peers().end as usize)
    }

    /// Whether no peer has a number.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of this process's own job.
    pub fn own_job(&self) -> u64 {
        self.jobs[0].job.unwrap_or_default()
    }

    /// The peers of this process's own job.
    pub fn own_peers(&self) -> Range<u32> {
        self.jobs[0].peers()
    }

    /// The peers of a job that is known.
    pub fn peers_of(&self, job: u64) -> Option<Range<u32>> {
        self.find(job).map(JobEntry::peers)
    }

    /// The other jobs that are known.
    pub fn other_jobs(&self) -> impl Iterator<Item = u64> + '_ {
        self.jobs[1..].iter().filter_map(|entry| entry.job)
    }

    /// The other jobs that this process is connected to, and their peers. A job that comes is
    /// connected.
    pub fn connected(&self) -> impl Iterator<Item = (u64, Range<u32>)> + '_ {
        let others = self.jobs[1..].iter().filter(|it| it.connected);
        others.filter_map(|it| Some((it.job?, it.peers())))
    }

    /// This process is connected to a job or not, from now on; whether that is new. What is
    /// known of the job stays.
    pub fn set_connected(&mut self, job: u64, connected: bool) -> bool {
        let entry = self.jobs.iter_mut().find(|entry| entry.job == Some(job));
        entry.is_some_and(|it| std::mem::replace(&mut it.connected, connected) != connected)
    }

    /// Takes in a job, whose peers are given; nothing changes if it is known.
    pub fn add(&mut self, job: u64, node_of: impl Into<Box<[u32]>>) -> Range<u32> {
        if let Some(known) = self.peers_of(job) {
            return known;
        }
        let node_of = node_of.into();
        let fits = |it: &&mut JobEntry| it.is_free() && it.node_of.len() == node_of.len();
        if let Some(free) = self.jobs.iter_mut().find(fits) {
            (free.job, free.node_of, free.connected) = (Some(job), node_of, true);
            return free.peers();
        }
        let entry = JobEntry {
            job: Some(job),
            held: false,
            first: self.len() as u32,
            node_of,
            connected: true,
        };
        let peers = entry.peers();
        self.jobs.push(entry);
        peers
    }

    /// Forgets another job; gives the peers that it had.
    ///
    /// # Panics
    /// If it is this process's own job.
    pub fn remove(&mut self, job: u64) -> Option<Range<u32>> {
        assert_ne!(job, self.own_job(), "a process is in its own job");
        let at = self.jobs.iter().position(|entry| entry.job == Some(job))?;
        self.jobs[at].job = None;
        let peers = self.jobs[at].peers();
        self.trim();
        Some(peers)
    }

    /// As [`PeerTable::remove`], but for that others do not get these numbers before they are
    /// [released](PeerTable::release).
    pub(crate) fn hold(&mut self, job: u64) -> Option<Range<u32>> {
        let at = self.jobs.iter().position(|entry| entry.job == Some(job))?;
        let entry = &mut self.jobs[at];
        (entry.job, entry.held) = (None, true);
        Some(entry.peers())
    }

    /// The numbers of a job that is gone, of which this is one, are for others from now on.
    pub(crate) fn release(&mut self, peer: Peer) {
        let of = |it: &&mut JobEntry| it.peers().contains(&peer.0);
        if let Some(entry) = self.jobs.iter_mut().find(of) {
            entry.held = false;
        }
        self.trim();
    }

    fn trim(&mut self) {
        while self.jobs.pop_if(|last| last.is_free()).is_some() {}
    }

    /// The peer that a process is, if its job is known. Cost: O(jobs).
    pub fn peer(&self, name: ProcessName) -> Option<Peer> {
        let peers = self.peers_of(name.job)?;
        let peer = peers.start.checked_add(name.rank)?;
        peers.contains(&peer).then_some(Peer(peer))
    }

    /// The process that a peer is. Cost: O(log jobs).
    pub fn name(&self, peer: Peer) -> Option<ProcessName> {
        let entry = self.entry(peer)?;
        Some(ProcessName {
            job: entry.job?,
            rank: peer.0 - entry.first,
        })
    }

    /// The node of a peer, as the launcher numbers nodes. Cost: O(log jobs).
    #[inline]
    pub fn node(&self, peer: Peer) -> Option<u32> {
        let entry = self.entry(peer)?;
        Some(entry.node_of[(peer.0 - entry.first) as usize])
    }

    /// Whether a peer is of this process's own job.
    #[inline]
    pub fn is_own(&self, peer: Peer) -> bool {
        self.own_peers().contains(&peer.0)
    }

    fn find(&self, job: u64) -> Option<&JobEntry> {
        self.jobs.iter().find(|entry| entry.job == Some(job))
    }

    fn entry(&self, peer: Peer) -> Option<&JobEntry> {
        let after = self.jobs.partition_point(|entry| entry.first <= peer.0);
        let entry = &self.jobs[after.checked_sub(1)?];
        (entry.job.is_some() && entry.peers().contains(&peer.0)).then_some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(job: u64, rank: u32) -> ProcessName {
        ProcessName { job, rank }
    }

    #[test]
    fn jobs_come_and_go() {
        let mut table = PeerTable::new(10, [0, 0, 1]);
        assert_eq!(table.add(11, [1, 1]), 3..5);
        assert_eq!(table.add(12, [2]), 5..6);
        assert_eq!(table.add(11, [1, 1]), 3..5, "known already");
        for peer in 0..6 {
            let name = table.name(Peer(peer)).expect("a process");
            assert_eq!(table.peer(name), Some(Peer(peer)));
        }
        assert_eq!(table.peer(name(11, 2)), None, "no such rank");
        assert_eq!(table.peer(name(13, 0)), None, "no such job");
        assert_eq!((table.name(Peer(6)), table.node(Peer(6))), (None, None));
        assert!(table.is_own(Peer(2)) && !table.is_own(Peer(3)));

        assert_eq!(table.remove(11), Some(3..5));
        assert_eq!((table.remove(11), table.name(Peer(4))), (None, None));
        assert_eq!(table.peer(name(12, 0)), Some(Peer(5)), "others stay");
        assert_eq!(table.add(14, [0]), 6..7, "one fits only where two were");
        assert_eq!(table.add(15, [0, 0]), 3..5, "the numbers are used again");
        assert_eq!(table.other_jobs().collect::<Vec<_>>(), [15, 12, 14]);
    }

    #[test]
    fn a_job_that_parts_is_known_all_the_same() {
        let mut table = PeerTable::new(10, [0]);
        table.add(11, [0, 0]);
        assert_eq!(table.connected().collect::<Vec<_>>(), [(11, 1..3)]);
        assert!(table.set_connected(11, false) && !table.set_connected(11, false));
        assert_eq!(table.connected().count(), 0);
        assert_eq!(table.peers_of(11), Some(1..3));
        assert!(table.set_connected(11, true) && !table.set_connected(12, true));
        table.set_connected(11, false);
        table.remove(11);
        table.add(13, [0, 0]);
        assert_eq!(table.connected().collect::<Vec<_>>(), [(13, 1..3)]);
    }

    #[test]
    fn a_table_of_many_that_came_and_went_is_as_small_as_before() {
        let mut table = PeerTable::new(0, [0; 4]);
        for job in 1..1000 {
            assert_eq!(table.add(job, [0; 3]), 4..7);
            assert_eq!(table.remove(job), Some(4..7));
        }
        assert_eq!((table.len(), table.jobs.len()), (4, 1));
    }

    #[test]
    fn numbers_that_are_held_are_not_given_away() {
        let mut table = PeerTable::new(0, [0]);
        assert_eq!((table.add(1, [0]), table.add(2, [0])), (1..2, 2..3));
        assert_eq!((table.hold(1), table.hold(2)), (Some(1..2), Some(2..3)));
        assert_eq!((table.peers_of(1), table.name(Peer(2))), (None, None));
        assert_eq!(table.add(1, [0]), 3..4, "under another number");
        table.release(Peer(2));
        assert_eq!((table.add(4, [0]), table.len()), (2..3, 4));
        table.remove(1);
        table.remove(4);
        assert_eq!(table.len(), 2, "one is held");
        table.release(Peer(1));
        assert_eq!(table.len(), 1);
    }

    #[test]
    #[should_panic(expected = "its own job")]
    fn nobody_leaves_its_own_job() {
        PeerTable::new(3, [0]).remove(3);
    }
}
