//! Row 13: chores of the project: `cargo xtask <command>`.
//!
//! | command   | what it does                                                              |
//! |-----------|---------------------------------------------------------------------------|
//! | `circles` | prints which files of each circle (or of one crate's) use what of others  |
//! | `gen`     | writes what is made from the tables in `crates/abi`                       |
//! | `tidy`    | checks the rules of the house, which [`tidy`] lists                       |
//! | `numbers` | prints sizes of crates, circles of files, long functions, duplicated code |
//! | `wrap`    | wraps comments (or one crate's) that are wider than 100 columns           |

#![forbid(unsafe_code)]

mod by_peer;
mod circles;
mod generate;
mod modules;
mod numbers;
mod sources;
mod tidy;
mod wrap;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask circles [CRATE] | gen | tidy | numbers | wrap [CRATE]";

fn main() -> ExitCode {
    let command = std::env::args().nth(1);
    let result = match command.as_deref() {
        Some("circles") => circles::print(&root(), std::env::args().nth(2).as_deref()),
        Some("gen") => generate::write(&root()),
        Some("tidy") => tidy::check(&root()),
        Some("numbers") => numbers::print(&root()),
        Some("wrap") => wrap::write(&root(), std::env::args().nth(2).as_deref()),
        _ => Err(USAGE.to_string()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}
