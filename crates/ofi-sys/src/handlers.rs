//! What the process does about signals, kept as it was while libfabric is opened.
//!
//! Providers of PSM install handlers of their own when they are loaded. Those write a
//! backtrace and end the process with status 1, so that nobody learns that it died by a
//! signal, and they hide the handler of the program.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;

/// Signals that end a process unless it says otherwise, and that libraries like to handle.
const SIGNALS: [c_int; 10] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGTERM,
];

/// The handlers of a moment, which are put back when this is dropped.
///
/// A thread that installs a handler of its own meanwhile loses it: the system does not tell
/// who has installed one.
pub struct SavedHandlers([Option<libc::sigaction>; SIGNALS.len()]);

impl SavedHandlers {
    /// Those of now.
    pub fn now() -> SavedHandlers {
        SavedHandlers(SIGNALS.map(handler))
    }
}

impl Drop for SavedHandlers {
    fn drop(&mut self) {
        for (signal, former) in SIGNALS.into_iter().zip(&self.0) {
            let (Some(former), Some(current)) = (former, handler(signal)) else {
                continue;
            };
            if former.sa_sigaction != current.sa_sigaction {
                // SAFETY: what the system has given for this signal before.
                unsafe { libc::sigaction(signal, former, ptr::null_mut()) };
            }
        }
    }
}

/// What the process does about `signal`.
fn handler(signal: c_int) -> Option<libc::sigaction> {
    let mut action = MaybeUninit::uninit();
    // SAFETY: it only asks, and writes a whole action unless it fails.
    match unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) } {
        // SAFETY: written, as it has not failed.
        0 => Some(unsafe { action.assume_init() }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_meanwhile_is_taken_back() {
        // A signal that nothing else here uses.
        let signal = libc::SIGQUIT;
        let before = handler(signal).unwrap().sa_sigaction;
        let kept = SavedHandlers::now();
        // SAFETY: to ignore a signal is sound.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
        assert_eq!(handler(signal).unwrap().sa_sigaction, libc::SIG_IGN);
        drop(kept);
        assert_eq!(handler(signal).unwrap().sa_sigaction, before);
    }
}
