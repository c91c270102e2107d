//! Row 4: all ways of a process to others as one [`Net`](catena_link::Net): to itself,
//! through shared memory and over networks. A network is added in `driver`, `chain` and
//! `record`.
//!
//! | module     | what                                                       |
//! |------------|------------------------------------------------------------|
//! | `chain`    | which transports there are: `CATENA_LINK`                  |
//! | `device_order` | in which order a process uses network cards |
//! | `driver`   | what drives one network                                    |
//! | `exchange` | what the networks need of whoever started the processes    |
//! | `loopback` | the route to oneself                                       |
//! | `networks` | all networks: whose ends learn of each other as they run   |
//! | `peer_table` | which network leads to a peer, and whose records are wanted |
//! | `rails`    | one network over several domains                           |
//! | `record`   | what a process tells the others of how it is reached       |
//! | `report`   | what each rank says of its networks                        |
//! | `routes`   | how each process is reached                                |

mod chain;
mod device_order;
mod driver;
mod exchange;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod loopback;
mod networks;
mod peer_table;
mod rails;
mod record;
mod report;
mod routes;

use catena_settings::Setting;

pub use chain::{Chain, LINK, Network, Ofi, Tcp};
pub use driver::Counters;
pub use exchange::Exchange;
pub use networks::Networks;
pub use report::LINK_REPORT;
pub use routes::{Route, Routes};

/// The settings of this crate.
static OWN_SETTINGS: &[&dyn Setting] = &[&LINK, &LINK_REPORT];

/// The settings of the transports and of this crate.
pub fn settings() -> impl Iterator<Item = &'static dyn Setting> {
    let transports = [
        catena_shm::SETTINGS,
        catena_ofi::SETTINGS,
        catena_tcp::SETTINGS,
        catena_ucx::SETTINGS,
    ];
    transports
        .into_iter()
        .chain([OWN_SETTINGS])
        .flatten()
        .copied()
}
