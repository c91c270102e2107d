//! Settings of the transport over libfabric.

use catena_fabric::frame::FRAME;
use catena_fabric::row::Pace;
use catena_settings::{Bytes, Setting, Text, choice, setting};

choice! {
    /// What a process with nothing to do sleeps on.
    pub enum Sleep {
        /// A descriptor where the provider has one.
        Auto = "auto",
        /// Nothing: it looks again every now and then.
        Poll = "poll",
    }
}

setting! {
    /// Where libfabric is: names or paths, separated by colons, tried in turn.
    ///
    /// A name without a slash is looked for as the dynamic loader does.
    pub static OFI_LIBRARY: Text = Text("libfabric.so.1");
    scope: Local,
    level: User,

    /// Largest packet; longer messages are cut.
    pub static OFI_PACKET: Bytes = Bytes::kib(16);
    range: Bytes(256)..=Bytes::mib(1),
    scope: AllEqual,
    level: Tuner,

    /// Largest message sent without asking the receiver first.
    ///
    /// Longer messages wait for their receiver, which reads them out of the
    /// sender's memory if the provider can.
    pub static OFI_EAGER_MAX: Bytes = Bytes::kib(64);
    range: Bytes::kib(0)..=Bytes::mib(64),
    scope: AllEqual,
    level: Tuner,
    tuned: Alone,

    /// Packets to one peer in a row that leave at once; those that follow within
    /// 20 µs of each other leave together when the program waits, if it does so
    /// soon after most rows.
    pub static OFI_AT_ONCE: u32 = 2;
    range: 1..=1_000_000,
    scope: Local,
    level: Tuner,

    /// What a process with nothing to do sleeps on: auto, poll.
    ///
    /// `auto` sleeps until something arrives where the provider can wake it;
    /// some providers answer faster if they need not be able to.
    pub static OFI_SLEEP: Sleep = Sleep::Auto;
    scope: Local,
    level: Tuner,
}

/// All settings of this crate.
pub static SETTINGS: &[&dyn Setting] = &[
    &OFI_LIBRARY,
    &OFI_PACKET,
    &OFI_EAGER_MAX,
    &OFI_AT_ONCE,
    &OFI_SLEEP,
];

/// The settings, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Largest frame, bytes; equal on all ranks.
    pub frame: usize,
    /// See [`OFI_EAGER_MAX`].
    pub eager_max: u64,
    /// Which packets leave together.
    pub pace: Pace,
    /// See [`OFI_SLEEP`].
    pub sleep: Sleep,
    /// Frames under way, at most; at least 2.
    pub sends: usize,
    /// Buffers that messages arrive in; at least 2.
    pub receives: usize,
    /// Length of each, bytes; at least two frames.
    pub receive: usize,
    /// Operations on peers' memory under way, at most.
    pub operations: usize,
    /// Bytes of the pieces into which longer reads and writes are cut.
    pub piece: usize,
}

impl Config {
    /// What the settings say.
    pub fn from_settings() -> Config {
        let frame = OFI_PACKET.get().get() as usize;
        Config {
            frame,
            eager_max: OFI_EAGER_MAX.get().get(),
            pace: Pace::new(OFI_AT_ONCE.get()),
            sleep: OFI_SLEEP.get(),
            sends: 64,
            receives: 4,
            receive: (512 << 10).max(4 * frame),
            operations: 64,
            piece: 256 << 10,
        }
    }

    /// The smallest that works, for tests: everything overflows soon.
    pub fn tiny() -> Config {
        Config {
            frame: FRAME + 100,
            eager_max: 512,
            pace: Pace::ALWAYS,
            sleep: Sleep::Auto,
            sends: 2,
            receives: 2,
            receive: 3 * (FRAME + 100) + 1,
            operations: 2,
            piece: 1000,
        }
    }
}
