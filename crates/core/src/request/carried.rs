//! Requests that progress carries on one by one.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::{RequestObject, State};
use crate::comm::Comm;
use crate::process::Process;
use catena_process::Hook;

/// Requests that a round of progress looks at, in turn, of those that cannot go on. So a round costs what moves,
/// however many there are; whoever waits for one looks at that each time.
const LOOKS: usize = 1;

/// Those that are under way.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    all: RefCell<Vec<Arc<dyn RequestObject>>>,
    /// Whose turn it is.
    turn: Cell<usize>,
}

impl Carried {
    /// Advances those whose turn it is, until `misses` of them cannot go on or each had its turn; true if one of them
    /// came to its end.
    fn look(&self, process: &Process, mut misses: usize) -> bool {
        let mut completed = 0;
        let mut rest = self.all.borrow().len();
        while rest > 0 && misses > 0 {
            rest -= 1;
            let len = self.all.borrow().len();
            let at = if self.turn.get() < len {
                self.turn.get()
            } else {
                0
            };
            let Some(request) = self.all.borrow().get(at).cloned() else {
                break;
            };
            if request.advance(process) {
                self.all.borrow_mut().swap_remove(at);
                completed += 1;
                self.turn.set(at);
            } else {
                misses -= 1;
                self.turn.set(at + 1);
            }
        }
        process.hook::<Carried>().remove_work(completed);
        completed != 0
    }
}

impl Hook<Process> for Carried {
    fn progress(&self, process: &Process) -> bool {
        self.look(process, LOOKS)
    }

    /// What a request waits for may be a word in shared memory: nobody else tells of it, so all are looked at.
    fn before_sleep(&self, process: &Process) -> bool {
        self.look(process, usize::MAX)
    }
}

impl Process {
    /// Has progress [advance](RequestObject::advance) a request until nothing of it is left to
    /// do, whether the program completes it, frees it or does not know it.
    pub fn carry_on(&self, request: Arc<dyn RequestObject>) {
        let carried = self.hook::<Carried>();
        carried.all.borrow_mut().push(request);
        carried.add_work(1);
    }

    /// What is under way on a communicator and is no transfer.
    pub(crate) fn active_on(&self, comm: &Comm) -> Vec<Arc<dyn RequestObject>> {
        let place = Some(comm.handle.get().into());
        let collectives = self.collectives().under_way();
        let others = self.hook::<Carried>();
        let others = others.all.borrow();
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
