//! Targets for fuzzing (`fuzz/` at the root of the repository). Not a part of
//! the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

use crate::{Cpus, Machine, Policy, Resource};

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("topo_machine", machine),
    ("topo_policy", policy),
    ("topo_xml", xml),
];

/// A file of hwloc's.
pub fn xml(data: &[u8]) {
    if let Ok(machine) = Machine::from_xml(&String::from_utf8_lossy(data)) {
        assert!(!machine.of(Resource::Pu).is_empty() && !machine.of(Resource::Core).is_empty());
        check(&machine);
    }
}

/// A machine as one process of the launcher describes it to another.
pub fn machine(data: &[u8]) {
    if let Some(machine) = Machine::parse(&String::from_utf8_lossy(data)) {
        assert!(!machine.of(Resource::Pu).is_empty());
        check(&machine);
    }
}

/// What holds of every machine.
fn check(machine: &Machine) {
    let all = machine.cpus();
    for resource in Resource::ALL {
        let mut seen = Cpus::default();
        for cpus in machine.of(resource) {
            assert!(!cpus.is_empty() && cpus.is_subset(&all));
            assert!(seen.intersection(cpus).is_empty(), "{resource:?}");
            seen = seen.union(cpus);
        }
    }
    for nic in machine.nics() {
        machine.nearest(&nic.cpus);
    }
    let odd = |nic: &crate::Nic| nic.name.contains(['\n', '\r']);
    if !all.is_empty() && !machine.nics().iter().any(odd) {
        assert_eq!(Machine::parse(&machine.to_text()).as_ref(), Some(machine));
    }
}

/// The values of --map-by, --rank-by and --bind-to, a line each.
pub fn policy(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.split('\n');
    let mut policy = Policy::default();
    for take in [Policy::map_by, Policy::rank_by, Policy::bind_to] {
        let before = policy;
        let taken = take(&mut policy, lines.next().unwrap_or_default());
        assert!(taken.is_ok() || policy == before);
    }
    assert!(policy.width != Some(0));
}
