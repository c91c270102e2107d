//! UCX's signal handlers, which are taken back.
//!
//! When it is loaded UCX takes over the signals of crashes and the one that
//! terminals send when they are closed. They belong to the program: so they are
//! put back, unless `UCX_HANDLE_ERRORS` says what UCX is to do.

use std::ffi::c_int;
use std::mem::MaybeUninit;

const SIGNALS: [c_int; 6] = [
    libc::SIGILL,
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGABRT,
    libc::SIGHUP,
];

/// What the program does with the signals that UCX takes.
pub(crate) struct Signals {
    actions: [Option<libc::sigaction>; SIGNALS.len()],
    stack: Option<libc::stack_t>,
}

impl Signals {
    /// As it is now; `None` if the user wants UCX's handlers.
    pub fn save() -> Option<Signals> {
        if std::env::var_os("UCX_HANDLE_ERRORS").is_some() {
            return None;
        }
        let actions = SIGNALS.map(|signal| {
            let mut action = MaybeUninit::uninit();
            // SAFETY: asks only; it is there after a success.
            unsafe {
                let status = libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
                (status == 0).then(|| action.assume_init())
            }
        });
        let mut stack = MaybeUninit::uninit();
        // SAFETY: as above.
        let stack = unsafe {
            let status = libc::sigaltstack(std::ptr::null(), stack.as_mut_ptr());
            (status == 0).then(|| stack.assume_init())
        };
        Some(Signals { actions, stack })
    }

    /// Makes it so again.
    pub fn restore(self) {
        for (signal, action) in SIGNALS.into_iter().zip(&self.actions) {
            if let Some(action) = action {
                // SAFETY: as the program had it.
                unsafe { libc::sigaction(signal, action, std::ptr::null_mut()) };
            }
        }
        if let Some(stack) = &self.stack {
            // SAFETY: as this thread had it.
            unsafe { libc::sigaltstack(stack, std::ptr::null_mut()) };
        }
    }
}
