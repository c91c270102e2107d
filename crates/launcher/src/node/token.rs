//! Tokens of the poller that a node has; smaller ones are streams: twice the place of the process
//! that writes, and 1 more for stderr.

use catena_job::MAX_RANKS;

/// What ranks say to the server.
pub const SERVER: u64 = 1 << 32;
/// Reports of processes that could not execute their program.
pub const FAILURES: u64 = SERVER + 1;
/// What the PMIx server says.
pub const PMIX: u64 = SERVER + 2;
/// The first rank that reads standard input; the next ones are for more of them.
pub const FEED: u64 = SERVER + 3;
/// The last one.
pub const LAST: u64 = FEED + MAX_RANKS as u64;
