//! How soon a process serves others while its program computes; see [`beside`](crate::beside).

use std::time::Duration;

use catena_settings::setting;

setting! {
    /// How long a process that computes may leave one-sided operations of other hosts, and questions about the bytes of
    /// files in atomic mode, unserved.
    ///
    /// A thread that sleeps serves them after this time at most, if the program has not called MPI
    /// meanwhile. There is one only while the process has windows whose members are on several hosts, or
    /// at whose memory the kernel lets nobody, or has had a file of several hosts in atomic mode. 0 means: never, they wait for the next call.
    pub static RMA_LATENCY: Duration = Duration::from_micros(250);
    range: Duration::ZERO..=Duration::from_secs(1),
    scope: Local,
    level: User,
}
