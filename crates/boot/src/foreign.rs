//! Launchers that offer nothing that Catena could talk to.
//!
//! Started by one of them with several processes, each process would believe
//! to be a singleton, and the program would run N times instead of once on N
//! ranks. So wire-up looks for the traces that launchers leave in the
//! environment and refuses. Sources: the manuals of Slurm (sbatch, srun), PALS,
//! Flux and JSM, the PMI-1/2 and PMIx specifications, and observation.

use std::fmt;

/// A launcher that has started this process together with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Who, in words.
    pub launcher: &'static str,
    /// The variable of the environment that tells.
    pub trace: String,
    /// What else would help.
    pub remedy: &'static str,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "this process was started by {} ({} is set), which gave it no connection that Catena \
             can use, so every process would believe to be alone; start the program {}with \
             Catena's own mpirun, or, if it shall run alone, set CATENA_SINGLETON=1",
            self.launcher, self.trace, self.remedy
        )
    }
}

const SRUN: &str = "srun (Slurm)";

/// Step numbers that Slurm gives to the shells of batch scripts and
/// interactive allocations begin here; those are no steps with several tasks.
const SLURM_SPECIAL_STEPS: u64 = 0xffff_fff0;

/// Finds the launcher that has started this process as one of several, if it
/// left its traces in `env`.
pub fn detect(env: impl Fn(&str) -> Option<String>) -> Option<Foreign> {
    let number = |name: &str| env(name).and_then(|v| v.trim().parse::<u64>().ok());
    let found = |launcher, trace: &str| {
        let value = env(trace).unwrap_or_default();
        let srun = launcher == SRUN;
        Some(Foreign {
            launcher,
            trace: format!("{trace}={value}"),
            remedy: if srun {
                "with srun --mpi=pmix or --mpi=pmi2, or "
            } else {
                ""
            },
        })
    };
    let several = |name: &str| number(name).is_some_and(|n| n > 1);

    // Names of sizes that only one kind of launcher sets.
    for (name, launcher) in [
        ("OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"),
        ("MV2_COMM_WORLD_SIZE", "MVAPICH's launcher"),
        ("JSM_NAMESPACE_SIZE", "jsrun (IBM JSM)"),
        ("FLUX_JOB_SIZE", "flux run"),
    ] {
        if several(name) {
            return found(launcher, name);
        }
    }
    // A job step of Slurm; the script of a job has the same variables, but is
    // not in a step.
    let in_step = ["SLURM_STEP_ID", "SLURM_STEPID"]
        .iter()
        .find_map(|name| number(name))
        .is_some_and(|step| step < SLURM_SPECIAL_STEPS);
    if in_step && env("SLURM_PROCID").is_some() {
        let size = ["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"]
            .into_iter()
            .find(|name| number(name).is_some());
        return match size {
            Some(name) if several(name) => found(SRUN, name),
            _ => None,
        };
    }
    if env("PALS_RANKID").is_some()
        && let Some(name) = ["PALS_NRANKS", "PMI_SIZE", "PALS_LOCAL_SIZE"]
            .into_iter()
            .find(|n| several(n))
    {
        return found("PALS (mpiexec or aprun of an HPE Cray EX)", name);
    }
    if several("PMI_SIZE") {
        return found(
            "an mpiexec that speaks PMI (MPICH, Intel MPI, MVAPICH)",
            "PMI_SIZE",
        );
    }
    // The size is not in the environment but must be asked for.
    if env("PMI_SIZE").is_none() && env("PMI_PORT").is_some() && env("PMI_ID").is_some() {
        return found(
            "an mpiexec that speaks PMI (MPICH, Intel MPI, MVAPICH)",
            "PMI_PORT",
        );
    }
    let single = number("OMPI_COMM_WORLD_SIZE") == Some(1);
    if env("PMIX_RANK").is_some() && env("PMIX_NAMESPACE").is_some() && !single {
        return found(
            "a launcher that speaks PMIx (prterun, srun --mpi=pmix)",
            "PMIX_NAMESPACE",
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(vars: &[(&str, &str)]) -> Option<&'static str> {
        detect(|name| {
            vars.iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| v.to_string())
        })
        .map(|foreign| foreign.launcher)
    }

    #[test]
    fn launchers_with_several_ranks_are_named() {
        let cases: &[(&[(&str, &str)], &str)] = &[
            (
                &[("PMI_SIZE", "2"), ("PMI_RANK", "0"), ("PMI_FD", "5")],
                "PMI",
            ),
            (&[("PMI_PORT", "h:1"), ("PMI_ID", "0")], "PMI"),
            (
                &[("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "0")],
                "Open MPI",
            ),
            (&[("PMIX_RANK", "0"), ("PMIX_NAMESPACE", "prte@1")], "PMIx"),
            (
                &[
                    ("SLURM_STEP_ID", "0"),
                    ("SLURM_PROCID", "1"),
                    ("SLURM_STEP_NUM_TASKS", "2"),
                ],
                "Slurm",
            ),
            (
                &[
                    ("SLURM_STEPID", "3"),
                    ("SLURM_PROCID", "0"),
                    ("SLURM_NTASKS", "8"),
                ],
                "Slurm",
            ),
            (&[("PALS_RANKID", "0"), ("PALS_LOCAL_SIZE", "8")], "PALS"),
            (&[("FLUX_JOB_SIZE", "2")], "flux"),
        ];
        for (vars, name) in cases {
            let launcher = seen(vars).unwrap_or_else(|| panic!("{vars:?}"));
            assert!(launcher.contains(name), "{vars:?}: {launcher}");
        }
    }

    #[test]
    fn one_process_and_batch_scripts_are_singletons() {
        let cases: &[&[(&str, &str)]] = &[
            &[],
            &[("PMI_SIZE", "1"), ("PMI_RANK", "0"), ("PMI_FD", "5")],
            &[
                ("OMPI_COMM_WORLD_SIZE", "1"),
                ("PMIX_RANK", "0"),
                ("PMIX_NAMESPACE", "prterun-h-1"),
            ],
            // A batch script, without and with the number of its shell's step.
            &[
                ("SLURM_NTASKS", "64"),
                ("SLURM_PROCID", "0"),
                ("SLURM_JOB_ID", "1"),
            ],
            &[
                ("SLURM_NTASKS", "64"),
                ("SLURM_PROCID", "0"),
                ("SLURM_STEP_ID", "4294967291"),
            ],
            // An interactive step of one task in a large allocation.
            &[
                ("SLURM_NTASKS", "64"),
                ("SLURM_STEP_NUM_TASKS", "1"),
                ("SLURM_PROCID", "0"),
                ("SLURM_STEP_ID", "0"),
            ],
            &[("PMI_SIZE", "many")],
        ];
        for vars in cases {
            assert_eq!(seen(vars), None, "{vars:?}");
        }
    }

    #[test]
    fn the_error_says_what_to_do() {
        let text = detect(|name| (name == "PMI_SIZE").then(|| "2".to_string()))
            .unwrap()
            .to_string();
        for part in ["PMI_SIZE=2", "mpirun", "CATENA_SINGLETON=1"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
