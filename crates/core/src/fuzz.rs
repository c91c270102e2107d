//! Targets for fuzzing (`fuzz/` at the root of the repository). Not a part of
//! the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

pub use crate::coll::fuzz::aside;
pub use crate::comm::letters::fuzz::letter;
pub use crate::routes::fuzz::{chain, record};

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("core_aside", aside),
    ("core_chain", chain),
    ("core_letter", letter),
    ("core_record", record),
];
