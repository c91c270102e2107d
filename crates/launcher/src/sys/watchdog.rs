//! The watchdog, a process that ends the ranks if the launcher is killed.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::mem::zeroed;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use libc::sigset_t;
use rustix::{process, stdio, thread};

use super::{Other, check, claim, exit_now, kill, kill_group, reap, write};

/// A process that outlives the launcher by a moment, to kill the groups of all
/// ranks if the launcher is killed. (The signal that a rank gets when the
/// launcher dies does not reach the rank's own children.)
pub struct Watchdog {
    pid: i32,
    guard: Guard,
}

/// What tells the watchdog whom to guard.
pub struct Guard(PipeWriter);

/// What the watchdog is told of a process: two numbers, this one and that of the process.
#[derive(Clone, Copy)]
#[repr(i32)]
enum WatchRequest {
    /// A group comes under guard.
    Group = 0,
    /// A group that was under guard has ended, and others may have its number from now on.
    GroupEnded = 1,
    /// A process comes under guard that is in no such group.
    Process = 2,
}

impl Guard {
    fn tell(&self, what: WatchRequest, pid: i32) {
        let words = [what as i32, pid].map(i32::to_ne_bytes).concat();
        // A pipe that takes no more is one that the watchdog no longer reads.
        let _ = write(&self.0, &words);
    }

    /// Puts a process under guard that has left the group of its rank, until it ends.
    pub fn watch_process(&self, pid: i32) {
        self.tell(WatchRequest::Process, pid);
    }
}

impl Watchdog {
    /// Starts it. To be called before other descriptors are opened and while
    /// there is one thread.
    pub fn start() -> io::Result<Watchdog> {
        let (read, write) = io::pipe()?;
        // SAFETY: this process has one thread, so the child may do anything.
        let pid = check(unsafe { libc::fork() })?;
        if pid == 0 {
            drop(write);
            guard(read);
        }
        claim(pid);
        let guard = Guard(write);
        Ok(Watchdog { pid, guard })
    }

    /// Puts a group of processes under guard.
    pub fn watch(&self, group: i32) {
        self.guard.tell(WatchRequest::Group, group);
    }

    /// A group that was under guard has ended, and others may have its number from now on.
    pub fn forget(&self, group: i32) {
        self.guard.tell(WatchRequest::GroupEnded, group);
    }

    /// What tells it whom to guard, for one who has nothing else to do with it.
    pub fn guard(&self) -> io::Result<Guard> {
        self.guard.0.try_clone().map(Guard)
    }

    /// Ends it: nothing is to be guarded any more.
    pub fn stop(&self) {
        kill(self.pid, libc::SIGKILL);
        reap(self.pid);
    }
}

/// The life of the watchdog.
fn guard(mut groups: PipeReader) -> ! {
    const GROUPS: RawFd = 3;
    // What fails here leaves more open than need be, and the watchdog still guards.
    let _ = process::setsid();
    let _ = thread::set_name(c"catena-watchdog");
    let _ = process::chdir(c"/");
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = stdio::dup2_stdin(&null);
        let _ = stdio::dup2_stdout(&null);
        let _ = stdio::dup2_stderr(&null);
    }
    // SAFETY: plain calls; the descriptors that are closed belong to nobody in
    // this process, and `groups` is moved to one that stays open.
    unsafe {
        let mut all: sigset_t = zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_BLOCK, &all, ptr::null_mut());
        if groups.as_raw_fd() != GROUPS {
            libc::dup2(groups.as_raw_fd(), GROUPS);
            std::mem::forget(std::mem::replace(
                &mut groups,
                PipeReader::from(OwnedFd::from_raw_fd(GROUPS)),
            ));
        }
        // The C library has a function for it only since glibc 2.34.
        libc::syscall(libc::SYS_close_range, GROUPS as u32 + 1, u32::MAX, 0u32);
    }
    let mut watched = Vec::new();
    let mut others: Vec<Other> = Vec::new();
    let mut words = [0; 8];
    while groups.read_exact(&mut words).is_ok() {
        let [what, pid] = [0, 4].map(|at| {
            let word = words[at..].first_chunk::<4>();
            word.map_or(0, |word| i32::from_ne_bytes(*word))
        });
        if what == WatchRequest::Group as i32 {
            watched.push(pid);
        } else if what == WatchRequest::GroupEnded as i32 {
            watched.retain(|&it| it != pid);
        } else {
            others.retain(Other::is_alive);
            others.push(Other::open(pid));
        }
    }
    for group in watched {
        kill_group(group, libc::SIGKILL);
    }
    for other in others {
        other.signal(libc::SIGKILL);
    }
    // What the launcher has registered does not run here.
    exit_now(0)
}
