//! What a thread tells of its wait, once that has lasted: in a notice of the trace, for whoever
//! looks at a job that hangs.

use std::time::Duration;

use catena_base::clock;
use catena_hang::{FRAMES, WaitsFor};
use catena_trace::Notice;

/// How long nothing has moved before anything is told. Shorter waits cost nothing.
const LONG: Duration = Duration::from_secs(1);

/// A wait of a thread, a part of a process `P`.
pub trait Wait<P> {
    /// Whether what is waited for has come.
    fn is_done(&mut self, process: &P) -> bool;

    /// Adds what that is. Called now and then in a wait that lasts, between two calls of
    /// [`is_done`](Self::is_done): it neither progresses, nor waits, nor calls the program.
    fn describe(&self, process: &P, waits: &mut WaitsFor);
}

/// A wait of two functions.
#[derive(Debug)]
pub(crate) struct WaitOf<D, W> {
    pub is_done: D,
    pub describe: W,
}

impl<P, D: FnMut(&P) -> bool, W: Fn(&P, &mut WaitsFor)> Wait<P> for WaitOf<D, W> {
    #[inline]
    fn is_done(&mut self, process: &P) -> bool {
        (self.is_done)(process)
    }

    fn describe(&self, process: &P, waits: &mut WaitsFor) {
        (self.describe)(process, waits);
    }
}

/// What a thread has told of its wait.
#[derive(Debug, Default)]
pub(crate) struct Told(Option<Box<Notes>>);

#[derive(Debug)]
struct Notes {
    notice: Notice,
    /// The tick since which nothing has moved, and that moment by the monotonic clock, nanoseconds.
    since: (u64, u64),
    frames: Vec<u64>,
    python: String,
}

impl Told {
    /// Tells what thread `thread` waits for, if nothing has moved for long: since that tick. The
    /// calling thread is that one if it is `mine`: then its calls are told, too.
    #[cold]
    pub fn tell<P>(
        &mut self,
        process: &P,
        (thread, is_mine): (u32, bool),
        since: u64,
        wait: &dyn Wait<P>,
    ) {
        let waited = clock::duration(clock::ticks().wrapping_sub(since));
        if waited < LONG {
            self.0 = None;
            return;
        }
        if self.0.is_none() {
            self.0 = Notice::of(thread).map(|notice| {
                let (frames, python) = match is_mine {
                    true => (catena_trace::frames(FRAMES), catena_trace::python()),
                    false => Default::default(),
                };
                Box::new(Notes {
                    notice,
                    since: (0, 0),
                    frames,
                    python,
                })
            });
        }
        let Some(notes) = &mut self.0 else {
            return;
        };
        if notes.since.0 != since {
            let at = clock::monotonic_ns().saturating_sub(waited.as_nanos() as u64);
            notes.since = (since, at);
        }
        let mut waits = WaitsFor {
            since: notes.since.1,
            frames: notes.frames.clone(),
            python: notes.python.clone(),
            ..WaitsFor::default()
        };
        wait.describe(process, &mut waits);
        notes.notice.write(&waits.to_bytes());
    }
}
