//! What a node tells `mpirun`, as bytes.

use super::node::Written;
use crate::bytes::{Malformed, Reader, Writer};

/// What a node tells: the answer to a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The node.
    pub node: u32,
    /// What its clock shows, nanoseconds.
    pub clock: u64,
    /// How much it has written so far.
    pub written: Written,
    /// Whether it has more packets than these.
    pub has_more: bool,
    /// Packets.
    pub packets: Vec<u8>,
}

impl Part {
    /// As bytes; those of several nodes are those of each, one after another.
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.u32(self.node);
        for number in [
            self.clock,
            self.written.slices,
            self.written.lost,
            self.written.threads,
            self.written.unmatched,
            self.written.left_out,
        ] {
            w.u64(number);
        }
        w.u32(self.has_more.into());
        w.u32(self.packets.len() as u32);
        w.0.extend(&self.packets);
        w.0
    }

    fn read(r: &mut Reader<'_>) -> Result<Part, Malformed> {
        Ok(Part {
            node: r.u32()?,
            clock: r.u64()?,
            written: Written {
                slices: r.u64()?,
                lost: r.u64()?,
                threads: r.u64()?,
                unmatched: r.u64()?,
                left_out: r.u64()?,
            },
            has_more: r.u32()? != 0,
            packets: r.bytes()?.to_vec(),
        })
    }
}

/// What nodes tell, as [`Part::encode`] wrote it. What cannot be read is left out.
pub fn parts(bytes: &[u8]) -> Vec<Part> {
    let mut rest = Reader(bytes);
    let mut parts = Vec::new();
    while !rest.0.is_empty() {
        match Part::read(&mut rest) {
            Ok(part) => parts.push(part),
            Err(Malformed) => break,
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_survive_the_way() {
        let part = |node| Part {
            node,
            clock: 5,
            written: Written {
                slices: 1,
                lost: 2,
                threads: 3,
                unmatched: 5,
                left_out: 6,
            },
            has_more: node == 1,
            packets: vec![7; node as usize],
        };
        let all = [part(0), part(1), part(9)];
        let bytes: Vec<u8> = all.iter().flat_map(Part::encode).collect();
        assert_eq!(parts(&bytes), all);
        for end in 0..bytes.len() {
            assert!(parts(&bytes[..end]).len() < 3);
        }
    }
}
