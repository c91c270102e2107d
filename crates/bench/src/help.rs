//! What `catena bench --help` says.

/// The text.
pub const HELP: &str = include_str!("help.txt");
