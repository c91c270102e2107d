//! How a process comes to its routes, and how it parts from those that may need it.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt::Display;
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

use catena_boot::{Boot, Job, OtherJob};
use catena_fabric::{LocalPeer, Peer};
use catena_hang::{Member, Need, WaitsFor, What};
use catena_link::{Endpoint, Sink, Source};
use catena_net::{Chain, Networks, Pair, PeerTable, Routes};
use catena_objects::error::{Error, Kind, Result};
use catena_shm::Shm;
use catena_trace::{Area, Who};

use crate::block::block;
use crate::engine::ProgressEngine;
use crate::exchange::{BetweenJobs, SharedBoot, ThroughLauncher};
use crate::hooks::Hooks;
use crate::host::Host;
use crate::own_watch;
use crate::scoped::Scoped;
use crate::threads::Threads;

/// What the launcher or the machine says, as an error of MPI.
pub(crate) fn other(e: &dyn Display) -> Error {
    Error::new(Kind::Other, e.to_string())
}

/// Whether processes of other jobs on that node share memory with those of a job there: all of
/// these, or else none, have to lay it out by themselves, before anybody meets them. One that is
/// alone on its node does so only where it is the whole job, or where its job was spawned.
fn meets_in_memory(node_of: &[u32], node: u32, spawned: bool) -> bool {
    let local = node_of.iter().filter(|&&of| of == node).count();
    local > 1 || local == 1 && (node_of.len() == 1 || spawned)
}

/// A number for a node of a job that another launcher has started: no node here has it, and hardly
/// one of another such job.
fn node_abroad(job: u64, node: u32) -> u32 {
    (1 << 31) | (job as u32 & 0x7fff_0000) | (node & 0xffff)
}

/// The processes of this job on this node.
fn local(job: &Job) -> Vec<Peer> {
    job.local.iter().map(|&rank| Peer(rank)).collect()
}

/// Begins to tell what this process does: in the segment of its node, or in one of its own. Without
/// either nothing is told, and nothing else is missing.
fn tell(boot: &dyn Boot, job: &Job) {
    let local = local(job);
    let me = place(&local, job);
    // The segment stays open in this process in any case.
    let again = |segment: BorrowedFd<'_>| match boot.is_watched() {
        true => Ok(None),
        false => segment.try_clone_to_owned().map(|it| Some(File::from(it))),
    };
    let begun = match boot.segment() {
        Some(segment) => Area::map(segment, me).and_then(|area| {
            let file = again(segment)?;
            Ok((area, file, (me, local.len() as u32)))
        }),
        None => Area::alone().map(|(area, file)| (area, Some(file), (0, 1))),
    };
    let Ok((area, file, (me, ranks))) = begun else {
        return;
    };
    let who = Who {
        job: job.job_id,
        rank: job.rank,
        ranks: job.size,
        pid: std::process::id(),
        space: catena_trace::space_of(None),
    };
    catena_trace::begin(area, who);
    catena_trace::listen();
    catena_base::fork::in_copies(catena_trace::end);
    if let Some(file) = file {
        let node = own_watch::Node {
            file,
            ranks,
            me,
            job: job.clone(),
        };
        own_watch::begin(node, boot.is_watched());
    }
}

/// The number of this process among those of its node.
fn place(local: &[Peer], job: &Job) -> u32 {
    let at = local.iter().position(|&p| p == Peer(job.rank));
    at.unwrap_or(0) as u32
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
    let at = place(&local, job);
    catena_shm::admit(boot.ancestor());
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
        tell(&*boot, &job);
        let shm = attach(&mut *boot, &chain, &job)?;
        // SAFETY: the transport lives in the process, which is never dropped.
        let bell = shm.as_ref().map(|shm| unsafe { shm.bell(me) });
        let boot: SharedBoot = Rc::new(RefCell::new(boot));
        let place = LocalPeer {
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

    /// Takes in another job, of which the launcher has told, unless it is known: attaches the
    /// memory of its processes on this node, and opens networks to the others.
    ///
    /// # Errors
    /// `Other` if one of the two cannot be done; the job is not taken in then.
    pub fn add_job(&self, number: u64, mut met: OtherJob) -> Result<()> {
        if self.link(|link| link.net().peers().peers_of(number).is_some()) {
            return Ok(());
        }
        let _standard = catena_base::StandardStreams::keep();
        let (own, pair, here, meets) = {
            let boot = self.boot.borrow();
            let own = boot.job();
            let pair = Pair::new(
                (own.job_id, own.size),
                own.rank,
                (number, met.node_of.len() as u32),
            );
            let here = own.node_of[own.rank as usize];
            let meets = meets_in_memory(&own.node_of, here, own.parent.is_some())
                && meets_in_memory(&met.node_of, here, met.spawned);
            (own.clone(), pair, here, meets)
        };
        let has_memory = self.link(|link| link.net().shm().is_some());
        let segment = met.segment.take().filter(|_| meets && has_memory);
        let is_near = |&node: &u32| node == here && segment.is_some();
        let far = match met.node_of.iter().all(is_near) {
            true => None,
            false => Some((pair, self.open_networks_to(number, &own, pair, &met)?)),
        };
        if met.remote {
            let node_of = met.node_of.iter_mut();
            node_of.for_each(|node| *node = node_abroad(number, *node));
        }
        let added = self.link(|link| link.net().add_job(number, &met.node_of, segment, far));
        added.map_err(|e| other(&e))?;
        // Some of its processes may be known to have died.
        self.ask_once();
        Ok(())
    }

    /// Opens networks to another job.
    fn open_networks_to(
        &self,
        number: u64,
        own: &Job,
        pair: Pair,
        met: &OtherJob,
    ) -> Result<Box<Networks>> {
        let mut chain = Chain::from_settings().map_err(|e| other(&e))?;
        // Whoever shares memory is not reached over them.
        chain.shm = false;
        let exchange = BetweenJobs::new(Rc::clone(&self.boot), pair, number, met);
        let own_secret = own.secret.as_ref().filter(|_| !met.remote);
        let secret = own_secret.or(met.secret.as_ref());
        let place = pair.place();
        let networks = Networks::open(&chain, place, &[place.me], secret, Box::new(exchange));
        let networks = networks.map_err(|e| other(&e))?;
        networks.ok_or_else(|| {
            let text = "a job that is met has processes that share no memory with this one, as \
                        they are on other hosts or CATENA_LINK leaves shm out at one side, and no \
                        network leads to them, as CATENA_LINK names none here: add tcp to it, or \
                        leave it out";
            Error::new(Kind::Other, text)
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
    pub fn leave_together(&self, process: &P) -> Result<()>
    where
        P: Host,
    {
        let mut parted = Ok(true);
        block(
            process,
            |_, waits| self.end_of_all(waits),
            |_| {
                parted = self.link(|link| link.net().leave_together());
                !matches!(parted, Ok(false))
            },
        );
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
        block(
            process,
            |_, waits| self.end_of_all(waits),
            |_| {
                over = self.boot.borrow_mut().fence_done();
                !matches!(over, Ok(false))
            },
        );
        over.map(drop).map_err(|e| other(&e))
    }

    /// All processes of the job are to come to the end.
    fn end_of_all(&self, waits: &mut WaitsFor) {
        let mut need = Need::new(What::End);
        need.together = true;
        let (job, ranks) = self.link(|link| {
            let peers = link.net().peers();
            (peers.own_job(), peers.own_peers())
        });
        ranks.for_each(|rank| need.add(Member { job, rank }));
        waits.needs.push(need);
    }
}
