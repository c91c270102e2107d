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
use std::sync::atomic::Ordering::Relaxed;

use crate::area::{Area, Front};
use crate::changes::look;
use crate::counted::{ANSWERED, COUNTERS_AT, Counters, LONGEST};
use crate::read::View;
use crate::thread::area;

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
        let answer = look(
            || word(offset_of!(Counters, changes)),
            || {
                if word(offset_of!(Counters, question))? != question {
                    return Ok(None);
                }
                let len = word(offset_of!(Counters, len))? as usize;
                let mut text = vec![0; len.min(LONGEST)];
                self.read_at(&mut text, COUNTERS_AT + offset_of!(Counters, words))?;
                Ok(Some(text))
            },
        )?;
        let text = answer.flatten();
        Ok(text.map(|text| String::from_utf8_lossy(&text).into_owned()))
    }
}
