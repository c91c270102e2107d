//! Row 0: what a process does, for those who look at it from outside: the last calls of each
//! thread, and what a thread waits for that has waited long.
//!
//! It lies in memory that the processes of a node share with their launcher, or that anybody who
//! may read `/proc/PID/fd` finds there. So it can be read while a process hangs, and where the
//! launcher keeps the memory, after it has been killed. Nothing is stopped, and nobody is asked but
//! a thread that does not wait: with a signal, where it is ([`View::ask`]).
//!
//! | file     | what                                                           |
//! |----------|----------------------------------------------------------------|
//! | `area`   | where things lie in the memory of one process                  |
//! | `record` | what is written of a call                                      |
//! | `thread` | which ring is a thread's                                       |
//! | `frames` | where a thread is                                              |
//! | `python` | which line of a Python program a thread is in                  |
//! | `notice` | what is written of a wait, all of it or nothing                |
//! | `slot`   | the memory of that                                             |
//! | `counters` | all that the library has counted, told to who asks           |
//! | `counted` | the memory of that                                            |
//! | `read`   | the side of who looks                                          |
//! | `reply`  | the memory of an answer to who asks a thread where it is       |
//! | `findings` | what checked mode has found                                  |
//! | `unwind` | the frames of a thread, as the unwinder finds them           |
//! | `space`  | the namespace of processes that a process is in                |
//! | `changes` | a number that tells whether what stands beside it is whole    |
//! | `sync`   | the atomics of that                                            |
//! | `counts` | sums of its messages, told where it waits                      |
//! | `stream` | records that one thread writes and another process takes       |
//! | `answer` | the side of the thread that is asked                           |
//! | `ask`    | the side of who asks                                           |
//!
//! A call costs one entry of 16 bytes: its function and three arguments. No clock is read, for that
//! takes longer than all the rest, and nothing says that a call is over.
//!
//! # Examples
//! A process tells, and somebody looks:
//! ```
//! use std::fs::File;
//! use std::os::fd::AsFd;
//!
//! use catena_trace::{Area, Entry, View, Who};
//!
//! /// `node` is a file of at least `OFFSET + AREA` bytes in memory, all holes.
//! fn tell(node: &File) -> std::io::Result<()> {
//!     catena_trace::begin(Area::map(node.as_fd(), 0)?, Who::default());
//!     catena_trace::enter(3, [10, 11, 12]);
//!     Ok(())
//! }
//!
//! fn last(node: &File) -> std::io::Result<Option<Entry>> {
//!     let Some(view) = View::open(node, 0)? else {
//!         return Ok(None);
//!     };
//!     let thread = view.threads(1)?.into_iter().next();
//!     Ok(thread.and_then(|it| it.entries.last().copied()))
//! }
//! ```

mod answer;
mod area;
mod ask;
mod changes;
mod counted;
mod counters;
mod counts;
mod findings;
mod frames;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod notice;
mod python;
mod read;
mod record;
mod reply;
mod slot;
mod space;
mod stream;
mod sync;
mod thread;
mod unwind;

pub use answer::listen;
pub use area::{
    AREA, Area, NODE_AREAS, OFFSET, PROFILES_AT, PROFILES_END, Phase, STREAMS_END, Who,
};
pub use ask::{Asked, Sample};
pub use counters::{count_by, is_asked_for_counters, tell_counters};
pub use counts::{Counts, Moved};
pub use findings::{Findings, quoted, read_findings};
pub use frames::frames;
pub use notice::Notice;
pub use python::{PYTHON_LINE, find_python, python, python_place};
pub use read::{Entry, Thread, View};
pub use record::{ARGUMENTS, current, enter, enter_beside};
pub use slot::{NOTICE, NOTICES};
pub use space::{Numbers, space_of};
pub use stream::{RECORDS, Record, STREAMS, StreamReader, StreamWriter};
pub use thread::{
    begin, end, in_program, monotonic_ns, note_helpers, set_phase, set_threaded, tell_counts,
    thread, threads,
};
pub use unwind::{Frame, walk};
