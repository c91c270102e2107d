//! Signals and limits of this process, and those that it began with.

use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

use libc::{c_int, sigset_t};

use super::check;

/// The limits on open descriptors, before the launcher raised its own.
#[derive(Clone, Copy)]
pub struct FileLimit(pub(super) libc::rlimit);

impl FileLimit {
    /// Raises the limit of this process as far as it may be.
    pub fn raise() -> io::Result<FileLimit> {
        // SAFETY: all-zero is a valid rlimit.
        let mut limit: libc::rlimit = unsafe { zeroed() };
        // SAFETY: `limit` is writable.
        check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
        let most = libc::rlimit {
            rlim_cur: limit.rlim_max,
            ..limit
        };
        // SAFETY: `most` is readable.
        check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &most) })?;
        Ok(FileLimit(limit))
    }

    /// How many descriptors this process may have now.
    pub fn most(&self) -> u64 {
        self.0.rlim_max
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
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::uninit();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: a read of this size fills `info` or fails.
        unsafe {
            let n = libc::read(self.fd.as_raw_fd(), info.as_mut_ptr().cast(), size);
            (n == size as isize).then(|| info.assume_init().ssi_signo as i32)
        }
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
        // SAFETY: plain calls on values that the closure owns.
        unsafe {
            libc::setrlimit(libc::RLIMIT_NOFILE, &files.0);
            libc::sigprocmask(libc::SIG_SETMASK, &before, ptr::null_mut());
        }
        Ok(())
    };
    // SAFETY: the closure makes only system calls.
    unsafe { command.pre_exec(restore) };
}
