//! Lines that ranks have begun and not ended: questions, and dots that show how far a program is.
//!
//! They are shown soon, whatever standard input is, but not at once: the rest of a line may be on its way, and
//! if another rank writes before that comes, the line is broken. stdio writes its buffer wherever in a line it is
//! full, and then the rest comes with the next buffer, so such a line is waited for longer.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use super::Job;
use crate::stdin::Source;

/// How long a line that may be a question waits: of a rank that reads standard input, while somebody may answer.
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

/// The streams with lines that were begun, each once, by when they are to be looked at.
#[derive(Debug, Default)]
pub(super) struct Begun {
    due: BinaryHeap<Reverse<(Instant, u32, usize)>>,
}

impl Begun {
    /// When to look next.
    pub fn next_time(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse((at, ..))| *at)
    }
}

impl Job {
    /// A rank has written more bytes to a stream.
    pub(super) fn note_begun(&mut self, rank: u32, which: usize, bytes: usize) {
        let stream = &mut self.processes[rank as usize].streams[which];
        stream.read += bytes as u64;
        stream.due = None;
        if !stream.lines.has_partial() {
            return;
        }
        let asks = self.plan.stdin.binary_search(&rank).is_ok() && Source::may_answer();
        let at = Instant::now() + patience(stream.read, asks);
        stream.due = Some(at);
        if !std::mem::replace(&mut stream.is_listed, true) {
            self.begun.due.push(Reverse((at, rank, which)));
        }
    }

    /// Shows the lines whose rest was waited for long enough.
    pub(super) fn show_begun(&mut self) {
        let now = Instant::now();
        while self.begun.next_time().is_some_and(|at| at <= now) {
            let Some(Reverse((_, rank, which))) = self.begun.due.pop() else {
                return;
            };
            let Some(process) = self.processes.get_mut(rank as usize) else {
                continue;
            };
            let stream = &mut process.streams[which];
            let sink = self.sinks.of(self.output.target(which));
            if stream.due.is_some_and(|at| at <= now) {
                stream.due = match sink.is_behind() {
                    // Nobody would see it yet, and that holds the rest of the line up as well.
                    true => Some(now + QUESTION),
                    false => {
                        stream.lines.flush(sink);
                        None
                    }
                };
            }
            match stream.due {
                Some(at) => self.begun.due.push(Reverse((at, rank, which))),
                None => stream.is_listed = false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_full_buffer_is_waited_for() {
        assert_eq!(patience(3 * BUFFER, false), CUT);
        assert_eq!(patience(3 * BUFFER + 5, false), BEGUN);
        // A question may be as long.
        assert_eq!(patience(BUFFER, true), QUESTION);
    }
}
