//! What the crates above this one do at moments that only `core` sees. Nothing here, nor elsewhere
//! in `core`, names one of them. Whoever joins all of them to a library registers the components,
//! once, before the library is first initialised.
//!
//! What a crate carries on in a process is a [`Hook`](catena_process::Hook): it has state, and
//! exists from when it is first asked for. A component has none, and is there from the start.

use std::fmt;
use std::sync::OnceLock;

use catena_link::Cid;
use catena_objects::error::Result;

use crate::comm::{Comm, LeaderKey};
use crate::process::Process;
use crate::process_set::ProcessSet;

/// A crate above this one, as the process calls it. What it does not define it does nothing at.
pub trait Component: fmt::Debug + Sync {
    /// The process has come up, before anybody else can have told it anything.
    fn came_up(&self, _process: &Process) {}

    /// A user of the library has come, the world model or a session: called before `MPI_Init` or
    /// `MPI_Session_init` returns, for the first and all later ones. It may be collective over the
    /// job if all processes do the same for their first ones.
    ///
    /// # Errors
    /// What that call will return.
    fn begin(&self, _process: &Process) -> Result<()> {
        Ok(())
    }

    /// Adds the process sets that it knows of; those that every process has are there,
    /// `mpi://WORLD` and `mpi://SELF` first.
    ///
    /// # Errors
    /// `Other` if the launcher is gone.
    fn add_sets(&self, _process: &Process, _sets: &mut Vec<ProcessSet>) -> Result<()> {
        Ok(())
    }

    /// A number is that of a new communicator from now on, of which nobody else knows it yet.
    fn number_taken(&self, _process: &Process, _cid: Cid) {}

    /// A communicator has its handle: [`Communicators::at`](crate::comm::Communicators::at) finds
    /// it from now on.
    fn comm_opened(&self, _process: &Process, _comm: &Comm) {}

    /// A member of a communicator, by the context and its rank there, is to be asked whether it
    /// takes part in an agreement: in that of all members which has the first of the words as its
    /// number, or in that of two leaders which the words tell
    /// ([`Communicators::leader_asks`](crate::comm::Communicators::leader_asks)). If it does not,
    /// the answer is [`Communicators::takes_no_part`](crate::comm::Communicators::takes_no_part),
    /// or [`Communicators::leader_is_absent`](crate::comm::Communicators::leader_is_absent). False
    /// if this component cannot ask.
    fn ask_part(&self, _process: &Process, _cid: Cid, _rank: u32, _words: &[u32]) -> bool {
        false
    }

    /// A leader that has asked so is to be answered that nothing comes.
    fn answer_leader(&self, _process: &Process, _cid: Cid, _rank: u32, _words: &[u32]) {}
}

static COMPONENTS: OnceLock<&'static [&'static dyn Component]> = OnceLock::new();

/// Says which components the library has, in the order in which they are called. The first call
/// counts: whoever joins them has one list.
pub fn register(components: &'static [&'static dyn Component]) {
    let _ = COMPONENTS.set(components);
}

/// All that were registered.
pub(crate) fn all() -> impl Iterator<Item = &'static dyn Component> {
    COMPONENTS
        .get()
        .into_iter()
        .flat_map(|all| all.iter().copied())
}

/// A user of the library has come.
pub(crate) fn begin(process: &Process) -> Result<()> {
    all().try_for_each(|it| it.begin(process))
}

/// A number is taken for a new communicator.
pub(crate) fn tell_taken(process: &Process, cid: Cid) {
    all().for_each(|it| it.number_taken(process, cid));
}

/// A communicator has its handle from now on.
pub(crate) fn tell_opened(process: &Process, comm: &Comm) {
    all().for_each(|it| it.comm_opened(process, comm));
}

/// Asks a member of a communicator whether it takes part in an agreement of all members; false if
/// nobody is there who could.
pub(crate) fn ask_part(process: &Process, cid: Cid, rank: u32, number: u32) -> bool {
    all().any(|it| it.ask_part(process, cid, rank, &[number]))
}

/// Asks the other leader, from this one's call of that number, whether nothing comes.
pub(crate) fn ask_leader(process: &Process, (cid, rank, key): &LeaderKey, number: u32) {
    let words = key.words(number);
    all().any(|it| it.ask_part(process, *cid, *rank, &words));
}

/// Tells the other leader, which has asked from its call of that number, that nothing comes.
pub(crate) fn answer_leader(process: &Process, (cid, rank, key): &LeaderKey, number: u32) {
    let words = key.words(number);
    all().for_each(|it| it.answer_leader(process, *cid, *rank, &words));
}
