//! The bytes of a word.

use catena_proof::{NONCE, TAG};

use crate::ProcessName;
use crate::frame::Sign;

/// Bytes of a word.
pub const WORD: usize = FACTS + TAG;
pub(super) const FACTS: usize = 128;

/// Where an end is: its length, and the address.
pub type Place = [u8; 64];

pub(super) type Nonce = [u8; NONCE];

/// What a word says.
pub(super) struct Fields {
    pub from: ProcessName,
    pub to: ProcessName,
    pub own: Nonce,
    pub echo: Nonce,
    pub sign: Sign,
    pub place: Place,
    pub tag: [u8; TAG],
}

impl Fields {
    pub fn encode(&self) -> [u8; WORD] {
        let mut bytes = [0; WORD];
        let mut at = 0;
        let mut add = |part: &[u8]| {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        };
        for name in [self.from, self.to] {
            add(&name.job.to_le_bytes());
            add(&name.rank.to_le_bytes());
        }
        add(&self.own);
        add(&self.echo);
        add(&self.sign.bits().to_le_bytes());
        add(&self.place);
        add(&self.tag);
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Option<Fields> {
        let bytes: &[u8; WORD] = bytes.try_into().ok()?;
        let mut rest = &bytes[..];
        let (from, to) = (name(&mut rest)?, name(&mut rest)?);
        Some(Fields {
            from,
            to,
            own: take(&mut rest)?,
            echo: take(&mut rest)?,
            sign: Sign::from_bits(u64::from_le_bytes(take(&mut rest)?)),
            place: take(&mut rest)?,
            tag: take(&mut rest)?,
        })
    }
}

/// The first bytes of those that are left.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*first)
}

fn name(rest: &mut &[u8]) -> Option<ProcessName> {
    Some(ProcessName {
        job: u64::from_le_bytes(take(rest)?),
        rank: u32::from_le_bytes(take(rest)?),
    })
}
