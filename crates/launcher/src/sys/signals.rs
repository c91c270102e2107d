//! Signals and limits of this process, and those that it began with.

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

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
    /// What was blocked before; children start with it.
    pub(super) before: sigset_t,
}

/// Signals that the launcher handles.
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
        // SAFETY: the sets are initialised by sigemptyset and sigprocmask.
        unsafe {
            let mut set: sigset_t = zeroed();
            let mut before: sigset_t = zeroed();
            libc::sigemptyset(&mut set);
            for signal in HANDLED {
                libc::sigaddset(&mut set, signal);
            }
            check(libc::sigprocmask(libc::SIG_BLOCK, &set, &mut before))?;
            let fd = check(libc::signalfd(
                -1,
                &set,
                libc::SFD_CLOEXEC | libc::SFD_NONBLOCK,
            ))?;
            Ok(Signals {
                fd: OwnedFd::from_raw_fd(fd),
                before,
            })
        }
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

/// Has a command start with the signals and limits that this process began
/// with.
pub fn restore_in(command: &mut Command, signals: &Signals, files: FileLimit) {
    let before = signals.before;
    let restore = move || {
        // SAFETY: a plain call on a value that the closure owns.
        unsafe {
            libc::sigprocmask(libc::SIG_SETMASK, &before, ptr::null_mut());
        }
        Ok(files.restore()?)
    };
    // SAFETY: the closure makes only system calls.
    unsafe { command.pre_exec(restore) };
}
