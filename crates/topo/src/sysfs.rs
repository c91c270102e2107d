//! What Linux tells of the hardware, below `/sys/devices/system`.
//!
//! | resource  | told by                                                        |
//! |-----------|----------------------------------------------------------------|
//! | package   | `cpu*/topology/package_cpus_list` (old: `core_siblings_list`)  |
//! | NUMA node | `node/node*/cpulist`                                           |
//! | caches    | `cpu*/cache/index*/{level,type,shared_cpu_list}`               |
//! | core      | `cpu*/topology/core_cpus_list` (old: `thread_siblings_list`)   |

use std::fs;
use std::path::Path;

use crate::{Cpus, Resource};

/// Where this machine is described.
pub const ROOT: &str = "/sys/devices/system";

/// The CPUs of the resource that has that CPU.
pub fn instance(resource: Resource, cpu: u32, sys: &Path) -> Option<Cpus> {
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
pub fn below(folder: &Path, start: &str) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(start))
        .map(|entry| entry.path())
        .collect()
}

/// Reads a list of CPUs; `None` if there is none, or it is empty.
pub fn list(at: &Path) -> Option<Cpus> {
    Cpus::parse(&fs::read_to_string(at).ok()?).filter(|cpus| cpus.first().is_some())
}
