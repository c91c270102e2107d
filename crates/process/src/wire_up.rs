//! How a process comes to its routes, and how it parts from those that may need it.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt::Display;
use std::rc::Rc;

use catena_boot::{Boot, Job};
use catena_fabric::{Peer, Place};
use catena_link::{Endpoint, Sink, Source};
use catena_net::{Chain, Networks, PeerTable, Routes};
use catena_objects::error::{Error, Kind, Result};
use catena_shm::Shm;

use crate::block::block;
use crate::engine::ProgressEngine;
use crate::exchange::{SharedBoot, ThroughLauncher};
use crate::hooks::Hooks;
use crate::host::Host;
use crate::scoped::Scoped;
use crate::threads::Threads;

/// What the launcher or the machine says, as an error of MPI.
pub(crate) fn other(e: &dyn Display) -> Error {
    Error::new(Kind::Other, e.to_string())
}

/// The processes of this job on this node.
fn local(job: &Job) -> Vec<Peer> {
    job.local.iter().map(|&rank| Peer(rank)).collect()
}

/// The segment of this node, attached, if the job has one.
fn attach(boot: &mut dyn Boot, chain: &Chain, job: &Job) -> Result<Option<Shm>> {
    let local = local(job);
    if !chain.shm || local.len() < 2 {
        return Ok(None);
    }
    let Some(fd) = boot.take_segment().map_err(|e| other(&e))? else {
        return Ok(None);
    };
    catena_shm::admit(boot.ancestor());
    let at = local.iter().position(|&p| p == Peer(job.rank)).unwrap_or(0) as u32;
    let shm = Shm::attach(fd, at, &local, job.local_cpus).map_err(|e| other(&e))?;
    Ok(Some(shm))
}

impl<P, S: Source, R: Sink> ProgressEngine<P, S, R> {
    /// Opens the transports: one question to the launcher and one answer, without waiting for other
    /// processes.
    ///
    /// # Errors
    /// `Other` if a transport that was asked for cannot be opened: the text says why.
    pub fn open(mut boot: Box<dyn Boot>) -> Result<Self> {
        let job = boot.job().clone();
        let me = Peer(job.rank);
        let local = local(&job);
        let chain = Chain::from_settings().map_err(|e| other(&e))?;
        let shm = attach(&mut *boot, &chain, &job)?;
        // SAFETY: the transport lives in the process, which is never dropped.
        let bell = shm.as_ref().map(|shm| unsafe { shm.bell(me) });
        let boot: SharedBoot = Rc::new(RefCell::new(boot));
        let place = Place {
            me,
            processes: job.size,
            job: job.job_id,
        };
        let exchange = Box::new(ThroughLauncher(Rc::clone(&boot)));
        let networks = Networks::open(&chain, place, &local, job.secret.as_ref(), exchange);
        let networks = networks.map_err(|e| other(&e))?;
        let peers = PeerTable::new(job.job_id, job.node_of.clone());
        let routes = Routes::new(me, peers, &local, shm, networks);
        Ok(ProgressEngine {
            me,
            boot,
            hooks: Hooks::default(),
            oversubscribed: local.len() > job.local_cpus.max(1) as usize,
            bell: Cell::new(bell),
            wake_socket: OnceCell::new(),
            // SAFETY: the closures that `link` is given do not lend it again, as it demands.
            link: unsafe { Scoped::new(Endpoint::new(routes)) },
        })
    }

    /// Room for the threads of the process that wait.
    pub fn threads(&self) -> Threads<P> {
        let boot = self.boot.borrow();
        let job = boot.job();
        let cores = job.local_cpus / job.local.len().max(1) as u32;
        Threads::new(cores, self.oversubscribed)
    }

    /// Waits until no process needs another over the network: what they wait
    /// for may leave this one only while it polls. Collective over the job.
    ///
    /// # Errors
    /// `Other` if the launcher is gone.
    pub fn part(&self, process: &P) -> Result<()>
    where
        P: Host,
    {
        let mut parted = Ok(true);
        block(process, |_| {
            parted = self.link(|link| link.net().networks_mut().map_or(Ok(true), Networks::part));
            !matches!(parted, Ok(false))
        });
        parted.map(drop).map_err(|e| other(&e))
    }

    /// Waits until all processes of the job that have not died do, too.
    ///
    /// # Errors
    /// `Other` if the launcher is gone.
    pub fn fence(&self, process: &P) -> Result<()>
    where
        P: Host,
    {
        let begun = self.boot.borrow_mut().begin_fence();
        begun.map_err(|e| other(&e))?;
        let mut over = Ok(false);
        block(process, |_| {
            over = self.boot.borrow_mut().fence_done();
            !matches!(over, Ok(false))
        });
        over.map(drop).map_err(|e| other(&e))
    }
}
