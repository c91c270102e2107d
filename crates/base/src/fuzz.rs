//! Targets for fuzzing (`fuzz/` at the root of the repository). Not a part of
//! the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

use crate::Cpus;

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[("base_cpus", cpus)];

/// Lists of CPUs as Linux writes them, and masks as hwloc does: two of them,
/// with a line's end between.
pub fn cpus(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (one, two) = text.split_once('\n').unwrap_or((&text, ""));
    if let Some(cpus) = Cpus::parse_mask(one) {
        // Four bits for each digit, and no more.
        assert!(cpus.len() <= 4 * one.len() && cpus.iter().count() == cpus.len());
        check(&cpus);
    }
    let (Some(one), Some(two)) = (Cpus::parse(one), Cpus::parse(two)) else {
        return;
    };
    let (all, both) = (one.union(&two), one.intersection(&two));
    for cpus in [&one, &two, &all, &both] {
        check(cpus);
    }
    assert!(one.is_subset(&all) && both.is_subset(&two));
    assert_eq!(all.len() + both.len(), one.len() + two.len());
}

fn check(cpus: &Cpus) {
    assert_eq!(Cpus::parse(&cpus.to_string()).as_ref(), Some(cpus));
    assert_eq!(cpus.is_empty(), cpus.first().is_none());
    assert!(cpus.first().is_none_or(|first| cpus.contains(first)));
}
