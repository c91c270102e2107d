//! What every launcher process has once: mpirun itself, and each daemon.

use std::io;

use catena_boot::Poller;
use catena_topo::Machine;

use crate::sys::{self, FileLimit, Signals, Watchdog};

/// What a launcher process stands on.
pub struct Base {
    /// The limit on descriptors.
    pub files: FileLimit,
    /// Signals to this process.
    pub signals: Signals,
    /// Kills what this process has started if it is killed.
    pub watchdog: Watchdog,
    /// Knows all descriptors.
    pub poller: Poller,
    /// This machine.
    pub machine: Machine,
}

impl Base {
    /// To be called once, while there is one thread and few descriptors.
    pub fn new(machine: Machine) -> io::Result<Base> {
        Base::with(Watchdog::start()?, machine)
    }

    /// As [`Base::new`], where the watchdog was started before; there may be threads that no signal
    /// reaches.
    pub fn with(watchdog: Watchdog, machine: Machine) -> io::Result<Base> {
        sys::adopt();
        Ok(Base {
            files: FileLimit::raise()?,
            signals: Signals::open()?,
            watchdog,
            poller: Poller::new()?,
            machine,
        })
    }
}
