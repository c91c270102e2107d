//! One-way packet ring between two processes on one node.
//!
//! A ring is a power-of-two number of 64-byte cells, two counters, and an
//! optional byte area for payloads that do not fit in a cell:
//!
//! ```text
//! cell   0: word 0 (low byte = stamp)   8: word 1   16: word 2
//!       24: packet length, flags       32: up to 32 bytes of payload
//! ```
//!
//! | field         | writer   | reader   | rule                                |
//! |---------------|----------|----------|-------------------------------------|
//! | word 0        | producer | consumer | Release at W1, Acquire at W2        |
//! | rest of cell  | owner    | owner    | producer's until W1, then consumer's until R1 |
//! | data bytes    | owner    | owner    | as the cell that describes them     |
//! | `head`,`freed`| consumer | producer | Release at R1, Acquire at R2        |
//!
//! The stamp is the number of the lap through the ring (zeroed memory is lap
//! 0, the first lap writes 1), so the consumer polls the very line that brings
//! the packet: one small packet is one cache line. The counters are written
//! seldom and read only by a producer that ran out of room. No fence and no
//! read-modify-write anywhere.
//!
//! A packet's bytes lie contiguously in the data area, from a multiple of 64:
//! behind those of the one before, or at the beginning of the area again, which
//! the cell says. The producer goes back there where the area ends, or sooner
//! ([`Producer::turn_at`]): as many bytes as it passes over count as sent and
//! taken, so what is under way never exceeds the area.
//!
//! What the other side wrote is untrusted: lengths and counters are copied
//! out, then checked. The worst a mad peer can do is to send nonsense.
//!
//! Model: `tests/loom_ring.rs` (2 cells).

mod area;
mod consumer;
mod producer;

pub use area::{Area, Touch};
#[cfg(not(loom))]
pub use area::{Heads, RawArea};
pub use consumer::{Consumer, Packet, Stop};
pub use producer::{Bulk, Producer};

/// Bytes of a cell.
pub const CELL: usize = 64;
/// Largest payload that travels inside a cell.
pub const INLINE: usize = 32;
/// Payloads in the data area start at multiples of this.
pub const ALIGN: usize = 64;

/// Where in the rest of a cell (after word 0) the payload starts.
const PAYLOAD_AT: usize = 24;

/// The other side's counters or lengths make no sense: its memory is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt {
    /// What was wrong.
    pub what: &'static str,
    /// The value found.
    pub found: u64,
}

impl std::fmt::Display for Corrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "shared memory is damaged: {} is {}",
            self.what, self.found
        )
    }
}

impl std::error::Error for Corrupt {}

/// In the length of a packet: its bytes lie at the beginning of the data area, not behind those of
/// the one before.
const ANEW: u32 = 1 << 31;

/// Bytes that the consumer has taken before it gives them back; fewer in an area that is short.
const GIVEN_BACK: usize = 64 << 10;

/// A packet's place in the data area.
#[derive(Clone, Copy, Debug)]
struct PacketSpan {
    /// Whether it lies at the beginning of the area, not behind the one before.
    anew: bool,
    /// Its first byte.
    from: usize,
    /// Bytes passed over before it, up to the end of the area.
    skip: usize,
    /// Bytes it takes.
    need: usize,
}

/// The place of a packet of `len` bytes in a data area of `size` bytes, of which `at` is the first
/// one behind the packet before.
#[inline(always)]
fn place(at: usize, len: usize, size: usize, anew: bool) -> PacketSpan {
    let (from, skip) = match anew {
        false => (at, 0),
        true => (0, size - at),
    };
    PacketSpan {
        anew,
        from,
        skip,
        need: len.next_multiple_of(ALIGN),
    }
}

/// The stamp that packet number `n` carries in a ring of `1 << shift` cells.
#[inline]
fn stamp(n: u64, shift: u32) -> u8 {
    ((n >> shift) as u8).wrapping_add(1)
}
