//! The end of a process: after its last session, or in the middle of one.

use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use super::segment::Segment;
use super::{Shared, lock};
use crate::sys::{self, AtExit};

/// What the process manager is told when the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastWord {
    /// The process has left its last session, and departs.
    Departs,
    /// The process has not finalized, so the others may wait for it for ever: the job ends.
    Aborts,
}

/// What is left to do when the process ends.
struct ExitAction {
    word: LastWord,
    manager: Shared,
    segment: Arc<Segment>,
}

static EXPECTED: Mutex<Option<ExitAction>> = Mutex::new(None);

fn expected() -> MutexGuard<'static, Option<ExitAction>> {
    EXPECTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has `manager` told when the process ends, unless [`put_off`] comes before.
pub(super) fn expect(word: LastWord, manager: &Shared, segment: &Arc<Segment>) {
    static ONCE: Once = Once::new();
    ONCE.call_once(sys::at_exit::<Say>);
    *expected() = Some(ExitAction {
        word,
        manager: Arc::clone(manager),
        segment: Arc::clone(segment),
    });
}

/// Takes back [`expect`].
pub(super) fn put_off() {
    *expected() = None;
}

/// Says the last word.
struct Say;

impl AtExit for Say {
    fn last() {
        // Bound here, so that the lock is free again before anything waits.
        let due = expected().take();
        let Some(farewell) = due else {
            return;
        };
        match farewell.word {
            LastWord::Departs => {
                farewell.segment.wait_until_opened();
                // Nobody is left who could be told that it failed.
                let _ = lock(&farewell.manager).depart();
            }
            LastWord::Aborts => {
                // A thread that holds the manager may wait for ever.
                if let Ok(mut manager) = farewell.manager.try_lock() {
                    let rank = manager.about().rank;
                    let fault = format!(
                        "rank {rank} ended without MPI_Finalize (or MPI_Session_finalize): the job \
                         ends"
                    );
                    catena_base::tell!("{fault}");
                    sys::let_stderr_be_read();
                    manager.abort(1, &fault);
                }
            }
        }
    }
}
