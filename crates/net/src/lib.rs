//! Row 4: all ways of a process to others as one [`Net`](catena_link::Net): to itself,
//! through shared memory and over networks.
//!
//! The crate knows neither MPI nor a launcher. Its users bring the type of their messages
//! ([`Source`](catena_link::Source), [`Sink`](catena_link::Sink)); [`Routes`] is what they get, and
//! what the matching engine, [`Endpoint`](catena_link::Endpoint), stands on. There are two ways to
//! it:
//!
//! - [`Routes::alone`] is for a process that was started by itself. It adds others by their
//!   [addresses](Routes::address), at any time, and they add it; and it
//!   [removes](Routes::remove_peer) them again. See `examples/tagged_messages.rs`.
//! - [`Routes::new`] is for the processes of a job, which have ranks: it takes a segment of shared
//!   memory that is attached, and [`Networks`], which learn the addresses through an [`Exchange`]
//!   when they are needed.
//!
//! Read `routes` first, then `networks`. Each module uses only modules further down:
//!
//! | module         | what                                                        |
//! |----------------|-------------------------------------------------------------|
//! | `by_address`   | processes of no job, which add each other one by one        |
//! | `remote`       | operations on the memory of peers, by whichever route       |
//! | `routes`       | how each process is reached: the union of all routes        |
//! | `routes/looks` | whether those whom a process waits for still live           |
//! | `alone`        | what such a process keeps of them                           |
//! | `loopback`     | the route to oneself                                        |
//! | `bridge`       | the networks to another job, and how both number themselves |
//! | `networks`     | all networks: their ends learn of each other while they run |
//! | `rails`        | one network over several domains                            |
//! | `pieces`       | long operations, cut into pieces that all rails move        |
//! | `driver`       | what drives one rail of a network                           |
//! | `leaving`      | leaving, and what is still owed then                        |
//! | `list`         | which networks there are                                    |
//! | `chain`        | which transports there are: `CATENA_LINK`                   |
//! | `record`       | what a process tells the others of how it is reached        |
//! | `ways`         | which network leads to a peer, and whose records are wanted |
//! | `peer_table`   | which process a peer is: the table *(job, rank) -> peer*    |
//! | `device_order` | in which order a process uses the cards of its machine      |
//! | `report`       | what each rank says of its networks                         |
//! | `failures`     | who has died, and which contexts were revoked               |
//! | `exchange`     | what the networks need of whoever started the processes     |
//!
//! A network is added in `list`, in one line.
//!
//! `crates/net/README.md` tells how two processes come to a route, and when a process may end.

mod alone;
mod bridge;
mod by_address;
mod chain;
mod device_order;
mod driver;
mod exchange;
mod failures;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod guests;
mod leaving;
mod list;
mod loopback;
mod networks;
mod peer_table;
mod pieces;
mod rails;
mod record;
mod remote;
mod report;
mod routes;
mod ways;

use catena_settings::Setting;

pub use bridge::Pair;
pub use catena_fabric::RailCounters as Counters;
pub use chain::{Chain, LINK};
pub use driver::Network;
pub use exchange::Exchange;
pub use failures::{DeadProcess, Failures, HowEnded};
pub use networks::{Networks, Watched};
pub use peer_table::PeerTable;
pub use remote::{Reach, Region, RegionKeys, Target};
pub use report::LINK_REPORT;
pub use routes::{Route, Routes};

/// The settings of this crate.
static OWN_SETTINGS: &[&dyn Setting] = &[&LINK, &LINK_REPORT];

/// The settings of the transports and of this crate.
pub fn settings() -> impl Iterator<Item = &'static dyn Setting> {
    let shm = catena_shm::SETTINGS.iter().copied();
    let own = OWN_SETTINGS.iter().copied();
    shm.chain(Network::settings()).chain(own)
}
