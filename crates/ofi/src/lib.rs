//! Row 3: the transport over libfabric: one endpoint for reliable datagrams, one
//! completion queue, untagged messages, remote reads.
//!
//! libfabric is opened at run time, and whatever network it has drivers for is
//! used through the same few calls. Nothing is asked of a provider that one of
//! them lacks: no order, no source addresses, no tags, no progress of its own.
//!
//! | file       | what                                                      |
//! |------------|-----------------------------------------------------------|
//! | `init`     | opening and wiring up; the transport itself               |
//! | `network`  | its words in the chain, and what a network shows          |
//! | `added`    | what is kept of processes of other jobs                   |
//! | `peers`    | adding them and removing them                             |
//! | `provider` | choosing what libfabric offers                            |
//! | `objects`  | libfabric's objects, closed in the right order            |
//! | `connections` | ending those of a peer that is lost                   |
//! | `contexts` | contexts that operations use                              |
//! | `send`     | sending                                                   |
//! | `recv`     | receiving                                                 |
//! | `rma`      | reading a peer's memory                                   |
//! | `progress` | completions, failures, sleeping                           |
//! | `state`    | what an endpoint keeps of peers and buffers               |
//! | `settings` | `CATENA_OFI_*`                                            |
//! | `error`    | what can go wrong when opening                            |

mod added;
mod atomics;
mod connections;
mod contexts;
mod error;
mod init;
mod network;
mod objects;
mod peers;
mod progress;
mod provider;
mod recv;
mod rma;
mod send;
pub mod settings;
mod state;
mod words;

pub use catena_fabric::endpoint::Counters;
pub use error::OfiError;
pub use init::{Ofi, library_version};
pub use network::Network;
pub use provider::Wanted;
pub use settings::{Config, SETTINGS, Sleep};
