//! Sets of CPUs, as Linux writes them: `0-3,8,10-11`.

/// A set of CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpus {
    /// First and last of each run, ascending.
    runs: Vec<(u32, u32)>,
}

impl From<u32> for Cpus {
    fn from(cpu: u32) -> Self {
        Cpus {
            runs: vec![(cpu, cpu)],
        }
    }
}

impl Cpus {
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
        let mut runs: Vec<(u32, u32)> = text.split(',').map(run).collect::<Option<_>>()?;
        runs.sort_unstable();
        // Neighbours and overlaps become one run.
        runs.dedup_by(|next, run| {
            let joins = next.0 <= run.1.saturating_add(1);
            if joins {
                run.1 = run.1.max(next.1);
            }
            joins
        });
        Some(Cpus { runs })
    }

    /// The lowest.
    pub fn first(&self) -> Option<u32> {
        self.runs.first().map(|run| run.0)
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
