//! Whether the kernel copies from process to process, tried on a process of this command.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use catena_settings::Setting;
use catena_shm::settings::{SHM_SINGLE_COPY, SingleCopy};

use crate::finding::{Finding, Weight};
use crate::machine::System;

/// The option by which this command becomes the process that is read; no user gives it.
pub const HOLD: &str = "--hold";

/// What is read there.
static WORD: u64 = 0x6361_7465_6e61_2121;

/// Says where the word is, and stays until nobody needs it any more.
pub fn hold() -> i32 {
    let mut out = io::stdout();
    let told = writeln!(out, "{}", (&raw const WORD).addr()).and_then(|()| out.flush());
    _ = io::copy(&mut io::stdin(), &mut io::sink());
    i32::from(told.is_err())
}

/// Whether messages of a node can be copied once.
pub fn copies(system: &System, own: &[OsString]) -> Vec<Finding> {
    if SHM_SINGLE_COPY.get() == SingleCopy::Never {
        let cause = format!(
            "{} is `never`, so long messages are copied twice",
            SHM_SINGLE_COPY.name()
        );
        let origin = "see `catena info` for where that was set";
        return vec![Finding::new(Weight::Slow, "copies", cause, origin)];
    }
    match read(own) {
        Ok(()) => Vec::new(),
        Err(error) => vec![told(system, &error)],
    }
}

fn told(system: &System, error: &io::Error) -> Finding {
    let scope = system
        .number("/proc/sys/kernel/yama/ptrace_scope")
        .unwrap_or(0);
    let filtered = system
        .field("/proc/self/status", "Seccomp")
        .is_some_and(|mode| mode != "0");
    let (rule, remedy) = if scope >= 2 {
        (
            format!(": kernel.yama.ptrace_scope is {scope}"),
            "have the administrator run `sysctl kernel.yama.ptrace_scope=1`",
        )
    } else if filtered {
        (
            ": a filter of system calls (seccomp), as containers have it".to_string(),
            "start the container with --cap-add SYS_PTRACE",
        )
    } else {
        (
            String::new(),
            "start the container with --cap-add SYS_PTRACE, or see the security module's log (dmesg)",
        )
    };
    let cause = format!(
        "the kernel does not let ranks read each other's memory{rule} (process_vm_readv: {error}), so \
         long messages of a node are copied twice"
    );
    Finding::new(Weight::Slow, "copies", cause, remedy)
}

/// Reads the word in a process that this one starts, as ranks are read that mpirun has started.
fn read(own: &[OsString]) -> io::Result<()> {
    let mut child = Command::new(&own[0])
        .args(&own[1..])
        .arg(HOLD)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    let found = match child.stdout.take() {
        Some(out) => BufReader::new(out).read_line(&mut line).map(|_| line),
        None => Err(io::ErrorKind::BrokenPipe.into()),
    };
    let found = found.and_then(|line| {
        let address = line
            .trim()
            .parse()
            .map_err(|_| io::ErrorKind::InvalidData)?;
        let word = catena_shm::word_of(child.id(), address)?;
        match word == WORD {
            true => Ok(()),
            false => Err(io::Error::other("it read something else")),
        }
    });
    // Its standard input ends, and so does it.
    drop(child.stdin.take());
    child.wait()?;
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_that_forbids_copies_is_named() {
        let root =
            std::env::temp_dir().join(format!("catena-doctor-copies-{}", std::process::id()));
        let scope = root.join("proc/sys/kernel/yama/ptrace_scope");
        std::fs::create_dir_all(scope.parent().unwrap()).unwrap();
        std::fs::write(&scope, "3\n").unwrap();
        let denied = io::Error::from_raw_os_error(1);
        let finding = told(&System::at(&root), &denied);
        assert!(finding.cause.contains("ptrace_scope is 3"), "{finding:?}");
        std::fs::write(&scope, "1\n").unwrap();
        std::fs::create_dir_all(root.join("proc/self")).unwrap();
        std::fs::write(root.join("proc/self/status"), "Name: x\nSeccomp:\t2\n").unwrap();
        let finding = told(&System::at(&root), &denied);
        assert!(finding.cause.contains("seccomp"), "{finding:?}");
        std::fs::remove_dir_all(&root).unwrap();
    }
}
