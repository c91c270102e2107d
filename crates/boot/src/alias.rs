//! The variables of other launchers by which ranks know their numbers.
//!
//! Libraries and scripts look for them before MPI is there: which build to load, which device to
//! take. So Catena's launcher sets them beside its own. They are no trace of another launcher then,
//! whose processes, where one was started within a rank, have values of its own.

/// What a variable tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// The rank in the job.
    Rank,
    /// How many ranks the job has.
    Size,
    /// The rank among those of the job on this host.
    LocalRank,
    /// How many of them there are.
    LocalSize,
}

use std::ffi::OsStr;

use Number::{LocalRank, LocalSize, Rank, Size};

impl Number {
    /// The variable of Catena's with that number.
    pub fn variable(self) -> &'static str {
        match self {
            Rank => "CATENA_RANK",
            Size => "CATENA_SIZE",
            LocalRank => "CATENA_LOCAL_RANK",
            LocalSize => "CATENA_LOCAL_SIZE",
        }
    }
}

/// The variables: of Open MPI, of MPICH and Intel MPI, of HPE, and of MVAPICH.
pub const ALIASES: [(&str, Number); 15] = [
    ("OMPI_COMM_WORLD_RANK", Rank),
    ("OMPI_COMM_WORLD_SIZE", Size),
    ("OMPI_COMM_WORLD_LOCAL_RANK", LocalRank),
    ("OMPI_COMM_WORLD_LOCAL_SIZE", LocalSize),
    ("OMPI_COMM_WORLD_NODE_RANK", LocalRank),
    ("PMI_RANK", Rank),
    ("PMI_SIZE", Size),
    ("MPI_LOCALRANKID", LocalRank),
    ("MPI_LOCALNRANKS", LocalSize),
    ("PMI_LOCAL_RANK", LocalRank),
    ("PMI_LOCAL_SIZE", LocalSize),
    ("MV2_COMM_WORLD_RANK", Rank),
    ("MV2_COMM_WORLD_SIZE", Size),
    ("MV2_COMM_WORLD_LOCAL_RANK", LocalRank),
    ("MV2_COMM_WORLD_LOCAL_SIZE", LocalSize),
];

/// What keeps MPICH and its relatives from running alone in each rank: a process manager that
/// cannot be reached. With a number below 0 they would take themselves to be alone, as without the
/// variable.
pub const NO_MANAGER: (&str, &str) = ("PMI_FD", "2147483647");

/// Keeps Open MPI 3 and 4 from running alone where no launcher serves them: MPI_Init fails. With a
/// PMIx server it makes them use that, which they do by themselves under Slurm alone.
pub const TOGETHER: [(&str, &str); 2] = [
    // A process is not declared to be alone unseen,
    ("OMPI_MCA_schizo", "^orte"),
    // and what would let it be is left out.
    ("OMPI_MCA_ess", "^singleton"),
];

/// Whether a variable is one of those that keep programs of other MPIs from running alone.
pub fn forbids_alone(name: &OsStr, value: &OsStr) -> bool {
    let all = [NO_MANAGER].into_iter().chain(TOGETHER);
    all.into_iter()
        .any(|of| (name, value) == (of.0.as_ref(), of.1.as_ref()))
}

/// `env` without the values that Catena's launcher has given to the rank that this process is or
/// belongs to.
pub(crate) fn without(
    env: impl Fn(&str) -> Option<String> + Copy,
) -> impl Fn(&str) -> Option<String> + Copy {
    move |name| {
        let value = env(name)?;
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
        let own = alias.and_then(|(_, number)| env(number.variable()));
        let is_own = own.as_ref() == Some(&value) || (name, &*value) == NO_MANAGER;
        (!is_own).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_catena_has_set_is_no_trace() {
        let vars = [
            ("CATENA_SIZE", "2"),
            ("OMPI_COMM_WORLD_SIZE", "2"),
            ("PMI_SIZE", "4"),
            ("PMI_RANK", "1"),
            NO_MANAGER,
        ];
        let env = |name: &str| {
            let found = vars.iter().find(|(of, _)| *of == name);
            found.map(|(_, value)| value.to_string())
        };
        let seen = without(env);
        assert_eq!(seen("OMPI_COMM_WORLD_SIZE"), None);
        // Another launcher has set these.
        assert_eq!(seen("PMI_SIZE").as_deref(), Some("4"));
        assert_eq!(seen("PMI_RANK").as_deref(), Some("1"));
        assert_eq!(seen("PMI_FD"), None);
        assert_eq!(seen("CATENA_SIZE").as_deref(), Some("2"));
    }
}
