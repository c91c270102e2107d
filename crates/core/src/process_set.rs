//! Process sets (MPI-5, chapter 11.3.2), by which sessions find their groups.

use catena_boot::ELASTIC_SET;
use catena_fabric::ProcessName;

/// What the names of those sets begin with that MPI defines: case does not count in them.
const OF_MPI: &str = "mpi://";

/// A process set as this process sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessSet {
    /// Name.
    pub name: String,
    /// The processes, in the order of the set.
    pub members: Vec<ProcessName>,
}

impl ProcessSet {
    /// Its version, if the job is elastic and this is a state of it.
    pub fn version(&self) -> Option<u32> {
        self.name.strip_prefix(ELASTIC_SET)?.parse().ok()
    }

    /// Whether it has that name.
    pub fn is_called(&self, name: &str) -> bool {
        match self.name.starts_with(OF_MPI) {
            true => self.name.eq_ignore_ascii_case(name),
            false => self.name == name,
        }
    }
}
