//! Sets of CPUs, as Linux writes them: `0-3,8,10-11`.

use std::fmt;

use rustix::thread::{CpuSet, Pid, sched_getaffinity};

/// A set of CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpus {
    /// First and last of each run, ascending, with a gap between runs.
    runs: Vec<(u32, u32)>,
}

impl From<u32> for Cpus {
    fn from(cpu: u32) -> Self {
        Cpus {
            runs: vec![(cpu, cpu)],
        }
    }
}

impl FromIterator<u32> for Cpus {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        Cpus::of(cpus.into_iter().map(|cpu| (cpu, cpu)).collect())
    }
}

impl Cpus {
    /// The CPUs of runs in any order, which may overlap.
    fn of(mut runs: Vec<(u32, u32)>) -> Cpus {
        runs.sort_unstable();
        // Neighbours and overlaps become one run.
        runs.dedup_by(|next, run| {
            let joins = next.0 <= run.1.saturating_add(1);
            if joins {
                run.1 = run.1.max(next.1);
            }
            joins
        });
        Cpus { runs }
    }

    /// Those that the calling process may use: its affinity, within the cpuset
    /// of its control group. Cost: a system call, and a look at each CPU that there may be.
    pub fn allowed() -> Option<Cpus> {
        let pid = i32::try_from(std::process::id())
            .ok()
            .and_then(Pid::from_raw);
        match sched_getaffinity(pid) {
            Ok(set) => {
                let all = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu));
                Some(all.map(|cpu| cpu as u32).collect())
            }
            // The machine may have more than a set holds.
            Err(_) => Cpus::allowed_by_proc(),
        }
    }

    fn allowed_by_proc() -> Option<Cpus> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let list = |line: &str| Cpus::parse(line.strip_prefix("Cpus_allowed_list:")?);
        status.lines().find_map(list)
    }

    /// Reads a list; `None` if it is none. An empty one is the empty set.
    pub fn parse(text: &str) -> Option<Cpus> {
        let text = text.trim();
        if text.is_empty() {
            return Some(Cpus::default());
        }
        let run = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let run = (first.parse().ok()?, last.parse().ok()?);
            (run.0 <= run.1).then_some(run)
        };
        Some(Cpus::of(text.split(',').map(run).collect::<Option<_>>()?))
    }

    /// Reads a mask as hwloc writes it: words of 32 bits in hexadecimal, the
    /// highest first, such as `0x1,0x0000000f`. `None` if it is none, or says
    /// that all CPUs from some one on are in it.
    pub fn parse_mask(text: &str) -> Option<Cpus> {
        let words: Vec<u32> = text
            .split(',')
            .map(|word| match word.trim_start_matches("0x") {
                "" => Some(0),
                digits => u32::from_str_radix(digits, 16).ok(),
            })
            .collect::<Option<_>>()?;
        let bits = words.iter().rev().zip((0..).step_by(32));
        Some(
            bits.flat_map(|(&word, base)| {
                (0..32)
                    .filter(move |bit| word >> bit & 1 == 1)
                    .map(move |bit| base + bit)
            })
            .collect(),
        )
    }

    /// The lowest.
    pub fn first(&self) -> Option<u32> {
        self.runs.first().map(|run| run.0)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.runs
            .iter()
            .map(|run| (run.1 - run.0) as usize + 1)
            .sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.runs.iter().flat_map(|&(first, last)| first..=last)
    }

    /// Whether it is in the set.
    pub fn contains(&self, cpu: u32) -> bool {
        self.is_run((cpu, cpu))
    }

    /// Whether all are in `other`.
    pub fn is_subset(&self, other: &Cpus) -> bool {
        self.runs.iter().all(|&run| other.is_run(run))
    }

    fn is_run(&self, (first, last): (u32, u32)) -> bool {
        self.runs.iter().any(|run| run.0 <= first && last <= run.1)
    }

    /// Those in this set, in `other`, or in both.
    pub fn union(&self, other: &Cpus) -> Cpus {
        Cpus::of([&self.runs[..], &other.runs].concat())
    }

    /// Those in both sets.
    pub fn intersection(&self, other: &Cpus) -> Cpus {
        let common = |a: &(u32, u32), b: &(u32, u32)| {
            let run = (a.0.max(b.0), a.1.min(b.1));
            (run.0 <= run.1).then_some(run)
        };
        let pairs = self
            .runs
            .iter()
            .flat_map(|a| other.runs.iter().map(move |b| (a, b)));
        Cpus::of(pairs.filter_map(|(a, b)| common(a, b)).collect())
    }
}

impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, &(first, last)) in self.runs.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_system_call_says_what_proc_says() {
        assert_eq!(Cpus::allowed(), Cpus::allowed_by_proc());
    }

    #[test]
    fn lists_are_read() {
        let cpus = Cpus::parse(" 8,0-3,4,10-11\n").expect("a list");
        assert_eq!(cpus.runs, [(0, 4), (8, 8), (10, 11)]);
        assert!(cpus.contains(4) && !cpus.contains(9));
        assert!(Cpus::parse("1-3,11").expect("a list").is_subset(&cpus));
        assert!(!Cpus::parse("3-8").expect("a list").is_subset(&cpus));
        assert_eq!(Cpus::parse("").expect("empty").first(), None);
        assert_eq!(Cpus::parse("3-1"), None);
        assert_eq!(Cpus::parse("a"), None);
    }

    #[test]
    fn masks_are_read() {
        let list = |mask| Cpus::parse_mask(mask).map(|cpus| cpus.to_string());
        assert_eq!(list("0x0000000f").as_deref(), Some("0-3"));
        assert_eq!(list("0x1,,0x80000001").as_deref(), Some("0,31,64"));
        assert_eq!(list("0x0").as_deref(), Some(""));
        assert_eq!(list("0xf...f"), None);
        assert_eq!(list("0xx"), None);
    }

    proptest! {
        #[test]
        fn sets_agree_with_a_naive_model(
            a in proptest::collection::btree_set(0u32..70, 0..40),
            b in proptest::collection::btree_set(0u32..70, 0..40),
        ) {
            let (x, y): (Cpus, Cpus) = (a.iter().copied().collect(), b.iter().copied().collect());
            prop_assert_eq!(Cpus::parse(&x.to_string()), Some(x.clone()));
            prop_assert!(x.iter().eq(a.iter().copied()));
            prop_assert_eq!(x.len(), a.len());
            prop_assert_eq!(x.is_empty(), a.is_empty());
            prop_assert!(x.union(&y).iter().eq(a.union(&b).copied()));
            prop_assert!(x.intersection(&y).iter().eq(a.intersection(&b).copied()));
            prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
        }
    }
}
