//! Starts processes.

use std::ffi::{CStr, CString};
use std::io::{self, PipeReader, Read};
use std::os::fd::BorrowedFd;
use std::ptr;

use catena_job::Stage;
use catena_topo::Cpus;
use libc::c_char;
use rustix::io::Errno;
use rustix::process::{self, Pid, Signal};
use rustix::stdio;
use rustix::thread::{self, CpuSet};

use super::{FileLimit, Signals, check, exit_now};

/// Bytes of the report of a failure: rank, stage and error.
const REPORT: usize = 12;

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

    /// The strings.
    pub fn iter(&self) -> impl Iterator<Item = &CString> {
        self.strings.iter()
    }

    /// Replaces the last `extra.len()` strings by others.
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
    /// Arguments for `/bin/sh`, for scripts that do not name their interpreter.
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

/// Starts a process in a group of its own, which is killed when this process
/// ends for whatever reason. Returns before the program is executed; if that
/// fails, the process ends with status 127 and reports why.
pub fn start(what: &Start<'_>) -> io::Result<i32> {
    let launcher = process::getpid();
    // SAFETY: the child only makes system calls until it executes the program or
    // exits: what other threads, which may write output, hold does not matter.
    let pid = check(unsafe { libc::fork() })?;
    if pid == 0 {
        let (stage, error) = match prepare(what, launcher) {
            // SAFETY: this is the child, and it is prepared.
            Ok(()) => (Stage::Execute, unsafe { execute(what) }),
            Err(failed) => failed,
        };
        let words = [what.rank, stage as u32, error.raw_os_error() as u32];
        let mut report = [0; REPORT];
        for (bytes, word) in report.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        // There is nobody else to tell of an error here.
        let _ = rustix::io::write(what.failures, &report);
        exit_now(127);
    }
    super::claim(pid);
    // In both processes, so that it has happened whoever is first.
    let _ = process::setpgid(Pid::from_raw(pid), Pid::from_raw(pid));
    Ok(pid)
}

/// The part of [`start`] in the child before the program is executed. Makes only
/// system calls.
fn prepare(what: &Start<'_>, launcher: Pid) -> Result<(), (Stage, Errno)> {
    let failed = |error| (Stage::Prepare, error);
    process::setpgid(None, None).map_err(failed)?;
    process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed)?;
    if process::getppid() != Some(launcher) {
        exit_now(127);
    }
    let [input, output, errors] = what.stdio;
    stdio::dup2_stdin(input).map_err(failed)?;
    stdio::dup2_stdout(output).map_err(failed)?;
    stdio::dup2_stderr(errors).map_err(failed)?;
    if let Some(cpus) = what.cpus {
        let mut set = CpuSet::new();
        // Linux allows no others here.
        for cpu in cpus.iter().filter(|&cpu| cpu < CpuSet::MAX_CPU as u32) {
            set.set(cpu as usize);
        }
        thread::sched_setaffinity(None, &set).map_err(failed)?;
    }
    what.files.restore().map_err(failed)?;
    match what.wdir {
        Some(wdir) => process::chdir(wdir).map_err(|error| (Stage::Directory, error)),
        None => Ok(()),
    }
}

/// Executes the program. Returns only if that fails.
///
/// # Safety
/// To be called in a child that has done nothing but system calls.
unsafe fn execute(what: &Start<'_>) -> Errno {
    let error = || Errno::from_raw_os_error(io::Error::last_os_error().raw_os_error().unwrap_or(0));
    // SAFETY: only system calls with pointers into memory that the fork
    // copied; the strings end with zeros and their lists with nulls.
    unsafe {
        // Rust programs ignore it, which `execve` would pass on.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        what.signals.before().restore();
        let env = what.env.pointers.as_ptr();
        libc::execve(what.path.as_ptr(), what.args.pointers.as_ptr(), env);
        if error() == Errno::NOEXEC {
            libc::execve(c"/bin/sh".as_ptr(), what.shell_args.pointers.as_ptr(), env);
        }
    }
    error()
}

/// Whether processes here may be bound to CPUs, which a container may forbid.
///
/// # Errors
/// What the system says if not.
pub fn check_binding() -> io::Result<()> {
    let now = thread::sched_getaffinity(None)?;
    Ok(thread::sched_setaffinity(None, &now)?)
}

/// The CPUs on which a process may run; none if it has ended.
pub fn affinity(pid: i32) -> Option<Cpus> {
    let set = thread::sched_getaffinity(Pid::from_raw(pid)).ok()?;
    let cpus = 0..CpuSet::MAX_CPU as u32;
    Some(cpus.filter(|&cpu| set.is_set(cpu as usize)).collect())
}

/// Reads why a process could not be started: its rank, what it was doing, and
/// the error.
pub fn read_failure(mut pipe: &PipeReader) -> Option<(u32, Stage, io::Error)> {
    let mut report = [0; REPORT];
    // Reports are shorter than what a pipe writes at once.
    pipe.read_exact(&mut report).ok()?;
    let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|i| report[at + i]));
    let stage = Stage::from_number(word(4));
    Some((word(0), stage, io::Error::from_raw_os_error(word(8) as i32)))
}
