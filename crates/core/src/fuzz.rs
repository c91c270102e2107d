//! Targets for fuzzing (`fuzz/` at the root of the repository). Not a part of
//! the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

pub use crate::abroad::fuzz as abroad;
pub use crate::coll::fuzz::call;
pub use crate::comm::control::fuzz::agreement;

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("core_call", call),
    ("core_agreement", agreement),
    ("core_abroad", abroad),
];
