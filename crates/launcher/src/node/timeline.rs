//! The calls of this node's ranks one by one, for a trace.

use std::ops::Range;

use catena_profile::is_streamed;
use catena_profile::timeline::Part;

use super::Node;
use super::recorder::Recorder;
use crate::clock;

impl Node {
    /// What was written since the last question, and what the clock of this node shows: a `Part`.
    /// With the last question, the ranks have ended, and all of it is taken.
    pub(super) fn timeline(&mut self, is_last: bool) -> Vec<u8> {
        if self.processes.is_empty() && self.recorder.is_none() {
            return Vec::new();
        }
        self.record();
        let Some(recorder) = &mut self.recorder else {
            return Vec::new();
        };
        if is_last {
            recorder.end();
        }
        let (packets, has_more, written) = recorder.take();
        let part = Part {
            node: self.number,
            clock: clock::now(),
            written,
            has_more,
            packets,
        };
        part.encode()
    }

    /// Takes what is left in the processes of a job that is about to be forgotten.
    pub(super) fn keep_timeline(&mut self, numbers: &Range<u32>) {
        let mut traces = self.traces.iter().filter(|(of, _)| of == numbers);
        // It may be over before anybody has asked.
        if self.recorder.is_some() || traces.any(|(_, file)| is_streamed(file)) {
            self.record();
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.close(numbers.start);
        }
    }

    /// Has the recorder know of all jobs.
    fn record(&mut self) {
        self.find_traces();
        let number = self.number;
        let recorder = self.recorder.get_or_insert_with(|| Recorder::start(number));
        for (numbers, file) in &self.traces {
            recorder.add(file, numbers.start);
        }
    }
}
