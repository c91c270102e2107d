//! Settings of the transport over UCX. UCX's own, `UCX_*`, count beside them.

use catena_fabric::frame::FRAME;
use catena_fabric::row::Pace;
use catena_settings::{Bytes, Setting, Text, choice, setting};

choice! {
    /// What a process with nothing to do sleeps on.
    pub enum Sleep {
        /// A descriptor.
        Auto = "auto",
        /// Nothing: it looks again every now and then.
        Poll = "poll",
    }
}

setting! {
    /// Where UCX is: names or paths of libucp, separated by colons, tried in
    /// turn.
    ///
    /// A name without a slash is looked for as the dynamic loader does.
    pub static UCX_LIBRARY: Text = Text("libucp.so.0");
    scope: Local,
    level: User,

    /// Largest packet; longer messages are cut.
    ///
    /// UCX's TCP sends one in one piece (`UCX_TCP_TX_SEG_SIZE`); others may cut
    /// it again.
    pub static UCX_PACKET: Bytes = Bytes::kib(65);
    range: Bytes(256)..=Bytes::mib(1),
    scope: AllEqual,
    level: Tuner,

    /// Largest message sent without asking the receiver first.
    ///
    /// Longer messages wait for their receiver, which reads them out of the
    /// sender's memory; where the hardware cannot, UCX does it in software.
    pub static UCX_EAGER_MAX: Bytes = Bytes::kib(64);
    range: Bytes::kib(0)..=Bytes::mib(64),
    scope: AllEqual,
    level: Tuner,
    tuned: Alone,

    /// Packets to one peer in a row that leave at once; those that follow within
    /// 20 µs of each other leave together when the program waits, if it does so
    /// soon after most rows.
    pub static UCX_AT_ONCE: u32 = 2;
    range: 1..=1_000_000,
    scope: Local,
    level: Tuner,

    /// What a process with nothing to do sleeps on: auto, poll.
    ///
    /// `auto` sleeps until something arrives.
    pub static UCX_SLEEP: Sleep = Sleep::Auto;
    scope: Local,
    level: Tuner,
}

/// All settings of this crate.
pub static SETTINGS: &[&dyn Setting] = &[
    &UCX_LIBRARY,
    &UCX_PACKET,
    &UCX_EAGER_MAX,
    &UCX_AT_ONCE,
    &UCX_SLEEP,
];

/// The settings, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Largest frame, bytes; equal on all ranks.
    pub frame: usize,
    /// See [`UCX_EAGER_MAX`].
    pub eager_max: u64,
    /// Which packets leave together.
    pub pace: Pace,
    /// See [`UCX_SLEEP`].
    pub sleep: Sleep,
    /// Frames under way, at most; at least 2.
    pub sends: usize,
    /// Operations on peers' memory under way, at most.
    pub operations: usize,
    /// Bytes of the pieces into which longer reads and writes are cut.
    pub piece: usize,
    /// Rights to memory that are remembered, at most.
    pub keys: usize,
}

impl Config {
    /// What the settings say.
    pub fn from_settings() -> Config {
        Config {
            frame: UCX_PACKET.get().get() as usize,
            eager_max: UCX_EAGER_MAX.get().get(),
            pace: Pace::new(UCX_AT_ONCE.get()),
            sleep: UCX_SLEEP.get(),
            sends: 64,
            operations: 64,
            piece: 256 << 10,
            keys: 1024,
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
            operations: 2,
            piece: 1000,
            keys: 1,
        }
    }
}
