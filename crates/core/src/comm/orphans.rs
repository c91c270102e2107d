//! Transfers that outlive the handle of their communicator. That is freed only once nothing is pending on it (MPI-5,
//! 7.4.3), so their errors still go to its error handler.
//!
//! Errors that come so late are those of deaths and revocations: nothing is kept before one is known.

use std::sync::Arc;

use catena_abi as abi;
use catena_link::ReqId;
use catena_objects::error_place::ErrorPlace;

use super::Comm;
use crate::process::Process;

impl Process {
    /// The handle of a communicator is freed: keeps what its transfers need.
    #[cold]
    pub(super) fn keep_orphans(&self, comm: &Arc<Comm>) {
        let mut orphans = self.orphans.0.borrow_mut();
        orphans.retain(|(id, _)| self.link(|link| link.valid(*id)));
        let errhandlers = &self.objects.errhandlers;
        errhandlers.keep_only(|place| {
            let mut of = orphans.iter().map(|(_, comm)| ErrorPlace::from(*comm));
            of.any(|it| it == place)
        });
        let left = self.link(|link| link.held(comm.cid));
        if !left.is_empty() {
            let handle = comm.handle.get();
            errhandlers.keep(handle.into(), &**comm);
            orphans.extend(left.into_iter().map(|id| (id, handle)));
        }
    }

    /// The handle that the communicator of a transfer had when it was freed.
    #[cold]
    pub(crate) fn orphaned(&self, id: ReqId) -> Option<abi::Comm> {
        let orphans = self.orphans.0.borrow();
        orphans.iter().find(|(of, _)| *of == id).map(|it| it.1)
    }
}
