//! The memory of what the library of a process has counted, for whoever asks while it runs.
//!
//! | field      | writer       | reader       | rule                                            |
//! |------------|--------------|--------------|-------------------------------------------------|
//! | `asked`    | who asks     | the process  | a number; it lies in the front of the area      |
//! | all others | the process  | who asks     | whole if `changes` is even, and the same before and after a look |
//!
//! Who asks writes the number of its question, and wakes the process. That answers when it makes
//! progress next: one that computes answers when it calls MPI again.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::Release, fence};

/// Where it begins in an area.
pub(crate) const COUNTS_AT: usize = 128 << 10;

/// Bytes of an answer.
const COUNTS: usize = 32 << 10;

const WORDS: usize = COUNTS / 8 - 2;

/// Most bytes of the text of an answer.
pub(crate) const LONGEST: usize = 8 * WORDS;

/// The memory of an answer.
#[derive(Debug)]
#[repr(C, align(4096))]
pub(crate) struct Counts {
    /// Goes up by one before and after each change: odd while one is under way.
    pub changes: AtomicU32,
    /// The question that this is the answer to.
    pub question: AtomicU32,
    pub len: AtomicU32,
    pub words: [AtomicU64; WORDS],
}

const _: () = assert!(size_of::<Counts>() == COUNTS);

/// The question that was answered last; 0 at first, as in the area.
pub(crate) static ANSWERED: AtomicU32 = AtomicU32::new(0);

impl Counts {
    pub(crate) fn write(&self, question: u32, text: &str) {
        // A line that has no room is left out as a whole.
        let room = &text.as_bytes()[..text.len().min(LONGEST)];
        let len = match text.len() <= LONGEST {
            true => text.len(),
            false => room
                .iter()
                .rposition(|&byte| byte == b'\n')
                .map_or(0, |at| at + 1),
        };
        let changes = self.changes.load(Relaxed);
        self.changes.store(changes.wrapping_add(1), Relaxed);
        fence(Release);
        for (to, from) in self.words.iter().zip(room[..len].chunks(8)) {
            let mut word = [0; 8];
            word[..from.len()].copy_from_slice(from);
            to.store(u64::from_ne_bytes(word), Relaxed);
        }
        self.len.store(len as u32, Relaxed);
        self.question.store(question, Relaxed);
        self.changes.store(changes.wrapping_add(2), Release);
    }
}
