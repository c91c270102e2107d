//! Who ends the ranks if the launcher is killed.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::mem::zeroed;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use libc::sigset_t;

use super::{check, kill, kill_group, reap, write};

/// A process that outlives the launcher by a moment, to kill the groups of all
/// ranks if the launcher is killed. (The signal that a rank gets when the
/// launcher dies does not reach the rank's own children.)
pub struct Warden {
    pid: i32,
    groups: PipeWriter,
}

impl Warden {
    /// Starts it. To be called before other descriptors are opened and while
    /// there is one thread.
    pub fn start() -> io::Result<Warden> {
        let (read, write) = io::pipe()?;
        // SAFETY: this process has one thread, so the child may do anything.
        let pid = check(unsafe { libc::fork() })?;
        if pid == 0 {
            drop(write);
            guard(read);
        }
        Ok(Warden { pid, groups: write })
    }

    /// Puts a group of processes under guard.
    pub fn watch(&self, group: i32) {
        // A pipe that takes no more is one that the warden no longer reads.
        let _ = write(&self.groups, &group.to_ne_bytes());
    }

    /// Ends it: nothing is to be guarded any more.
    pub fn stop(&self) {
        kill(self.pid, libc::SIGKILL);
        reap(self.pid);
    }
}

/// The life of the warden.
fn guard(mut groups: PipeReader) -> ! {
    const GROUPS: RawFd = 3;
    // SAFETY: plain calls; the descriptors that are closed belong to nobody in
    // this process, and `groups` is moved to one that stays open.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, c"catena-warden".as_ptr());
        let mut all: sigset_t = zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_BLOCK, &all, ptr::null_mut());
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for fd in 0..3 {
            libc::dup2(null, fd);
        }
        if groups.as_raw_fd() != GROUPS {
            libc::dup2(groups.as_raw_fd(), GROUPS);
            std::mem::forget(std::mem::replace(
                &mut groups,
                PipeReader::from(OwnedFd::from_raw_fd(GROUPS)),
            ));
        }
        libc::close_range(GROUPS as u32 + 1, u32::MAX, 0);
        libc::chdir(c"/".as_ptr());
    }
    let mut watched = Vec::new();
    let mut group = [0; 4];
    while groups.read_exact(&mut group).is_ok() {
        watched.push(i32::from_ne_bytes(group));
    }
    for group in watched {
        kill_group(group, libc::SIGKILL);
    }
    // SAFETY: ends this process without running what the launcher registered.
    unsafe { libc::_exit(0) }
}
