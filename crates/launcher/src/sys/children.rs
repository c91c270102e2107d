//! Children of this process: those that it has started, and those that it takes in because their
//! parents have ended.
//!
//! A rank's descendants stay below the launcher's process of their host then, whatever groups and
//! sessions they make, and how they end is known.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use catena_job::Exit;
use rustix::event::{self, PollFd, PollFlags, Timespec};
use rustix::process::{
    self, Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, WaitOptions,
};

/// The children that this process has started and not reaped.
static STARTED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn started() -> MutexGuard<'static, BTreeSet<i32>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has this process become the parent of descendants whose parents end.
pub fn adopt() {
    // Where that cannot be, they are what they were: nobody's.
    let _ = process::set_child_subreaper(Some(process::getpid()));
}

/// This process has started a child.
pub fn claim(pid: i32) {
    started().insert(pid);
}

/// Whether a child was started by this process.
pub fn is_claimed(pid: i32) -> bool {
    started().contains(&pid)
}

/// Waits for a child and forgets it.
pub fn reap(pid: i32) {
    started().remove(&pid);
    if let Some(pid) = Pid::from_raw(pid) {
        let wait = || process::waitpid(Some(pid), WaitOptions::empty());
        // One that is no child is forgotten already.
        let _ = rustix::io::retry_on_intr(wait);
    }
}

/// Sends a signal to a process. One that is gone is no error.
pub fn kill(pid: i32, signal: i32) {
    if let (Some(pid), Some(signal)) = (Pid::from_raw(pid), Signal::from_named_raw(signal)) {
        let _ = process::kill_process(pid, signal);
    }
}

/// Sends a signal to all processes of a group. One that is gone is no error.
pub fn kill_group(group: i32, signal: i32) {
    if let (Some(group), Some(signal)) = (Pid::from_raw(group), Signal::from_named_raw(signal)) {
        let _ = process::kill_process_group(group, signal);
    }
}

fn exit_of(status: &WaitIdStatus) -> Exit {
    match status.exit_status() {
        Some(status) => Exit::Code(status),
        None => Exit::Signal(status.terminating_signal().unwrap_or_default()),
    }
}

/// How a child has ended, if it has. It stays a zombie, so that its number,
/// which is also that of its group, is not used again.
pub fn peek_exit(pid: i32) -> Option<Exit> {
    peek(WaitId::Pid(Pid::from_raw(pid)?))
}

fn peek(child: WaitId<'_>) -> Option<Exit> {
    let flags = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = process::waitid(child, flags);
    status.ok().flatten().as_ref().map(exit_of)
}

/// How a process has ended that is a zombie, by the status that proc(5) tells last of all.
fn exit_of_zombie(pid: i32) -> Option<Exit> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of its program, which may have any characters, is in parentheses.
    let (_, fields) = text.rsplit_once(')')?;
    let state = fields.split_whitespace().next()?;
    let status: i32 = fields.split_whitespace().last()?.parse().ok()?;
    let (code, signal) = ((status >> 8) & 0xff, status & 0x7f);
    let exit = match signal {
        0 => Exit::Code(code),
        _ => Exit::Signal(signal),
    };
    (state == "Z").then_some(exit)
}

/// How a child ends; waits for that. It stays a zombie.
pub fn await_exit(pid: i32) -> Exit {
    let flags = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let wait = |pid| rustix::io::retry_on_intr(|| process::waitid(WaitId::Pid(pid), flags));
    let status = Pid::from_raw(pid).and_then(|pid| wait(pid).ok().flatten());
    status.as_ref().map_or(Exit::Code(0), exit_of)
}

/// A process that may end without this one being its parent, and its number be another one's then.
#[derive(Debug)]
pub struct Other {
    pid: i32,
    /// None where the system has no such descriptors.
    life: Option<OwnedFd>,
}

impl Other {
    /// The one that has this number now.
    pub fn open(pid: i32) -> Other {
        let open = |pid| process::pidfd_open(pid, PidfdFlags::empty()).ok();
        let life = Pid::from_raw(pid).and_then(open);
        Other { pid, life }
    }

    /// Its number.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Whether it has not ended.
    pub fn is_alive(&self) -> bool {
        let Some(life) = &self.life else {
            let pid = Pid::from_raw(self.pid);
            return pid.is_some_and(|pid| process::test_kill_process(pid).is_ok());
        };
        let mut fds = [PollFd::new(life, PollFlags::IN)];
        let polled = event::poll(&mut fds, Some(&Timespec::default()));
        !matches!(polled, Ok(1..))
    }

    /// How it has ended, if it has and its parent, which this process need not be, has not asked
    /// for that yet. It stays a zombie.
    pub fn peek_exit(&self) -> Option<Exit> {
        let of_child = match &self.life {
            Some(life) => peek(WaitId::PidFd(life.as_fd())),
            None => peek_exit(self.pid),
        };
        of_child.or_else(|| exit_of_zombie(self.pid).filter(|_| !self.is_alive()))
    }

    /// Sends it a signal if it lives, and the group that it leads, if it does.
    pub fn signal(&self, signal: i32) {
        if self.is_alive() {
            match leads_group(self.pid) {
                true => kill_group(self.pid, signal),
                false => kill(self.pid, signal),
            }
        }
    }
}

/// The group of a process, by the process that leads it.
pub fn group(pid: i32) -> Option<i32> {
    let group = process::getpgid(Pid::from_raw(pid)).ok()?;
    Some(group.as_raw_nonzero().get())
}

/// Whether a process is in the group that `leader` leads.
pub fn is_in_group(pid: i32, leader: i32) -> bool {
    group(pid) == Some(leader)
}

fn leads_group(pid: i32) -> bool {
    is_in_group(pid, pid)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_end_of_a_process_is_seen_and_its_number_is_not_used() {
        let mut command = Command::new("cat");
        let command = command.stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let other = Other::open(child.id() as i32);
        assert!(other.is_alive() && !is_in_group(other.pid(), other.pid()));
        assert_eq!(
            (other.peek_exit(), exit_of_zombie(other.pid())),
            (None, None)
        );
        other.signal(libc::SIGKILL);
        let exit = Exit::Signal(libc::SIGKILL);
        assert_eq!(await_exit(other.pid()), exit);
        assert_eq!(exit_of_zombie(other.pid()), Some(exit));
        assert_eq!(other.peek_exit(), Some(exit));
        child.wait().unwrap();
        assert!(!other.is_alive());
        assert_eq!(other.peek_exit(), None);
    }

    #[test]
    fn a_grandchild_that_its_parent_has_not_asked_for_tells_its_status() {
        // It ends when it is told to: the shell may ask for one that ends before it becomes
        // `sleep`.
        let script = "exec 3<&0; (read line <&3; exit 3) & echo $!; exec sleep 60";
        let mut command = Command::new("sh");
        let command = command.args(["-c", script]).stdin(Stdio::piped());
        let mut parent = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(parent.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        let other = Other::open(line.trim().parse().unwrap());
        parent.stdin.take().unwrap().write_all(b"end\n").unwrap();
        let mut fds = [PollFd::new(other.life.as_ref().unwrap(), PollFlags::IN)];
        event::poll(&mut fds, None).unwrap();
        assert_eq!(peek_exit(other.pid()), None);
        assert_eq!(other.peek_exit(), Some(Exit::Code(3)));
        parent.kill().unwrap();
        parent.wait().unwrap();
    }
}
