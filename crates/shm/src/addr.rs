//! Where things lie in the segment.
//!
//! ```text
//! 0        header: stamp of the layout, how much of the arena is used
//! 4096     one block per rank: doorbell, presence, epoch of its inbox, process
//! ...      inbox table [receiver][sender]: offset of the pair's ring, or 0
//! ...      arena: room for the rings and data areas of all pairs
//! ...      arena: regions, and what more rings there are
//! ```
//!
//! All zero is a valid beginning, so there is nobody who has to come first.
//!
//! | field                | writer            | reader    | rule                      |
//! |----------------------|-------------------|-----------|---------------------------|
//! | `layout`             | first attacher    | all       | compare-and-swap from 0   |
//! | `used`, `regions`    | all               | all       | fetch-add                 |
//! | `bell`               | see `Doorbell`    |           |                           |
//! | `presence`           | see `Presence`    |           |                           |
//! | `epoch`              | senders, launcher | owner     | add after `inbox`, Release/Acquire |
//! | `pid`, `probe`       | owner             | peers     | before `ready`, Release/Acquire |
//! | `inbox[r][s]`        | `s`, once         | `r`       | Release/Acquire           |
//! | `facts`              | any attacher      | guests    | before `layout`           |
//! | `notices`            | launcher          | owner     | before `epoch`, Release/Acquire |
//! | `heeds_parting`      | launcher          | all       | once, Release/Acquire     |
//! | `parted`             | owner             | launcher  | see `parted`              |
//! | `shared_cores`       | all               | all       | hints                     |
//! | `guests`, a guest    | guests            | owner     | compare-and-swap, Release/Acquire |
//! | ring: `heads`        | receiver          | sender    | see `ring`                |
//! | ring: `parts`        | both              | both      | see `Parts`               |
//! | ring: `data_at`      | sender, once      | receiver  | before the first packet that needs it |
//! | ring: `blocked`      | sender            | receiver  | like a doorbell's announcement |

use std::sync::atomic::{AtomicU32, AtomicU64};

use catena_base::ring::{CELL, Heads};
use catena_base::{CachePadded, Doorbell, Parts, Presence};

use crate::shared_cores::SharedCores;

/// Changes whenever the meaning of a byte in the segment changes.
const VERSION: u64 = 15;
const MAGIC: u64 = 0x6361_7465_6e61_5348;

/// Smallest unit of memory that the kernel hands out.
pub(crate) const PAGE: usize = 4096;

/// Sizes of rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Cells of a ring: packets under way.
    pub cells: usize,
    /// Bytes of a ring's data area, of which only long packets in a row take more than
    /// `Geometry::near`.
    pub data: usize,
    /// Largest packet, bytes; at most half the data area.
    pub packet: usize,
}

impl Geometry {
    /// Rounds the sizes to what works.
    pub fn new(cells: usize, data: usize, packet: usize) -> Geometry {
        let data = data.clamp(128, 1 << 30).next_multiple_of(128);
        Geometry {
            cells: cells.clamp(2, 1 << 16).next_power_of_two(),
            data,
            packet: packet.clamp(32, data / 2),
        }
    }

    /// Sizes for so many ranks on a node: a pair gets less where there are
    /// more pairs.
    pub fn for_ranks(ranks: u32) -> Geometry {
        const KIB: usize = 1024;
        match ranks {
            0..=8 => Geometry::new(256, 2048 * KIB, 64 * KIB),
            9..=32 => Geometry::new(128, 128 * KIB, 16 * KIB),
            33..=128 => Geometry::new(64, 32 * KIB, 8 * KIB),
            _ => Geometry::new(32, 16 * KIB, 4 * KIB),
        }
    }

    /// Bytes of the data area that packets take turns in, unless they are long and many.
    ///
    /// Measured (AMD EPYC, 2 cores): with 128 KiB messages of 1 MiB take half as long again among 8
    /// ranks, with 512 KiB packets of 4 KiB take longer, and the rings of all pairs together fall
    /// out of the nearest caches.
    pub(crate) fn near(&self) -> usize {
        let packets = (2 * self.packet).next_multiple_of(128);
        self.data.min(packets.max(256 << 10))
    }

    /// Bytes of the data area of a ring from a process of another job, of which there may be many.
    pub(crate) fn guest_data(&self) -> usize {
        self.near()
    }

    /// How much of the data area there may be memory for, at most, when byte `end` is needed.
    pub(crate) fn most_present(&self, end: usize) -> usize {
        match end <= self.near() {
            true => self.near(),
            false => self.data,
        }
    }

    /// Bytes of a ring without its data area.
    pub(crate) fn ring_bytes(&self) -> usize {
        size_of::<RingHead>() + self.cells * CELL
    }
}

/// First bytes of the segment.
#[repr(C)]
pub(crate) struct Front {
    /// [`Layout::stamp`], or 0.
    pub layout: AtomicU64,
    /// Bytes of the first part of the arena that are taken.
    pub used: AtomicU64,
    /// What the layout follows from, for processes of other jobs: ranks, cells, bytes of
    /// data and of a packet. Before `layout`; the same from all who write it.
    pub facts: [AtomicU64; 4],
    /// 1 once the launcher looks at [`Who::parted`] whenever it matters.
    pub heeds_parting: AtomicU64,
    /// Bytes of the second part of the arena that are taken.
    pub regions: AtomicU64,
    /// How often memory of regions was given back to the system.
    pub discards: AtomicU64,
    /// The way of messages where ranks share cores.
    pub shared_cores: SharedCores,
}

/// What a rank shows to its peers.
#[repr(C)]
pub(crate) struct Block {
    /// What the rank sleeps on.
    pub bell: CachePadded<Doorbell>,
    /// Where its program is. A line that those do not read who send short messages.
    pub presence: CachePadded<Presence>,
    /// Changes when a ring appears in the rank's inbox.
    pub epoch: CachePadded<AtomicU64>,
    /// The process.
    pub who: CachePadded<Who>,
    /// Claims on messages that it has lent: what names the message, and one more, or 0.
    pub claims: CachePadded<[AtomicU64; CLAIMS]>,
}

/// Messages that a rank can have lent at once.
pub(crate) const CLAIMS: usize = 256;

/// How to read a rank's memory.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Who {
    /// 1 once the rest is filled in.
    pub ready: AtomicU32,
    /// Process id, as the rank itself sees it.
    pub pid: AtomicU32,
    /// Address of a word in the rank's memory whose value the peers know.
    pub probe: AtomicU64,
    /// Offset of the last [`Guest`] that came, or 0.
    pub guests: AtomicU64,
    /// How often the launcher has told the rank something.
    pub notices: AtomicU64,
    /// Offset of a [`Guest`] whose job has gone, or 0, and how often this has changed: see
    /// [`VACANT_AT`].
    pub vacant: AtomicU64,
    /// 1 from when the rank has ended until it comes back.
    pub left: AtomicU64,
    /// Jobs that the rank has parted from, as far as it has not told the launcher otherwise; 0
    /// where there is none.
    pub parted: [AtomicU64; PARTED],
}

/// Jobs that a rank can have parted from without a message to the launcher.
pub(crate) const PARTED: usize = 8;

/// The bits of [`Who::vacant`] that are an offset. Those above count, so that who takes the
/// first entry of the list sees that another one has taken it meanwhile and it has come back.
pub(crate) const VACANT_AT: u64 = (1 << 48) - 1;

/// A process of another job that has made a ring to a rank. Written before it is published.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Guest {
    /// Offset of the one that came before it, or 0.
    pub next: AtomicU64,
    /// Offset of its ring.
    pub ring: AtomicU64,
    /// Its job.
    pub job: AtomicU64,
    /// Its number among the processes of its job on this node.
    pub number: AtomicU64,
    /// Offset of a data area for its ring that an earlier guest has left, or 0.
    pub data: AtomicU64,
    /// 1 once it has removed the rank: it writes nothing more, and has let go of the segment.
    pub closed: AtomicU64,
    /// Where it says that its own segment is, or 0: see [`Shm::show_segment`](crate::Shm).
    pub place: [AtomicU64; 2],
}

/// In front of a ring's cells.
#[repr(C, align(128))]
pub(crate) struct RingHead {
    /// What the receiver has given back.
    pub heads: Heads,
    /// The messages that both ends copy now.
    pub parts: Parts,
    /// What either end says, seldom.
    pub tail: CachePadded<Tail>,
}

/// A ring's line that is seldom written.
#[repr(C)]
pub(crate) struct Tail {
    /// Offset of the data area, or 0.
    pub data_at: AtomicU64,
    /// 1 while the sender waits for room.
    pub blocked: AtomicU32,
}

const _: () = assert!(size_of::<RingHead>() == 256 && size_of::<Block>() == 2560);

/// The offsets that follow from the number of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub ranks: u32,
    pub geometry: Geometry,
    pub inbox_at: usize,
    pub arena_at: usize,
    /// Before that, only rings have room: however many regions there are, each pair can talk.
    pub regions_at: usize,
    pub size: usize,
}

impl Layout {
    pub fn new(ranks: u32, geometry: Geometry) -> Layout {
        /// Address space for regions.
        const BOARDS: usize = 1 << 30;
        const BOARDS_PER_RANK: usize = 16 << 20;
        let n = ranks as usize;
        let inbox_at = (PAGE + n * size_of::<Block>()).next_multiple_of(PAGE);
        let arena_at = (inbox_at + n * n * 8).next_multiple_of(PAGE);
        let pair = geometry.ring_bytes() + geometry.data;
        let regions_at = (arena_at + n * n * pair).next_multiple_of(PAGE);
        let regions = BOARDS + n * BOARDS_PER_RANK;
        Layout {
            ranks,
            geometry,
            inbox_at,
            arena_at,
            regions_at,
            size: (regions_at + regions).next_multiple_of(PAGE),
        }
    }

    pub fn block_at(&self, rank: u32) -> usize {
        assert!(rank < self.ranks);
        PAGE + rank as usize * size_of::<Block>()
    }

    pub fn inbox_at(&self, receiver: u32, sender: u32) -> usize {
        assert!(receiver < self.ranks && sender < self.ranks);
        self.inbox_at + (receiver as usize * self.ranks as usize + sender as usize) * 8
    }

    /// What [`Layout::new`] was given.
    pub fn facts(&self) -> [u64; 4] {
        let Geometry {
            cells,
            data,
            packet,
        } = self.geometry;
        [self.ranks.into(), cells as u64, data as u64, packet as u64]
    }

    /// The layout that follows from what a process of another job wrote, if that makes sense.
    pub fn from_facts([ranks, cells, data, packet]: [u64; 4]) -> Option<Layout> {
        let ranks = u32::try_from(ranks)
            .ok()
            .filter(|&it| (1..=1 << 16).contains(&it))?;
        let geometry = Geometry::new(cells as usize, data as usize, packet as usize);
        let layout = Layout::new(ranks, geometry);
        (layout.facts() == [ranks.into(), cells, data, packet]).then_some(layout)
    }

    /// Equal on all ranks or they must not share a segment. Never 0.
    pub fn stamp(&self) -> u64 {
        let facts = [
            VERSION,
            self.ranks.into(),
            self.geometry.cells as u64,
            self.geometry.data as u64,
            self.geometry.packet as u64,
            self.size as u64,
        ];
        // FNV-1a over words.
        let mix = |hash: u64, fact: u64| (hash ^ fact).wrapping_mul(0x0000_0100_0000_01b3);
        facts.into_iter().fold(MAGIC, mix).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_overlap() {
        for ranks in [1, 2, 3, 8, 32, 33, 128, 500] {
            let layout = Layout::new(ranks, Geometry::for_ranks(ranks));
            assert!(layout.block_at(ranks - 1) + size_of::<Block>() <= layout.inbox_at);
            assert!(layout.inbox_at(ranks - 1, ranks - 1) + 8 <= layout.arena_at);
            assert!(layout.arena_at < layout.size);
            assert!(layout.block_at(0).is_multiple_of(align_of::<Block>()));
        }
    }

    #[test]
    fn the_stamp_tells_layouts_apart() {
        let stamp = |ranks, cells| Layout::new(ranks, Geometry::new(cells, 4096, 1024)).stamp();
        assert_eq!(stamp(2, 64), stamp(2, 64));
        assert_ne!(stamp(2, 64), stamp(3, 64));
        assert_ne!(stamp(2, 64), stamp(2, 128));
    }

    #[test]
    fn sizes_are_made_to_work() {
        for (cells, data, packet) in [(0, 0, 0), (3, 1000, 1 << 30), (1 << 40, 1, 7)] {
            let g = Geometry::new(cells, data, packet);
            assert!(g.cells.is_power_of_two() && g.cells >= 2);
            assert!(g.data.is_multiple_of(64) && g.packet <= g.data / 2 && g.packet >= 32);
        }
    }
}
