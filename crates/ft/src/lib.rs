//! Row 7: what goes on when processes die (user-level failure mitigation, ULFM): revocation,
//! agreement, and communicators of those that are left.
//!
//! The launcher tells every process of every death; `core` ends what waits for the dead, and
//! keeps which members of a communicator have failed. Here is what processes have to tell each
//! other then, as active messages, which neither revocation nor what was lost with a process
//! stops. See docs/book/faults.md.
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

/// Has processes that come up go on after failures where the job is to. To be called before the
/// library is first initialised.
pub fn prepare() {
    catena_core::life::go_on_by(tolerance::TOLERANCE);
}
