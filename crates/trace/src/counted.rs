//! The memory of an answer to who asks what the library has counted.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::changes::Changes;

/// Where it begins in an area.
pub(crate) const COUNTERS_AT: usize = 128 << 10;

/// Bytes of an answer.
const COUNTERS: usize = 32 << 10;

const WORDS: usize = COUNTERS / 8 - 2;

/// Most bytes of the text of an answer.
pub(crate) const LONGEST: usize = 8 * WORDS;

/// The memory of an answer.
#[derive(Debug)]
#[repr(C, align(4096))]
pub(crate) struct Counters {
    /// Whether what follows is whole.
    pub changes: Changes,
    /// The question that this is the answer to.
    pub question: AtomicU32,
    pub len: AtomicU32,
    pub words: [AtomicU64; WORDS],
}

const _: () = assert!(size_of::<Counters>() == COUNTERS);

/// The question that was answered last; 0 at first, as in the area.
pub(crate) static ANSWERED: AtomicU32 = AtomicU32::new(0);

impl Counters {
    pub fn write(&self, question: u32, text: &str) {
        // A line that has no room is left out as a whole.
        let room = &text.as_bytes()[..text.len().min(LONGEST)];
        let len = match text.len() <= LONGEST {
            true => text.len(),
            false => room
                .iter()
                .rposition(|&byte| byte == b'\n')
                .map_or(0, |at| at + 1),
        };
        self.changes.make(|| {
            for (to, from) in self.words.iter().zip(room[..len].chunks(8)) {
                let mut word = [0; 8];
                word[..from.len()].copy_from_slice(from);
                to.store(u64::from_ne_bytes(word), Relaxed);
            }
            self.len.store(len as u32, Relaxed);
            self.question.store(question, Relaxed);
        });
    }
}
