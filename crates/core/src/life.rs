//! How the library comes up in this process, and how it rests.

use crate::abroad;
use crate::beside;
use crate::check::CHECK;
use crate::needs;
use catena_hang::{WaitsFor, What};
use std::cell::Cell;
use std::ffi::OsString;

use catena_abi::consts;
use catena_boot::FAULT_TOLERANCE;
use catena_boot::alias::forbids_alone;
use catena_datatype::{Datatype, FortranSizes};
use catena_fabric::Peer;
use catena_memory as memory;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::group::Group;
use catena_process::{Living, Owner, ProgressEngine, Waits};
use catena_shm::Shm;

use crate::coll::{Collectives, Counts};
use crate::comm::{Cids, Comm, Communicators, Inherited, JOB, hints};
use crate::components;
use crate::compress::Wishes;
use crate::environment;
use crate::events;
use crate::process::{self, Link, Process, enter};

pub use catena_process::granted;

pub use crate::process::{is_copy, is_starting};

impl Living for Process {
    fn bring_up() -> Result<Box<Process>> {
        wire_up()
    }

    fn owner(&self) -> &Cell<Owner> {
        &self.owner
    }

    fn resume(&self) -> Result<()> {
        self.stay();
        let resumed = self.engine.boot.borrow_mut().resume();
        resumed.map_err(|e| Error::new(Kind::Other, e.to_string()))
    }

    fn stay(&self) {
        self.link(|link| link.net().stay());
    }

    fn keeps(&self) -> bool {
        self.link(|link| link.net().keeps())
    }

    /// Nothing else waits for what was sent to arrive, and this process may end now, which is no
    /// death. The other end's kernel may take some 40 ms to say that it has come.
    fn settle(&self, end: bool) {
        if self.link(|link| link.net().has_networks()) {
            self.link(|link| link.net().leave());
            let describe = |_: &Process, waits: &mut WaitsFor| {
                waits.needs.push(needs::open(What::Rest, ""));
            };
            self.block(describe, |process| {
                process.link(|link| link.net().is_delivered(end))
            });
        }
        events::tell(self);
    }

    fn rest(&self, end: bool) -> Result<()> {
        self.engine.hooks.end(self);
        self.link(|link| link.net().shm_mut().map(Shm::close_devices));
        if end {
            self.link(|link| link.net().end());
        }
        let mut boot = self.engine.boot.borrow_mut();
        let told = if end { boot.end() } else { boot.finalize() };
        told.map_err(|e| Error::new(Kind::Other, e.to_string()))
    }
}

/// This process is a rank: what it starts from now on is none, and may be a program of another MPI
/// that runs alone.
fn let_children_be_alone() {
    let forbids = |(name, value): &(OsString, OsString)| forbids_alone(name, value);
    for (name, _) in std::env::vars_os().filter(forbids) {
        // SAFETY: MPI begins, and nobody else changes these variables; who looks for others at the
        // same time finds them.
        unsafe { std::env::remove_var(name) };
    }
}

/// Connects to the launcher, opens the transports, and makes the predefined communicators, of
/// which nobody has to be told.
fn wire_up() -> Result<Box<Process>> {
    catena_base::fork::in_copies(process::sever);
    catena_base::clock::start();
    catena_base::copy::start();
    catena_base::limits::raise_descriptors();
    catena_cuda::start();
    catena_objects::callback::WITHOUT_LOCK.get_or_init(|| beside::outside);
    let _standard = catena_base::StandardStreams::keep();
    crate::settings::tell();
    if CHECK.get() {
        // Each message says what it is of.
        memory::look_closely();
    }
    let boot = catena_boot::open().map_err(|e| Error::new(Kind::Other, e.to_string()))?;
    let_children_be_alone();
    crate::settings::warn_unknown(boot.job().rank);
    let size = boot.job().size;
    environment::note_job_size(size);
    let engine = ProgressEngine::open(boot)?;
    let me = engine.me;
    let everyone: Vec<Peer> = (0..size).map(Peer).collect();
    let objects = process::tables();
    let mut cids = Cids::new();
    let mut predefined = |handle: catena_abi::Comm, name: &str, members: &[Peer]| {
        let lease = cids.take(|_| true).expect("the first ones");
        let cid = lease.cid();
        let inherited = Inherited::new(
            objects
                .errhandlers
                .find(catena_objects::errhandler::initial())
                .expect("predefined"),
        );
        let comm = Comm::new(lease, Group::new(members, me), None, inherited);
        // Everybody numbers these two alike, so nothing has to be told.
        let peers = members.iter().map(|&p| (p, cid)).collect();
        engine.link(|link: &mut Link| link.open(cid, comm.rank, peers));
        comm.handle.set(handle);
        *comm.name.borrow_mut() = name.into();
        comm
    };
    let everybody = predefined(consts::COMM_WORLD, "MPI_COMM_WORLD", &everyone);
    assert_eq!(everybody.cid, JOB);
    let own = predefined(consts::COMM_SELF, "MPI_COMM_SELF", &[me]);
    let process = Box::new(Process {
        objects,
        units: units(memory::is_host_only()),
        units_on_host: units(!memory::is_host_only() && !CHECK.get()),
        me,
        comms: Communicators::new(&objects.comms, [everybody, own], cids),
        owner: Cell::new(Owner::InTurn),
        threads: engine.threads(),
        waits: Waits::default(),
        colls: Counts::default(),
        buffer: Default::default(),
        engine,
        other_jobs: Default::default(),
    });
    process::show_presence(&process);
    // Collectives first: they are asked for most.
    process.hook::<Collectives>();
    if FAULT_TOLERANCE.get() {
        process.link(|link| link.tolerate());
    }
    if CHECK.get() {
        process.link(|link| link.seal_messages());
    }
    hints::prepare(&process, &Wishes::from_settings());
    abroad::listen(&process);
    components::all().for_each(|it| it.came_up(&process));
    process.engine.ask_once();
    events::watch(&process);
    // What has been loaded for MPI is there now.
    memory::may_have_devices();
    Ok(process)
}

/// See [`Process::units`]: all are 0 where they are not used.
fn units(are_used: bool) -> [Cell<u8>; 256] {
    std::array::from_fn(|low| Cell::new(if are_used { unit(low) } else { 0 }))
}

/// That of one predefined type, by the low byte of its handle.
fn unit(low: usize) -> u8 {
    let ty = Datatype::predefined(0x200 | low as u16).filter(|ty| ty.is_contiguous());
    ty.map_or(0, |ty| u8::try_from(ty.size()).unwrap_or(0))
}

/// Gives Fortran's types other sizes, for calls from now on.
pub fn set_fortran_sizes(sizes: FortranSizes) {
    Datatype::set_fortran_sizes(sizes);
    if let Ok(process) = enter() {
        // Where all are 0, they stay so.
        for units in [&process.units, &process.units_on_host] {
            if units.iter().any(|it| it.get() != 0) {
                for (low, place) in units.iter().enumerate() {
                    place.set(unit(low));
                }
            }
        }
    }
}
