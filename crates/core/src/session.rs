//! Sessions (MPI-5, chapter 11.3): handles by which parts of a program use the
//! library independently, and the process sets that they find their groups by.
//!
//! A session belongs to its process: nobody is told of it. Groups remember the
//! session that they came from, and so do the communicators made of them.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_fabric::ProcessName;

use crate::comm::{Comm, finish_messages, group_of_names, meet};
use crate::components;
use crate::memory_kinds::memory_kinds;
pub use crate::memory_kinds::{MEMORY_ALLOC_KINDS, MEMORY_KINDS};
use crate::process::{Process, enter, life};
pub use crate::process_set::ProcessSet;
pub use crate::session_object::Session;
use catena_objects::errhandler::ErrhandlerRef;
use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::group::Group;
use catena_objects::info::Info;

/// Name of the set of all processes of the job.
pub const WORLD_SET: &str = "mpi://WORLD";
/// Name of the set that is this process.
pub const SELF_SET: &str = "mpi://SELF";

/// The names of the thread levels, from the lowest on.
const LEVELS: [(&str, i32); 4] = [
    ("MPI_THREAD_SINGLE", consts::THREAD_SINGLE),
    ("MPI_THREAD_FUNNELED", consts::THREAD_FUNNELED),
    ("MPI_THREAD_SERIALIZED", consts::THREAD_SERIALIZED),
    ("MPI_THREAD_MULTIPLE", consts::THREAD_MULTIPLE),
];

/// The name of a thread level.
fn level_name(level: i32) -> &'static str {
    let known = LEVELS.iter().rev().find(|(_, l)| *l <= level);
    known.map_or(LEVELS[0].0, |(name, _)| name)
}

/// The thread level that is asked for, if one is.
fn level_of(hints: &Info) -> Result<Option<i32>> {
    let Some(asked) = hints.hint("thread_level") else {
        return Ok(None);
    };
    match LEVELS.iter().find(|(name, _)| *name == asked) {
        Some((_, level)) => Ok(Some(*level)),
        None => fail!(
            InfoValue,
            "thread_level is '{asked}': it must be MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, \
            MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE"
        ),
    }
}

/// `MPI_Session_init`: local, at any time, from any thread, but for what
/// [components](components::Component::begin) do when the first user of the library comes.
///
/// # Errors
/// `InfoValue` for an unknown thread level; as [`Life::join`](catena_process::Life::join).
pub fn init(hints: &Info, errhandler: ErrhandlerRef) -> Result<abi::Session> {
    let level = life().join(level_of(hints)?)?;
    let process = enter()?;
    components::begin(&process)?;
    let granted = [
        ("thread_level", level_name(level).to_owned()),
        (
            MEMORY_KINDS,
            memory_kinds(&hints.hint(MEMORY_KINDS).unwrap_or_default()),
        ),
    ];
    let session = Arc::new(Session {
        handle: Cell::new(consts::SESSION_NULL),
        errhandler: RefCell::new(errhandler),
        info: Info::from_pairs(granted),
        buffer: Default::default(),
    });
    let handle = abi::Session(process.objects.sessions.insert(session.clone()));
    session.handle.set(handle);
    Ok(handle)
}

impl Comm {
    /// `MPI_Comm_get_info`: the hints that are followed, and the kinds of memory that messages on
    /// it may lie in: those of its session, or of the world model. What the library makes no use of
    /// is not among them, such as the standard's assertions (decision 14).
    ///
    /// # Errors
    /// As [`Info::set`].
    pub fn info_used(&self, process: &Process) -> Result<Arc<Info>> {
        let used = self.info.duplicate();
        let session = self.group.session();
        let session = session.and_then(|s| process.objects.sessions.get(s.0));
        let of_session = session.and_then(|s| s.info.hint(MEMORY_KINDS));
        let kinds = of_session.unwrap_or_else(|| memory_kinds(&MEMORY_ALLOC_KINDS.get()));
        used.set(MEMORY_KINDS, kinds)?;
        self.compress.get().tell(&used)?;
        Ok(used)
    }
}

/// The process sets that this process knows: the two that every job has, those of the launcher that
/// it is in, and those that [components](components::Component::add_sets) add.
///
/// # Errors
/// `Other` if the launcher is gone.
pub fn process_sets(process: &Process) -> Result<Vec<ProcessSet>> {
    let me = process.name_of(process.me);
    let of_job = |rank| ProcessName { job: me.job, rank };
    let set = |name: &str, members: Vec<ProcessName>| ProcessSet {
        name: name.to_owned(),
        members,
    };
    let mut sets = {
        let boot = process.engine.boot.borrow();
        let job = boot.job();
        let everyone = set(WORLD_SET, (0..job.size).map(of_job).collect());
        let psets = job.psets.iter();
        let mine = psets.filter(|(_, ranks)| ranks.binary_search(&me.rank).is_ok());
        let mine = mine.map(|(name, ranks)| set(name, ranks.iter().copied().map(of_job).collect()));
        Vec::from_iter([everyone, set(SELF_SET, vec![me])].into_iter().chain(mine))
    };
    components::all().try_for_each(|it| it.add_sets(process, &mut sets))?;
    Ok(sets)
}

/// The process set of that name. Those that MPI defines have names in
/// which case does not count.
///
/// # Errors
/// `Arg` if this process knows no such set.
pub fn process_set(process: &Process, name: &str) -> Result<ProcessSet> {
    let sets = process_sets(process)?;
    let found = sets.iter().find(|set| set.is_called(name));
    if let Some(set) = found {
        return Ok(set.clone());
    }
    let known: Vec<&str> = sets.iter().map(|set| &*set.name).collect();
    fail!(
        Arg,
        "this process is in no process set '{name}'; it is in {}",
        known.join(", ")
    )
}

impl Session {
    /// `MPI_Group_from_session_pset`.
    ///
    /// # Errors
    /// As [`process_set`]; `Other` if a job has ended that members are of.
    pub fn group_of_set(&self, process: &Process, name: &str) -> Result<Arc<Group>> {
        let members = process_set(process, name)?.members;
        group_of_names(process, self.handle.get(), &members)
    }

    /// `MPI_Session_finalize`. Collective over the members of each communicator
    /// of the session that is left, all at once; local if there is none. What
    /// is left of the session is freed, its callbacks not called.
    ///
    /// # Errors
    /// As [`Life::leave`](catena_process::Life::leave).
    pub fn finalize(&self, process: &Process) -> Result<()> {
        let is_of = |group: &Group| group.session() == Some(self.handle.get());
        let made = process.comms.made();
        let left: Vec<Arc<Comm>> = made.filter(|comm| is_of(&comm.group)).collect();
        for comm in &left {
            comm.buffer.flush(process);
        }
        self.buffer.flush(process);
        // Members go on serving each other until all are here.
        finish_messages(process, &left);
        meet(process, &left);
        finish_messages(process, &left);
        left.into_iter().for_each(|comm| comm.forget(process));
        for (handle, group) in process.objects.groups.table.all() {
            if is_of(&group) {
                process.objects.groups.table.remove(handle);
            }
        }
        process.objects.sessions.remove(self.handle.get().0);
        life().leave(process, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_levels_have_names_and_are_checked() {
        let info = Info::default();
        assert_eq!(level_of(&info).unwrap(), None);
        for (name, level) in LEVELS {
            info.set("thread_level", name).unwrap();
            assert_eq!(level_of(&info).unwrap(), Some(level));
            assert_eq!(level_name(level), name);
        }
        info.set("thread_level", "MULTIPLE").unwrap();
        let error = level_of(&info).unwrap_err();
        assert_eq!(error.kind(), catena_objects::error::Kind::InfoValue);
        assert!(error.text().contains("'MULTIPLE'"), "{error}");
    }
}
