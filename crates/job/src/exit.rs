//! How processes end, and how far they came.

use catena_boot::Ended;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Code(i32),
    /// Killed by this signal.
    Signal(i32),
}

impl From<Exit> for Ended {
    fn from(exit: Exit) -> Ended {
        match exit {
            Exit::Code(code) => Ended::Code(code),
            Exit::Signal(signal) => Ended::Signal(signal),
        }
    }
}

/// What the child of [`start`] was doing when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Stage {
    /// Preparing its streams and limits.
    Prepare = 0,
    /// Entering its working directory.
    Directory = 1,
    /// Executing the program.
    Execute = 2,
}

impl Stage {
    /// From its number.
    pub fn from_number(number: u32) -> Stage {
        match number {
            0 => Stage::Prepare,
            1 => Stage::Directory,
            _ => Stage::Execute,
        }
    }
}
