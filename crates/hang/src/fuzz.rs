//! Targets for fuzzing (`fuzz/` at the root of the repository): what processes tell of themselves
//! is judged within bounds, whatever it is. Not a part of the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

use std::time::Duration;

use crate::bytes::Reader;
use crate::{Names, Rank, WaitsFor, find};

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[("hang_ranks", ranks), ("hang_wait", wait)];

/// What is seen of some ranks, each behind its length: who waits for whom.
pub fn ranks(data: &[u8]) {
    let (mut reader, mut ranks) = (Reader(data), Vec::new());
    while let Ok(bytes) = reader.bytes()
        && ranks.len() < 64
    {
        if let Ok(rank) = Rank::read(bytes) {
            assert!(Rank::read(&rank.to_bytes()).is_ok());
            ranks.push(rank);
        }
    }
    for names in [Names::default(), Names::of_job(0)] {
        if let Some(finding) = find(&names, &ranks, &ranks, Duration::ZERO) {
            assert!(!finding.culprits.is_empty());
            _ = (finding.lines(), finding.json(&names));
        }
    }
}

/// What a thread says that it waits for.
pub fn wait(data: &[u8]) {
    if let Ok(waits) = WaitsFor::read(data) {
        assert!(WaitsFor::read(&waits.to_bytes()).is_ok());
    }
}
