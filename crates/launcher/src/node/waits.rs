//! What the ranks of this node wait for, as they tell it themselves.

use std::fs::File;

use catena_hang::{Rank, State, look};
use catena_trace::View;

use super::{Local, Node};

impl Node {
    /// The ranks that do nothing but wait, have left or are stopped, or all of them if `in_full`: each is its number, the length
    /// of what follows, and that.
    pub(super) fn waits(&mut self, in_full: bool) -> Vec<u8> {
        self.find_traces();
        let host = catena_boot::host_name();
        let mut answer = Vec::new();
        for local in self.processes.iter().flatten().filter(|it| it.is_known) {
            let Some(rank) = self.look_at(local, &host) else {
                continue;
            };
            if in_full || rank.is_stuck() || rank.state != State::Running {
                let bytes = rank.to_bytes();
                answer.extend(local.rank.to_le_bytes());
                answer.extend((bytes.len() as u32).to_le_bytes());
                answer.extend(bytes);
            }
        }
        answer
    }

    fn look_at(&self, local: &Local, host: &str) -> Option<Rank> {
        let (_, file) = self
            .traces
            .iter()
            .find(|(of, _)| of.contains(&local.rank))?;
        let place = self.server.local_number(local.rank)?;
        let view = View::open(file, place).ok()??;
        let pid = local.joined.unwrap_or(local.pid as u32);
        look(&view, host, local.running.then_some(pid)).ok()
    }

    /// Opens what was not opened yet.
    fn find_traces(&mut self) {
        for local in self.processes.iter().flatten() {
            if self.traces.iter().any(|(of, _)| of.contains(&local.rank)) {
                continue;
            }
            if let Ok(Some((segment, numbers))) = self.server.segment_of(local.rank) {
                self.traces.push((numbers, File::from(segment)));
            }
        }
    }
}
