//! Tokens of the poller that the supervisor has itself; smaller ones belong to other launchers, and
//! below them to the tree.

/// The first of them.
pub const FIRST: u64 = u64::MAX - 7;
/// Signals to this process.
pub const SIGNALS: u64 = FIRST;
/// Standard input, where it is passed on.
pub const STDIN: u64 = FIRST + 1;
/// Those who want the job to grow or shrink.
pub const CONTROL: u64 = FIRST + 2;
/// The one of them that is served.
pub const CALLER: u64 = FIRST + 3;
/// Files that ranks write.
pub const FILES: u64 = FIRST + 4;
/// stdout, and the next one for stderr.
pub const SINK: u64 = FIRST + 5;
