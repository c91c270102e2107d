//! What the ranks of this node wait for, as they tell it themselves.

use std::fs::File;

use catena_hang::{Glance, Rank, State, look};
use catena_trace::{Phase, View};

use super::{Local, Node};
use crate::places::Places;

impl Node {
    /// The ranks that have waited long, have left or are stopped, or all of them if `in_full`:
    /// each is its number, the length of what follows, and that.
    pub(super) fn waits(&mut self, in_full: bool) -> Vec<u8> {
        self.find_traces();
        let host = catena_boot::host_name();
        let mut places = Places::default();
        let mut answer = Vec::new();
        for local in self.processes.iter().flatten().filter(|it| it.is_known) {
            let full = in_full.then_some(&mut places);
            let Some(rank) = self.look_at(local, &host, full) else {
                continue;
            };
            let waits = rank.waits().next().is_some();
            if in_full || waits || rank.state != State::Running {
                let bytes = rank.to_bytes();
                answer.extend(local.rank.to_le_bytes());
                answer.extend((bytes.len() as u32).to_le_bytes());
                answer.extend(bytes);
            }
        }
        answer
    }

    fn look_at(&self, local: &Local, host: &str, places: Option<&mut Places>) -> Option<Rank> {
        let view = self.view(local.rank)?;
        // Nothing else is read of those that go on.
        if places.is_none()
            && local.running
            && view.phase() == Phase::Running
            && !view.has_notices()
        {
            return None;
        }
        let pid = local.process_of_mpi();
        let mut rank = look(&view, host, local.running.then_some(pid)).ok()?;
        // One that is about to end, with a core file perhaps: this node tells of its end.
        if local.running && rank.state == State::Ended {
            return None;
        }
        if let Some(places) = places {
            places.name(&mut rank, &view);
        }
        Some(rank)
    }

    /// What the ranks do that use MPI, and what is counted of them: each is its number, the length
    /// of what follows, and that.
    pub(super) fn glances(&mut self) -> Vec<u8> {
        self.find_traces();
        let host = catena_boot::host_name();
        let mut answer = Vec::new();
        for local in self.processes.iter().flatten().filter(|it| it.is_known) {
            let view = self.view(local.rank);
            let pid = local.running.then_some(local.process_of_mpi());
            if let Some(glance) = view.and_then(|view| Glance::of(&view, &host, pid).ok()) {
                let bytes = glance.to_bytes();
                answer.extend(local.rank.to_le_bytes());
                answer.extend((bytes.len() as u32).to_le_bytes());
                answer.extend(bytes);
            }
        }
        answer
    }

    /// What to look at a rank by.
    pub(super) fn view(&self, rank: u32) -> Option<View<'_>> {
        let (_, file) = self.traces.iter().find(|(of, _)| of.contains(&rank))?;
        let place = self.server.local_number(rank)?;
        View::open(file, place).ok()?
    }

    /// Opens what was not opened yet.
    pub(super) fn find_traces(&mut self) {
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
