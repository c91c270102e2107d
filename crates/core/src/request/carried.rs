//! Requests that progress carries on one by one.

use std::cell::RefCell;
use std::sync::Arc;

use super::{RequestObject, State};
use crate::comm::Comm;
use crate::process::Process;
use catena_process::Hook;

/// Those that are under way.
#[derive(Debug, Default)]
pub(crate) struct Carried(RefCell<Vec<Arc<dyn RequestObject>>>);

impl Hook<Process> for Carried {
    fn progress(&self, process: &Process) -> bool {
        let mut at = 0;
        let mut completed = 0;
        loop {
            let Some(request) = self.0.borrow().get(at).cloned() else {
                break;
            };
            if request.advance(process) {
                self.0.borrow_mut().swap_remove(at);
                completed += 1;
            } else {
                at += 1;
            }
        }
        process.hook::<Carried>().remove_work(completed);
        completed != 0
    }

    /// What a request waits for may be a word in shared memory.
    fn before_sleep(&self, process: &Process) -> bool {
        self.progress(process)
    }
}

impl Process {
    /// Has progress [advance](RequestObject::advance) a request until nothing of it is left to
    /// do, whether the program completes it, frees it or does not know it.
    pub fn carry_on(&self, request: Arc<dyn RequestObject>) {
        let carried = self.hook::<Carried>();
        carried.0.borrow_mut().push(request);
        carried.add_work(1);
    }

    /// What is under way on a communicator and is no transfer.
    pub(crate) fn active_on(&self, comm: &Comm) -> Vec<Arc<dyn RequestObject>> {
        let place = Some(comm.handle.get().into());
        let collectives = self.collectives().under_way();
        let others = self.hook::<Carried>();
        let others = others.0.borrow();
        // Persistent ones may have nobody to carry them on.
        let kept = self.objects.requests.all().into_iter();
        let kept = kept.map(|(_, it)| it).filter(|it| it.is_persistent());
        let all = collectives
            .into_iter()
            .chain(others.iter().cloned())
            .chain(kept);
        all.filter(|it| it.place() == place && matches!(it.state(self), Ok(State::Pending)))
            .collect()
    }
}
