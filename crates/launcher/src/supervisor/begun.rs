//! Lines that ranks have begun and not ended: questions, and dots that show how far a program is.
//!
//! They are shown soon, whatever standard input is, but not at once: the rest of a line may be on
//! its way, and if another rank writes before that comes, the line is broken. stdio writes its
//! buffer wherever in a line it is full, and then the rest comes with the next buffer, so such a
//! line is waited for longer.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

/// How long a line that may be a question waits: of a rank that reads standard input, while
/// somebody may answer.
const QUESTION: Duration = Duration::from_millis(50);

/// How long another one waits.
const BEGUN: Duration = Duration::from_millis(200);

/// How long one waits of a stream that was written in whole buffers so far.
const CUT: Duration = Duration::from_secs(1);

/// What the buffers of stdio, of Fortran's runtime libraries and of Python are multiples of, bytes.
const BUFFER: u64 = 4096;

/// How long the rest of a line may take to come after `read` bytes of its stream.
fn patience(read: u64, asks: bool) -> Duration {
    match (asks, read.is_multiple_of(BUFFER)) {
        (true, _) => QUESTION,
        (false, true) => CUT,
        (false, false) => BEGUN,
    }
}

/// How far a stream is with a line whose end has not come.
#[derive(Debug, Default)]
pub struct BegunLine {
    /// When it is to be shown.
    due: Option<Instant>,
    /// Whether it is among those that are looked at then.
    is_listed: bool,
    /// Bytes that came of its stream.
    read: u64,
}

impl BegunLine {
    /// Its end has come: nothing is to be shown.
    pub fn end(&mut self) {
        self.due = None;
    }

    /// Whether to show it by now. If so, and nobody would see it yet (`is_behind`), that is put
    /// off: it would hold the rest of the line up as well.
    pub fn is_due(&mut self, now: Instant, is_behind: bool) -> bool {
        if self.due.is_none_or(|at| at > now) {
            return false;
        }
        self.due = is_behind.then(|| now + QUESTION);
        !is_behind
    }
}

/// A stream: the number of its process, and stdout (0) or stderr (1).
type Stream = (u32, usize);

/// The streams with lines that were begun, each once, by when they are to be looked at.
#[derive(Debug, Default)]
pub struct Begun {
    due: BinaryHeap<Reverse<(Instant, Stream)>>,
}

impl Begun {
    /// When to look next.
    pub fn next_time(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    /// More bytes have come of a stream, which has an unfinished line then or not. `asks` says that
    /// it is one of a rank that somebody may answer.
    pub fn add(
        &mut self,
        stream: Stream,
        line: &mut BegunLine,
        bytes: usize,
        is_unfinished: bool,
        asks: impl FnOnce() -> bool,
    ) {
        line.read += bytes as u64;
        line.due = None;
        if is_unfinished {
            let at = Instant::now() + patience(line.read, asks());
            line.due = Some(at);
            if !std::mem::replace(&mut line.is_listed, true) {
                self.due.push(Reverse((at, stream)));
            }
        }
    }

    /// The next stream that is to be looked at by now.
    pub fn take_due(&mut self, now: Instant) -> Option<Stream> {
        self.next_time().filter(|at| *at <= now)?;
        self.due.pop().map(|Reverse((_, stream))| stream)
    }

    /// A stream was looked at, and is looked at again if its line is still to be shown.
    pub fn put_back(&mut self, stream: Stream, line: &mut BegunLine) {
        match line.due {
            Some(at) => self.due.push(Reverse((at, stream))),
            None => line.is_listed = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_once_and_not_while_nobody_reads() {
        let (mut begun, mut line) = (Begun::default(), BegunLine::default());
        let start = Instant::now();
        begun.add((3, 1), &mut line, 5, true, || false);
        // The rest of it begins the next one.
        begun.add((3, 1), &mut line, 5, true, || false);
        assert_eq!(begun.take_due(start), None);
        let later = Instant::now() + BEGUN;
        assert_eq!(begun.take_due(later), Some((3, 1)));
        assert!(!line.is_due(later, true));
        begun.put_back((3, 1), &mut line);
        assert_eq!(begun.take_due(later), None);
        let later = later + QUESTION;
        assert_eq!(begun.take_due(later), Some((3, 1)));
        assert!(line.is_due(later, false));
        begun.put_back((3, 1), &mut line);
        assert_eq!(begun.next_time(), None);
    }

    #[test]
    fn the_rest_of_a_full_buffer_is_waited_for() {
        assert_eq!(patience(3 * BUFFER, false), CUT);
        assert_eq!(patience(3 * BUFFER + 5, false), BEGUN);
        // A question may be as long.
        assert_eq!(patience(BUFFER, true), QUESTION);
    }
}
