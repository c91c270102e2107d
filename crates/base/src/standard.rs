//! The descriptors 0 to 2, which a program may have closed: what is opened then gets their numbers,
//! and the program prints into it.

use std::fs::File;
use std::os::fd::AsRawFd;

/// Keeps what is opened meanwhile from becoming standard input, output or error, where the program
/// has closed that. Afterwards it is as closed as before. Cost: one file that is opened.
#[derive(Debug)]
pub struct StandardStreams {
    /// Those that were free.
    _held: Vec<File>,
}

impl StandardStreams {
    /// As long as this lives.
    #[must_use]
    pub fn keep() -> StandardStreams {
        let mut held = Vec::new();
        // Without room for it there is none for anything else.
        while let Ok(file) = File::open("/dev/null") {
            if file.as_raw_fd() > 2 {
                break;
            }
            held.push(file);
        }
        StandardStreams { _held: held }
    }
}
