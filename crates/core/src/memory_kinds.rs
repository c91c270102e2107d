//! The kinds of memory that messages may lie in, as programs ask for them (MPI-5, chapter 11.4.3).

use catena_settings::{Setting, Text, setting};

/// The info key that asks for kinds of memory, and tells which there are.
pub const MEMORY_KINDS: &str = "mpi_memory_alloc_kinds";
/// Kinds of memory that messages may lie in whoever asks, and those that are
/// named when they are asked for (MPI-5, 11.4.3).
const MEMORY: [&str; 2] = ["mpi", "system"];
const MEMORY_ON_REQUEST: [&str; 1] = ["mpi:alloc_mem"];

setting! {
    /// Kinds of memory that the program asks for messages to lie in, as
    /// "mpi,system,mpi:alloc_mem": -memory-alloc-kinds of mpirun.
    ///
    /// MPI_INFO_ENV shows them, the info of MPI_COMM_WORLD the supported ones
    /// (mpi_memory_alloc_kinds; MPI-5, 11.4.3). A session asks for its own.
    pub static MEMORY_ALLOC_KINDS: Text = Text("");
    scope: Local,
    level: User,
}

/// The setting of this module.
pub static SETTINGS: &[&dyn Setting] = &[&MEMORY_ALLOC_KINDS];

/// The kinds of memory that are supported, of those asked for and always.
pub(crate) fn memory_kinds(asked: &str) -> String {
    let asked = asked.split(',').map(str::trim);
    let granted = MEMORY_ON_REQUEST.into_iter();
    let granted = granted.filter(|kind| asked.clone().any(|a| a.eq_ignore_ascii_case(kind)));
    MEMORY
        .into_iter()
        .chain(granted)
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_kinds_are_what_was_asked_for_and_is_there() {
        assert_eq!(memory_kinds(""), "mpi,system");
        assert_eq!(memory_kinds("system,cuda:host"), "mpi,system");
        let all = memory_kinds("cuda, MPI:alloc_mem,mpi:alloc_mem");
        assert_eq!(all, "mpi,system,mpi:alloc_mem");
    }
}
