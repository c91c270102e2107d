//! Requests that progress carries on one by one.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::{RequestObject, State};
use crate::comm::Comm;
use crate::process::Process;
use catena_process::Hook;

/// Requests that a round of progress looks at, in turn, of those that cannot go on. So a round
/// costs what moves, however many there are; whoever waits for one looks at that each time.
const LOOKS: usize = 1;

/// Those that are under way.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    all: RefCell<Vec<Arc<dyn RequestObject<Process>>>>,
    /// Whose turn it is.
    turn: Cell<usize>,
    /// How many in a row could not go on, and wait for control messages, of which none has come
    /// meanwhile.
    quiet: Cell<usize>,
    /// What [`ControlMessages::news`](crate::comm::ControlMessages::news) has said last.
    news: Cell<Option<u64>>,
}

impl Carried {
    /// Whether no request can go on, as all wait for control messages and none has come since they
    /// were asked.
    fn is_quiet(&self, process: &Process) -> bool {
        let news = process.comms.control.news(process);
        let is_old = news.is_some() && news == self.news.replace(news);
        if !is_old || process.is_troubled() {
            self.quiet.set(0);
        }
        self.quiet.get() >= self.all.borrow().len()
    }

    /// Advances those whose turn it is, until `misses` of them cannot go on or each had its turn;
    /// true if one of them came to its end.
    fn look(&self, process: &Process, mut misses: usize) -> bool {
        if self.is_quiet(process) {
            return false;
        }
        let mut completed = 0;
        let mut rest = self.all.borrow().len();
        while rest > 0 && misses > 0 {
            rest -= 1;
            let turn = self.turn.get();
            let at = match turn < self.all.borrow().len() {
                true => turn,
                false => 0,
            };
            let Some(request) = self.all.borrow().get(at).cloned() else {
                break;
            };
            if request.advance(process) {
                self.all.borrow_mut().swap_remove(at);
                completed += 1;
                self.turn.set(at);
                self.quiet.set(0);
            } else {
                misses -= 1;
                self.turn.set(at + 1);
                self.quiet.set(match request.waits_for_control() {
                    true => self.quiet.get() + 1,
                    false => 0,
                });
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

    /// What a request waits for may be a word in shared memory: nobody else tells of it, so all are
    /// looked at.
    fn before_sleep(&self, process: &Process) -> bool {
        self.look(process, usize::MAX)
    }
}

/// Has progress [advance](RequestObject::advance) a request until nothing of it is left to
/// do, whether the program completes it, frees it or does not know it.
pub fn carry_on(process: &Process, request: Arc<dyn RequestObject<Process>>) {
    let carried = process.hook::<Carried>();
    carried.all.borrow_mut().push(request);
    carried.quiet.set(0);
    carried.add_work(1);
}

impl Comm {
    /// What is under way on a communicator and is no transfer.
    pub(crate) fn active_on(&self, process: &Process) -> Vec<Arc<dyn RequestObject<Process>>> {
        let place = Some(self.handle.get().into());
        let collectives = process.collectives().under_way();
        let others = process.hook::<Carried>();
        let others = others.all.borrow();
        // Persistent ones may have nobody to carry them on.
        let kept = process.objects.requests.all().into_iter();
        let kept = kept.map(|(_, it)| it).filter(|it| it.is_persistent());
        let all = collectives
            .into_iter()
            .chain(others.iter().cloned())
            .chain(kept);
        all.filter(|it| it.place() == place && matches!(it.state(process), Ok(State::Pending)))
            .collect()
    }
}
