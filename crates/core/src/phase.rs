//! How far the world model has come in this process (MPI-5, chapter 11.2).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};
use std::thread::ThreadId;

/// What `MPI_Init_thread` settled.
#[derive(Clone, Copy, Debug)]
pub struct WorldModel {
    /// Thread level that was granted.
    pub level: i32,
    /// The thread that called it.
    pub main_thread: ThreadId,
}

const BEFORE: u8 = 0;
const STARTING: u8 = 1;
const RUNNING: u8 = 2;
const FINALIZED: u8 = 3;

static PHASE: AtomicU8 = AtomicU8::new(BEFORE);

/// Written before the phase says that it stands.
static MODEL: OnceLock<WorldModel> = OnceLock::new();

/// `MPI_Initialized`: true from the end of `MPI_Init` on, for ever.
pub fn is_initialized() -> bool {
    PHASE.load(Acquire) >= RUNNING
}

/// `MPI_Finalized`.
pub fn is_finalized() -> bool {
    PHASE.load(Acquire) == FINALIZED
}

/// `MPI_Init` begins; false if it was called before.
pub(crate) fn begin() -> bool {
    PHASE
        .compare_exchange(BEFORE, STARTING, AcqRel, Acquire)
        .is_ok()
}

/// It has failed, and may be called again.
pub(crate) fn give_up() {
    PHASE.store(BEFORE, Release);
}

/// The world model, between `MPI_Init` and `MPI_Finalize`. Any thread may ask at any time.
pub(crate) fn world_model() -> Option<WorldModel> {
    match PHASE.load(Acquire) {
        RUNNING => MODEL.get().copied(),
        _ => None,
    }
}

/// It has succeeded: the world model stands.
pub(crate) fn run(model: WorldModel) {
    MODEL.get_or_init(|| model);
    PHASE.store(RUNNING, Release);
}

/// `MPI_Finalize` has ended the world model.
pub(crate) fn end() {
    PHASE.store(FINALIZED, Release);
}

/// In a copy of the process that `fork` has made: the world model has ended there, so that whoever
/// ends it at the end of a process, if it has not ended yet, does nothing.
pub(crate) fn sever() {
    if is_initialized() {
        end();
    }
}
