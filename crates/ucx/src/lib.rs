//! Row 3: the transport over UCX: one worker, active messages that leave eagerly,
//! remote reads.
//!
//! UCX is opened at run time, and whatever network it has transports for is
//! used through the same few calls. Nothing is left to it that the library
//! above does itself: no tags, no matching, no rendezvous, no order.
//!
//! | file       | what                                                      |
//! |------------|-----------------------------------------------------------|
//! | `init`     | opening and wiring up; the transport itself               |
//! | `network`  | its words in the chain, and what a network shows          |
//! | `added`    | what is kept of processes of other jobs                   |
//! | `peers`    | adding them and removing them                             |
//! | `wanted`   | which of UCX's transports and devices                     |
//! | `objects`  | UCX's objects, closed in the right order                  |
//! | `inbox`    | what UCX's callbacks leave behind                         |
//! | `send`     | sending                                                   |
//! | `recv`     | receiving                                                 |
//! | `keys`     | rights to memory, and who was told of them                |
//! | `rma`      | reading a peer's memory                                   |
//! | `progress` | completions, failures, sleeping                           |
//! | `state`    | what an endpoint keeps of peers and buffers               |
//! | `settings` | `CATENA_UCX_*`                                            |
//! | `error`    | what can go wrong when opening                            |

mod added;
mod atomics;
mod error;
mod inbox;
mod init;
mod keys;
mod network;
mod objects;
mod peers;
mod progress;
mod recv;
mod rma;
mod send;
pub mod settings;
mod state;
mod wanted;

pub use catena_fabric::endpoint::Counters;
pub use error::UcxError;
pub use init::{Ucx, library_version};
pub use network::Network;
pub use settings::{Config, SETTINGS, Sleep};
pub use wanted::Wanted;
