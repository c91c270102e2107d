//! The settings of windows.

use std::time::Duration;

use catena_settings::{Bytes, Setting, setting};

setting! {
    /// How long a process that computes may leave one-sided operations of other hosts, and
    /// questions about the bytes of files in atomic mode, unserved.
    ///
    /// A thread that sleeps serves them after this time at most, if the program has not called MPI
    /// meanwhile. There is one only while the process has windows whose members are on several
    /// hosts, or at whose memory the kernel lets nobody, or has had a file of several hosts in
    /// atomic mode. 0 means: never, they wait for the next call.
    pub static RMA_LATENCY: Duration = Duration::from_micros(250);
    range: Duration::ZERO..=Duration::from_secs(1),
    scope: Local,
    level: User,

    /// Whether puts and gets of windows use the remote access of networks that have it.
    ///
    /// Else messages carry them, as they do all that networks do not.
    pub static RMA_REMOTE: bool = true;
    scope: AllEqual,
    level: User,

    /// Smallest put or get that a network's remote access carries.
    ///
    /// Shorter ones go by messages, which many of them share.
    pub static RMA_REMOTE_MIN: Bytes = Bytes::kib(16);
    scope: Local,
    level: Tuner,
    tuned: Alone,
}

/// All of them.
pub const SETTINGS: &[&dyn Setting] = &[&RMA_LATENCY, &RMA_REMOTE, &RMA_REMOTE_MIN];
