//! Resource managers: they say which hosts there are, and start the daemons on
//! all of them with one command.

use std::ffi::OsString;

use super::list::Hosts;
use crate::args::UsageError;

/// How daemons are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// An agent for each host, such as ssh.
    Agent,
    /// `srun` in an allocation of Slurm.
    Slurm,
    /// `mpiexec` of PALS, on an HPE Cray EX.
    Pals,
}

/// Where PALS has its `mpiexec`; another one may be first in `PATH`.
const PALS: &str = "/opt/cray/pals/default/bin/mpiexec";

impl Launcher {
    /// From its name.
    pub fn parse(option: &str, name: &str) -> Result<Launcher, UsageError> {
        match name {
            "ssh" => Ok(Launcher::Agent),
            "slurm" => Ok(Launcher::Slurm),
            "pals" => Ok(Launcher::Pals),
            _ => Err(UsageError(format!(
                "{option} {name}: it must be ssh, slurm or pals"
            ))),
        }
    }

    /// The one that the environment asks for.
    pub fn detect(env: impl Fn(&str) -> Option<String>) -> Launcher {
        let slurm = env("SLURM_JOB_ID").is_some() && env("SLURM_JOB_NODELIST").is_some();
        match slurm {
            true => Launcher::Slurm,
            false if env("PBS_NODEFILE").is_some() && std::path::Path::new(PALS).exists() => {
                Launcher::Pals
            }
            false => Launcher::Agent,
        }
    }

    /// The hosts of the allocation, if it names them.
    ///
    /// # Errors
    /// If what it says is not understood.
    pub fn hosts(self, env: impl Fn(&str) -> Option<String>) -> Result<Option<Hosts>, UsageError> {
        let mut hosts = Hosts::default();
        match self {
            Launcher::Slurm => {
                let Some(nodes) = env("SLURM_JOB_NODELIST") else {
                    return Ok(None);
                };
                let tasks = ["SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"];
                let tasks = tasks.iter().find_map(|name| env(name));
                add_slurm(&mut hosts, &nodes, tasks.as_deref().unwrap_or("1"))
                    .map_err(|cause| UsageError(format!("SLURM_JOB_NODELIST={nodes}: {cause}")))?;
            }
            Launcher::Pals | Launcher::Agent => {
                let Some(path) = env("PBS_NODEFILE") else {
                    return Ok(None);
                };
                hosts.add_file("PBS_NODEFILE", path.as_ref())?;
            }
        }
        Ok(Some(hosts))
    }

    /// The command that starts a daemon on each of `hosts`; `agent` takes the
    /// place of its name.
    pub fn command(self, agent: Option<&[OsString]>, hosts: &[&str]) -> Vec<OsString> {
        let (name, options) = match self {
            Launcher::Slurm | Launcher::Agent => (
                "srun",
                format!(
                    "--nodes={0} --ntasks={0} --ntasks-per-node=1 --overlap --mpi=none \
                     --cpu-bind=none --kill-on-bad-exit=0 --input=none --nodelist={1}",
                    hosts.len(),
                    hosts.join(",")
                ),
            ),
            Launcher::Pals => (
                PALS,
                format!(
                    "-n {} --ppn 1 --cpu-bind none --hosts {}",
                    hosts.len(),
                    hosts.join(",")
                ),
            ),
        };
        let mut command = agent.map_or_else(|| vec![name.into()], <[OsString]>::to_vec);
        command.extend(options.split_whitespace().map(OsString::from));
        command
    }
}

/// Adds the hosts of Slurm's list, such as `n[1-3,07],login`, with as many slots
/// as its other list says, such as `4(x3),2,1`.
fn add_slurm(hosts: &mut Hosts, nodes: &str, tasks: &str) -> Result<(), String> {
    let mut slots = Vec::new();
    for part in tasks.split(',') {
        let (count, times) = match part.split_once("(x") {
            Some((count, times)) => (count, times.trim_end_matches(')')),
            None => (part, "1"),
        };
        let wrong = |_| format!("{tasks} are not numbers of tasks");
        let count: u32 = count.parse().map_err(wrong)?;
        let times: usize = times.parse().map_err(wrong)?;
        slots.extend(std::iter::repeat_n(count, times.min(1 << 20)));
    }
    for (index, name) in expand(nodes)?.iter().enumerate() {
        let slots = slots.get(index).or(slots.last()).copied().unwrap_or(1);
        hosts.add(name, Some(slots.max(1)))?;
    }
    Ok(())
}

/// The names that a list with brackets stands for.
fn expand(list: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for word in split_outside(list) {
        let Some((head, rest)) = word.split_once('[') else {
            names.push(word.to_string());
            continue;
        };
        let (inside, tail) = rest.split_once(']').ok_or("a bracket is not closed")?;
        let tails = expand(tail)?;
        for range in inside.split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let number = |text: &str| {
                text.parse::<u32>()
                    .map_err(|_| format!("'{range}' is not a range"))
            };
            let (from, to) = (number(first)?, number(last)?);
            if to < from || to - from > 1 << 20 {
                return Err(format!("'{range}' is not a range"));
            }
            for n in from..=to {
                for tail in &tails {
                    names.push(format!("{head}{n:0width$}{tail}", width = first.len()));
                }
            }
        }
    }
    Ok(names)
}

/// Splits at commas outside of brackets; a single empty word stays one.
fn split_outside(list: &str) -> Vec<&str> {
    let mut depth = 0;
    list.split(|c| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_slurm_are_expanded() {
        for (list, names) in [
            ("n1", &["n1"][..]),
            ("n[1-3]", &["n1", "n2", "n3"]),
            ("a,n[08-10,2],b", &["a", "n08", "n09", "n10", "n2", "b"]),
            ("r[1-2]n[1-2]-x", &["r1n1-x", "r1n2-x", "r2n1-x", "r2n2-x"]),
        ] {
            assert_eq!(expand(list).unwrap(), names, "{list}");
        }
        for bad in ["n[1", "n[a]", "n[3-1]", "n[1-4000000000]"] {
            assert!(expand(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_allocation_gives_hosts_and_slots() {
        let env = |name: &str| match name {
            "SLURM_JOB_ID" => Some("7".to_string()),
            "SLURM_JOB_NODELIST" => Some("n[1-3],m".to_string()),
            "SLURM_TASKS_PER_NODE" => Some("4(x2),2,1".to_string()),
            _ => None,
        };
        let launcher = Launcher::detect(env);
        assert_eq!(launcher, Launcher::Slurm);
        let hosts = launcher.hosts(env).unwrap().unwrap();
        let slots: Vec<_> = hosts
            .as_slice()
            .iter()
            .map(|h| (h.name.as_str(), h.slots))
            .collect();
        assert_eq!(slots, [("n1", 4), ("n2", 4), ("n3", 2), ("m", 1)]);
        assert_eq!(Launcher::detect(|_| None), Launcher::Agent);
        assert_eq!(Launcher::Agent.hosts(|_| None), Ok(None));
    }

    #[test]
    fn one_command_starts_all() {
        let command = Launcher::Pals.command(Some(&["pals".into()]), &["a", "b"]);
        let words = [
            "pals",
            "-n",
            "2",
            "--ppn",
            "1",
            "--cpu-bind",
            "none",
            "--hosts",
            "a,b",
        ];
        assert_eq!(command, words);
        let command = Launcher::Slurm.command(None, &["a", "b"]);
        assert_eq!(command[0], "srun");
        assert!(command.contains(&"--nodelist=a,b".into()));
    }
}
