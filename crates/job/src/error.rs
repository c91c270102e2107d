//! Why nothing was started, in words, and the statuses that the launcher ends with.

use std::fmt;
use std::io;

/// Status if the command line cannot be understood.
pub const USAGE: i32 = 2;
/// Status if a program or directory does not exist.
pub const NOT_FOUND: i32 = 127;
/// Status if a program exists but cannot be started.
pub const NOT_STARTED: i32 = 126;

/// The command line cannot be understood; the text says why and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A program cannot be started; the text says why and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramError {
    /// Status that the launcher ends with.
    pub status: i32,
    /// For the user.
    pub text: String,
}

impl ProgramError {
    /// A failure of the system before anything was started.
    pub fn system(error: io::Error) -> ProgramError {
        ProgramError {
            status: 1,
            text: format!("the job cannot be set up: {error}"),
        }
    }
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
