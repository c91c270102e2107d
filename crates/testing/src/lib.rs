//! Row 0: how a test says that it cannot run here.
//!
//! `cargo test` knows only tests that pass and tests that fail, so a test that needs
//! what this machine lacks returns early. It says so with [`skip`]: where
//! `TEST_SKIPS` names a file, as under `scripts/test`, a line there makes the test
//! count as skipped, and CI fails. (Names that begin with `CATENA_` are settings.)
#![forbid(unsafe_code)]

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::thread;

/// Says that the current test does without `what`, because of `why`.
///
/// A test that covers several things calls this for each one that is missing, and goes
/// on with the others. To be called by the thread that the test runs in, whose name is
/// that of the test.
///
/// # Panics
/// If the file cannot be written: a skip that nobody sees must not pass.
///
/// # Examples
/// ```
/// fn the_browser_draws_a_page() {
///     if !std::path::Path::new("/usr/bin/chromium").exists() {
///         return catena_testing::skip("browser", &"there is no chromium");
///     }
///     // ...
/// }
/// ```
pub fn skip(what: &str, why: &dyn Display) {
    let test = thread::current();
    let test = test.name().unwrap_or("?");
    match std::env::var_os("TEST_SKIPS") {
        Some(path) => {
            let program = std::env::current_exe();
            let program = program.as_deref().ok().and_then(Path::file_name);
            let program = program.unwrap_or_default().to_string_lossy();
            let line = line([&program, test, what, &why.to_string()]);
            append(path.as_ref(), &line).expect("TEST_SKIPS names a file that can be written");
        }
        // Past what the test harness keeps to itself.
        None => writeln!(io::stderr(), "{test} skips {what}: {why}").expect("stderr is open"),
    }
}

/// One line, whose fields have tabs between them.
fn line(fields: [&str; 4]) -> String {
    fields
        .map(|field| field.replace(['\t', '\n'], " "))
        .join("\t")
        + "\n"
}

/// In one write, so that lines of several processes do not mix.
fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_whole() {
        let path = std::env::temp_dir().join(format!("catena-skips-{}", std::process::id()));
        let first = line(["program", "a::b", "net", "no\nsuch\tprovider"]);
        append(&path, &first).unwrap();
        append(&path, &line(["program", "c", "net", "why"])).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let expected = "program\ta::b\tnet\tno such provider\nprogram\tc\tnet\twhy\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_thread_of_a_test_has_its_name() {
        let name = "tests::the_thread_of_a_test_has_its_name";
        let alone = std::env::var("RUST_TEST_THREADS").is_ok_and(|threads| threads == "1");
        assert!(alone || thread::current().name() == Some(name));
    }
}
