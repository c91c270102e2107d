//! Row 1: the hardware that this process may run on, as Linux tells: sysfs, and
//! the affinity mask.
//!
//! | resource  | told by                                                        |
//! |-----------|----------------------------------------------------------------|
//! | package   | `cpu*/topology/package_cpus_list` (old: `core_siblings_list`)  |
//! | NUMA node | `node/node*/cpulist`                                           |
//! | caches    | `cpu*/cache/index*/{level,type,shared_cpu_list}`               |
//! | core      | `cpu*/topology/core_cpus_list` (old: `thread_siblings_list`)   |
#![forbid(unsafe_code)]

mod cpus;

use std::fs;
use std::path::Path;

pub use cpus::Cpus;

/// Kinds of hardware resource, the largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Resource {
    Machine,
    Package,
    NumaNode,
    L3Cache,
    L2Cache,
    L1Cache,
    Core,
    /// A hardware thread: what Linux calls a CPU.
    Pu,
}

impl Resource {
    /// All of them, the largest first.
    pub const ALL: [Resource; 8] = [
        Resource::Machine,
        Resource::Package,
        Resource::NumaNode,
        Resource::L3Cache,
        Resource::L2Cache,
        Resource::L1Cache,
        Resource::Core,
        Resource::Pu,
    ];

    /// Its name as a URI. The names are those of hwloc, which people know.
    pub const fn uri(self) -> &'static str {
        match self {
            Resource::Machine => "hwloc://Machine",
            Resource::Package => "hwloc://Package",
            Resource::NumaNode => "hwloc://NUMANode",
            Resource::L3Cache => "hwloc://L3Cache",
            Resource::L2Cache => "hwloc://L2Cache",
            Resource::L1Cache => "hwloc://L1Cache",
            Resource::Core => "hwloc://Core",
            Resource::Pu => "hwloc://PU",
        }
    }

    /// The resource of that name, with or without its scheme, in any case.
    pub fn named(name: &str) -> Option<Resource> {
        let bare = |name: &str| name.rsplit('/').next().map(str::to_ascii_lowercase);
        let known = |r: &Resource| {
            r.uri().eq_ignore_ascii_case(name)
                || (!name.contains('/') && bare(r.uri()) == bare(name))
        };
        Resource::ALL.into_iter().find(known)
    }
}

/// Where a process may run within one kind of resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// The machine has, or tells of, no such resource.
    Unknown,
    /// In several instances.
    Several,
    /// In this one only: its lowest CPU.
    One(u32),
}

/// Where this process may run, among its machine's resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place([Within; Resource::ALL.len()]);

impl Place {
    /// That of the calling process, now: somebody may move it later.
    pub fn here() -> Place {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let allowed = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
            .and_then(Cpus::parse);
        match allowed {
            Some(cpus) => Place::of(&cpus, Path::new("/sys/devices/system")),
            None => Place([Within::Unknown; Resource::ALL.len()]),
        }
    }

    /// That of a process which may use `cpus` of the machine that `sys`
    /// describes.
    pub fn of(cpus: &Cpus, sys: &Path) -> Place {
        let Some(first) = cpus.first() else {
            return Place([Within::Unknown; Resource::ALL.len()]);
        };
        Place(
            Resource::ALL.map(|resource| match instance(resource, first, sys) {
                _ if resource == Resource::Machine => Within::One(0),
                None => Within::Unknown,
                Some(all) if cpus.is_subset(&all) => Within::One(all.first().unwrap_or(first)),
                Some(_) => Within::Several,
            }),
        )
    }

    /// Where it may run within `resource`.
    pub fn within(&self, resource: Resource) -> Within {
        self.0[resource as usize]
    }
}

/// The CPUs of the resource that has that CPU.
fn instance(resource: Resource, cpu: u32, sys: &Path) -> Option<Cpus> {
    let at = sys.join(format!("cpu/cpu{cpu}"));
    let either = |new: &str, old: &str| list(&at.join(new)).or_else(|| list(&at.join(old)));
    match resource {
        Resource::Machine => None,
        Resource::Package => either("topology/package_cpus_list", "topology/core_siblings_list"),
        Resource::NumaNode => below(&sys.join("node"), "node")
            .into_iter()
            .find_map(|node| list(&node.join("cpulist")).filter(|cpus| cpus.contains(cpu))),
        Resource::L3Cache => cache(&at, "3"),
        Resource::L2Cache => cache(&at, "2"),
        Resource::L1Cache => cache(&at, "1"),
        Resource::Core => either("topology/core_cpus_list", "topology/thread_siblings_list"),
        Resource::Pu => Some(Cpus::from(cpu)),
    }
}

/// The CPUs that share a data cache.
fn cache(cpu: &Path, level: &str) -> Option<Cpus> {
    let caches = below(&cpu.join("cache"), "index").into_iter();
    let told = |at: &Path, what: &str| fs::read_to_string(at.join(what)).unwrap_or_default();
    let mut fitting = caches
        .filter(|at| told(at, "level").trim() == level && told(at, "type").trim() != "Instruction");
    list(&fitting.next()?.join("shared_cpu_list"))
}

/// What lies in `folder` under names that start so.
fn below(folder: &Path, start: &str) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(start))
        .map(|entry| entry.path())
        .collect()
}

/// Reads a list of CPUs; `None` if there is none, or it is empty.
fn list(at: &Path) -> Option<Cpus> {
    Cpus::parse(&fs::read_to_string(at).ok()?).filter(|cpus| cpus.first().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two packages of two cores with two threads each; L3 per package, L2 per
    /// core; one NUMA node.
    fn machine() -> std::path::PathBuf {
        let sys = std::env::temp_dir().join(format!("catena-topo-{}", std::process::id()));
        let put = |at: String, text: &str| {
            let at = sys.join(at);
            fs::create_dir_all(at.parent().expect("a folder")).expect("writable");
            fs::write(at, text).expect("writable");
        };
        put("node/node0/cpulist".into(), "0-7\n");
        put("node/node1/cpulist".into(), "\n");
        for cpu in 0..8 {
            let (package, core) = (cpu / 4 * 4, cpu / 2 * 2);
            let (package, core) = (
                format!("{}-{}\n", package, package + 3),
                format!("{},{}\n", core, core + 1),
            );
            put(format!("cpu/cpu{cpu}/topology/package_cpus_list"), &package);
            put(format!("cpu/cpu{cpu}/topology/thread_siblings_list"), &core);
            for (index, level, kind, shared) in [
                (0, "1", "Instruction", &package),
                (1, "1", "Data", &core),
                (2, "3", "Unified", &package),
            ] {
                let at = format!("cpu/cpu{cpu}/cache/index{index}");
                put(format!("{at}/level"), &format!("{level}\n"));
                put(format!("{at}/type"), &format!("{kind}\n"));
                put(format!("{at}/shared_cpu_list"), shared);
            }
        }
        sys
    }

    #[test]
    fn a_mask_is_placed_among_the_resources() {
        let sys = machine();
        let place = |mask: &str| {
            let place = Place::of(&Cpus::parse(mask).expect("a list"), &sys);
            Resource::ALL.map(|r| place.within(r))
        };
        use Within::{One, Several, Unknown};
        assert_eq!(
            place("5"),
            [
                One(0),
                One(4),
                One(0),
                One(4),
                Unknown,
                One(4),
                One(4),
                One(5)
            ]
        );
        assert_eq!(
            place("4-6"),
            [
                One(0),
                One(4),
                One(0),
                One(4),
                Unknown,
                Several,
                Several,
                Several
            ]
        );
        assert_eq!(
            place("0,7"),
            [
                One(0),
                Several,
                One(0),
                Several,
                Unknown,
                Several,
                Several,
                Several
            ]
        );
        fs::remove_dir_all(&sys).expect("there");
        let nothing = Place::of(&Cpus::from(3), &sys);
        assert_eq!(nothing.within(Resource::Core), Unknown);
        assert_eq!(nothing.within(Resource::Pu), One(3));
    }

    #[test]
    fn names_are_known_with_and_without_scheme() {
        assert_eq!(
            Resource::named("hwloc://NUMANode"),
            Some(Resource::NumaNode)
        );
        assert_eq!(Resource::named("core"), Some(Resource::Core));
        assert_eq!(Resource::named("other://core"), None);
        assert_eq!(Resource::named(""), None);
        for resource in Resource::ALL {
            assert_eq!(Resource::named(resource.uri()), Some(resource));
        }
    }
}
