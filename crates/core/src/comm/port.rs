//! Ports of the launcher, at which groups meet, and the jobs that are met there.

use std::cell::RefCell;
use std::time::Duration;

use catena_boot::Side;

/// Where a leader meets that of the other group.
#[derive(Clone, Debug)]
pub struct PortEndpoint {
    /// The port.
    pub port: String,
    /// From which side this one comes to it.
    pub side: Side,
    /// How long it waits for the other; without an end if that is not said.
    pub timeout: Option<Duration>,
}

/// What becomes of other jobs.
#[derive(Debug, Default)]
pub struct OtherJobs {
    /// Those that have ended while something here leads to them.
    pub(super) gone: RefCell<Vec<u64>>,
    /// Those that other launchers have started.
    pub(super) remote: RefCell<Vec<u64>>,
    /// Those that are being met, each as often as a call does.
    pub(super) met: RefCell<Vec<u64>>,
}

/// Keeps jobs that are being met, until communicators lead to them.
pub(super) struct MetJobs<'a>(pub &'a OtherJobs, pub Vec<u64>);

impl Drop for MetJobs<'_> {
    fn drop(&mut self) {
        let mut met = self.0.met.borrow_mut();
        for job in &self.1 {
            if let Some(at) = met.iter().position(|it| it == job) {
                met.swap_remove(at);
            }
        }
    }
}
