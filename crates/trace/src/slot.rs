//! The memory of a notice.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::changes::{Changes, are_whole};

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
    /// Whether `len` and `words` are whole.
    changes: Changes,
    /// Thread that has it; 0 if none.
    pub thread: AtomicU32,
    /// Bytes; 0 where nothing is said.
    len: AtomicU32,
    words: [AtomicU64; WORDS],
}

const _: () = assert!(size_of::<Slot>() == NOTICE);

/// Bytes before the words.
const HEAD: usize = offset_of!(Slot, words);

/// The thread whose notice it is, and what that says, of two looks at one; `None` where there is
/// none. What it says is not known while it changes, which takes long where the thread that writes
/// it has no turn.
pub(crate) fn read(before: &[u8; NOTICE], after: &[u8; NOTICE]) -> Option<(u32, Option<Vec<u8>>)> {
    let word =
        |of: &[u8; NOTICE], at: usize| of[at..at + 4].try_into().map_or(0, u32::from_ne_bytes);
    let changes = [before, after].map(|it| word(it, offset_of!(Slot, changes)));
    let thread = word(before, offset_of!(Slot, thread));
    let len = word(before, offset_of!(Slot, len)) as usize;
    if thread == 0 {
        return None;
    }
    if before != after || !are_whole(changes[0], changes[1]) {
        return Some((thread, None));
    }
    let is_told = (1..=LONGEST).contains(&len);
    is_told.then(|| (thread, Some(before[HEAD..HEAD + len].to_vec())))
}

impl Slot {
    pub fn write(&self, bytes: &[u8]) {
        let bytes = &bytes[..bytes.len().min(LONGEST)];
        self.changes.make(|| {
            self.len.store(bytes.len() as u32, Relaxed);
            for (to, from) in self.words.iter().zip(bytes.chunks(8)) {
                let mut word = [0; 8];
                word[..from.len()].copy_from_slice(from);
                to.store(u64::from_le_bytes(word), Relaxed);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_in_the_middle_of_writing_is_not_taken_for_one_that_says_nothing() {
        let notice = |changes: u32, thread: u32, len: u32, first: u8| {
            let mut bytes = [0; NOTICE];
            for (at, number) in [
                (offset_of!(Slot, changes), changes),
                (offset_of!(Slot, thread), thread),
                (offset_of!(Slot, len), len),
            ] {
                bytes[at..at + 4].copy_from_slice(&number.to_ne_bytes());
            }
            bytes[HEAD] = first;
            bytes
        };
        let at_rest = notice(2, 7, 1, 5);
        assert_eq!(read(&at_rest, &at_rest), Some((7, Some(vec![5]))));
        let in_between = notice(3, 7, 1, 5);
        assert_eq!(read(&in_between, &in_between), Some((7, None)));
        assert_eq!(read(&at_rest, &notice(4, 7, 1, 6)), Some((7, None)));
        let empty = notice(4, 7, 0, 5);
        assert_eq!(read(&empty, &empty), None);
        let nobodys = notice(3, 0, 1, 5);
        assert_eq!(read(&nobodys, &nobodys), None);
    }
}
