//! Requests (MPI-5, chapters 3.7, 3.9 and 13.2).
//!
//! A plain transfer's handle names its slot in `link`, so that starting and
//! completing one touches no other table. Every other request is an [object](RequestObject),
//! a file for each kind; those of collectives and of communicators stand with these.
//!
//! | file       | what                                                          |
//! |------------|---------------------------------------------------------------|
//! | `handle`   | handles of transfers                                          |
//! | `object`, `outcome` | the trait; how a request stands and what it comes to |
//! | `table`    | handles of objects                                            |
//! | `standing` | how one stands                                                |
//! | `complete` | completing it, waiting for it                                 |
//! | `calls`    | freeing, cancelling and starting it                           |
//! | `many`     | calls that take several                                       |
//! | `carried`  | objects that progress carries on                              |
//! | `pair`, `persistent`, `generalized`, `flush` | kinds of objects            |
//! | `conformance` | what every kind must keep to                               |

mod calls;
mod carried;
mod complete;
pub mod conformance;
mod flush;
mod generalized;
mod handle;
mod many;
mod object;
mod outcome;
mod pair;
mod persistent;
mod standing;
mod table;

use catena_abi::{Status, consts};

pub(crate) use calls::active_already;
pub use calls::{cancel, free, start, widen_transfer};
pub use carried::carry_on;
pub use complete::{block_on, complete, complete_whole, peek, wait};
pub use generalized::Generalized;
pub(crate) use handle::{NO_SLOT, as_transfer, bad_request};
pub use handle::{NOWHERE, SENT, transfer};
pub use many::{
    Among, all_complete, check_all, first_complete, poll, poll_all, poll_any, poll_some, start_all,
    wait_any, wait_some,
};
pub use object::RequestObject;
pub(crate) use outcome::when;
pub use outcome::{Done, State};
pub use pair::pair;
pub use persistent::Operation;
pub use standing::{is_idle, state};
pub use table::{add, remove, with};

/// The status of a receive from `MPI_PROC_NULL` (MPI-5, 3.10).
pub const NOWHERE_STATUS: Status = Status::new(consts::PROC_NULL, consts::ANY_TAG, 0);
