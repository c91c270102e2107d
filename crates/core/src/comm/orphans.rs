//! Communicators whose handles were freed before everything that was started on them was complete.
//! The program may free one as soon as it has started its last operation (MPI-5, 7.4.3), and an
//! error of that still goes to the communicator's error handler.
//!
//! An operation that holds its communicator names the handle as its place, and a transfer of `link`
//! names the context. Both are kept here from the call that frees the handle on, as long as an
//! operation can name them.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::{Arc, Weak};

use catena_abi as abi;
use catena_link::Cid;
use catena_objects::errhandler::{Errhandler, Errhandlers, HasErrhandler};

use super::Comm;

/// Communicators that are freed for each look at all requests, at least.
const LEAST: usize = 64;

/// What is kept of one.
#[derive(Debug)]
struct Orphan {
    /// Alive as long as an operation holds it; `None` if none does.
    comm: Option<Weak<Comm>>,
    /// Its contexts.
    cids: [Option<Cid>; 2],
    handle: abi::Comm,
}

/// The communicators of a process whose handles were freed while an operation could still name
/// them.
#[derive(Debug, Default)]
pub(crate) struct Orphans {
    all: RefCell<Vec<Orphan>>,
    /// How many were left when it was last looked which of them can still be named.
    left: Cell<usize>,
}

impl Orphans {
    /// The handle of a communicator is freed: keeps its error handler for what is under way on it.
    /// `slots` is how many requests `named` would look at, to tell the contexts of all that there
    /// are. Cost: O(1), and now and then that look.
    pub fn keep(
        &self,
        comm: &Arc<Comm>,
        errhandlers: &Errhandlers,
        slots: u32,
        named: impl Fn() -> HashSet<Cid>,
    ) {
        // An error handler with something to end ends now, if nothing can name the communicator.
        let ends = matches!(**comm.errhandler.borrow(), Errhandler::Layer { .. });
        if ends && !comm.is_held() {
            let named = named();
            if !comm.cids().any(|cid| named.contains(&cid)) {
                return;
            }
        }
        let handle = comm.handle.get();
        let mut cids = comm.cids();
        let orphan = Orphan {
            comm: comm.is_held().then(|| Arc::downgrade(comm)),
            cids: [cids.next(), cids.next()],
            handle,
        };
        let has_name = !comm.name.borrow().is_empty();
        let name = has_name.then(|| comm.called());
        errhandlers.keep(handle.into(), comm.errhandler.borrow().clone(), name);
        let mut all = self.all.borrow_mut();
        all.push(orphan);
        if all.len() < 2 * self.left.get() + LEAST.max(slots as usize / LEAST) {
            return;
        }
        let named = named();
        all.retain(|it| {
            let mut cids = it.cids.iter().flatten();
            let is_held = it.comm.as_ref().is_some_and(|it| it.strong_count() > 0);
            is_held || cids.any(|cid| named.contains(cid))
        });
        self.left.set(all.len());
        let wanted: HashSet<usize> = all.iter().map(|it| it.handle.0).collect();
        errhandlers.keep_only(|place| wanted.contains(&place.handle));
    }

    /// The communicator of a context whose handle was freed, if an operation holds it.
    #[cold]
    pub fn comm_of(&self, cid: Cid) -> Option<Arc<Comm>> {
        let all = self.all.borrow();
        let found = all.iter().rev().find(|it| it.cids.contains(&Some(cid)));
        found?.comm.as_ref()?.upgrade()
    }

    /// The handle that the communicator of a context had when it was freed.
    #[cold]
    pub fn handle_of(&self, cid: Cid) -> Option<abi::Comm> {
        let all = self.all.borrow();
        let found = all.iter().rev().find(|it| it.cids.contains(&Some(cid)));
        found.map(|it| it.handle)
    }
}
