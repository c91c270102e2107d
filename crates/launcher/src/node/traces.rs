//! What the ranks of this node have called last, in words, also of those that have ended.

use catena_hang::trace_lines;
use catena_trace::View;

use super::Node;

/// Calls of each thread that are told: all that are kept.
const CALLS: usize = usize::MAX;

impl Node {
    /// The last calls of all ranks: each is its number, the length of what follows, and that,
    /// lines.
    pub(super) fn traces(&mut self) -> Vec<u8> {
        self.find_traces();
        let mut answer = Vec::new();
        for local in self.processes.iter().flatten() {
            let file = self.traces.iter().find(|(of, _)| of.contains(&local.rank));
            let place = self.server.local_number(local.rank);
            let (Some((_, file)), Some(place)) = (file, place) else {
                continue;
            };
            let view = View::open(file, place).ok().flatten();
            let Some(Ok(lines)) = view.map(|view| trace_lines(&view, CALLS)) else {
                continue;
            };
            let text = lines.join("\n");
            answer.extend(local.rank.to_le_bytes());
            answer.extend((text.len() as u32).to_le_bytes());
            answer.extend(text.as_bytes());
        }
        answer
    }
}
