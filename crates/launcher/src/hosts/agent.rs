//! Agents: commands that start something on another host, as ssh does.

use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use catena_boot::Interest;
use catena_job::Exit;

use crate::base::Base;
use crate::report::signal_name;
use crate::sys;

/// The agent that is used if no other is named. It must not ask questions, as
/// nobody could tell which host asks.
pub const SSH: [&str; 5] = ["ssh", "-x", "-T", "-o", "BatchMode=yes"];

/// What an agent says is kept up to so many bytes.
const KEPT: usize = 4 << 10;

/// Status of ssh if it did not come so far as to start the command.
const SSH_FAILED: i32 = 255;

/// A running agent.
pub struct Agent {
    pid: i32,
    exit: Option<Exit>,
    /// Its stderr, until its end was seen.
    stderr: Option<PipeReader>,
    /// What came from there and, before the daemon spoke, from its stdout.
    said: Vec<u8>,
}

impl Agent {
    /// Has `agent` run `command` on `host`. What comes from its stderr has
    /// `token`. Gives its stdin and stdout, too.
    pub fn start(
        agent: &[OsString],
        host: &str,
        command: &[OsString],
        token: u64,
        base: &Base,
    ) -> io::Result<(Agent, PipeWriter, PipeReader)> {
        let (input, to) = io::pipe()?;
        let (from, output) = io::pipe()?;
        let (stderr, errors) = io::pipe()?;
        let mut process = self::command(agent, host, command);
        process.stdin(input).stdout(output).stderr(errors);
        Ok((Agent::spawn(process, stderr, token, base)?, to, from))
    }

    /// Has a resource manager start something on several hosts, with one
    /// variable more in its environment. What it says has `token`.
    pub fn start_all(
        command: &[OsString],
        variable: (&str, &str),
        token: u64,
        base: &Base,
    ) -> io::Result<Agent> {
        let (said, output) = io::pipe()?;
        let mut process = Command::new(&command[0]);
        process
            .args(&command[1..])
            .env(variable.0, variable.1)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        Agent::spawn(process, said, token, base)
    }

    fn spawn(
        mut process: Command,
        stderr: PipeReader,
        token: u64,
        base: &Base,
    ) -> io::Result<Agent> {
        sys::set_nonblocking(&stderr)?;
        process.process_group(0);
        sys::restore_in(&mut process, &base.signals, base.files);
        let pid = process.spawn()?.id() as i32;
        sys::claim(pid);
        base.watchdog.watch(pid);
        base.poller.add(&stderr, token, Interest::Read)?;
        Ok(Agent {
            pid,
            exit: None,
            stderr: Some(stderr),
            said: Vec::new(),
        })
    }

    /// Whether it has ended and all that it said was heard.
    pub fn is_over(&self) -> bool {
        self.exit.is_some() && self.stderr.is_none()
    }

    /// Sees whether it has ended.
    pub fn look(&mut self) {
        if self.exit.is_none() {
            self.exit = sys::peek_exit(self.pid);
        }
    }

    /// Whether it still runs.
    pub fn is_running(&self) -> bool {
        self.exit.is_none()
    }

    /// Takes in what it says.
    pub fn listen(&mut self) {
        let mut buffer = [0; 4096];
        while let Some(stderr) = &self.stderr {
            match sys::read(stderr, &mut buffer) {
                Ok(0) => self.stderr = None,
                Ok(n) => self.hear(&buffer[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => self.stderr = None,
            }
        }
    }

    /// Keeps what it said elsewhere.
    pub fn hear(&mut self, bytes: &[u8]) {
        let room = KEPT.saturating_sub(self.said.len());
        self.said.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Kills it and what it has started on this machine.
    pub fn kill(&self) {
        sys::kill_group(self.pid, libc::SIGKILL);
    }

    /// Kills it and forgets it.
    pub fn end(self) {
        self.kill();
        sys::reap(self.pid);
    }

    /// Why the daemon on `host` did not come up, and what to do. `agent` and
    /// `command` are as in [`Agent::start`].
    pub fn explain(&self, host: &str, agent: &[OsString], command: &[OsString]) -> String {
        let said = String::from_utf8_lossy(&self.said);
        let cause = why_no_answer(self.exit, &said, host, agent, command);
        format!("host {host}: {cause}{}", self.quote())
    }

    /// Why a daemon that it should have started on `host` did not call back.
    pub fn explain_all(&self, host: &str, command: &[OsString], limit: Duration) -> String {
        let name = command[0].to_string_lossy();
        let cause = match self.exit {
            Some(Exit::Code(code)) => format!("{name} ended with status {code}"),
            Some(Exit::Signal(signal)) => {
                format!(
                    "{name} was killed by signal {signal} ({})",
                    signal_name(signal)
                )
            }
            None => format!(
                "it did not call back within {} s; see whether {name} starts programs there, \
                 whether a firewall is in the way, or give it more time \
                 (--set LAUNCH_TIMEOUT=...)",
                limit.as_secs_f64()
            ),
        };
        let quote = self.quote();
        format!("host {host}: Catena's daemon was not started: {cause}{quote}")
    }

    /// What it said, as the end of a message.
    pub fn quote(&self) -> String {
        let said = String::from_utf8_lossy(&self.said);
        let lines = said.lines().filter(|line| !line.trim().is_empty());
        lines.map(|line| format!("\n    {line}")).collect()
    }
}

/// The command by which `agent` has `command` run on `host`.
pub fn command(agent: &[OsString], host: &str, command: &[OsString]) -> Command {
    let mut process = Command::new(&agent[0]);
    process.args(&agent[1..]).arg(host);
    process.args(command.iter().map(quoted));
    process
}

/// Why `command`, which [`command`](self::command) should have run, did not answer, and what to
/// do: how `agent` ended (`None`: it runs), and what it `said`.
pub fn why_no_answer(
    exit: Option<Exit>,
    said: &str,
    host: &str,
    agent: &[OsString],
    command: &[OsString],
) -> String {
    let name = agent[0].to_string_lossy();
    let path = command[0].to_string_lossy();
    match exit {
        Some(Exit::Code(127)) => format!(
            "{path} is not there; install Catena on that host in the same place, or say where \
             it is (--set LAUNCH_PATH=...)"
        ),
        Some(Exit::Code(126)) => {
            format!("{path} may not be executed there; see its permissions, and its file system")
        }
        Some(Exit::Code(SSH_FAILED)) => match ssh_failure(said) {
            Some((step, remedy)) => format!("{step}; {}", remedy.replace("HOST", host)),
            None => format!("{name} failed; try `{name} {host} true`"),
        },
        Some(Exit::Code(code)) => {
            format!("{name} ended with status {code} before Catena's daemon answered")
        }
        Some(Exit::Signal(signal)) => format!(
            "{name} was killed by signal {signal} ({}) before Catena's daemon answered",
            signal_name(signal)
        ),
        None => format!(
            "Catena's daemon did not answer in time; try `{name} {host} {path} --version`, or \
             give it more time (--set LAUNCH_TIMEOUT=...)"
        ),
    }
}

/// The step at which ssh failed, by its own words, and what to do.
fn ssh_failure(said: &str) -> Option<(&'static str, &'static str)> {
    const STEPS: [(&[&str], &str, &str); 5] = [
        (
            &["Could not resolve", "Name or service not known"],
            "its name cannot be resolved",
            "check its spelling, or add it to /etc/hosts or ~/.ssh/config",
        ),
        (
            &["Connection refused"],
            "it does not accept connections of ssh",
            "see whether sshd runs there, and on which port (~/.ssh/config)",
        ),
        (
            &["timed out", "No route to host", "unreachable"],
            "it cannot be connected to",
            "see whether it is up, and whether a firewall lets ssh through",
        ),
        (
            &["Host key verification failed"],
            "its key is not known",
            "accept it once with `ssh HOST true`",
        ),
        (
            &["Permission denied", "authentication failures"],
            "it does not let you log in without a password",
            "set up a key (ssh-keygen, ssh-copy-id HOST)",
        ),
    ];
    let found = |words: &&[&str]| words.iter().any(|word| said.contains(word));
    let (_, step, remedy) = STEPS.iter().find(|(words, ..)| found(words))?;
    Some((step, remedy))
}

/// A word as a shell reads it; one that needs no quotes gets none, as an agent
/// may do without a shell.
fn quoted(word: &OsString) -> OsString {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    match word.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(plain) => word.clone(),
        Some(text) => format!("'{}'", text.replace('\'', r"'\''")).into(),
        None => word.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_if_they_must_be() {
        assert_eq!(quoted(&"/opt/x-1.2/bin".into()), "/opt/x-1.2/bin");
        assert_eq!(quoted(&"/my files/it's".into()), r"'/my files/it'\''s'");
        assert_eq!(quoted(&"".into()), "''");
    }

    #[test]
    fn the_words_of_ssh_tell_the_step() {
        for (said, step) in [
            (
                "ssh: Could not resolve hostname x: Name or service not known",
                "resolved",
            ),
            (
                "ssh: connect to host x port 22: Connection refused",
                "accept",
            ),
            (
                "ssh: connect to host x port 22: No route to host",
                "connected to",
            ),
            (
                "ssh: connect to host x port 22: Connection timed out",
                "connected to",
            ),
            ("Host key verification failed.", "key is not known"),
            ("u@x: Permission denied (publickey,password).", "log in"),
        ] {
            assert!(ssh_failure(said).unwrap().0.contains(step), "{said}");
        }
        assert_eq!(ssh_failure("something else"), None);
    }
}
