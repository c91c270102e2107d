//! Chores of the project: `cargo xtask <command>`.
//!
//! | command | what it does                                                                      |
//! |---------|-----------------------------------------------------------------------------------|
//! | `gen`   | writes what is made from the tables in `crates/abi`                               |
//! | `tidy`  | checks the rows of the crates, where `unsafe` is, file sizes, and what `gen` made |

#![forbid(unsafe_code)]

mod generate;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask gen | tidy";

fn main() -> ExitCode {
    let command = std::env::args().nth(1);
    let result = match command.as_deref() {
        Some("gen") => generate::write(&root()),
        Some("tidy") => tidy::check(&root()),
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
