//! `catena bench` as a process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const ROW: &str =
    r#"{"name":"latency","family":"f","unit":"us","better":"less","sized":true,"min_ranks":2}"#;

/// A library whose launcher tells its process id and stays.
fn stand_in() -> PathBuf {
    let place = std::env::temp_dir().join(format!("catena-cli-bench-{}", std::process::id()));
    let write = |name: &str, text: &str| {
        let path = place.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("lib/libmpi_abi.so.1", "");
    write("bin/mpiexec", "");
    write(
        "launcher",
        "echo $$ >$0.new; mv $0.new $0.pid; exec sleep 1000",
    );
    write("program", &format!("#!/bin/sh\necho '{ROW}'\n"));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(place.join("program"), mode).unwrap();
    place
}

fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
}

#[test]
fn a_launch_does_not_outlive_what_is_killed() {
    let place = stand_in();
    let at = |name: &str| place.join(name).display().to_string();
    let mut bench = Command::new(env!("CARGO_BIN_EXE_catena"))
        .args(["bench", "latency", "--limit", "1000"])
        .args(["--lib", &format!("stand-in={}", place.display())])
        .args(["--program", &at("program"), "--output", &at("raw")])
        .args(["--launcher", &format!("sh {}", at("launcher"))])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pid = loop {
        if let Ok(pid) = fs::read_to_string(at("launcher.pid")) {
            break pid.trim().to_string();
        }
        assert_eq!(bench.try_wait().unwrap(), None, "it ended by itself");
        thread::sleep(Duration::from_millis(10));
    };
    assert!(lives(&pid));
    bench.kill().unwrap();
    bench.wait().unwrap();
    let begin = Instant::now();
    while lives(&pid) {
        assert!(begin.elapsed() < Duration::from_secs(60), "it lives on");
        thread::sleep(Duration::from_millis(10));
    }
    fs::remove_dir_all(&place).unwrap();
}
