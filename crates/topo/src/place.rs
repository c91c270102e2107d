//! Where one process may run among its machine's resources.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::sysfs::{self, instance};
use crate::{Cpus, Resource};

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
pub struct ProcessPlace([Within; Resource::ALL.len()]);

impl ProcessPlace {
    /// Where the calling process may run, now: somebody may move it later. The machine is read once
    /// for each set of CPUs in a row.
    pub fn here() -> ProcessPlace {
        static LAST: Mutex<Option<(Cpus, ProcessPlace)>> = Mutex::new(None);
        let Some(cpus) = Cpus::allowed() else {
            return ProcessPlace([Within::Unknown; Resource::ALL.len()]);
        };
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((of, place)) if *of == cpus => place.clone(),
            _ => {
                let place = ProcessPlace::of(&cpus, Path::new(sysfs::ROOT));
                *last = Some((cpus, place.clone()));
                place
            }
        }
    }

    /// Where a process may run which may use `cpus` of the machine that `sys`
    /// describes.
    pub fn of(cpus: &Cpus, sys: &Path) -> ProcessPlace {
        let Some(first) = cpus.first() else {
            return ProcessPlace([Within::Unknown; Resource::ALL.len()]);
        };
        ProcessPlace(
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

#[cfg(test)]
mod tests {
    use std::fs;

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
            let place = ProcessPlace::of(&Cpus::parse(mask).expect("a list"), &sys);
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
        let nothing = ProcessPlace::of(&Cpus::from(3), &sys);
        assert_eq!(nothing.within(Resource::Core), Unknown);
        assert_eq!(nothing.within(Resource::Pu), One(3));
    }
}
