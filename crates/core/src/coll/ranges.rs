//! Where the blocks of a buffer lie.

use std::mem::MaybeUninit;
use std::slice;

use catena_coll::Layout;

/// Blocks whose ranges need no memory of their own.
const NEAR: usize = 64;

/// Byte ranges of the blocks of a buffer as the schedules see it.
#[derive(Debug)]
pub struct Ranges {
    /// Blocks.
    n: usize,
    /// Lengths of that many blocks, then their first bytes: of up to [`NEAR`]
    /// here, of more there.
    near: [MaybeUninit<usize>; 2 * NEAR],
    far: Vec<MaybeUninit<usize>>,
}

impl Ranges {
    /// Of no blocks as yet.
    #[inline(always)]
    pub const fn new() -> Self {
        Ranges {
            n: 0,
            near: [MaybeUninit::uninit(); 2 * NEAR],
            far: Vec::new(),
        }
    }

    /// Makes it those of `n` blocks; gives their lengths and first bytes to be
    /// filled in, all zero as yet.
    #[inline(always)]
    pub fn reset(&mut self, n: usize) -> (&mut [usize], &mut [usize]) {
        self.n = n;
        let room = if n <= NEAR {
            &mut self.near[..2 * n]
        } else {
            self.far.resize(2 * n, MaybeUninit::uninit());
            &mut self.far[..]
        };
        room.fill(MaybeUninit::new(0));
        // SAFETY: they were written just now.
        let all =
            unsafe { slice::from_raw_parts_mut(room.as_mut_ptr().cast::<usize>(), room.len()) };
        all.split_at_mut(n)
    }

    #[inline(always)]
    fn parts(&self) -> (&[usize], &[usize]) {
        let room = if self.n <= NEAR {
            &self.near[..2 * self.n]
        } else {
            &self.far[..2 * self.n]
        };
        // SAFETY: `reset` wrote as many as `n` says.
        let all = unsafe { slice::from_raw_parts(room.as_ptr().cast::<usize>(), room.len()) };
        all.split_at(self.n)
    }

    /// Where the blocks are, as algorithms take it.
    #[inline(always)]
    pub fn layout(&self) -> Layout<'_> {
        let (counts, displs) = self.parts();
        Layout::Table { counts, displs }
    }

    /// Bytes in all blocks.
    pub fn bytes(&self) -> usize {
        self.parts().0.iter().sum()
    }
}
