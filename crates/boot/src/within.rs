//! Launchers within ranks: workflow drivers, which run as ranks themselves, start jobs by the
//! mpiexec or srun of others. The processes of such a job inherit the variable that leads to
//! Catena's launcher, where they have no place.
//!
//! So a rank is told, with that variable, by which traces it knows the launchers around its own.
//! Whoever finds another trace than these was started by a launcher within.

use std::fmt::Write as _;

/// The traces that a rank was given by the launchers around its own.
pub const WITHIN_VAR: &str = "CATENA_WITHIN";

/// Variables that each launcher sets anew, and programs do not: where it is reached, or the number
/// of its job.
const TRACES: [&str; 7] = [
    "PMI_FD",
    "PMI_PORT",
    "PMIX_NAMESPACE",
    "SLURM_STEP_ID",
    "SLURM_STEPID",
    "PALS_APID",
    "FLUX_JOB_ID",
];

/// A value as a short text.
fn digest(value: &str) -> u64 {
    // FNV-1a.
    value.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The value of [`WITHIN_VAR`] for a process with these variables.
pub fn traces(env: impl Fn(&str) -> Option<String>) -> String {
    let mut text = String::new();
    for name in TRACES {
        if let Some(value) = env(name) {
            let _ = write!(text, "{name}:{:x};", digest(&value));
        }
    }
    text
}

/// Whether a launcher within the rank of Catena's has started this process.
pub(crate) fn is_started_within(env: impl Fn(&str) -> Option<String>) -> bool {
    let Some(known) = env(WITHIN_VAR) else {
        return false;
    };
    let now = traces(env);
    let mut now = now.split_terminator(';');
    now.any(|trace| !known.split_terminator(';').any(|it| it == trace))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among<'a>(vars: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |name| {
            let found = vars.iter().find(|(of, _)| *of == name);
            found.map(|(_, value)| value.to_string())
        }
    }

    #[test]
    fn a_launcher_within_is_told_from_those_around() {
        let around = [("PMI_FD", "5"), ("SLURM_STEP_ID", "3")];
        let known = traces(among(&around));
        let within = |vars: &[(&str, &str)]| {
            let mut vars = vars.to_vec();
            vars.push((WITHIN_VAR, &known));
            is_started_within(among(&vars))
        };
        assert!(!within(&around));
        assert!(!within(&around[..1]), "a script may drop variables");
        assert!(!within(&[
            ("PMI_FD", "5"),
            ("PMI_RANK", "7"),
            ("SLURM_PROCID", "7")
        ]));
        assert!(within(&[("PMI_FD", "6"), ("SLURM_STEP_ID", "3")]));
        assert!(within(&[("SLURM_STEP_ID", "4")]));
        assert!(within(&[
            ("PMI_FD", "5"),
            ("PMIX_NAMESPACE", "prterun-h-1@1")
        ]));
        assert!(
            !is_started_within(among(&[("PMI_FD", "5")])),
            "nobody has said"
        );
    }
}
