//! Those who have spawned this job (MPI-5, chapter 11.8.2), and the states of a job that grows and
//! shrinks.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_boot::{ELASTIC_SET, ElasticSet, Side};
use catena_core::Process;
use catena_core::comm::{Comm, PortEndpoint};
use catena_core::components::Component;
use catena_core::hooks::{Hook, Hooked};
use catena_core::needs;
use catena_core::session::ProcessSet;
use catena_fabric::ProcessName;
use catena_hang::{WaitsFor, What};
use catena_objects::error::{Kind, Result};

/// Name of the set of the processes that have spawned this job, where some have.
const PARENT_SET: &str = "mpi://PARENT";

/// What a process knows of those who have spawned its job, and of the states of that.
#[derive(Debug, Default)]
struct Family {
    /// The communicator with those who have spawned it, once it has been made.
    parent: Cell<Option<abi::Comm>>,
    /// Whether they are being met, or were.
    is_meeting: Cell<bool>,
    /// Who they are, once that is done.
    parents: RefCell<Option<Vec<ProcessName>>>,
    /// The versions of the process set of this job, where it is elastic, that it was told of.
    states: RefCell<Vec<ElasticSet>>,
}

impl Hook<Process> for Family {}

fn family(process: &Process) -> Hooked<'_, Process, Family> {
    process.hook()
}

/// What this crate adds to the library.
#[derive(Debug)]
pub(crate) struct Jobs;

impl Component for Jobs {
    fn begin(&self, process: &Process) -> Result<()> {
        meet_parents(process)
    }

    fn add_sets(&self, process: &Process, sets: &mut Vec<ProcessSet>) -> Result<()> {
        let family = family(process);
        if let Some(members) = family.parents.borrow().clone()
            && !members.is_empty()
        {
            let parents = ProcessSet {
                name: PARENT_SET.to_owned(),
                members,
            };
            // Behind the two that every process has.
            sets.insert(sets.len().min(2), parents);
        }
        learn_states(process)?;
        let states = family.states.borrow();
        sets.extend(states.iter().map(|it| {
            let members = it.members.iter();
            let members = members.map(|&(job, rank)| ProcessName { job, rank });
            ProcessSet {
                name: format!("{ELASTIC_SET}{}", it.version),
                members: members.collect(),
            }
        }));
        Ok(())
    }
}

/// `MPI_Comm_get_parent`: the communicator with those who have spawned this job, unless
/// nobody has, or it was freed.
pub fn parent(process: &Process) -> abi::Comm {
    let parent = family(process).parent.get();
    let is_there = |parent: &abi::Comm| process.comm_ref(*parent).is_ok();
    parent.filter(is_there).unwrap_or(consts::COMM_NULL)
}

/// Meets those who have spawned this job, if somebody has and this was not done. Collective over
/// the job: the first user of the library does it, be it the world model or a session.
fn meet_parents(process: &Process) -> Result<()> {
    let (port, is_elastic) = {
        let boot = process.engine.boot.borrow();
        (boot.job().parent.clone(), boot.job().is_elastic())
    };
    let Some(port) = port.filter(|port| !ElasticSet::is_port(port)) else {
        // Those by whom an elastic job grows reach this process without having met it.
        if is_elastic {
            process.other_jobs.open_home(process)?;
            if process.world_model().is_ok() {
                process.with_jobs(|jobs| jobs.tell_world())?;
            }
            process.with_jobs(|jobs| jobs.ready())?;
        }
        return Ok(());
    };
    let family = family(process);
    if family.is_meeting.replace(true) {
        // Another thread does it.
        process.block(answer_of_launcher, |_| family.parents.borrow().is_some());
        return Ok(());
    }
    let met = meet_at(process, port);
    let names = match &met {
        Ok(parent) => {
            family.parent.set(Some(parent.handle.get()));
            let remote = parent.remote.as_ref();
            let group = remote.into_iter().flat_map(|it| it.group.members());
            group.map(|peer| process.name_of(peer)).collect()
        }
        Err(_) => Vec::new(),
    };
    *family.parents.borrow_mut() = Some(names);
    met.map(drop)
}

fn meet_at(process: &Process, port: String) -> Result<Arc<Comm>> {
    let world = &process.comms.world;
    let meeting = (world.rank == 0).then_some(PortEndpoint {
        port,
        side: Side::Guest,
        timeout: None,
    });
    let parent = world.connect(process, 0, Ok(meeting), Kind::Spawn)?;
    let parent = process.comm(parent)?;
    *parent.name.borrow_mut() = "MPI_COMM_PARENT".into();
    Ok(parent)
}

/// Takes in what the launcher has told of the states of this job, if it is elastic. One by whose
/// start the job has grown waits for the first.
fn learn_states(process: &Process) -> Result<()> {
    let (is_first, has_come) = {
        let boot = process.engine.boot.borrow();
        let job = boot.job();
        let is_elastic = |(name, _): &(String, _)| name.starts_with(ELASTIC_SET);
        let parent = job.parent.as_deref();
        (
            job.psets.iter().any(is_elastic),
            parent.is_some_and(ElasticSet::is_port),
        )
    };
    if !is_first && !has_come {
        return Ok(());
    }
    let states = &family(process).states;
    let mut told = Ok(());
    process.block(answer_of_launcher, |process| {
        match process.with_jobs(|jobs| jobs.sets()) {
            Ok(new) => states.borrow_mut().extend(new),
            Err(error) => told = Err(error),
        }
        told.is_err() || is_first || !states.borrow().is_empty()
    });
    told
}

/// The launcher is to answer.
fn answer_of_launcher(_: &Process, waits: &mut WaitsFor) {
    waits.needs.push(needs::open(What::Launcher, ""));
}
