//! The memory of a notice.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::Release, fence};

/// Bytes of a notice with its head.
pub const NOTICE: usize = 4 << 10;

/// Notices of a process: threads that wait at the same time. Further ones have none.
pub const NOTICES: usize = 15;

const WORDS: usize = NOTICE / 8 - 2;

/// Most bytes that a notice says.
pub const LONGEST: usize = 8 * WORDS;

/// The memory of a notice.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Slot {
    /// Goes up by one before and after each change: odd while one is under way.
    changes: AtomicU64,
    /// Thread that has it; 0 if none.
    pub thread: AtomicU32,
    /// Bytes; 0 where nothing is said.
    len: AtomicU32,
    words: [AtomicU64; WORDS],
}

const _: () = assert!(size_of::<Slot>() == NOTICE);

/// Bytes before the words.
const HEAD: usize = 16;

/// The thread whose notice it is, and what that says, of two looks at one; `None` where there is
/// none, or it changed between them.
pub(crate) fn read(before: &[u8; NOTICE], after: &[u8; NOTICE]) -> Option<(u32, Vec<u8>)> {
    let word = |at: usize| before[at..at + 4].try_into().map_or(0, u32::from_ne_bytes);
    let (changes, thread, len) = (word(0), word(8), word(12) as usize);
    let is_whole = before == after && changes.is_multiple_of(2);
    let is_told = thread != 0 && (1..=LONGEST).contains(&len);
    (is_whole && is_told).then(|| (thread, before[HEAD..HEAD + len].to_vec()))
}

impl Slot {
    pub fn write(&self, bytes: &[u8]) {
        let bytes = &bytes[..bytes.len().min(LONGEST)];
        let changes = self.changes.load(Relaxed);
        self.changes.store(changes.wrapping_add(1), Relaxed);
        fence(Release);
        self.len.store(bytes.len() as u32, Relaxed);
        for (to, from) in self.words.iter().zip(bytes.chunks(8)) {
            let mut word = [0; 8];
            word[..from.len()].copy_from_slice(from);
            to.store(u64::from_le_bytes(word), Relaxed);
        }
        self.changes.store(changes.wrapping_add(2), Release);
    }
}
