//! Signals and limits of this process, and those that it began with.

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;
use std::thread;

use libc::{c_int, sigset_t};
use rustix::io::Errno;
use rustix::process::{self, Resource, Rlimit};

use super::check;

/// The limits on open descriptors, before the launcher raised its own.
#[derive(Clone, Copy)]
pub struct FileLimit(Rlimit);

impl FileLimit {
    /// Raises the limit of this process as far as it may be.
    pub fn raise() -> io::Result<FileLimit> {
        let limit = process::getrlimit(Resource::Nofile);
        let most = Rlimit {
            current: limit.maximum,
            ..limit
        };
        process::setrlimit(Resource::Nofile, most)?;
        Ok(FileLimit(limit))
    }

    /// How many descriptors this process may have now.
    pub fn most(&self) -> u64 {
        self.0.maximum.unwrap_or(u64::MAX)
    }

    /// Gives this process the limit back. Only a system call.
    pub fn restore(self) -> Result<(), Errno> {
        process::setrlimit(Resource::Nofile, self.0)
    }
}

/// Signals as readable events; they have no other effect on this process.
pub struct Signals {
    fd: OwnedFd,
    before: Before,
}

/// How signals were treated when this process began; children start with it.
#[derive(Clone, Copy)]
pub struct Before {
    blocked: sigset_t,
    /// Whether the end of children was ignored, as services in Perl or Python do. Here they would
    /// be gone before anybody has asked how they ended.
    ignored_children: bool,
}

impl Before {
    /// Treats them so again. Only system calls.
    ///
    /// # Safety
    /// To be called in a child that is about to execute another program.
    pub unsafe fn restore(&self) {
        // SAFETY: plain calls on a value that the caller owns.
        unsafe {
            if self.ignored_children {
                libc::signal(libc::SIGCHLD, libc::SIG_IGN);
            }
            libc::sigprocmask(libc::SIG_SETMASK, &self.blocked, ptr::null_mut());
        }
    }
}

/// Signals that the launcher handles, but for those that it is to ignore: `nohup` ignores SIGHUP
/// for its command, and a shell SIGINT and SIGQUIT for one in the background.
const HANDLED: [c_int; 9] = [
    libc::SIGCHLD,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGTSTP,
    libc::SIGCONT,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

impl Signals {
    /// Blocks the signals and makes them readable.
    pub fn open() -> io::Result<Signals> {
        let ignored_children = is_ignored(libc::SIGCHLD)?;
        // SAFETY: the sets are initialised by sigemptyset and sigprocmask.
        unsafe {
            let mut set: sigset_t = zeroed();
            let mut blocked: sigset_t = zeroed();
            libc::sigemptyset(&mut set);
            for signal in HANDLED {
                // A signal that is blocked would be read although it is ignored.
                if signal == libc::SIGCHLD || !is_ignored(signal)? {
                    libc::sigaddset(&mut set, signal);
                }
            }
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            check(libc::sigprocmask(libc::SIG_BLOCK, &set, &mut blocked))?;
            let fd = check(libc::signalfd(
                -1,
                &set,
                libc::SFD_CLOEXEC | libc::SFD_NONBLOCK,
            ))?;
            Ok(Signals {
                fd: OwnedFd::from_raw_fd(fd),
                before: Before {
                    blocked,
                    ignored_children,
                },
            })
        }
    }

    /// How they were treated before.
    pub fn before(&self) -> Before {
        self.before
    }

    /// The next signal that has arrived.
    pub fn next(&self) -> Option<i32> {
        let mut info = [0; size_of::<libc::signalfd_siginfo>()];
        rustix::io::read(&self.fd, &mut info).ok()?;
        // The first field is the number of the signal.
        info.first_chunk().copied().map(i32::from_ne_bytes)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Starts a thread that no signal reaches: one that arrived there would not be seen where it is
/// waited for.
///
/// # Errors
/// If there can be no further thread.
pub fn spawn_deaf(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name(name.into());
    // SAFETY: the sets are initialised by sigfillset and pthread_sigmask; the new thread begins
    // with what is blocked here.
    unsafe {
        let mut all: sigset_t = zeroed();
        let mut before: sigset_t = zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let spawned = thread.spawn(work).map(drop);
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut());
        spawned
    }
}

/// Whether a signal is ignored.
fn is_ignored(signal: c_int) -> io::Result<bool> {
    // SAFETY: all zeros are a valid action, which the call replaces.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        check(libc::sigaction(signal, ptr::null(), &mut action))?;
        Ok(action.sa_sigaction == libc::SIG_IGN)
    }
}

/// Has a command start with the signals and limits that this process began
/// with.
pub fn restore_in(command: &mut Command, signals: &Signals, files: FileLimit) {
    let before = signals.before;
    let restore = move || {
        // SAFETY: this is the child.
        unsafe { before.restore() };
        Ok(files.restore()?)
    };
    // SAFETY: the closure makes only system calls.
    unsafe { command.pre_exec(restore) };
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_deaf_thread_takes_no_signals() {
        let blocked = || {
            let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
            u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
        };
        let before = blocked();
        let (tell, told) = mpsc::channel();
        spawn_deaf("deaf", move || tell.send(blocked()).unwrap()).unwrap();
        let there = told.recv().unwrap();
        for signal in HANDLED {
            assert_ne!(there & 1 << (signal - 1), 0, "{signal}");
        }
        assert_eq!(blocked(), before);
    }
}
