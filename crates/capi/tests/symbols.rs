//! What the library offers to the dynamic linker, and what a C program makes
//! of it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use catena_abi::table;

/// The library: the one `CATENA_TEST_LIBRARY` names, or a fresh one of the
/// profile of this test (cargo does not build a `cdylib` for tests by itself).
fn library() -> PathBuf {
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
fn run(command: &mut Command) -> String {
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
fn folder(test: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    // It may be there from an earlier run.
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a folder for the test");
    std::os::unix::fs::symlink(library(), dir.join("libmpi_abi.so.1")).expect("a link");
    dir
}

/// Compiles C sources (or the text of one) against `include/mpi.h`.
fn compile(out: &Path, sources: &[PathBuf], more: &[&OsStr]) {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I"]);
    run(cc.arg(include).args(sources).args(more).arg("-o").arg(out));
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/c")
        .join(name)
}

#[test]
fn exports_are_those_of_the_table() {
    let mut nm = Command::new("nm");
    let text = run(nm
        .args(["-D", "--defined-only", "--format=posix"])
        .arg(library()));
    let mut found = BTreeSet::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let name = words.next().expect("a name");
        assert_eq!(words.next(), Some("T"), "{name} is not a plain function");
        found.insert(name.to_string());
    }
    let functions = table::functions();
    let both = functions
        .iter()
        .flat_map(|f| [f.name.to_string(), format!("P{}", f.name)]);
    let expected: BTreeSet<_> = both.collect();
    let lacking: Vec<_> = expected.difference(&found).collect();
    let surplus: Vec<_> = found.difference(&expected).collect();
    assert!(
        lacking.is_empty(),
        "in the table but not exported: {lacking:?}"
    );
    assert!(
        surplus.is_empty(),
        "exported but not in the table: {surplus:?}"
    );
}

#[test]
fn library_is_known_by_the_name_of_the_abi() {
    let text = run(Command::new("readelf").arg("-d").arg(library()));
    assert!(text.contains("Library soname: [libmpi_abi.so.1]"), "{text}");
    let needed: Vec<_> = text.lines().filter(|l| l.contains("(NEEDED)")).collect();
    for line in &needed {
        let system = ["[libc.so", "[libgcc_s.so", "[libm.so", "[ld-linux"];
        assert!(
            system.iter().any(|s| line.contains(s)),
            "needs more than the system: {line}"
        );
    }
}

#[test]
fn every_prototype_links() {
    let dir = folder("every_prototype_links");
    let mut text = String::from(
        "#include <mpi.h>\ntypedef void (*any)(void);\nextern any all[];\nany all[] = {\n",
    );
    for f in table::functions() {
        text += &format!("    (any){0}, (any)P{0},\n", f.name);
    }
    text += "};\nint main(void) { return all[0] == 0; }\n";
    let path = dir.join("all.c");
    std::fs::write(&path, text).expect("a source file");
    let program = dir.join("all");
    compile(&program, &[path, library()], &[]);
    run(Command::new(&program).env("LD_LIBRARY_PATH", &dir));
}

#[test]
fn tools_intercept_calls() {
    let dir = folder("tools_intercept_calls");
    let (plain, linked, tool) = (
        dir.join("plain"),
        dir.join("linked"),
        dir.join("libtool.so"),
    );
    compile(&plain, &[source("caller.c"), library()], &[]);
    compile(
        &linked,
        &[source("caller.c"), source("tool.c"), library()],
        &[],
    );
    let shared = ["-shared", "-fPIC"].map(OsStr::new);
    compile(&tool, &[source("tool.c")], &shared);

    let with = |program: &Path| {
        let mut command = Command::new(program);
        command
            .env("LD_LIBRARY_PATH", &dir)
            .env_remove("LD_PRELOAD");
        command
    };
    assert_eq!(run(&mut with(&plain)), "5\n");
    assert_eq!(run(&mut with(&linked)), "1005\n");
    assert_eq!(run(with(&plain).env("LD_PRELOAD", &tool)), "1005\n");
}
