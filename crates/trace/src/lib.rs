//! Row 0: what a process does, for those who look at it from outside: the last calls of each thread, and what
//! a thread waits for that has waited long.
//!
//! It lies in memory that the processes of a node share with their launcher, or that anybody who may read
//! `/proc/PID/fd` finds there. So it can be read while a process hangs, and where the launcher keeps the
//! memory, after it has been killed. Nobody is asked, nothing is sent, and nothing is stopped.
//!
//! | file     | what                                                           |
//! |----------|----------------------------------------------------------------|
//! | `area`   | where things lie in the memory of one process                  |
//! | `record` | what is written of a call                                      |
//! | `thread` | which ring is a thread's                                       |
//! | `frames` | where a thread is                                              |
//! | `notice` | what is written of a wait, all of it or nothing                |
//! | `read`   | the side of who looks                                          |
//!
//! A call costs one entry of 16 bytes: its function and three arguments. No clock is read, for that takes longer
//! than all the rest, and nothing says that a call is over.
//!
//! # Examples
//! ```
//! use catena_trace::{AREA, Area, Entry, View};
//!
//! #[repr(align(64))]
//! struct Memory([u8; AREA]);
//! let memory = Box::leak(Box::new(Memory([0; AREA])));
//! // SAFETY: aligned, as large as an area, and used for nothing else.
//! let area = unsafe { Area::new(memory.0.as_mut_ptr()) };
//! catena_trace::begin(area);
//! catena_trace::enter(3, [10, 11, 12]);
//!
//! let last = View::of(area).threads().remove(0).entries.pop();
//! assert!(matches!(last, Some(Entry { function: 3, arguments: [10, 11, 12] })));
//! # catena_trace::end();
//! ```

mod area;
mod frames;
mod notice;
mod read;
mod record;
mod thread;

pub use area::{AREA, Area, NODE_AREAS, OFFSET, Phase};
pub use frames::frames;
pub use notice::{NOTICE, NOTICES, Notice};
pub use read::{Entry, Thread, View};
pub use record::{ARGUMENTS, enter};
pub use thread::{begin, end, set_threaded, thread};
