//! What the user is told on stderr.

use std::fmt;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Writes to stderr. Nobody may read it any more, and the program may ignore SIGPIPE: what cannot
/// be told is left out, where [`eprintln!`] would end the process.
#[cold]
#[inline(never)]
pub fn say(text: fmt::Arguments<'_>) {
    let _ = io::stderr().write_fmt(text);
}

/// Writes a line to stderr, as [`say`] does.
///
/// ```
/// catena_base::tell!("catena: rank {} waits", 3);
/// ```
///
/// [`say`]: crate::tell::say
#[macro_export]
macro_rules! tell {
    ($($text:tt)*) => {
        $crate::tell::say(::std::format_args!("{}\n", ::std::format_args!($($text)*)))
    };
}

/// Whether a descriptor takes a page now without waiting for whoever reads there.
pub fn takes_output(descriptor: i32) -> bool {
    let mut asked = libc::pollfd {
        fd: descriptor,
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: one entry, which is there.
    let found = unsafe { libc::poll(&raw mut asked, 1, 0) };
    found == 1 && asked.revents & libc::POLLOUT != 0
}

/// Tells, once, that the process gets no more memory, and what may help: what follows asks for
/// memory, too.
#[cold]
#[inline(never)]
pub fn no_memory(bytes: usize) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.swap(true, Relaxed) {
        tell!(
            "catena: this process gets no more memory, {bytes} bytes were asked for: let it need \
             less (complete requests, free communicators and types), or allow it more (see \
             ulimit -v, and the limit of its container or job)"
        );
    }
}
