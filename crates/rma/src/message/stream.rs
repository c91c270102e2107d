//! The receiving end of a stream of bytes: packets come in any order, each with its place in the
//! stream, and make records.
//!
//! What comes is not trusted: a packet that cannot be right damages the stream, and nothing of it
//! counts from there on.

use std::collections::BTreeMap;

use super::record::{HEAD, Head, LONGEST};

/// Most bytes that are kept of packets that came before others.
const EARLY: usize = 64 << 20;

/// The stream has bytes that no peer of ours sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

/// The receiving end.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    /// Bytes that came so far without a gap.
    next: u64,
    /// Packets that came before others, by place.
    early: BTreeMap<u64, Vec<u8>>,
    early_bytes: usize,
    /// The beginning of a record whose end has not come.
    partial: Vec<u8>,
}

impl Incoming {
    /// Takes a packet, and hands every record that is whole now to `record`, in order.
    ///
    /// # Errors
    /// If the stream is damaged.
    pub fn take(
        &mut self,
        at: u64,
        bytes: &[u8],
        record: &mut impl FnMut(Head, &[u8]),
    ) -> Result<(), Damaged> {
        if at != self.next {
            return self.keep(at, bytes);
        }
        self.append(bytes, record)?;
        while let Some(entry) = self.early.first_entry() {
            if *entry.key() != self.next {
                break;
            }
            let bytes = entry.remove();
            self.early_bytes -= bytes.len();
            self.append(&bytes, record)?;
        }
        Ok(())
    }

    /// Whether a packet of whole records is the next one, and nothing has come before its time:
    /// then it counts as taken.
    pub fn pass(&mut self, at: u64, len: usize) -> bool {
        let is_next = at == self.next && self.partial.is_empty() && self.early.is_empty();
        self.next += if is_next { len as u64 } else { 0 };
        is_next
    }

    /// Keeps a packet that came early.
    fn keep(&mut self, at: u64, bytes: &[u8]) -> Result<(), Damaged> {
        let fits = self.early_bytes + bytes.len() <= EARLY;
        if at < self.next || !fits || self.early.contains_key(&at) {
            return Err(Damaged);
        }
        self.early_bytes += bytes.len();
        self.early.insert(at, bytes.to_vec());
        Ok(())
    }

    fn append(
        &mut self,
        mut bytes: &[u8],
        record: &mut impl FnMut(Head, &[u8]),
    ) -> Result<(), Damaged> {
        self.next += bytes.len() as u64;
        while !self.partial.is_empty() && !bytes.is_empty() {
            let missing = match Head::read(&self.partial) {
                None => HEAD - self.partial.len(),
                Some(head) => HEAD + checked(&head)? - self.partial.len(),
            };
            let (some, rest) = bytes.split_at(missing.min(bytes.len()));
            self.partial.extend_from_slice(some);
            bytes = rest;
            if let Some(head) = Head::read(&self.partial)
                && self.partial.len() == HEAD + checked(&head)?
            {
                record(head, &self.partial[HEAD..]);
                self.partial.clear();
            }
        }
        while let Some(head) = Head::read(bytes) {
            let end = HEAD + checked(&head)?;
            let Some(body) = bytes.get(HEAD..end) else {
                break;
            };
            record(head, body);
            bytes = &bytes[end..];
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }
}

/// The length of a record's body, if there are such.
fn checked(head: &Head) -> Result<usize, Damaged> {
    let len = head.len as usize;
    if len <= LONGEST {
        Ok(len)
    } else {
        Err(Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records of many lengths, as one row of bytes.
    fn records() -> (Vec<u8>, Vec<(u32, usize)>) {
        let (mut bytes, mut all) = (Vec::new(), Vec::new());
        for id in 0..200u32 {
            let len = (id as usize * 37) % 301;
            let head = Head {
                id,
                len: len as u32,
                ..Head::default()
            };
            head.write(&mut bytes);
            bytes.extend((0..len).map(|i| (i as u32 ^ id) as u8));
            all.push((id, len));
        }
        (bytes, all)
    }

    fn cut(bytes: &[u8], len: usize) -> Vec<(u64, &[u8])> {
        let parts = bytes.chunks(len).enumerate();
        parts.map(|(i, it)| ((i * len) as u64, it)).collect()
    }

    #[test]
    fn packets_of_any_length_in_any_order_make_the_same_records() {
        let (bytes, expected) = records();
        for len in [1, 7, 16, 17, 100, 1000, bytes.len()] {
            for seed in 1..5u64 {
                let mut packets = cut(&bytes, len);
                let mut random = seed;
                for i in (1..packets.len()).rev() {
                    random = random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    packets.swap(i, (random >> 33) as usize % (i + 1));
                }
                let (mut stream, mut seen) = (Incoming::default(), Vec::new());
                for (at, packet) in packets {
                    let note = &mut |head: Head, body: &[u8]| {
                        assert!(body.iter().zip(0..).all(|(b, i)| *b == (i ^ head.id) as u8));
                        seen.push((head.id, body.len()));
                    };
                    stream.take(at, packet, note).expect("nothing is wrong");
                }
                assert_eq!(seen, expected, "packets of {len} bytes");
            }
        }
    }

    #[test]
    fn a_packet_passes_only_in_its_place() {
        let (bytes, _) = records();
        let first = HEAD + Head::read(&bytes).expect("a head").len as usize;
        let mut stream = Incoming::default();
        let mut seen = 0;
        let mut count = |_: Head, _: &[u8]| seen += 1;
        assert!(!stream.pass(8, 100), "a gap");
        assert!(stream.pass(0, first) && !stream.pass(0, first));
        let at = first as u64;
        stream
            .take(at, &bytes[first..first + 3], &mut count)
            .unwrap();
        assert!(!stream.pass(at + 3, 100), "half a record is there");
        stream
            .take(at + 3, &bytes[first + 3..], &mut count)
            .unwrap();
        let end = bytes.len() as u64;
        stream.take(end + 50, b"early", &mut count).unwrap();
        assert!(!stream.pass(end, 50), "what is early would be forgotten");
        assert_eq!(seen, 199);
    }

    #[test]
    fn what_cannot_be_is_damage() {
        let mut nothing = |_: Head, _: &[u8]| {};
        let mut stream = Incoming::default();
        assert_eq!(stream.take(5, b"early", &mut nothing), Ok(()));
        assert_eq!(stream.take(5, b"twice", &mut nothing), Err(Damaged));
        let mut stream = Incoming::default();
        assert_eq!(stream.take(0, b"begin", &mut nothing), Ok(()));
        assert_eq!(stream.take(0, b"begin", &mut nothing), Err(Damaged));
        let mut bytes = Vec::new();
        let head = Head {
            len: u32::MAX,
            ..Head::default()
        };
        head.write(&mut bytes);
        let mut stream = Incoming::default();
        assert_eq!(stream.take(0, &bytes, &mut nothing), Err(Damaged));
    }
}
