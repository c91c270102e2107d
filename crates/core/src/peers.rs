//! Peers and the processes that they are.
//!
//! Groups and communicators hold [`Peer`]s, which are this process's own numbers. What
//! processes tell each other of a third one is its [`ProcessName`], and a rank in the job
//! is needed by the launcher alone, and by the context that joins the processes of the job.

use std::collections::HashSet;

use catena_boot::{BootError, Jobs};
use catena_fabric::{Peer, ProcessName};
use catena_hang::{WaitsFor, What};
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;

use crate::needs;
use crate::process::Process;

impl Process {
    /// The process that a peer is, as every process calls it.
    ///
    /// # Panics
    /// If the process has parted from the peer's job.
    pub fn name_of(&self, peer: Peer) -> ProcessName {
        let name = self.link(|link| link.net().peers().name(peer));
        name.expect("the member of a group is known")
    }

    /// The peer that a process is here, if its job is known.
    pub fn peer_of(&self, name: ProcessName) -> Option<Peer> {
        self.link(|link| link.net().peers().peer(name))
    }

    /// Whether any loss or revocation is known.
    #[inline]
    pub(crate) fn is_troubled(&self) -> bool {
        self.link(|link| link.is_troubled())
    }

    /// Whether some process is known to have died.
    #[inline]
    pub fn knows_deaths(&self) -> bool {
        self.engine.knows_deaths()
    }

    /// The error of whatever waits for a peer that is known to have died; see
    /// [`ProgressEngine::death`](catena_process::ProgressEngine::death).
    #[cold]
    pub fn death(&self, peer: Peer) -> Option<Error> {
        self.engine.death(peer)
    }

    /// Tells the launcher of peers that a network has lost; see
    /// [`ProgressEngine::tell_losses`](catena_process::ProgressEngine::tell_losses).
    #[cold]
    pub fn tell_losses(&self, told: &mut HashSet<ProcessName>) -> bool {
        self.engine.tell_losses(told)
    }

    /// The nodes of peers, as the launcher numbers nodes.
    pub(crate) fn nodes_of<C: FromIterator<u32>>(&self, peers: impl Iterator<Item = Peer>) -> C {
        self.link(|link| {
            let table = link.net().peers();
            peers
                .map(|peer| table.node(peer).unwrap_or(u32::MAX))
                .collect()
        })
    }

    /// Whether a peer was started together with this process.
    pub(crate) fn is_of_own_job(&self, peer: Peer) -> bool {
        self.link(|link| link.net().peers().is_own(peer))
    }

    /// The rank of a peer in the context of the job, which joins those that were started
    /// together.
    ///
    /// # Errors
    /// `Group` if the peer is of another job.
    pub(crate) fn rank_in_job(&self, peer: Peer) -> Result<u32> {
        let name = self.name_of(peer);
        if !self.is_of_own_job(peer) {
            fail!(
                Group,
                "a member of the group is rank {} of another job, which a communicator must join \
                to this one: processes that connected or were spawned make communicators from the \
                one that joins them",
                name.rank
            );
        }
        Ok(name.rank)
    }

    /// Calls the launcher, as far as it knows jobs.
    ///
    /// # Errors
    /// `Unsupported` for a job that another launcher has started on several hosts; `Other` if
    /// Catena's is gone, or cannot be started where nobody or another one has started the process.
    pub fn with_jobs<T>(
        &self,
        call: impl FnOnce(&mut dyn Jobs) -> Result<T, BootError>,
    ) -> Result<T> {
        let mut boot = self.engine.boot.borrow_mut();
        boot.begin_jobs().map_err(|e| other(&e))?;
        if let Some(jobs) = boot.jobs() {
            return call(jobs).map_err(|e| other(&e));
        }
        let about = boot.describe();
        let how = about.iter().find(|(name, _)| *name == "protocol");
        fail!(
            Unsupported,
            "another launcher has started this process{} on several hosts, and there processes can \
             be spawned and can connect only if Catena's own mpirun has: start the program with \
             Catena's mpirun, which uses the hosts of an allocation of Slurm or PALS by itself, or \
             all of its processes on one host",
            how.map(|(_, how)| format!(" ({how})")).unwrap_or_default()
        )
    }

    /// Waits for what becomes of a ticket; an error of `kind` if that is nothing.
    ///
    /// # Errors
    /// As [`Process::with_jobs`].
    pub fn outcome(&self, ticket: u32, kind: Kind) -> Result<Vec<u8>> {
        let mut told = Ok(None);
        let describe = |_: &Process, waits: &mut WaitsFor| {
            waits.needs.push(needs::open(What::Meeting, ""));
        };
        self.block(describe, |process| {
            told = process.with_jobs(|jobs| jobs.outcome(ticket));
            !matches!(told, Ok(None))
        });
        let outcome = told?.expect("block returns when it is known");
        outcome.map_err(|text| Error::new(kind, text))
    }
}

fn other(e: &dyn std::fmt::Display) -> Error {
    Error::new(Kind::Other, e.to_string())
}
