//! What the library has counted in the ranks of this node that run, as they tell it when they are
//! asked.

use catena_profile::Sheet;
use catena_trace::Phase;

use super::Node;

impl Node {
    /// Has all ranks tell: those that wait are woken for that, others do so when they make
    /// progress.
    pub(super) fn ask_for_counts(&mut self) {
        self.find_traces();
        self.counts_asked = self.counts_asked.wrapping_add(1).max(1);
        for number in self.users_of_mpi() {
            let view = self.view(number);
            if view.is_some_and(|view| view.ask_for_counters(self.counts_asked).is_ok()) {
                self.wake(number);
            }
        }
    }

    /// What ranks have counted so far, as [`Node::profile`] tells it, and what their library has
    /// told since it was asked.
    pub(super) fn counts(&mut self) -> Vec<u8> {
        let mut answer = self.profile();
        let host = catena_boot::host_name();
        for number in self.users_of_mpi() {
            let Some(view) = self.view(number) else {
                continue;
            };
            let told = view.counters(self.counts_asked).ok().flatten();
            let has_left = view.phase() == Phase::Left;
            let sheet = Sheet::of_library(&host, number, has_left, told.as_deref());
            answer.extend(sheet.encode());
        }
        answer
    }

    /// The ranks that run and have called MPI_Init.
    fn users_of_mpi(&self) -> Vec<u32> {
        let all = self.processes.iter().flatten();
        let users = all.filter(|it| it.running && it.is_known);
        users.map(|it| it.rank).collect()
    }
}
