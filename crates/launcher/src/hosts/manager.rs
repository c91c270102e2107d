//! Resource managers: they say which hosts there are, and start the daemons on
//! all of them with one command.

use std::ffi::OsString;
use std::process::Command;

use catena_job::UsageError;

use super::list::Hosts;

/// How daemons are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// An agent for each host, such as ssh.
    Agent,
    /// `srun` in an allocation of Slurm.
    Slurm,
    /// `mpiexec` of PALS, on an HPE Cray EX.
    Pals,
    /// `flux run` in an instance of Flux.
    Flux,
    /// `blaunch` in a job of LSF, as an agent.
    Lsf,
    /// `qrsh -inherit` in a job of (Sun, Open) Grid Engine, as an agent.
    Sge,
}

/// The words for them.
const WORDS: [(&str, Launcher); 6] = [
    ("ssh", Launcher::Agent),
    ("slurm", Launcher::Slurm),
    ("pals", Launcher::Pals),
    ("lsf", Launcher::Lsf),
    ("sge", Launcher::Sge),
    ("flux", Launcher::Flux),
];

/// Where PALS has its `mpiexec`; another one may be first in `PATH`.
const PALS: &str = "/opt/cray/pals/default/bin/mpiexec";

impl Launcher {
    /// From its name.
    pub fn parse(option: &str, name: &str) -> Result<Launcher, UsageError> {
        let known = WORDS.iter().find(|(word, _)| *word == name);
        known.map(|(_, launcher)| *launcher).ok_or_else(|| {
            UsageError(format!(
                "{option} {name}: it must be ssh, slurm, pals, lsf, sge or flux"
            ))
        })
    }

    /// The one that the environment asks for.
    pub fn detect(env: impl Fn(&str) -> Option<String>) -> Launcher {
        let has = |name: &str| env(name).is_some_and(|value| !value.is_empty());
        if has("SLURM_JOB_ID") && has("SLURM_JOB_NODELIST") {
            Launcher::Slurm
        } else if has("PBS_NODEFILE") && std::path::Path::new(PALS).exists() {
            Launcher::Pals
        } else if has("LSB_JOBID") && (has("LSB_MCPU_HOSTS") || has("LSB_DJOB_HOSTFILE")) {
            Launcher::Lsf
        } else if has("PE_HOSTFILE") {
            Launcher::Sge
        } else if has("FLUX_URI") {
            Launcher::Flux
        } else {
            Launcher::Agent
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
                // Slots are told by how often it names a host; so does OAR.
                let file = ["PBS_NODEFILE", "OAR_NODEFILE"].into_iter();
                let mut file = file.filter_map(|name| Some((name, env(name)?)));
                let Some((name, path)) = file.next() else {
                    return Ok(None);
                };
                hosts.add_file(name, path.as_ref())?;
            }
            Launcher::Lsf => match (env("LSB_MCPU_HOSTS"), env("LSB_DJOB_HOSTFILE")) {
                (Some(list), _) if !list.trim().is_empty() => add_pairs(&mut hosts, &list)
                    .map_err(|why| UsageError(format!("LSB_MCPU_HOSTS={list}: {why}")))?,
                (_, Some(path)) => hosts.add_file("LSB_DJOB_HOSTFILE", path.as_ref())?,
                _ => return Ok(None),
            },
            Launcher::Sge => {
                let Some(path) = env("PE_HOSTFILE") else {
                    return Ok(None);
                };
                let wrong = |why: String| UsageError(format!("PE_HOSTFILE {path}: {why}"));
                let text = std::fs::read_to_string(&path);
                let text = text.map_err(|error| wrong(format!("it cannot be read: {error}")))?;
                // Host, slots, queue and processors.
                let pairs = text
                    .lines()
                    .flat_map(|line| line.split_whitespace().take(2));
                let pairs: Vec<&str> = pairs.collect();
                add_pairs(&mut hosts, &pairs.join(" ")).map_err(wrong)?;
            }
            Launcher::Flux => {
                let said = Command::new("flux").args(["getattr", "hostlist"]).output();
                let list = said.ok().filter(|said| said.status.success());
                let Some(list) = list else { return Ok(None) };
                let list = String::from_utf8_lossy(&list.stdout).trim().to_string();
                // An instance has all of its hosts, each with the cores of this one.
                add_slurm(
                    &mut hosts,
                    &list,
                    &catena_boot::available_cpus().to_string(),
                )
                .map_err(|why| UsageError(format!("flux getattr hostlist: {list}: {why}")))?;
            }
        }
        Ok(Some(hosts))
    }

    /// What starts a program on one host, called as `COMMAND HOST PROGRAM`; none for those that
    /// start programs on all hosts with one command.
    pub fn agent(self) -> Option<&'static [&'static str]> {
        match self {
            Launcher::Agent => Some(&super::agent::SSH),
            Launcher::Lsf => Some(&["blaunch"]),
            Launcher::Sge => Some(&["qrsh", "-inherit"]),
            Launcher::Slurm | Launcher::Pals | Launcher::Flux => None,
        }
    }

    /// What starts a program on one host, called as `COMMAND HOST PROGRAM`, also of those that
    /// start daemons on all hosts at once; none where a host cannot be named like that.
    pub fn for_one(self) -> Option<Vec<OsString>> {
        let words = match self {
            Launcher::Slurm => "srun --nodes=1 --ntasks=1 --overlap --mpi=none --cpu-bind=none -w",
            Launcher::Pals => return Some([PALS, "-n", "1", "--hosts"].map(OsString::from).into()),
            Launcher::Flux => return None,
            Launcher::Agent | Launcher::Lsf | Launcher::Sge => {
                return self
                    .agent()
                    .map(|words| words.iter().map(OsString::from).collect());
            }
        };
        Some(words.split(' ').map(OsString::from).collect())
    }

    /// The command that starts a daemon on each of `hosts`; `agent` takes the
    /// place of its name.
    pub fn command(self, agent: Option<&[OsString]>, hosts: &[&str]) -> Vec<OsString> {
        let (name, options) = match self {
            Launcher::Flux => (
                "flux",
                format!(
                    "run --nodes={0} --ntasks={0} --requires=hosts:{1} -o cpu-affinity=off -o \
                     mpi=none",
                    hosts.len(),
                    hosts.join(",")
                ),
            ),
            Launcher::Slurm | Launcher::Agent | Launcher::Lsf | Launcher::Sge => (
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
        hosts.add(name, Some(slots.max(1)));
    }
    Ok(())
}

/// Adds the hosts of a list `n1 4 n2 2`.
fn add_pairs(hosts: &mut Hosts, list: &str) -> Result<(), String> {
    let words: Vec<&str> = list.split_whitespace().collect();
    for pair in words.chunks(2) {
        let slots = pair.get(1).and_then(|slots| slots.parse::<u32>().ok());
        let slots = slots.ok_or_else(|| format!("there is no number behind {}", pair[0]))?;
        if slots > 0 {
            hosts.add(pair[0], Some(slots));
        }
    }
    match hosts.as_slice().is_empty() {
        true => Err("it names no hosts".to_string()),
        false => Ok(()),
    }
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
            .map(|h| (h.name.as_str(), h.slots.unwrap_or(0)))
            .collect();
        assert_eq!(slots, [("n1", 4), ("n2", 4), ("n3", 2), ("m", 1)]);
        assert_eq!(Launcher::detect(|_| None), Launcher::Agent);
        assert_eq!(Launcher::Agent.hosts(|_| None), Ok(None));
    }

    #[test]
    fn other_managers_give_hosts_and_slots() {
        let folder = std::env::temp_dir().join(format!("catena-pe-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let pe = file("pe", "n1 4 all.q@n1 UNDEFINED\nn2 2 all.q@n2 <NULL>\n");
        let pbs = file("pbs", "n1\nn1\nn2\n");
        let slots = |launcher: Launcher, variable: &str, value: &str| {
            let env = |name: &str| match name {
                "LSB_JOBID" => Some("1".to_string()),
                name => (name == variable).then(|| value.to_string()),
            };
            assert_eq!(Launcher::detect(env), launcher);
            let hosts = launcher.hosts(env).unwrap().unwrap();
            let text = |host: &super::super::list::Host| {
                format!("{}:{}", host.name, host.slots.unwrap_or(1))
            };
            hosts
                .as_slice()
                .iter()
                .map(text)
                .collect::<Vec<_>>()
                .join(",")
        };
        assert_eq!(
            slots(Launcher::Lsf, "LSB_MCPU_HOSTS", "n1 4 n2 2 "),
            "n1:4,n2:2"
        );
        assert_eq!(slots(Launcher::Sge, "PE_HOSTFILE", &pe), "n1:4,n2:2");
        assert_eq!(
            slots(Launcher::Agent, "PBS_NODEFILE", &pbs),
            "n1:1,n1:1,n2:1"
        );
        assert_eq!(
            slots(Launcher::Agent, "OAR_NODEFILE", &pbs),
            "n1:1,n1:1,n2:1"
        );
        let broken = |name: &str| (name == "LSB_MCPU_HOSTS").then(|| "n1 x".to_string());
        assert!(
            Launcher::Lsf
                .hosts(broken)
                .unwrap_err()
                .0
                .contains("no number behind n1")
        );
        std::fs::remove_dir_all(&folder).unwrap();
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
