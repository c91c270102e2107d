//! What the library of a process has counted, told to whoever asks while it runs.
//!
//! | field      | writer       | reader       | rule                                            |
//! |------------|--------------|--------------|-------------------------------------------------|
//! | `asked`    | who asks     | the process  | a number; it lies in the front of the area      |
//! | all others | the process  | who asks     | whole if `changes` is even, and the same before and after a look |
//!
//! Who asks writes the number of its question, and wakes the process. That answers when it makes
//! progress next: one that computes answers when it calls MPI again.

use std::io;
use std::mem::offset_of;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::Release, fence};

use crate::area::{Area, Front};
use crate::read::View;
use crate::thread::area;

/// Where it begins in an area.
pub(crate) const COUNTERS_AT: usize = 128 << 10;

/// Bytes of an answer.
const COUNTERS: usize = 32 << 10;

const WORDS: usize = COUNTERS / 8 - 2;

/// Most bytes of the text of an answer.
const LONGEST: usize = 8 * WORDS;

/// The memory of an answer.
#[derive(Debug)]
#[repr(C, align(4096))]
pub(crate) struct Counters {
    /// Goes up by one before and after each change: odd while one is under way.
    pub changes: AtomicU32,
    /// The question that this is the answer to.
    pub question: AtomicU32,
    pub len: AtomicU32,
    pub words: [AtomicU64; WORDS],
}

const _: () = assert!(size_of::<Counters>() == COUNTERS);

/// The question that was answered last; 0 at first, as in the area.
pub(crate) static ANSWERED: AtomicU32 = AtomicU32::new(0);

impl Counters {
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
        // One that was here before may have been killed in the middle of a change.
        let changes = self.changes.load(Relaxed) & !1;
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

/// What counts, once the library is put together.
static COUNT: OnceLock<fn() -> String> = OnceLock::new();

/// Says what tells what was counted: lines of a name, a blank and a number. It is called within the
/// library, where it makes progress. The first call counts.
pub fn count_by(count: fn() -> String) {
    _ = COUNT.set(count);
}

/// Whether somebody wants to know what was counted, and has no answer. Cost: three loads.
#[inline]
pub fn is_asked_for_counters() -> bool {
    area().is_some_and(|area| area.front().asked.load(Relaxed) != ANSWERED.load(Relaxed))
}

/// Answers who wants to know what was counted, if somebody does. To be called within the library,
/// where nothing of it is lent.
#[cold]
pub fn tell_counters() {
    let (Some(area), Some(count)) = (area(), COUNT.get()) else {
        return;
    };
    let question = area.front().asked.load(Relaxed);
    if ANSWERED.swap(question, Relaxed) == question {
        return;
    }
    let to = area.counters();
    if question != 0 && Area::provide(to) {
        to.write(question, &count());
    }
}

impl View<'_> {
    /// Asks the process what its library has counted, by a question whose number is not 0. It looks
    /// when it is woken, or makes progress.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn ask_for_counters(&self, question: u32) -> io::Result<()> {
        self.write_at(&question.to_ne_bytes(), offset_of!(Front, asked))
    }

    /// The answer to a question, once it is there: the last one that was asked.
    ///
    /// # Errors
    /// If the area cannot be read.
    pub fn counters(&self, question: u32) -> io::Result<Option<String>> {
        let word = |at: usize| -> io::Result<u32> {
            let mut bytes = [0; 4];
            self.read_at(&mut bytes, COUNTERS_AT + at)?;
            Ok(u32::from_ne_bytes(bytes))
        };
        let changes = word(offset_of!(Counters, changes))?;
        let is_its = word(offset_of!(Counters, question))? == question;
        if !is_its || !changes.is_multiple_of(2) {
            return Ok(None);
        }
        let len = word(offset_of!(Counters, len))? as usize;
        let mut text = vec![0; len.min(LONGEST)];
        self.read_at(&mut text, COUNTERS_AT + offset_of!(Counters, words))?;
        let is_whole = word(offset_of!(Counters, changes))? == changes;
        Ok(is_whole.then(|| String::from_utf8_lossy(&text).into_owned()))
    }
}
