//! Row 3: the link: one matching engine over all routes. Sans I/O.
//!
//! Everything point-to-point of MPI-5.0 chapter 3 that needs the peer happens
//! here: order, matching, eager and rendezvous, synchronous mode, cancel, probe
//! and matched probe. All packets leave and arrive through [`Net`]; the engine
//! itself touches no memory of the user and no wire.
//!
//! What uses it brings three types: the routes ([`Net`]; those of real transports are
//! `catena_net::Routes`), what is sent ([`Source`]) and where it goes ([`Sink`]). What messages are
//! matched by is a type, too ([`MatchKey`]):
//!
//! | key         | a message has                | a receive names                                    | endpoint              |
//! |-------------|------------------------------|----------------------------------------------------|-----------------------|
//! | [`MpiKey`]  | context, rank, tag           | [`Selector`]: a context; rank and tag, or any      | [`Endpoint::new`]     |
//! | [`TagKey`]  | peer, tag of 64 bits         | [`TagSelector`]: a tag and bits to ignore; a peer, or any | [`Endpoint::tagged`]  |
//!
//! A call that does not complete at once gives a [`ReqId`]. Its end is asked for
//! ([`Endpoint::is_done`], [`Endpoint::take`]), or comes with a word of the user's own into a sink
//! ([`Endpoint::set_word`], [`Endpoint::completions`]).
//!
//! | module      | owns                                                        |
//! |-------------|-------------------------------------------------------------|
//! | `endpoint`  | the calls, and everything that needs the [`Net`]            |
//! | `engine`    | what arriving packets do; never calls the [`Net`]           |
//! | `key`       | what messages are matched by, `mpi_key` or `tag_key`        |
//! | `matching`  | the queues of posted receives and unexpected messages       |
//! | `protocol`  | senders' and receivers' states, as functions of events      |
//! | `active`    | packets that a handler takes instead of matching            |
//! | `wire`      | what the fields of a header mean for every kind of packet   |
//! | `compression` | messages that are shorter on the way                      |
//! | `peer_state`| sequence numbers per (peer, context)                        |
//! | `send_queue`| packets that a route did not take yet                       |
//! | `slab`, `chunks` | slots with generations: requests, and kept messages    |
//! | `watch`     | arrivals that somebody wants to hear of                     |
#![forbid(unsafe_code)]

mod active;
mod chunks;
mod compression;
mod counters;
mod endpoint;
mod engine;
mod entry;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod key;
mod matching;
mod mix;
mod mpi_key;
pub mod net;
mod peer_state;
mod pool;
mod protocol;
mod reorder;
mod request;
mod send_queue;
mod slab;
mod tag_key;
mod types;
mod watch;
mod wire;

pub use active::{ActiveHeader, CLASSES, Class, Handler};
pub use counters::{Counters, Flow, Protocol, Tally, Traffic};
pub use endpoint::{Completed, Endpoint, Needs};
pub use key::MatchKey;
pub use mpi_key::MpiKey;
pub use net::{Bound, Damage, Element, Net, Numbers, RAILS, RemoteKeys, Sink, Source};
pub use tag_key::{TagKey, TagSelector};
pub use types::{
    ANY_SOURCE, ANY_TAG, Awaited, Cid, Completion, Context, Envelope, Failure, MessageId, Mode,
    Plane, ReqId, Selector, Sent,
};
pub use watch::Arrival;
pub use wire::{begins, is_streamed, means_nothing};
