//! Row 3: the transport over shared memory between the processes of one node.
//!
//! One anonymous segment (a memfd handed over by the launcher) holds a block
//! per rank, a table of rings, and an arena in which rings appear when a pair
//! first talks. Nothing has a name, so nothing is left behind. Each job has a segment of
//! its own; those of other jobs are attached when processes connect.
//!
//! | file        | what                                                     |
//! |-------------|----------------------------------------------------------|
//! | `init`      | attaching; the transport itself                          |
//! | `addr`      | where things lie in the segment                          |
//! | `admit`     | who may read this process's memory                       |
//! | `segment`   | the mapping, memory from the arena                       |
//! | `peer_state`, `inlet` | the ring to a peer, the ring from it           |
//! | `send`      | sending: rings are made when they are needed             |
//! | `recv`      | receiving: rings are found as they appear                |
//! | `guests`    | segments of other jobs, and rings from their processes   |
//! | `remove`    | parting from a process of another job that lives         |
//! | `other_segment` | what is kept of these                                |
//! | `rma`       | a peer's memory (cross-memory attach)                    |
//! | `notify`    | the launcher's way to wake processes                     |
//! | `parted`    | jobs that a process has parted from                      |
//! | `operations`| put, get and atomics                                     |
//! | `device`, `device_reads` | memory of devices that a process reads of another one |
//! | `tune`      | which way of copying is the fastest to a peer            |
//! | `calls`     | the kernel's calls that copy between processes           |
//! | `claims`    | who reads or sends a message that is lent                |
//! | `lend`      | which short messages are read where they lie             |
//! | `pace`      | which way the program's messages are the fastest         |
//! | `shared_cores` | the same where ranks outnumber cores                  |
//! | `trials`    | which of two ways is faster                              |
//! | `prefetched`      | fetching room before it is needed                        |
//! | `progress`  | sleeping                                                 |
//! | `regions`   | memory for boards and windows                            |
//! | `settings`  | `CATENA_SHM_*`                                           |
//! | `error`     | what can go wrong when attaching                         |
//!
//! Read `addr` first, then `init`, `send` and `recv`.
//!
//! Whatever a peer wrote is untrusted: offsets, lengths and counters are
//! copied out and checked before use, payloads are only copied.
//!
//! `crates/shm/README.md` tells how messages pass through rings.

#[cfg(not(target_endian = "little"))]
compile_error!("the stamp of a cell is the low byte of its first word");

mod addr;
mod admit;
mod calls;
mod claims;
mod class;
mod device;
mod device_reads;
mod error;
mod guests;
mod init;
mod inlet;
mod lend;
mod mapped;
mod notify;
mod operations;
mod other_segment;
mod pace;
mod parted;
mod peer_state;
mod prefetched;
mod progress;
mod recv;
mod regions;
mod remove;
mod rma;
mod runs;
mod segment;
mod send;
pub mod settings;
mod shared_cores;
mod span;
mod trials;
mod tune;

pub use addr::Geometry;
pub use admit::admit;
pub use calls::word_of;
pub use error::ShmError;
pub use init::{Counters, Memory, Shm};
pub use notify::Notifier;
pub use progress::{Bell, STARTED};
pub use regions::Arena;
pub use rma::Neighbour;
pub use runs::Run;
pub use segment::{Mapped, check_file_limit, create_segment, map_pages};
pub use settings::{Config, CopyWay, SETTINGS, SHM_EAGER_MAX, SingleCopy};
pub use trials::{By, MARGIN, Trials};
