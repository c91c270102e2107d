//! Targets for fuzzing (`fuzz/` at the root of the repository). Not a part of
//! the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

use crate::{raw, record};

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[("bench_raw", raw), ("bench_record", record)];

/// A raw file.
pub fn raw(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(run) = raw::parse(&text) else { return };
    let variants = run.sessions.iter().map(|it| it.plan.variants.len());
    let known = variants.max().unwrap_or(0);
    assert!(run.launches.iter().all(|it| it.begin.variant < known));
    assert!(run.launches.len() <= text.lines().count());
}

/// A line that the measuring program has printed.
pub fn record(data: &[u8]) {
    let _ = record::read(&String::from_utf8_lossy(data));
}
