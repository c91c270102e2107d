//! Row 3: the transport over TCP: sockets of the kernel's and nothing else, so that two
//! hosts need no library to reach each other.
//!
//! Two processes that talk share one connection, made when they first do. The
//! first packets after a poll, or after a pause, are handed to the kernel at once;
//! those that follow in a row leave together: with the next poll, or when the
//! other end has acknowledged what is under way, whichever is first. Where the
//! program has polled soon after every row so far, they are not even handed to the
//! kernel one by one: a row is then one call. The bytes of long packets go from the
//! program's memory to the kernel, and are cut into packets where they arrive.
//!
//! | file       | what                                                       |
//! |------------|------------------------------------------------------------|
//! | `init`     | opening and wiring up; the transport itself                |
//! | `addr`     | interfaces and addresses                                   |
//! | `socket`   | what is asked of the kernel                                |
//! | `frame`    | what stands on the wire                                    |
//! | `greeting` | the handshake with which a connection begins               |
//! | `dial`     | how two processes come to one connection                   |
//! | `depart`   | removing processes that were added                         |
//! | `ending`   | how connections end, and what that says of a peer          |
//! | `silence`  | whether the other ends of connections answer               |
//! | `guests`   | callers that have not proven themselves yet                |
//! | `unmet`    | callers that have, and are not known yet                   |
//! | `link`     | one connection                                             |
//! | `send`     | sending                                                    |
//! | `recv`     | receiving                                                  |
//! | `room`     | where what has arrived is cut into frames                  |
//! | `progress` | polling, losses, sleeping                                  |
//! | `network`  | its words in the chain, and what a network shows           |
//! | `liveness` | whether hosts live, for other networks                     |
//! | `settings` | `CATENA_TCP_*`                                             |

#[cfg(not(target_endian = "little"))]
compile_error!("messages are little-endian");

mod addr;
mod callers;
mod depart;
mod dial;
mod end;
mod ending;
mod error;
mod frame;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
#[doc(hidden)] // For those who test it with any bytes.
pub mod greeting;
mod guests;
mod init;
mod link;
mod liveness;
mod network;
mod progress;
mod recv;
mod room;
mod send;
pub mod settings;
mod silence;
mod socket;
mod target;
mod unmet;

pub use error::TcpError;
pub use init::{Counters, Tcp};
pub use liveness::{LivenessProbes, ProbePort};
pub use network::Network;
pub use settings::{Config, SETTINGS};
