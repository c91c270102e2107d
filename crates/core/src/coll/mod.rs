//! Collective operations: from checked arguments to a schedule, and its runs.
//!
//! `prepare` turns a call into a [`Prepared`] operation. A blocking call runs it
//! on the spot, a non-blocking one leaves the run to `progress`, and a
//! persistent request keeps its own run. `arguments` checks what the
//! program passes, `side` is where its layouts become packed bytes, `run` the
//! executor over their `memory`; one without memory goes on `without_data`. Calls among ranks that
//! share memory do without it: `node` runs blocking ones on the `board`, which was made by `join`,
//! and `run` those that were started; `pending` is one that waits there; a persistent one has its
//! `own_board`. Where members have called different things, `inquiry` and `canvass` find out who,
//! and `mismatch` has the words; `ends` tells who waits for a process that has called
//! `MPI_Finalize`. What a communicator keeps of all that is its `state`, which knows neither the
//! process nor the communicator.

mod agree;
mod arguments;
mod backoff;
mod canvass;
mod carried;
mod control;
mod count;
mod edges;
pub(crate) mod ends;
mod find_edges;
mod force;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod inquiry;
mod join;
mod membership;
mod memory;
mod mismatch;
pub mod model;
mod neighbor;
mod node;
mod operations;
mod own_board;
mod pending;
mod prepare;
mod prepared;
mod ran;
mod ranges;
mod report;
mod request;
mod run;
mod schedules;
mod side;
mod signature;
mod site;
mod state;
mod tag;
mod turn;
mod without_data;

pub use agree::Vote;
pub use arguments::{Data, Numbers, OwnBlock, VData, WData, is_in_place};
pub(crate) use carried::Collectives;
pub use count::{BOARD, Counts, ways};
pub use force::{COLL_NODE, SETTINGS, forced};
use inquiry::Asked;
pub use memory::Memory;
pub use mismatch::is_of_all;
pub use prepared::{Caller, Prepared};
pub(crate) use request::CollRequest;
pub use run::CollRun;
pub use state::CollState;
