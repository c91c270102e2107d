//! What is noted of each collective that runs.

use catena_coll::Collective;

use crate::comm::Comm;
use crate::events::{self, What};
use crate::process::Process;

impl Comm {
    /// A collective runs; `None` is one among neighbours.
    #[inline(always)]
    pub(super) fn ran(&self, process: &Process, what: Option<Collective>, way: u16) {
        self.coll.calls.set(self.coll.calls.get() + 1);
        process.colls.add(what, way);
        if let Some(what) = what
            && events::wanted(events::COLLECTIVES << what as u32)
        {
            events::note(process, Some(self.cid), What::Collective { what, way });
        }
    }
}
