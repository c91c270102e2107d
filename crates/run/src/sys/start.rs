//! Starts processes.

use std::ffi::{CStr, CString};
use std::io::{self, PipeReader, Read};
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use catena_topo::Cpus;
use libc::c_char;

use super::{FileLimit, Signals, check};

/// Strings for `execve`: pointers that end with a null, into strings that it
/// keeps alive.
pub struct Strings {
    strings: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Strings {
    /// From these.
    pub fn new(strings: Vec<CString>) -> Strings {
        let pointers = strings
            .iter()
            .map(|s| s.as_ptr())
            .chain([ptr::null()])
            .collect();
        Strings { strings, pointers }
    }

    /// The same with others at the end in place of the last `extra.len()`.
    pub fn replace_last(
        &mut self,
        extra: impl IntoIterator<Item = CString, IntoIter: ExactSizeIterator>,
    ) {
        let extra = extra.into_iter();
        let start = self.strings.len().saturating_sub(extra.len());
        for (index, string) in (start..).zip(extra) {
            self.pointers[index] = string.as_ptr();
            self.strings[index] = string;
        }
    }
}

/// A process to be started.
pub struct Start<'a> {
    /// Identifies it in the report of a failure.
    pub rank: u32,
    /// Program.
    pub path: &'a CStr,
    /// Arguments.
    pub args: &'a Strings,
    /// The same for `/bin/sh`, for scripts that do not name their interpreter.
    pub shell_args: &'a Strings,
    /// Environment.
    pub env: &'a Strings,
    /// Working directory, if another one.
    pub wdir: Option<&'a CStr>,
    /// Its standard streams.
    pub stdio: [BorrowedFd<'a>; 3],
    /// Where a failure is reported: see [`read_failure`].
    pub failures: BorrowedFd<'a>,
    /// CPUs to be bound to.
    pub cpus: Option<&'a Cpus>,
    /// Signals that the launcher handles.
    pub signals: &'a Signals,
    /// Limits to restore.
    pub files: FileLimit,
}

/// What the child of [`start`] was doing when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Stage {
    /// Preparing its streams and limits.
    Prepare = 0,
    /// Entering its working directory.
    Directory = 1,
    /// Executing the program.
    Execute = 2,
}

impl Stage {
    /// From its number.
    pub fn from_number(number: u32) -> Stage {
        match number {
            0 => Stage::Prepare,
            1 => Stage::Directory,
            _ => Stage::Execute,
        }
    }
}

/// Starts a process in a group of its own, which is killed when this process
/// ends for whatever reason. Returns before the program is executed; if that
/// fails, the process ends with status 127 and reports why.
pub fn start(what: &Start<'_>) -> io::Result<i32> {
    // SAFETY: this process has one thread, and the child only makes system
    // calls until it executes the program or exits.
    unsafe {
        let launcher = libc::getpid();
        let pid = check(libc::fork())?;
        if pid == 0 {
            let stage = run_child(what, launcher);
            let errno = *libc::__errno_location();
            let report = [what.rank, stage as u32, errno as u32];
            libc::write(
                what.failures.as_raw_fd(),
                report.as_ptr().cast(),
                size_of_val(&report),
            );
            libc::_exit(127);
        }
        // In both processes, so that it has happened whoever is first.
        libc::setpgid(pid, pid);
        Ok(pid)
    }
}

/// The part of [`start`] in the child. Returns only if something failed.
///
/// # Safety
/// To be called right after a fork, in the child.
unsafe fn run_child(what: &Start<'_>, launcher: i32) -> Stage {
    // SAFETY: only system calls with pointers into memory that the fork
    // copied; the strings end with zeros and their lists with nulls.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != launcher {
            libc::_exit(127);
        }
        for (to, from) in (0..).zip(what.stdio) {
            if libc::dup2(from.as_raw_fd(), to) < 0 {
                return Stage::Prepare;
            }
        }
        if let Some(cpus) = what.cpus {
            let mut set: libc::cpu_set_t = zeroed();
            // Linux allows no others here.
            for cpu in cpus.iter().filter(|&cpu| cpu < libc::CPU_SETSIZE as u32) {
                libc::CPU_SET(cpu as usize, &mut set);
            }
            if libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) != 0 {
                return Stage::Prepare;
            }
        }
        libc::setrlimit(libc::RLIMIT_NOFILE, &what.files.0);
        if let Some(wdir) = what.wdir
            && libc::chdir(wdir.as_ptr()) != 0
        {
            return Stage::Directory;
        }
        // Rust programs ignore it, which `execve` would pass on.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_SETMASK, &what.signals.before, ptr::null_mut());
        let env = what.env.pointers.as_ptr();
        libc::execve(what.path.as_ptr(), what.args.pointers.as_ptr(), env);
        if *libc::__errno_location() == libc::ENOEXEC {
            libc::execve(c"/bin/sh".as_ptr(), what.shell_args.pointers.as_ptr(), env);
        }
        Stage::Execute
    }
}

/// Reads why a process could not be started: its rank, what it was doing, and
/// the error.
pub fn read_failure(mut pipe: &PipeReader) -> Option<(u32, Stage, io::Error)> {
    let mut report = [0; 12];
    // Reports are shorter than what a pipe writes at once.
    pipe.read_exact(&mut report).ok()?;
    let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|i| report[at + i]));
    let stage = Stage::from_number(word(4));
    Some((word(0), stage, io::Error::from_raw_os_error(word(8) as i32)))
}
