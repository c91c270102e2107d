//! Limits of this process.

/// Raises the limit of open descriptors as far as it may be. Connections and shared memory take
/// descriptors, and the limit that a shell sets is low for the sake of programs that have a table
/// of them.
pub fn raise_descriptors() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the limit is written during the call.
    let got = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    if got == 0 && limit.rlim_cur < limit.rlim_max {
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: the limit is read during the call. If it may not be raised it stays.
        let _ = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    }
}
