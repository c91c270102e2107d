//! What stands on the wire.
//!
//! A connection begins with a handshake (see `greeting`). Then frames follow:
//!
//! ```text
//! 0    len     bytes of the payload
//! 4    header  24 bytes; its stamp is 0
//! 28   payload
//! ```
//!
//! Where a process has removed the other one, [`GOODBYE`] stands in place of a frame, and nothing
//! follows it.
//!
//! Numbers are little-endian. A frame may begin at any address.

use catena_fabric::Header;

/// Bytes in front of a payload.
pub(crate) const HEAD: usize = 28;

/// What stands in place of a frame where a process has removed the other one.
pub(crate) const GOODBYE: [u8; HEAD] = [0xff; HEAD];

/// The number of 8 bytes at `at`.
pub(crate) fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// The number of 4 bytes at `at`.
pub(crate) fn half(bytes: &[u8], at: usize) -> u32 {
    let mut half = [0; 4];
    half.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(half)
}

/// What stands in front of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// Bytes of the payload.
    pub len: usize,
    pub header: Header,
}

impl Head {
    #[inline]
    pub fn encode(&self) -> [u8; HEAD] {
        let mut out = [0; HEAD];
        let h = &self.header;
        out[..4].copy_from_slice(&(self.len as u32).to_le_bytes());
        out[5] = h.kind;
        out[6..8].copy_from_slice(&h.seq.to_le_bytes());
        out[8..12].copy_from_slice(&h.context.to_le_bytes());
        out[12..16].copy_from_slice(&h.source.to_le_bytes());
        out[16..20].copy_from_slice(&h.tag.to_le_bytes());
        out[20..].copy_from_slice(&h.len.to_le_bytes());
        out
    }

    /// Reads what stands in front of a payload of at most `packet` bytes.
    ///
    /// # Errors
    /// [`NoFrame`] if no frame begins so.
    #[inline]
    pub fn decode(bytes: &[u8; HEAD], packet: usize) -> Result<Head, NoFrame> {
        let len = half(bytes, 0) as usize;
        if len > packet || bytes[4] != 0 {
            return Err(NoFrame);
        }
        let header = Header {
            stamp: 0,
            kind: bytes[5],
            seq: u16::from_le_bytes([bytes[6], bytes[7]]),
            context: half(bytes, 8),
            source: half(bytes, 12),
            tag: half(bytes, 16) as i32,
            len: word(bytes, 20),
        };
        Ok(Head { len, header })
    }
}

/// What has arrived is none of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoFrame;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: Header = Header {
        stamp: 0,
        kind: 3,
        seq: 65_000,
        context: 7,
        source: 1 << 30,
        tag: -1,
        len: u64::MAX - 5,
    };

    #[test]
    fn what_is_written_is_read() {
        let head = Head {
            len: 100,
            header: HEADER,
        };
        assert_eq!(Head::decode(&head.encode(), 100), Ok(head));
        assert_eq!(Head::decode(&head.encode(), 99), Err(NoFrame), "too long");
    }

    proptest! {
        /// Any bytes are a frame within bounds, or none.
        #[test]
        fn heads_are_sound_or_refused(bytes: [u8; HEAD], packet in 0usize..1 << 18) {
            if let Ok(head) = Head::decode(&bytes, packet) {
                prop_assert!(head.len <= packet);
                prop_assert_eq!(head.encode(), bytes);
            }
        }
    }
}
