//! Row 2: what a transport is.
//!
//! A transport moves `(header, payload)` packets between processes and, if it
//! can, reads and writes a peer's memory. It knows nothing of matching, communicators or
//! requests (law 1), and promises neither order across peers nor, unless
//! [`Caps::ordered`] says so, to one peer.
//!
//! All transports are known at compile time, so calls are dispatched
//! statically: the traits are generic, not objects.
//!
//! | trait             | who implements it                                                     |
//! |-------------------|-----------------------------------------------------------------------|
//! | [`Transport`]     | every transport: packets                                              |
//! | [`Rma`]           | every transport: operations on peers' memory, if it has any           |
//! | [`NodeLocal`]     | those whose two ends see the same memory                              |
//! | [`Network`], [`Rail`] | those that lead to other hosts: how `net` opens and drives them   |
//! | [`Deliver`]       | whoever takes what arrives                                            |
//!
//! [`endpoint`], [`frame`], [`row`], [`operations`], [`introduction`], [`Members`], [`Memory`] and
//! [`Sleeper`] are what networks have in common.

#[cfg(not(target_endian = "little"))]
compile_error!("frames are little-endian");

mod buf;
pub mod endpoint;
pub mod frame;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
pub mod introduction;
mod members;
mod memory;
mod name;
pub mod network;
mod node_local;
mod operation;
pub mod operations;
mod packet;
mod peer;
mod rma;
pub mod row;
mod sleep;
mod transport;

pub use buf::{Buf, LocalKey};
pub use catena_memory::{Kind, Kinds};
pub use members::Members;
pub use memory::Memory;
pub use name::ProcessName;
pub use network::{Network, Opening, RAILS, Rail, RailAddress, RailCounters};
pub use node_local::{Moved, NEVER_LENT, NodeLocal};
pub use operation::{Access, OpId, RmaError};
pub use packet::{Header, Payload, Posted, WORDS};
pub use peer::{LocalPeer, Peer, PeerLost, RemoteKey};
pub use rma::{Atomic, AtomicOp, AtomicSet, AtomicType, Rma, RmaCaps, Started};
pub use sleep::{LONGEST_SLEEP, Sleeper};
pub use transport::{Caps, Deliver, Load, Rendezvous, Transport};
