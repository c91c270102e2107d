//! What the user is told on stderr.

use std::fmt;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Writes to stderr. Nobody may read it any more, and the program may ignore SIGPIPE: what cannot be told is left out, where
/// [`eprintln!`] would end the process.
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

/// Tells, once, that the process gets no more memory, and what may help: what follows asks for memory, too.
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
