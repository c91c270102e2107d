//! A quick hash for keys that a peer cannot use against us: the numbers that
//! name a message under way, of which there are few at a time.

use std::hash::{BuildHasherDefault, Hasher};

/// Multiplies and folds each word.
#[derive(Debug, Default)]
pub(crate) struct Mix(u64);

pub(crate) type BuildMix = BuildHasherDefault<Mix>;

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u16(&mut self, n: u16) {
        self.write_u64(n.into());
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(n.into());
    }

    fn write_u64(&mut self, n: u64) {
        let product = u128::from(self.0 ^ n ^ 0xf39c_c060_5ced_c835) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
