//! A collective call that was checked: an operation that can be run.

use std::sync::Arc;

use catena_coll::Args;
use catena_objects::error::Result;
use catena_objects::op::Reducer;
use catena_schedule::Schedule;

use super::memory::Memory;
use super::schedules::Recipe;
use super::side::{Loaded, Side, load};
use super::signature::CallSignature;
use super::tag::Label;
use crate::comm::Comm;
use crate::process::Process;

/// Who calls: the process, and whether it waits for the result.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'w> {
    /// The process.
    pub process: &'w Process,
    /// The call blocks, so the operation may run while it is prepared.
    pub now: bool,
}

/// An operation that can be run, again and again.
#[derive(Debug)]
pub struct Prepared {
    pub(super) comm: Arc<Comm>,
    pub(super) label: Label,
    pub(super) recipe: Arc<Recipe>,
    pub(super) input: Side,
    pub(super) output: Side,
    pub(super) reducer: Option<Reducer>,
    /// Whether it may be run again, in the same place.
    pub(super) is_persistent: bool,
    /// See [`Args::turned`].
    pub(super) turned: u32,
    /// See [`CallSignature::function`].
    pub(super) function: u16,
}

impl Prepared {
    /// The communicator that it works on.
    pub fn comm(&self) -> &Arc<Comm> {
        &self.comm
    }

    /// Makes the memory that it works on.
    ///
    /// # Errors
    /// `NoMem` if there is not enough.
    pub(super) fn load(
        &mut self,
        sides: (&mut Loaded, &mut Loaded),
        memory: &mut Memory,
    ) -> Result<()> {
        (*sides.0, *sides.1) = load(&self.input, &self.output)?;
        (memory.input, memory.output) = (sides.0.base(), sides.1.base());
        memory.numbers = self.comm.compress.get().numbers_of(self.label.kinds);
        if let Some(reducer) = self.reducer.take() {
            memory.reducer = Some(reducer);
        }
        Ok(())
    }

    /// Whether it is among neighbours.
    #[inline]
    pub(super) fn is_near(&self) -> bool {
        self.label.what.is_none()
    }

    /// What `f` says of its arguments, as a board takes them. Edges between neighbours were found
    /// before.
    #[inline(always)]
    pub(super) fn with_args<T>(&self, f: impl FnOnce(&Args<'_>) -> T) -> T {
        let (key, comm) = (self.recipe.key(), &self.comm);
        let args = Args {
            turned: self.turned,
            ..key.args(comm.size(), comm.rank)
        };
        if !self.is_near() {
            return f(&args);
        }
        let edges = comm.coll.edges.get().and_then(Option::as_ref);
        let near = edges.map(|edges| edges.near(key.what));
        f(&Args {
            near: near.as_ref(),
            ..args
        })
    }

    /// Whether a buffer of the program has to be packed before it, or unpacked behind it.
    #[inline]
    pub(super) fn is_packed(&self) -> bool {
        self.input.is_packed() || self.output.is_packed()
    }

    /// What it does by messages.
    #[inline]
    pub(super) fn schedule(&self, process: &Process) -> &Schedule {
        self.recipe.schedule(|key| {
            let schedule = self.comm.schedule(process, key);
            self.comm.coll.schedules.borrow_mut().made(key, &schedule);
            schedule
        })
    }

    /// What a member that no call waits for says of it.
    pub(super) fn signature(&self) -> CallSignature {
        let bytes = self.recipe.key().bytes as u64;
        CallSignature {
            label: self.label,
            bytes: if self.comm.is_inter() { 0 } else { bytes },
            on_board: false,
            is_persistent: self.is_persistent,
            is_idle: self.recipe.is_idle(),
            function: self.function,
        }
    }
}
