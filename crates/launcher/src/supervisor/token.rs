//! Tokens of the poller that the supervisor has itself; smaller ones belong to other launchers, and
//! below them to the tree.

/// The first of them.
pub const FIRST: u64 = u64::MAX - 12;
/// Signals to this process.
pub const SIGNALS: u64 = FIRST;
/// Standard input, where it is passed on.
pub const STDIN: u64 = FIRST + 1;
/// Those who want the job to grow or shrink; the next two are the one that is served, and the one
/// that reads its answer.
pub const CONTROL: u64 = FIRST + 2;
/// Those who want to know what the job does, and two more, likewise.
pub const QUESTIONS: u64 = CONTROL + 3;
/// Files that ranks write.
pub const FILES: u64 = QUESTIONS + 3;
/// stdout, and the next one for stderr.
pub const SINK: u64 = FILES + 1;
