//! Row 0: what everything else stands on. No MPI in here.
//!
//! | module  | what                                                        |
//! |---------|-------------------------------------------------------------|
//! | `mem`   | views of memory that others may write                       |
//! | `ring`  | one-way packet ring over shared memory                      |
//! | `bell`  | sleeping and being woken across processes                   |
//! | `presence` | whether a program is in its library       |
//! | `biased` | a lock that its usual side takes at no cost                |
//! | `waker` | waking a process that sleeps on descriptors                 |
//! | `fork`  | copies of this process, which are none of its job             |
//! | `futex` | sleeping on a word                                          |
//! | `lock`  | a lock that starves no thread                               |
//! | `element_lock` | a short lock in shared memory that tells its holder  |
//! | `ticket_lock` | shared and exclusive, in order, in shared memory      |
//! | `mailbox` | one process asks another one to do something short        |
//! | `verdict` | one outcome for all, whoever dies                     |
//! | `wait`  | when to spin, yield, sleep                                  |
//! | `clock` | cheap ticks                                                 |
//! | `copy`  | copies, with and without the cache                          |
//! | `slab`  | numbered things with stable addresses and stale-key checks  |
//! | `parts` | work that two processes share                               |
//! | `partitions` | partitions that several threads say are ready         |
//! | `pad`   | cache lines                                                 |
//! | `pages` | arrays whose memory goes back to the system                 |
//! | `cpus`  | sets of CPUs                                                |
//! | `floats` | the modes in which a thread computes with floating-point numbers |
//! | `limits` | the limits of this process                                |
//! | `standard` | standard streams that are closed stay so               |
//! | `tell`  | lines on stderr, for which nobody may be there                |
//! | `sync`  | std's atomics, or loom's under `--cfg loom`                 |

pub mod bell;
mod biased;
pub mod class_lock;
pub mod clock;
pub mod copy;
mod cpus;
pub mod element_lock;
mod floats;
#[cfg(not(loom))]
pub mod fork;
pub mod futex;
#[cfg(all(any(test, fuzzing), not(loom)))]
#[doc(hidden)]
pub mod fuzz;
pub mod limits;
pub mod lock;
pub mod mailbox;
pub mod mem;
pub mod pad;
mod pages;
pub mod partitions;
pub mod parts;
pub mod presence;
pub mod ring;
pub mod slab;
mod standard;
pub mod sync;
pub mod tell;
pub mod ticket_lock;
pub mod verdict;
pub mod wait;
pub mod waker;

pub use bell::{Barrier, Doorbell};
pub use biased::Biased;
pub use class_lock::ClassLock;
pub use cpus::Cpus;
pub use element_lock::ElementLock;
pub use floats::PlainFloats;
pub use lock::Lock;
pub use mem::{PayloadRoom, PeerBytes};
pub use pad::CachePadded;
pub use pages::{Pages, return_freed};
pub use parts::{End, Parts};
pub use presence::{Left, Presence, Sleep};
pub use slab::{Key, Slab};
pub use standard::StandardStreams;
pub use ticket_lock::TicketLock;
pub use wait::{Idle, Waiter};
pub use waker::{WakeSocket, Waker};
