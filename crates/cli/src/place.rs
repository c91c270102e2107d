//! Where this command is installed.

use std::path::PathBuf;

/// The folder of the installation, in whose `bin` this command is; nothing without `/proc`.
pub fn prefix() -> Option<PathBuf> {
    let here = std::env::current_exe().ok()?;
    Some(here.parent()?.parent()?.to_path_buf())
}
