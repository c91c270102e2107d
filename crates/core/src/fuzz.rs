//! Targets for fuzzing (`fuzz/` at the root of the repository). Not a part of
//! the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

pub use crate::coll::fuzz::aside;
pub use crate::comm::letters::fuzz::letter;
pub use crate::routes::fuzz::{chain, record};

/// All of them, with the names of their folders in `fuzz/corpus`.
pub const TARGETS: &[(&str, fn(&[u8]))] = &[
    ("core_aside", aside),
    ("core_chain", chain),
    ("core_letter", letter),
    ("core_record", record),
];
