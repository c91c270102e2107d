//! The library as the tests of this folder load it, and programs that use it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The library: the one `CATENA_TEST_LIBRARY` names, or a fresh one of the
/// profile of this test (cargo does not build a `cdylib` for tests by itself).
pub fn library() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        if let Some(path) = std::env::var_os("CATENA_TEST_LIBRARY") {
            return std::fs::canonicalize(path).expect("CATENA_TEST_LIBRARY is a file");
        }
        let test = std::env::current_exe().expect("the test has a path");
        let profile_dir = test
            .ancestors()
            .nth(2)
            .expect("<target>/<profile>/deps/<test>");
        let profile = match profile_dir.file_name().and_then(OsStr::to_str) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "build",
            "-q",
            "-p",
            "catena-capi",
            "--profile",
            profile,
            "--target-dir",
        ]);
        run(cargo.arg(profile_dir.parent().expect("<target>")));
        profile_dir.join("libmpi_abi.so")
    };
    PATH.get_or_init(build).clone()
}

/// Runs a command; returns what it printed. Fails the test if it fails.
pub fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{error}",
        output.status
    );
    String::from_utf8(output.stdout).expect("text")
}

/// An empty folder for one test, with the library under its run-time name.
pub fn folder(test: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    // It may be there from an earlier run.
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a folder for the test");
    std::os::unix::fs::symlink(library(), dir.join("libmpi_abi.so.1")).expect("a link");
    dir
}

/// Compiles C sources (or the text of one) against `include/mpi.h`.
pub fn compile(out: &Path, sources: &[PathBuf], more: &[&OsStr]) {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I"]);
    run(cc.arg(include).args(sources).args(more).arg("-o").arg(out));
}
