//! What a launcher has, in a line.

/// In a few words what a launcher has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The numbers of its jobs, its first one first.
    pub jobs: Vec<u64>,
    /// Its processes that run, and how many there were.
    pub ranks: (u32, u32),
    /// The hosts on which they run.
    pub hosts: u32,
    /// How many have waited for more than a second.
    pub waiting: u32,
    /// What they run.
    pub program: String,
}

impl Summary {
    /// As [`Summary::read`] reads it.
    pub(crate) fn write(&self) -> String {
        let jobs: Vec<_> = self.jobs.iter().map(|job| format!("{job:x}")).collect();
        let program = self.program.replace(char::is_control, "?");
        format!(
            "{} {} {} {} {} {program}",
            jobs.join(","),
            self.ranks.0,
            self.ranks.1,
            self.hosts,
            self.waiting
        )
    }

    /// What [`Summary::write`] has written.
    pub(crate) fn read(text: &str) -> Option<Summary> {
        let mut words = text.trim_end().splitn(6, ' ');
        let jobs = words.next()?.split(',');
        let jobs = jobs.map(|job| u64::from_str_radix(job, 16).ok());
        let jobs = jobs.collect::<Option<_>>()?;
        let mut number = || words.next()?.parse().ok();
        let (running, all, hosts, waiting) = (number()?, number()?, number()?, number()?);
        Some(Summary {
            jobs,
            ranks: (running, all),
            hosts,
            waiting,
            program: words.next()?.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_a_job_is_read() {
        let summary = Summary {
            jobs: vec![u64::MAX, 7],
            ranks: (3, 4),
            hosts: 2,
            waiting: 1,
            program: "./a.out -n 3".into(),
        };
        assert_eq!(Summary::read(&summary.write()), Some(summary.clone()));
        let odd = Summary {
            program: "a\nb".into(),
            ..summary
        };
        assert_eq!(odd.write().lines().count(), 1);
        for text in ["", "7 1 2 3", "7 1 2 3 x a", "x 1 2 3 4 a"] {
            assert_eq!(Summary::read(text), None, "{text}");
        }
    }
}
