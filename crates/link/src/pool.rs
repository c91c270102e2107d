//! Buffers for messages that arrive before their receive.

/// Size classes are powers of two from 2^6 bytes on.
const FIRST: u32 = 6;
const CLASSES: usize = 19;
/// Bytes kept for reuse; beyond that, buffers go back to the allocator.
const KEEP: usize = 32 << 20;

#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: [Vec<Box<[u8]>>; CLASSES],
    kept: usize,
}

fn class(len: usize) -> usize {
    (len.next_power_of_two().trailing_zeros().max(FIRST) - FIRST) as usize
}

impl Pool {
    /// A buffer of at least `len` bytes with any contents.
    pub fn take(&mut self, len: usize) -> Box<[u8]> {
        if len == 0 {
            return Box::default();
        }
        let class = class(len);
        if let Some(buffer) = self.free[class].pop() {
            self.kept -= buffer.len();
            return buffer;
        }
        vec![0; 1 << (class as u32 + FIRST)].into_boxed_slice()
    }

    /// Takes a buffer back.
    pub fn give(&mut self, buffer: Box<[u8]>) {
        if !buffer.is_empty() && self.kept + buffer.len() <= KEEP {
            self.kept += buffer.len();
            self.free[class(buffer.len())].push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::EAGER_CEILING;

    #[test]
    fn buffers_are_large_enough_and_come_back() {
        let mut pool = Pool::default();
        for len in [0, 1, 63, 64, 65, 4096, 4097, EAGER_CEILING as usize] {
            let buffer = pool.take(len);
            assert!(buffer.len() >= len);
            let address = buffer.as_ptr();
            pool.give(buffer);
            let again = pool.take(len);
            assert!(len == 0 || again.as_ptr() == address);
        }
    }

    #[test]
    fn little_is_kept() {
        let mut pool = Pool::default();
        let many: Vec<_> = (0..4).map(|_| pool.take(16 << 20)).collect();
        many.into_iter().for_each(|buffer| pool.give(buffer));
        assert!(pool.kept <= KEEP);
    }
}
