//! What a server keeps of a job and of its ranks, and what it tells the launcher.

use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::wire::{FrameKind, Malformed, Writer};
use crate::{ElasticSet, Job, equal, sys};

/// Size of the segment that the ranks share: for their messages, and behind that for what is told
/// of them. All holes: it costs nothing until it is written to.
pub(crate) const SEGMENT: u64 = catena_trace::OFFSET + catena_trace::NODE_AREAS;

pub(super) const NOBODY: Malformed = Malformed("a word about a rank that there is not");

/// What a rank did, or all of this node together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The first rank waits in a fence.
    Fencing,
    /// All ranks of this node wait in a fence, which `Server::end_fence` ends.
    Fenced {
        /// What they have brought.
        parts: Vec<u8>,
    },
    /// All ranks on this node of a job that was spawned wait in a fence, which
    /// `Server::end_fence_of` ends.
    JobFenced {
        /// This node.
        node: u32,
        /// The number of the job's rank 0.
        first: u32,
        /// What they have brought.
        parts: Vec<u8>,
    },
    /// A rank of this node wants what only the launcher's first server can do: see
    /// `Server::call`.
    Call {
        /// Its number.
        rank: u32,
        /// The kind of the frame.
        kind: u8,
        /// Its body.
        body: Vec<u8>,
    },
    /// A frame for a rank of another node, which `Server::pass_on` gives to it.
    Tell {
        /// Its number.
        rank: u32,
        /// The whole frame.
        frame: Vec<u8>,
    },
    /// A rank of this node asks for what another node's has published, which
    /// `Server::answer` tells.
    Ask {
        /// This node.
        node: u32,
        /// The rank that has published the value, or will.
        rank: u32,
        /// Under which key.
        key: String,
    },
    /// The answer to `Server::ask`, at once or later.
    Answer {
        /// The node that asked.
        node: u32,
        /// The rank that has published the value.
        rank: u32,
        /// Under which key.
        key: String,
        /// What it is.
        value: Vec<u8>,
    },
    /// It has connected.
    Joined {
        /// Its rank.
        rank: u32,
        /// Its process, which may be a child of the one that was started.
        pid: u32,
    },
    /// It needs the others no more.
    Finalized {
        /// Its rank.
        rank: u32,
    },
    /// It does again.
    Resumed {
        /// Its rank.
        rank: u32,
    },
    /// It wants the job to end.
    Abort {
        /// Its rank.
        rank: u32,
        /// Status that the job shall end with.
        code: i32,
        /// Why.
        message: String,
    },
    /// The job has failed, though its ranks may go on.
    Fault {
        /// Who says so.
        rank: u32,
        /// Why.
        message: String,
    },
    /// It has closed its connection, finalized or not, or ended.
    Left {
        /// Its rank.
        rank: u32,
        /// Its process.
        pid: u32,
    },
    /// It sent nonsense and was disconnected.
    Broken {
        /// Its rank.
        rank: u32,
        /// Its process.
        pid: u32,
        /// What is wrong.
        cause: String,
    },
}

/// What is known of a rank.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Member {
    /// Process that has joined as this rank.
    pub(super) pid: Option<u32>,
    pub(super) in_fence: bool,
    pub(super) dead: bool,
    /// Whether other jobs can meet it.
    pub(super) ready: bool,
    /// Whether it has said that it has called MPI_Init.
    pub(super) has_world: bool,
}

/// A job that has ranks here.
#[derive(Debug)]
pub(super) struct Served {
    /// What all its ranks are told, but for rank and program.
    pub(super) job: Job,
    /// The number of its rank 0.
    pub(super) first: u32,
    /// The program of each rank.
    pub(super) appnums: Vec<u32>,
    /// None where no rank of it is on this node.
    pub(super) segment: Option<OwnedFd>,
    /// How many ranks wait in the fence, and how many there are that have not died.
    pub(super) fencing: usize,
    pub(super) local: usize,
    /// What they have brought.
    pub(super) parts: Writer,
    /// The first rank that has come, and its settings that must be equal.
    settings: Option<(u32, String)>,
}

impl Served {
    pub(super) fn new(job: Job, first: u32, node: u32, appnums: Vec<u32>) -> io::Result<Served> {
        let size = job.size as usize;
        assert_eq!(appnums.len(), size, "one program number per rank");
        assert_eq!(job.node_of.len(), size, "one node per rank");
        let local = job.node_of.iter().filter(|&&n| n == node).count();
        let segment = match local {
            0 => None,
            _ => Some(sys::memfd(SEGMENT)?),
        };
        Ok(Served {
            local,
            job,
            first,
            appnums,
            segment,
            fencing: 0,
            parts: no_parts(),
            settings: None,
        })
    }

    /// Whether the settings of a rank are those of the first that has come to this node.
    ///
    /// # Errors
    /// What differs, in words.
    pub(super) fn agrees(&mut self, rank: u32, settings: String) -> Result<(), String> {
        let (first, known) = self.settings.get_or_insert((rank, settings.clone()));
        equal::compare((*first, known), (rank, &settings), true)
    }

    /// Whether the settings of a rank by which this job has grown are those of the first of this
    /// node.
    ///
    /// # Errors
    /// What differs, in words.
    pub(super) fn agrees_with_newcomer(&self, rank: u32, settings: &str) -> Result<(), String> {
        match &self.settings {
            Some((first, known)) => equal::compare_newcomer((*first, known), (rank, settings)),
            None => Ok(()),
        }
    }

    /// Whether the launcher's first job, which is elastic, has grown by this one.
    pub(super) fn is_growth(&self) -> bool {
        let port = self.job.parent.as_ref();
        port.is_some_and(|port| ElasticSet::is_port(port))
    }

    /// The segment of its ranks on this node, if there are any, to be sent along.
    pub(super) fn segment(&self) -> Option<OwnedFd> {
        self.segment.as_ref()?.try_clone().ok()
    }

    /// Whether all its ranks are on that node.
    pub(super) fn is_within(&self, node: u32) -> bool {
        self.job.node_of.iter().all(|&of| of == node)
    }

    /// The numbers of its ranks.
    pub(super) fn numbers(&self) -> Range<u32> {
        self.first..self.first + self.job.size
    }
}

pub(super) fn no_parts() -> Writer {
    Writer::new(FrameKind::Fenced)
}

/// The frame that tells what a process has published.
pub(super) fn answer((job, rank): (u64, u32), key: &str, value: &[u8]) -> Arc<[u8]> {
    let mut w = Writer::new(FrameKind::Answer);
    w.u64(job);
    w.u32(rank);
    w.bytes(key.as_bytes());
    w.bytes(value);
    w.finish().into()
}
