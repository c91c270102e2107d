//! What Linux says of this machine, below `/proc`, `/sys` and `/dev`.

use std::fs;
use std::path::{Path, PathBuf};

use catena_topo::{Machine, Resource};
use rustix::process::{Resource as Limited, getrlimit};

use crate::finding::{Finding, Weight};

use Weight::{Broken, Note, Slow};

/// Descriptors that mpirun needs for each rank, and besides.
const FILES: (u64, u64) = (3, 40);

/// Bytes of memory below which a job is likely to fail for it.
const LITTLE: u64 = 256 << 20;

/// Where to look: `/`, or a copy for tests.
#[derive(Clone, Debug)]
pub struct System(PathBuf);

impl System {
    /// The one that runs.
    pub fn here() -> System {
        System(PathBuf::from("/"))
    }

    /// One that is described below `root`.
    #[cfg(test)]
    pub fn at(root: &Path) -> System {
        System(root.to_path_buf())
    }

    /// What a file says, without blanks around it; `None` if it is not there.
    pub fn text(&self, path: &str) -> Option<String> {
        let text = fs::read(self.path(path)).ok()?;
        Some(String::from_utf8_lossy(&text).trim().to_string())
    }

    /// The number that a file holds.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// The names in a folder, sorted.
    pub fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path))
            .into_iter()
            .flatten()
            .flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Where a file lies.
    pub fn path(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    /// A line `NAME: VALUE` of a file.
    pub fn field(&self, path: &str, name: &str) -> Option<String> {
        let text = self.text(path)?;
        let mut values = text.lines().filter_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_string())
        });
        values.next()
    }
}

/// Looks at the cores, and at who else uses them. A job would have `ranks` here, each of which has
/// that number of `threads`.
pub fn cores(system: &System, ranks: u32, threads: u32) -> Vec<Finding> {
    let (machine, whole) = (Machine::here(), Machine::whole());
    let cores = machine.of(Resource::Core).len().max(1) as u32;
    let (mine, all) = (machine.cpus().len() as u32, whole.cpus().len() as u32);
    let mut found = Vec::new();
    let mut note = |weight, cause: String, remedy: &str| {
        found.push(Finding::new(weight, "cores", cause, remedy));
    };
    if mine < all {
        note(
            Note,
            format!(
                "processes that start here may use {mine} of {all} CPUs (cpuset, or affinity of the shell)"
            ),
            "ask the batch system or the container for more, or start no more ranks than that",
        );
    }
    if let Some(quota) = quota(system)
        && quota + 0.01 < f64::from(mine)
    {
        note(
            Slow,
            format!(
                "a control group grants the time of {quota:.1} CPUs, and stops all ranks together when that is used up"
            ),
            "raise cpu.max (docker run --cpus, the job's request), or start fewer ranks",
        );
    }
    let shared = counted(cores, "core", "cores");
    let wanted = u64::from(ranks) * u64::from(threads);
    if ranks > cores {
        note(
            Slow,
            format!("{ranks} ranks share {shared}"),
            "start no more ranks than cores, or name more hosts",
        );
    } else if wanted > u64::from(cores) {
        note(
            Slow,
            format!("OMP_NUM_THREADS={threads} makes {wanted} threads for {shared}"),
            "start fewer ranks, each with cores for its threads (--map-by core:PE=THREADS), or fewer threads",
        );
    }
    if let Some(busy) = busy(system)
        && busy * 2 > mine
    {
        note(
            Slow,
            format!("{busy} other processes want to run on {mine} CPUs now"),
            "see `top`, and end what is left of earlier jobs",
        );
    }
    found
}

/// A number and what is counted.
fn counted(number: u32, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

/// CPUs whose time the control group of this process grants: the least of it and those above.
fn quota(system: &System) -> Option<f64> {
    let folders = control_groups(system);
    let limits = folders.iter().filter_map(|folder| {
        let text = system.text(&format!("{folder}/cpu.max"))?;
        let (quota, period) = text.split_once(' ')?;
        let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
        Some(quota / period)
    });
    limits.min_by(f64::total_cmp)
}

/// The folders of the control group of this process, and of those above it (version 2).
fn control_groups(system: &System) -> Vec<String> {
    let own = system.text("/proc/self/cgroup").unwrap_or_default();
    let own = own.lines().find_map(|line| line.strip_prefix("0::"));
    let own = Path::new(own.unwrap_or("/"));
    let above = own
        .ancestors()
        .map(|path| path.to_string_lossy().into_owned());
    above
        .map(|path| format!("/sys/fs/cgroup{}", path.trim_end_matches('/')))
        .collect()
}

/// Processes that want to run now, without this one.
fn busy(system: &System) -> Option<u32> {
    let text = system.text("/proc/loadavg")?;
    // 0.20 0.18 0.12 RUNNABLE/ALL LAST
    let (runnable, _) = text.split_whitespace().nth(3)?.split_once('/')?;
    let minute: f64 = text.split_whitespace().next()?.parse().ok()?;
    let now: u32 = runnable.parse().ok()?;
    // Of the last minute, too: at a single moment anybody may run.
    Some(now.saturating_sub(1).min(minute.round() as u32))
}

/// How the processors and the memory are driven.
pub fn speed(system: &System) -> Vec<Finding> {
    let mut found = Vec::new();
    let cpu = "/sys/devices/system/cpu/cpu0/cpufreq";
    let driver = system
        .text(&format!("{cpu}/scaling_driver"))
        .unwrap_or_default();
    // These two drive the frequency by themselves, and mean by that word what others call usual.
    let drives_itself = matches!(&*driver, "intel_pstate" | "amd-pstate-epp");
    if system.text(&format!("{cpu}/scaling_governor")).as_deref() == Some("powersave")
        && !drives_itself
    {
        found.push(Finding::new(
            Slow,
            "frequency",
            "the governor `powersave` keeps the processors at their lowest frequency",
            "have the administrator run `cpupower frequency-set -g performance`",
        ));
    }
    let huge = system.text("/sys/kernel/mm/transparent_hugepage/enabled");
    if huge.is_some_and(|text| text.contains("[never]")) {
        found.push(Finding::new(
            Note,
            "huge pages",
            "transparent huge pages are off, so large arrays cost more misses of the TLB",
            "have the administrator write `madvise` to /sys/kernel/mm/transparent_hugepage/enabled",
        ));
    }
    let nodes = system.names("/sys/devices/system/node");
    let nodes = nodes
        .iter()
        .filter(|name| name[..].starts_with("node"))
        .count();
    let balances = system.number("/proc/sys/kernel/numa_balancing");
    if nodes > 1 && balances.is_some_and(|it| it != 0) {
        found.push(Finding::new(
            Slow,
            "NUMA balancing",
            "the kernel moves pages between NUMA nodes while ranks run, and takes them away for that",
            "bind the ranks (--bind-to core) and have the administrator run `sysctl kernel.numa_balancing=0`",
        ));
    }
    found
}

/// Memory that is left here.
pub fn memory(system: &System) -> Vec<Finding> {
    let mut found = Vec::new();
    let kib = |name| {
        let value = system.field("/proc/meminfo", name)?;
        value
            .split(' ')
            .next()?
            .parse::<u64>()
            .ok()
            .map(|kib| kib << 10)
    };
    if let (Some(left), Some(all)) = (kib("MemAvailable"), kib("MemTotal"))
        && left < LITTLE.min(all / 10)
    {
        found.push(Finding::new(
            Broken,
            "memory",
            format!("only {} MiB of {} MiB are left", left >> 20, all >> 20),
            "end what uses it (`top -o %MEM`)",
        ));
    }
    for folder in control_groups(system) {
        let number = |name| system.number(&format!("{folder}/{name}"));
        if let (Some(most), Some(used)) = (number("memory.max"), number("memory.current"))
            && most.saturating_sub(used) < LITTLE
        {
            found.push(Finding::new(
                Broken,
                "memory",
                format!(
                    "the control group has {} MiB of its {} MiB left, and a process that takes more is killed",
                    most.saturating_sub(used) >> 20,
                    most >> 20
                ),
                "ask for more (docker run --memory, the job's request)",
            ));
            break;
        }
    }
    found
}

/// Limits of this shell, which ranks inherit.
pub fn limits(system: &System, ranks: u32) -> Vec<Finding> {
    let mut found = Vec::new();
    let files = getrlimit(Limited::Nofile).current.unwrap_or(u64::MAX);
    let needed = FILES.0 * u64::from(ranks) + FILES.1;
    if files < needed {
        found.push(Finding::new(
            Broken,
            "limits",
            format!("a process may have {files} files open, and mpirun needs {needed} for {ranks} ranks"),
            format!("run `ulimit -n {needed}`, or have the administrator raise nofile in /etc/security/limits.conf"),
        ));
    }
    let cards = system.names("/sys/class/infiniband");
    let locked = getrlimit(Limited::Memlock).current;
    if let (Some(card), Some(locked)) = (cards.first(), locked) {
        found.push(Finding::new(
            Broken,
            "limits",
            format!("a process may lock {} KiB of memory, and {card} can use only memory that is locked", locked >> 10),
            "run `ulimit -l unlimited`, or have the administrator raise memlock in /etc/security/limits.conf (and LimitMEMLOCK of slurmd)",
        ));
    }
    if let Some(most) = getrlimit(Limited::As).current {
        found.push(Finding::new(
            Note,
            "limits",
            format!("a process may have {} MiB of addresses, of which libraries take some GiB that they never use", most >> 20),
            "run `ulimit -v unlimited`",
        ));
    }
    found
}

/// Cards and devices of which the driver is missing, or out of reach.
pub fn devices(system: &System) -> Vec<Finding> {
    let mut found = Vec::new();
    for card in system.names("/sys/class/infiniband") {
        let verbs = system.names("/dev/infiniband");
        let verbs: Vec<_> = verbs
            .iter()
            .filter(|name| name.starts_with("uverbs"))
            .collect();
        let opens = |name: &&&String| {
            let path = system.path(&format!("/dev/infiniband/{name}"));
            fs::File::options()
                .read(true)
                .write(true)
                .open(path)
                .is_ok()
        };
        if !verbs.iter().any(|name| opens(&name)) {
            found.push(Finding::new(
                Slow,
                "cards",
                format!("the card {card} cannot be used: no /dev/infiniband/uverbs* can be opened"),
                "load ib_uverbs, or give the container --device /dev/infiniband",
            ));
        }
    }
    for at in system.names("/sys/bus/pci/devices") {
        let of = |what| system.text(&format!("/sys/bus/pci/devices/{at}/{what}"));
        let (vendor, class) = (
            of("vendor").unwrap_or_default(),
            of("class").unwrap_or_default(),
        );
        // Class 3 is displays, of which those that compute are one; 0x1200 accelerators.
        let computes = class.starts_with("0x0302")
            || class.starts_with("0x0300")
            || class.starts_with("0x1200");
        let driver = match &*vendor {
            "0x10de" if computes => ("NVIDIA", "/dev/nvidiactl", "nvidia", "--gpus all"),
            "0x1002" if computes => (
                "AMD",
                "/dev/kfd",
                "amdgpu",
                "--device /dev/kfd --device /dev/dri",
            ),
            _ => continue,
        };
        let (maker, node, module, option) = driver;
        if !system.path(node).exists() {
            found.push(Finding::new(
                Note,
                "devices",
                format!(
                    "there is a device of {maker} ({at}), but no {node}, so programs do not see it"
                ),
                format!("load the module {module}, or give the container {option}"),
            ));
        }
    }
    found
}

/// Files that other MPI libraries have left in shared memory: nothing has them open.
pub fn leftovers(system: &System) -> Vec<Finding> {
    const NAMES: [&str; 7] = [
        "mpich",
        "vader_segment",
        "sm_segment",
        "psm2_shm",
        "psm3_shm",
        "ucx_shm",
        "Intel_MPI",
    ];
    let (mut bytes, mut names) = (0, Vec::new());
    for name in system.names("/dev/shm") {
        if !NAMES.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        let path = format!("/dev/shm/{name}");
        let Ok(about) = fs::metadata(system.path(&path)) else {
            continue;
        };
        if !is_used(system, &path) {
            bytes += about.len();
            names.push(name);
        }
    }
    let Some(first) = names.first() else {
        return Vec::new();
    };
    let count = counted(names.len() as u32, "file", "files");
    vec![Finding::new(
        Note,
        "leftovers",
        format!(
            "jobs of another MPI that died have left {count} with {} MiB in /dev/shm ({first})",
            bytes >> 20
        ),
        format!("remove what is yours: rm /dev/shm/{first}"),
    )]
}

/// Whether a process that this user may look at has a file mapped.
fn is_used(system: &System, path: &str) -> bool {
    let is_number = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    let processes = system.names("/proc").into_iter().filter(is_number);
    let maps = processes.filter_map(|pid| system.text(&format!("/proc/{pid}/maps")));
    let mut maps = maps.flat_map(|maps| maps.lines().map(str::to_string).collect::<Vec<_>>());
    maps.any(|line| line.contains(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system with these files.
    struct Fake(PathBuf);

    impl Fake {
        fn new(name: &str, files: &[(&str, &str)]) -> Fake {
            let root =
                std::env::temp_dir().join(format!("catena-doctor-{name}-{}", std::process::id()));
            let fake = Fake(root);
            for (path, text) in files {
                let path = fake.0.join(path.trim_start_matches('/'));
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            fake
        }

        fn system(&self) -> System {
            System::at(&self.0)
        }
    }

    impl Drop for Fake {
        fn drop(&mut self) {
            _ = fs::remove_dir_all(&self.0);
        }
    }

    fn about(found: &[Finding]) -> Vec<(Weight, &str)> {
        found.iter().map(|it| (it.weight, &it.about[..])).collect()
    }

    #[test]
    fn a_quota_counts_wherever_above_it_stands() {
        let fake = Fake::new(
            "quota",
            &[
                ("/proc/self/cgroup", "0::/jobs/one\n"),
                ("/sys/fs/cgroup/jobs/cpu.max", "50000 100000\n"),
                ("/sys/fs/cgroup/jobs/one/cpu.max", "max 100000\n"),
                ("/proc/loadavg", "0.00 0.00 0.00 1/90 7\n"),
            ],
        );
        assert_eq!(quota(&fake.system()), Some(0.5));
        let found = cores(&fake.system(), 1, 1);
        assert!(
            found
                .iter()
                .any(|it| it.weight == Slow && it.cause.contains("0.5 CPUs")),
            "{found:?}"
        );
    }

    #[test]
    fn memory_that_is_nearly_used_up_is_told() {
        let full = Fake::new(
            "full",
            &[
                (
                    "/proc/meminfo",
                    "MemTotal: 8000000 kB\nMemFree: 1 kB\nMemAvailable: 1000 kB\n",
                ),
                ("/proc/self/cgroup", "0::/\n"),
                ("/sys/fs/cgroup/memory.max", "1000000000\n"),
                ("/sys/fs/cgroup/memory.current", "999000000\n"),
            ],
        );
        assert_eq!(about(&memory(&full.system())), [(Broken, "memory"); 2]);
        let free = Fake::new(
            "free",
            &[
                (
                    "/proc/meminfo",
                    "MemTotal: 8000000 kB\nMemAvailable: 7000000 kB\n",
                ),
                ("/proc/self/cgroup", "0::/\n"),
                ("/sys/fs/cgroup/memory.max", "max\n"),
            ],
        );
        assert_eq!(memory(&free.system()), []);
    }

    #[test]
    fn settings_of_the_kernel_that_cost_time_are_told() {
        let slow = Fake::new(
            "slow",
            &[
                (
                    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
                    "acpi-cpufreq\n",
                ),
                (
                    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                    "powersave\n",
                ),
                (
                    "/sys/kernel/mm/transparent_hugepage/enabled",
                    "always madvise [never]\n",
                ),
                ("/sys/devices/system/node/node0/x", ""),
                ("/sys/devices/system/node/node1/x", ""),
                ("/proc/sys/kernel/numa_balancing", "1\n"),
            ],
        );
        let found = speed(&slow.system());
        assert_eq!(
            about(&found),
            [
                (Slow, "frequency"),
                (Note, "huge pages"),
                (Slow, "NUMA balancing")
            ]
        );
        let usual = Fake::new(
            "usual",
            &[
                (
                    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
                    "intel_pstate\n",
                ),
                (
                    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                    "powersave\n",
                ),
                (
                    "/sys/kernel/mm/transparent_hugepage/enabled",
                    "always [madvise] never\n",
                ),
                ("/sys/devices/system/node/node0/x", ""),
                ("/proc/sys/kernel/numa_balancing", "1\n"),
            ],
        );
        assert_eq!(speed(&usual.system()), []);
    }

    #[test]
    fn cards_and_devices_without_a_driver_are_told() {
        let pci = "/sys/bus/pci/devices/0000:17:00.0";
        let fake = Fake::new(
            "devices",
            &[
                ("/sys/class/infiniband/mlx5_0/x", ""),
                (&format!("{pci}/vendor"), "0x10de\n"),
                (&format!("{pci}/class"), "0x030200\n"),
            ],
        );
        let found = devices(&fake.system());
        assert_eq!(about(&found), [(Slow, "cards"), (Note, "devices")]);
        let driven = Fake::new(
            "driven",
            &[
                ("/sys/class/infiniband/mlx5_0/x", ""),
                ("/dev/infiniband/uverbs0", ""),
                (&format!("{pci}/vendor"), "0x10de\n"),
                (&format!("{pci}/class"), "0x030200\n"),
                ("/dev/nvidiactl", ""),
            ],
        );
        assert_eq!(devices(&driven.system()), []);
    }

    #[test]
    fn what_nobody_has_mapped_is_left_over() {
        let fake = Fake::new(
            "left",
            &[
                ("/dev/shm/vader_segment.h.0", "xx"),
                ("/dev/shm/psm2_shm.1", "xx"),
                ("/dev/shm/mine", "xx"),
                (
                    "/proc/7/maps",
                    "7f00-7f01 rw-s 0 0:1 5 /dev/shm/psm2_shm.1\n",
                ),
            ],
        );
        let found = leftovers(&fake.system());
        assert!(
            found.len() == 1 && found[0].cause.contains("1 file "),
            "{found:?}"
        );
        assert!(found[0].remedy.contains("vader_segment"), "{found:?}");
    }
}
