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
//! A packet's bytes lie contiguously in the data area, from a multiple of 64;
//! a packet that would cross the end starts at the beginning instead. Both
//! sides compute places from lengths alone.
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

/// A packet's place in the data area.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its first byte.
    from: usize,
    /// Bytes left unused before it, at the end of the area.
    skip: usize,
    /// Bytes it takes.
    need: usize,
}

/// Where the next packet of `len` bytes goes in a data area of `size` bytes
/// whose next free byte is at `at`. Both sides compute it alike.
#[inline(always)]
fn place(at: usize, len: usize, size: usize) -> Place {
    let need = len.next_multiple_of(ALIGN);
    if at + need <= size {
        Place {
            from: at,
            skip: 0,
            need,
        }
    } else {
        Place {
            from: 0,
            skip: size - at,
            need,
        }
    }
}

/// The stamp that packet number `n` carries in a ring of `1 << shift` cells.
#[inline]
fn stamp(n: u64, shift: u32) -> u8 {
    ((n >> shift) as u8).wrapping_add(1)
}
