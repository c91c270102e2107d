//! What is noted of each collective that runs.

use catena_coll::Collective;

use crate::comm::Comm;
use crate::events::{self, What};
use crate::process::Process;

impl Process {
    /// A collective runs; `None` is one among neighbours.
    #[inline(always)]
    pub(super) fn ran(&self, comm: &Comm, what: Option<Collective>, way: u16) {
        comm.coll.calls.set(comm.coll.calls.get() + 1);
        self.colls.add(what, way);
        if let Some(what) = what
            && events::wanted(events::COLLECTIVES << what as u32)
        {
            self.note(Some(comm.cid), What::Collective { what, way });
        }
    }
}
