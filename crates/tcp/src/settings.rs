//! Settings of the transport over TCP.

use std::time::Duration;

use catena_fabric::row::Pace;
use catena_settings::{Bytes, Setting, setting};

setting! {
    /// Largest packet; longer messages are cut.
    pub static TCP_PACKET: Bytes = Bytes::kib(64);
    range: Bytes(64)..=Bytes::kib(256),
    scope: AllEqual,
    level: Tuner,

    /// Largest message sent without asking the receiver first.
    ///
    /// Longer ones wait for their receiver, and are copied less often.
    pub static TCP_EAGER_MAX: Bytes = Bytes::kib(64);
    range: Bytes::kib(0)..=Bytes::mib(16),
    scope: AllEqual,
    level: Tuner,
    tuned: Alone,

    /// Packets to one peer in a row that leave at once; those that follow within
    /// 20 µs of each other, before the program waits, leave together.
    pub static TCP_AT_ONCE: u32 = 2;
    range: 1..=1_000_000,
    scope: Local,
    level: Tuner,

    /// How long a host may be silent before it counts as lost.
    ///
    /// The kernel asks it when nothing else is sent, so a host that is waited
    /// for is noticed, too. A host whose processes compute, are stopped or have
    /// no room for more answers, and is not silent. Whole seconds count; while
    /// something is under way Linux gives up by itself after 15 minutes or more
    /// (`net.ipv4.tcp_retries2`). It holds for libfabric's `tcp`
    /// and for UCX over TCP, too. A caller may take as long to prove that it belongs
    /// to the job.
    pub static TCP_TIMEOUT: Duration = Duration::from_secs(60);
    range: Duration::from_secs(1)..=Duration::from_secs(86_400),
    scope: Local,
    level: User,
}

/// All settings of this crate.
pub static SETTINGS: &[&dyn Setting] = &[&TCP_PACKET, &TCP_EAGER_MAX, &TCP_AT_ONCE, &TCP_TIMEOUT];

/// The settings, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Largest payload of a packet, bytes; equal on all ranks.
    pub packet: usize,
    /// See [`TCP_EAGER_MAX`].
    pub eager_max: u64,
    /// Which packets leave together. If those of a row were far apart, the other
    /// end might be slow to tell that the one before has arrived, which the
    /// kernel would wait for.
    pub pace: Pace,
    /// See [`TCP_TIMEOUT`].
    pub timeout: Duration,
    /// Bytes to one peer that wait because the kernel takes no more, at most.
    pub room: usize,
    /// Bytes of a connection that the kernel keeps until they have arrived, or
    /// what it thinks best.
    pub kernel: Option<usize>,
}

impl Config {
    /// What the settings say.
    pub fn from_settings() -> Config {
        let packet = TCP_PACKET.get().get() as usize;
        Config {
            packet,
            eager_max: TCP_EAGER_MAX.get().get(),
            pace: Pace::new(TCP_AT_ONCE.get()),
            timeout: TCP_TIMEOUT.get(),
            room: (128 << 10).max(4 * packet),
            kernel: None,
        }
    }

    /// The time between two looks at whether other ends answer.
    pub(crate) fn judge_every(&self) -> Duration {
        (self.timeout / 8).min(Duration::from_secs(1))
    }

    /// The smallest that works, for tests: everything overflows soon.
    pub fn tiny() -> Config {
        Config {
            packet: 100,
            eager_max: 512,
            pace: Pace::ALWAYS,
            timeout: Duration::from_secs(10),
            room: 300,
            kernel: Some(1),
        }
    }
}
