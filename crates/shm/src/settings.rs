//! Settings of the shared-memory transport.

use catena_settings::{Bytes, Setting, choice, setting};

use crate::addr::Geometry;

choice! {
    /// How packets are copied into shared memory.
    pub enum CopyWay {
        /// Measured per peer while running.
        Auto = "auto",
        /// Through the cache; the receiver writes to each line that it has read, so that the
        /// sender need not take it away again.
        Take = "take",
        /// Through the cache.
        Plain = "plain",
        /// Around the cache (non-temporal stores).
        Stream = "stream",
        /// Through the cache by the processor's string instruction, packets of 8 KiB and more; the
        /// others as `take`.
        String = "string",
    }
}

choice! {
    /// Which messages are copied straight from the sender's memory to the
    /// receiver's.
    pub enum SingleCopy {
        /// Long ones.
        Auto = "auto",
        /// All that are longer than 8 KiB.
        Always = "always",
        /// None.
        Never = "never",
    }
}

setting! {
    /// Packets that a pair of ranks can have under way.
    ///
    /// 0 means: by the number of ranks on the node. Rounded up to a power of
    /// two; each costs 64 bytes per pair that talks.
    pub static SHM_CELLS: u32 = 0;
    range: 0..=65_536,
    scope: AllEqual,
    level: Tuner,

    /// Payload bytes that a pair of ranks can have under way.
    ///
    /// 0 means: by the number of ranks on the node. Used only by pairs that
    /// send more than 32 bytes at once; more than 256 KiB only by those that
    /// have sent that much in packets of 8 KiB and more, with a core for each rank.
    pub static SHM_DATA: Bytes = Bytes::kib(0);
    range: Bytes::kib(0)..=Bytes::gib(1),
    scope: AllEqual,
    level: Tuner,

    /// Largest packet; longer messages are cut.
    ///
    /// 0 means: by the number of ranks on the node. At most half of
    /// CATENA_SHM_DATA.
    pub static SHM_PACKET: Bytes = Bytes::kib(0);
    range: Bytes::kib(0)..=Bytes::mib(64),
    scope: AllEqual,
    level: Tuner,

    /// Largest message sent without asking the receiver first.
    ///
    /// Longer messages wait for their receiver; raising it trades memory for
    /// latency when receives are posted late.
    pub static SHM_EAGER_MAX: Bytes = Bytes::kib(64);
    range: Bytes::kib(0)..=Bytes::mib(64),
    scope: AllEqual,
    level: Tuner,
    tuned: Alone,

    /// How packets are copied through shared memory: auto, take, plain, stream, string.
    ///
    /// `auto` measures all ways to each peer and keeps to the fastest one.
    pub static SHM_COPY: CopyWay = CopyWay::Auto;
    scope: Local,
    level: Tuner,
    tuned: Alone,

    /// Which messages the kernel copies straight from the sender's memory to
    /// the receiver's: auto, always, never.
    ///
    /// `auto` means those of more than 8 KiB that take less time this way than through the ring,
    /// which is measured per peer while running, and for all ranks of a node together if there are
    /// more of them than cores. `always` means all of more than 8 KiB. Needs permission to access
    /// other processes' memory, which some containers withhold; that is noticed, and the ring is
    /// used instead.
    pub static SHM_SINGLE_COPY: SingleCopy = SingleCopy::Auto;
    scope: Local,
    level: Tuner,
    tuned: Alone,
}

/// All settings of this crate.
pub static SETTINGS: &[&dyn Setting] = &[
    &SHM_CELLS,
    &SHM_DATA,
    &SHM_PACKET,
    &SHM_EAGER_MAX,
    &SHM_COPY,
    &SHM_SINGLE_COPY,
];

/// The settings, resolved for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Sizes of rings; equal on all ranks of a node.
    pub geometry: Geometry,
    /// See [`SHM_EAGER_MAX`].
    pub eager_max: u64,
    /// See [`SHM_COPY`].
    pub copy: CopyWay,
    /// See [`SHM_SINGLE_COPY`].
    pub single_copy: SingleCopy,
    /// Ranks outnumber cores.
    pub oversubscribed: bool,
    /// Bytes of the rings to all others whose memory is there before anything is sent; 0 if rings
    /// are made when they are needed.
    pub early: usize,
}

/// Ranks on a node, each with a core, that talk to all others anyway.
const FEW: u32 = 4;

/// What these have ready. Measured here, a page of a ring takes each of its two ends 1.6 µs, so the
/// first message of 8 KiB waited 30 µs for a ring, and those that follow for the rest of it.
const EARLY: usize = 64 << 10;

impl Config {
    /// What the settings say for `ranks` ranks on `cpus` cores.
    pub fn from_settings(ranks: u32, cpus: u32) -> Config {
        let auto = Geometry::for_ranks(ranks);
        let or = |set: u64, auto: usize| if set == 0 { auto } else { set as usize };
        let cells = or(SHM_CELLS.get().into(), auto.cells);
        let data = or(SHM_DATA.get().get(), auto.data);
        let packet = or(SHM_PACKET.get().get(), auto.packet);
        Config {
            geometry: Geometry::new(cells, data, packet),
            eager_max: SHM_EAGER_MAX.get().get(),
            copy: SHM_COPY.get(),
            single_copy: SHM_SINGLE_COPY.get(),
            oversubscribed: ranks > cpus,
            early: match ranks <= FEW.min(cpus) {
                true => EARLY.min(data),
                false => 0,
            },
        }
    }

    /// The smallest rings that work, for tests: everything overflows soon.
    pub fn tiny() -> Config {
        Config {
            geometry: Geometry::new(2, 256, 128),
            eager_max: 512,
            copy: CopyWay::Auto,
            single_copy: SingleCopy::Always,
            oversubscribed: false,
            early: 0,
        }
    }
}
