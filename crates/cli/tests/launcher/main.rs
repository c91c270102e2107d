//! The launcher with real processes: shells, and this test program itself,
//! which plays the part of a rank (see [`rank::rank_program`]).
//!
//! Nothing here waits for a time to pass: tests wait for what the processes
//! say, and every job has a limit that fails the test.

mod command_line;
mod elastic;
mod faults;
mod hosts;
mod libraries;
mod output;
mod rank;
mod readers;
mod takeover;
mod wire_up;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A job that takes longer has hung.
const LIMIT: &str = "60";

/// `catena run --timeout 60`, without traces of launchers around this test.
fn mpirun() -> Command {
    let mut command = clean(env!("CARGO_BIN_EXE_catena"));
    command
        .args(["run", "--timeout", LIMIT])
        .stdin(Stdio::null());
    command
}

/// A command in an environment that no launcher has left traces in.
fn clean(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let foreign = [
            "CATENA_", "PMI_", "PMIX_", "OMPI_", "SLURM_", "FLUX_", "PALS_", "LSB_", "PE_", "PBS_",
            "OAR_",
        ];
        if foreign.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}

/// Arguments that run `script` in a shell.
fn sh(script: &str) -> [String; 3] {
    ["sh".to_string(), "-c".to_string(), script.to_string()]
}

/// Arguments that run this program as a rank in the given role.
fn role(name: &str) -> Vec<String> {
    let me = std::env::current_exe().unwrap();
    let options = [
        "rank::rank_program",
        "--exact",
        "--nocapture",
        "--test-threads=1",
        "--",
    ];
    let mut args = vec!["env".to_string(), format!("{}={name}", rank::ROLE)];
    args.push(me.to_str().unwrap().to_string());
    args.extend(options[..4].iter().map(ToString::to_string));
    args
}

/// What a command said, as text.
struct Said {
    status: i32,
    out: String,
    err: String,
}

fn said(output: Output) -> Said {
    Said {
        status: output.status.code().expect("the launcher is not killed"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs `mpirun` with these arguments to its end.
fn run<S: AsRef<str>>(args: impl IntoIterator<Item = S>) -> Said {
    let args = args.into_iter().map(|arg| arg.as_ref().to_string());
    said(mpirun().args(args).output().unwrap())
}

fn words<'a>(line: &'a str, more: &'a [String]) -> Vec<&'a str> {
    line.split_whitespace()
        .chain(more.iter().map(String::as_str))
        .collect()
}

/// A job that runs while the test looks at it.
struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Running {
    fn start<S: AsRef<str>>(args: impl IntoIterator<Item = S>) -> Running {
        let args = args.into_iter().map(|arg| arg.as_ref().to_string());
        let mut command = mpirun();
        command
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Running { child, out }
    }

    /// Reads lines until there were `count` that begin with `word`; gives what
    /// follows it in each, split at blanks.
    fn wait_for(&mut self, word: &str, count: usize) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        while found.len() < count {
            let mut line = String::new();
            assert_ne!(
                self.out.read_line(&mut line).unwrap(),
                0,
                "no `{word}` came"
            );
            if let Some(rest) = line.trim_end().strip_prefix(word) {
                found.push(rest.split_whitespace().map(str::to_string).collect());
            }
        }
        found
    }

    fn signal(&self, signal: &str) {
        send(signal, &self.child.id().to_string());
    }

    /// Waits for the end.
    fn end(mut self) -> Said {
        let mut out = String::new();
        self.out.read_to_string(&mut out).unwrap();
        let rest = self.child.wait_with_output().unwrap();
        Said { out, ..said(rest) }
    }
}

/// Sends a signal to a process.
fn send(signal: &str, pid: &str) {
    // The shell's own: a small system lacks the program.
    let kill = format!("kill -{signal} {pid}");
    let status = Command::new("sh").args(["-c", &kill]).status().unwrap();
    assert!(status.success(), "kill -{signal} {pid}");
}

/// Whether a process is there and not a zombie.
fn alive(pid: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    // The state follows the name, which is in parentheses.
    let state = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

/// Waits until a process that is being killed is gone.
fn assert_gone(pid: &str) {
    let start = Instant::now();
    while alive(pid) {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "process {pid} is still there"
        );
        std::thread::yield_now();
    }
}

/// A directory that is removed with its contents.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("catena-test-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_string()
    }

    /// Writes an executable file.
    fn program(&self, name: &str, text: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
