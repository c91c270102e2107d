//! What a program waits on that does not ask again and again: a descriptor that can be read once
//! something has happened (`FI_WAIT_FD`).

use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::host;
use crate::sys::{err, num};

/// The wait object of a queue or a counter, if it has one.
#[derive(Debug, Default)]
pub struct Signal(Option<OwnedFd>);

impl Signal {
    /// The one that attributes ask for.
    ///
    /// # Errors
    /// An error number, negative: there are descriptors, and no other objects.
    pub fn of(kind: c_int) -> Result<Signal, c_int> {
        match kind {
            num::WAIT_NONE | num::WAIT_UNSPEC | num::WAIT_YIELD => Ok(Signal(None)),
            num::WAIT_FD => {
                // SAFETY: a new descriptor, which nobody else has.
                let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
                if fd < 0 {
                    host::warn(host::DOMAIN, "no descriptor to wait on: see ulimit -n");
                    return Err(-libc::EMFILE);
                }
                // SAFETY: as above.
                Ok(Signal(Some(unsafe { OwnedFd::from_raw_fd(fd) })))
            }
            _ => {
                host::warn(
                    host::DOMAIN,
                    "wait objects of that kind are not there: ask for FI_WAIT_NONE, \
                     FI_WAIT_UNSPEC or FI_WAIT_FD",
                );
                Err(err::NOSYS)
            }
        }
    }

    /// Whether somebody may wait on it.
    #[inline]
    pub fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// Something has happened: the descriptor can be read.
    #[inline]
    pub fn raise(&self) {
        if let Some(fd) = &self.0 {
            let one = 1u64;
            // SAFETY: eight bytes; one that is full can be read all the same.
            unsafe { libc::write(fd.as_raw_fd(), (&raw const one).cast(), 8) };
        }
    }

    /// Forgets what has happened; to be followed by a look.
    pub fn clear(&self) {
        if let Some(fd) = &self.0 {
            let mut count = 0u64;
            // SAFETY: room for eight bytes; without anything to read it returns at once.
            unsafe { libc::read(fd.as_raw_fd(), (&raw mut count).cast(), 8) };
        }
    }

    /// Carries out a command of `fi_control`.
    ///
    /// # Safety
    /// The argument is what the command says.
    pub unsafe fn control(&self, command: c_int, arg: *mut c_void) -> c_int {
        let (Some(fd), false) = (&self.0, arg.is_null()) else {
            return err::NOSYS;
        };
        let told = match command {
            num::GETWAIT => fd.as_raw_fd(),
            num::GETWAITOBJ => num::WAIT_FD,
            _ => return err::NOSYS,
        };
        // SAFETY: as promised; both are as wide as an int.
        unsafe { *arg.cast::<c_int>() = told };
        0
    }
}
