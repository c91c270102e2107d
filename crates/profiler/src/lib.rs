//! Row 8: the tool that `mpirun --profile` has each rank load before everything else. It counts the
//! calls of MPI, and the time in them. With `--trace` it writes each call as well.
//!
//! It is a shared library, `libcatena_profile.so`, that stands between a program and MPI, as
//! described in `catena-tool`. Each thread counts in memory of its own, a table that
//! `catena_profile::layout` describes: it lies in memory that the launcher has as well, so nothing
//! has to be written when the program ends, in whichever way. A call takes two looks at the clock
//! and a search in a small table; what is new, as a place that calls for the first time, takes
//! longer. No locks are taken, and nothing is allocated, but for requests and what is new.
//!
//! | file       | what                                                     |
//! |------------|----------------------------------------------------------|
//! | `entry`    | a call: what is done before it and after it              |
//! | `shape`    | what matters in the arguments of each function           |
//! | `words`    | the arguments of a call                                  |
//! | `thread`   | what a thread counts                                     |
//! | `memory`   | the memory of that                                       |
//! | `site`     | where in the program a call stands                       |
//! | `places`   | the numbers of places in the table                       |
//! | `groups`   | communicators, windows and files                         |
//! | `handles`  | the numbers of these in the table                        |
//! | `amounts`  | how many bytes a call moves                              |
//! | `requests` | whom a request waits for                                 |
//! | `posts`    | what a call may send and receive                         |
//! | `stream`   | what is written of calls one by one                      |
//! | `told`     | which messages a call has sent, received or seen the end of |
//! | `comms`    | communicators in the whole process, and numbers of messages |
//! | `counters` | what the library counts itself                           |
//! | `phase`    | how far MPI is in this process                           |
//! | `life`     | the beginning and the end                                |

mod amounts;
mod comms;
mod counters;
mod entry;
mod groups;
mod handles;
mod life;
mod memory;
mod phase;
mod places;
mod posts;
mod requests;
mod shape;
mod site;
mod stream;
mod thread;
mod told;
mod words;
