//! What is written of a wait that has lasted: bytes that the crates above give a meaning. A reader sees all of a
//! notice, or nothing.

use std::sync::atomic::{
    AtomicU32, AtomicU64, Ordering::AcqRel, Ordering::Relaxed, Ordering::Release, fence,
};

use crate::area::Area;
use crate::thread::area;

/// Bytes of a notice with its head.
pub const NOTICE: usize = 4 << 10;

/// Notices of a process: threads that wait at the same time. Further ones have none.
pub const NOTICES: usize = 8;

const WORDS: usize = NOTICE / 8 - 2;

/// The memory of a notice.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Slot {
    /// Goes up by one before and after each change: odd while one is under way.
    changes: AtomicU64,
    /// Thread that has it; 0 if none.
    thread: AtomicU32,
    /// Bytes; 0 where nothing is said.
    len: AtomicU32,
    words: [AtomicU64; WORDS],
}

const _: () = assert!(size_of::<Slot>() == NOTICE);

/// Bytes before the words.
const HEAD: usize = 16;

/// The thread whose notice it is, and what that says, of two looks at one; `None` where there is none, or it changed
/// between them.
pub(crate) fn read(before: &[u8; NOTICE], after: &[u8; NOTICE]) -> Option<(u32, Vec<u8>)> {
    let word = |at: usize| before[at..at + 4].try_into().map_or(0, u32::from_ne_bytes);
    let (changes, thread, len) = (word(0), word(8), word(12) as usize);
    let is_whole = before == after && changes.is_multiple_of(2);
    let is_told = thread != 0 && (1..=Notice::LONGEST).contains(&len);
    (is_whole && is_told).then(|| (thread, before[HEAD..HEAD + len].to_vec()))
}

impl Slot {
    fn write(&self, bytes: &[u8]) {
        let bytes = &bytes[..bytes.len().min(Notice::LONGEST)];
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

/// A place for what a thread waits for. Nothing is said there any more once it is dropped.
#[derive(Debug)]
pub struct Notice {
    slot: &'static Slot,
}

impl Notice {
    /// Most bytes that it says.
    pub const LONGEST: usize = 8 * WORDS;

    /// A place for a thread; `None` where this process has no area, or no place left.
    pub fn of(thread: u32) -> Option<Notice> {
        let area = area()?;
        let mut slots = (0..NOTICES).map(|number| area.slot(number));
        let slot = slots.find(|&slot| {
            if !Area::provide(slot) {
                return false;
            }
            let taken = slot.thread.compare_exchange(0, thread, AcqRel, Relaxed);
            taken.is_ok()
        })?;
        area.front().told.fetch_add(1, Relaxed);
        Some(Notice { slot })
    }

    /// Says that, instead of what was said before. More than [`Notice::LONGEST`] bytes are cut off.
    pub fn write(&self, bytes: &[u8]) {
        self.slot.write(bytes);
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        self.slot.write(&[]);
        self.slot.thread.store(0, Release);
        if let Some(area) = area() {
            area.front().told.fetch_sub(1, Relaxed);
        }
    }
}
