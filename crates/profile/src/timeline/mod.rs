//! A job in time, in the trace format of Perfetto: what `mpirun --trace` writes.
//!
//! Threads write their calls to rings ([`record`](crate::record)). The launcher's process of each
//! node takes them from there while the job runs, and makes packets of them ([`NodeTimeline`]). The
//! packets of all nodes, one after another, are the file: each node is a sequence of packets, with
//! a clock of its own. How that relates to the clock of `mpirun` is in the file as well
//! ([`snapshot`]), as often as that was found out ([`Clocks`]).
//!
//! | file      | what                                                            |
//! |-----------|-----------------------------------------------------------------|
//! | `message` | the messages of the format                                      |
//! | `event`   | those of events, of which there are many                        |
//! | `packets` | the packets of a node, as bytes                                 |
//! | `node`    | [`NodeTimeline`]: what threads have written, as packets         |
//! | `part`    | [`Part`]: what a node tells `mpirun`                            |
//! | `clocks`  | [`Clocks`]: how the clocks of nodes relate to that of `mpirun`  |

mod clocks;
mod event;
#[allow(missing_docs, reason = "the names of the format")]
mod message;
mod node;
mod packets;
mod part;
#[cfg(test)]
mod tests;

pub use clocks::{Clocks, Exchange, snapshot};
pub use event::NODE_CLOCK;
pub use node::{NodeTimeline, Scale, Written};
pub use packets::whole_packets;
pub use part::{Part, parts};
