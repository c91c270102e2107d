//! Row 7: what goes on when processes die (user-level failure mitigation, ULFM): revocation,
//! agreement, and communicators of those that are left.
//!
//! The launcher tells every process of every death; `core` ends what waits for the dead, and
//! keeps which members of a communicator have failed. Here is what processes have to tell each
//! other then, as active messages, which neither revocation nor what was lost with a process
//! stops. See docs/book/faults.md.
//!
//! The way of a death, from the launcher to an error:
//!
//! 1. The launcher tells every process who has died, how, and which death in order it was: the
//!    *failure epoch*. A peer that a network has lost, although no death is known, a process
//!    reports to the launcher, which says who is dead for the others (`launcher/job/apart.rs`).
//! 2. A process is woken by its doorbell (`shm/notify.rs`), and keeps deaths and revoked contexts
//!    in one place (`net/failures.rs`, `process/deaths.rs`). Without `CATENA_FAULT_TOLERANCE` the
//!    job ends here; with it the peer is lost to `link`, and fences do not wait for it.
//! 3. Every loop that waits sees with one load whether any loss or revocation is known
//!    (`core/trouble.rs`). What waits for the dead ends with an error. A receive from any source
//!    stays, and cannot be waited for before the program has acknowledged the death. A collective
//!    with a dead member ends at each member that learns of it before it is complete. A board with
//!    a dead member is given up.
//! 4. While a communicator is made, members ask those that they wait for whether they take part
//!    (`core/comm/agreement.rs`): so what one member has made all have made that are left.
//! 5. Revocation, which each process hands on to all when it first hears of it, and agreement are
//!    active messages that name a context by the numbers of both ends. On a board without failures
//!    an agreement needs no message (`core/coll/agree.rs`). A shrunk communicator is an agreement
//!    in which each member tells its number.
//!
//! `docs/decisions/0025-agreement-along-a-tree-that-mends-itself.md` says why.
//!
//! | module      | what                                                                   |
//! |-------------|------------------------------------------------------------------------|
//! | `ranks`     | sets of ranks                                                          |
//! | `tree`      | the tree along which processes agree, and how it mends itself          |
//! | `agreement` | one agreement, without input and output                                |
//! | `series`    | those of a group                                                       |
//! | `wire`      | their messages as words                                                |
//! | `letter`    | what processes tell each other, in active messages                     |
//! | `tolerance` | the hook that carries all of it on                                     |
//! | `calls`     | what programs call                                                     |

#![forbid(unsafe_code)]
#![allow(
    clippy::arc_with_non_send_sync,
    reason = "objects are shared under the library's lock, which the compiler cannot see"
)]

pub mod agreement;
pub mod calls;
mod early;
mod letter;
pub mod ranks;
pub mod series;
mod tolerance;
pub mod tree;
pub mod wire;

use catena_core::components::Component;

/// What this crate adds to the library: processes go on after failures where the job is to.
pub const COMPONENT: &dyn Component = &tolerance::Failures;
