//! What the ranks of this node have counted of their calls, also those that have ended.

use std::fs::File;
use std::ops::Range;
use std::thread::sleep;
use std::time::{Duration, Instant};

use catena_base::clock::ticks;
use catena_profile::{Reading, read_tables};
use catena_symbols::{Maps, Symbols};

use super::Node;

/// How long both clocks are compared, for five digits.
const COMPARED: Duration = Duration::from_millis(10);

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
    let (from, began) = (ticks(), Instant::now());
    sleep(COMPARED);
    let now = ticks();
    let per_us = now.wrapping_sub(from) as f64 / (began.elapsed().as_secs_f64() * 1e6);
    let reading = Reading {
        host: &catena_boot::host_name(),
        first,
        now: from,
        per_us,
    };
    let mut symbols = Symbols::new();
    let mut known: Option<(u32, usize, Maps)> = None;
    let mut name = |pid: u32, maps: &str, frames: &[u64], python: &str| {
        let is_other = |it: &(u32, usize, Maps)| (it.0, it.1) != (pid, maps.len());
        if known.as_ref().is_none_or(is_other) {
            known = Some((pid, maps.len(), Maps::parse(pid, maps)));
        }
        let place = known
            .as_ref()
            .and_then(|(.., maps)| symbols.place(maps, frames, python));
        place.map_or(String::new(), |place| place.to_string())
    };
    let sheets = read_tables(file, &reading, &mut name).unwrap_or_default();
    sheets.iter().flat_map(|sheet| sheet.encode()).collect()
}
