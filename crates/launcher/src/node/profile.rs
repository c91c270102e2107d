//! What the ranks of this node have counted of their calls, also those that have ended.

use std::fs::File;
use std::ops::Range;

use catena_base::clock::ticks;
use catena_profile::{Reading, read_tables};

use super::Node;
use super::place_names::PlaceNames;
use crate::clock;

impl Node {
    /// All that was counted: each is the length of what follows, and that, a `Sheet`.
    pub(super) fn profile(&mut self) -> Vec<u8> {
        self.find_traces();
        let mut answer = self.counted.clone();
        for (numbers, file) in &self.traces {
            answer.extend(counted(file, numbers.start));
        }
        answer
    }

    /// Keeps what was counted in the processes of a job that is about to be forgotten.
    pub(super) fn keep_profile(&mut self, numbers: &Range<u32>) {
        if let Some((_, file)) = self.traces.iter().find(|(of, _)| of == numbers) {
            self.counted.extend(counted(file, numbers.start));
        }
    }
}

/// What stands in the file of a job, whose rank 0 has the number `first`.
fn counted(file: &File, first: u32) -> Vec<u8> {
    match catena_profile::is_any(file) {
        true => sheets(file, first),
        false => Vec::new(),
    }
}

fn sheets(file: &File, first: u32) -> Vec<u8> {
    let reading = Reading {
        host: &catena_boot::host_name(),
        first,
        now: ticks(),
        per_us: clock::scale().per_us,
    };
    let mut places = PlaceNames::default();
    let mut name =
        |pid: u32, maps: &str, frames: &[u64], python: &str| places.name(pid, maps, frames, python);
    let sheets = read_tables(file, &reading, &mut name).unwrap_or_default();
    sheets.iter().flat_map(|sheet| sheet.encode()).collect()
}
