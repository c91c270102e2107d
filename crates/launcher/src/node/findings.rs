//! What checked mode has found in the ranks of this node, also in those that have ended.

use std::fs::File;
use std::ops::Range;

use catena_trace::read_findings;

use super::Node;

/// The mark of a number of findings that have had no room.
pub const MISSED: u8 = 2;

impl Node {
    /// All that was found: each is the length of what follows, and that.
    pub(super) fn findings(&mut self) -> Vec<u8> {
        self.find_traces();
        let mut answer = self.found.clone();
        for (_, file) in &self.traces {
            answer.extend(in_file(file));
        }
        answer
    }

    /// Forgets where the processes of a job have told what they do, and keeps what was found in
    /// them.
    pub(super) fn keep_findings(&mut self, numbers: &Range<u32>) {
        if let Some(at) = self.traces.iter().position(|(of, _)| of == numbers) {
            let (_, file) = self.traces.swap_remove(at);
            self.found.extend(in_file(&file));
        }
    }
}

fn in_file(file: &File) -> Vec<u8> {
    let (mut found, missed) = read_findings(file).unwrap_or_default();
    if missed > 0 {
        found.push([&[MISSED], missed.to_string().as_bytes()].concat());
    }
    let mut answer = Vec::new();
    for one in found {
        answer.extend((one.len() as u32).to_le_bytes());
        answer.extend(one);
    }
    answer
}
