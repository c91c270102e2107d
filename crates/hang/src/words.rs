//! Waits in words.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::rank::{Rank, State, Thread};
use crate::waits_for::{Member, Need, WaitsFor, What};

/// Most ranges of ranks that a list names.
const RANGES: usize = 5;

/// How processes are called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// What comes behind the rank of a process, by its job: nothing for the one that the user
    /// knows.
    pub jobs: BTreeMap<u64, String>,
}

impl Names {
    /// Those of a user that knows one job.
    pub fn of_job(job: u64) -> Names {
        Names {
            jobs: BTreeMap::from([(job, String::new())]),
        }
    }

    fn behind(&self, job: u64) -> String {
        let known = self.jobs.get(&job).cloned();
        known.unwrap_or_else(|| format!(" of job {job:x}"))
    }

    /// `rank 3`
    pub fn one(&self, member: Member) -> String {
        format!("rank {}{}", member.rank, self.behind(member.job))
    }

    /// `rank 3`, `ranks 0 to 3 and 7`, `rank 0, and ranks 0 and 1 of spawned job 1`
    pub fn all(&self, members: impl IntoIterator<Item = Member>) -> String {
        let mut ranges: Vec<(Member, u32)> = Vec::new();
        for member in members {
            match ranges.last_mut() {
                Some((first, last))
                    if first.job == member.job && last.checked_add(1) == Some(member.rank) =>
                {
                    *last += 1;
                }
                _ => ranges.push((member, member.rank)),
            }
        }
        let jobs = ranges.chunk_by(|(one, _), (other, _)| one.job == other.job);
        let jobs: Vec<_> = jobs.map(|it| self.of_one_job(it)).collect();
        jobs.join(", and ")
    }

    /// Ranges of ranks of one job.
    fn of_one_job(&self, ranges: &[(Member, u32)]) -> String {
        if let [(member, last)] = *ranges
            && member.rank == last
        {
            return self.one(member);
        }
        let mut parts: Vec<String> = Vec::new();
        for (first, last) in ranges.iter().take(RANGES) {
            match last - first.rank {
                0 => parts.push(last.to_string()),
                1 => parts.extend([first.rank, *last].map(|rank| rank.to_string())),
                _ => parts.push(format!("{} to {last}", first.rank)),
            }
        }
        if ranges.len() > RANGES {
            parts.push("others".into());
        }
        format!("ranks {}{}", list(&parts), self.behind(ranges[0].0.job))
    }
}

/// `a`, `a and b`, `a, b and c`
pub(crate) fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [many @ .., last] => format!("{} and {last}", many.join(", ")),
    }
}

/// `12 s`, `3 min`
pub(crate) fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=179 => format!("{seconds} s"),
        seconds @ 180..=10_799 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

/// Whom to name for a need.
pub(crate) type Named<'n, 'r> = &'n dyn Fn(&'r Need) -> Vec<Member>;

/// What a call needs, behind "waits ": `for a message from rank 1 with tag 7`.
pub(crate) fn need<'r>(need: &'r Need, named: Named<'_, 'r>, names: &Names) -> String {
    let mut members = named(need);
    let is_one = members.len() == 1;
    let about = match need.about.as_str() {
        "" => String::new(),
        about => format!(" on {about}"),
    };
    let whom = match (members.len(), need.any) {
        (0, _) => "somebody".to_string(),
        (1, _) => names.one(members[0]),
        (_, true) => format!("any of {}", names.all(members.drain(..))),
        (_, false) => names.all(members.drain(..)),
    };
    let tag = need
        .tag
        .map_or(String::new(), |tag| format!(" with tag {tag}"));
    let bytes = match need.bytes {
        0 => String::new(),
        1 => " of 1 byte".to_string(),
        bytes => format!(" of {bytes} bytes"),
    };
    match need.what {
        What::Message => format!("for a message from {whom}{tag}{about}"),
        What::Receive => format!("until {whom} receives its message{bytes}{tag}{about}"),
        What::Rest => {
            format!("for the rest of a message{bytes} that moves between it and {whom}{tag}{about}")
        }
        What::Collective => format!("for {whom}{about}"),
        What::Agreement => format!("for {whom}{about}"),
        What::Lock if need.open => format!("for a lock that may be of {whom}{about}"),
        What::Lock => format!(
            "for a lock that {whom} {}{about}",
            if is_one { "holds" } else { "hold" }
        ),
        What::Epoch if need.together => format!("for {whom}{about}"),
        What::Epoch => format!("for {whom} to take part in the epoch{about}"),
        What::Remote => format!("for an operation on the memory of {whom}{about}"),
        What::Part if need.bytes > 0 => format!(
            "until MPI_Pready is called for {} more parts of its message{tag}{about}",
            need.bytes
        ),
        What::Part => format!("for parts of a message from {whom}{tag}{about}"),
        What::End => format!("for {whom} to finalize, too"),
        What::Meeting => "for another program to connect".to_string(),
        What::Launcher => "for an answer of the launcher".to_string(),
        What::Program => "for the program itself to complete a generalized request".to_string(),
        What::File => format!("for a file{about}"),
        What::Other => format!("for {whom}{about}"),
    }
}

/// What a thread waits for, behind "waits ".
pub(crate) fn waits<'r>(waits: &'r WaitsFor, named: Named<'_, 'r>, names: &Names) -> String {
    let needs = waits.needs.iter();
    let mut parts: Vec<String> = needs.map(|it| need(it, named, names)).collect();
    parts.dedup();
    let more = parts.len().saturating_sub(3);
    parts.truncate(3);
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    match (waits.any, parts.as_mut_slice()) {
        (_, []) => "for something".to_string(),
        (true, [many @ .., last]) if !many.is_empty() => format!("{} or {last}", many.join(", ")),
        (_, parts) => list(parts),
    }
}

/// `MPI_Recv (a.c:12)`
pub(crate) fn call(thread: &Thread) -> String {
    match (thread.call.as_str(), thread.place.as_str()) {
        ("", _) => "MPI".to_string(),
        (call, "") => call.to_string(),
        (call, place) => format!("{call} ({place})"),
    }
}

/// What a rank does, behind its name: `waits in MPI_Recv (a.c:12) for a message from rank 1 with
/// tag 7`.
pub(crate) fn does<'r>(rank: &'r Rank, named: Named<'_, 'r>, names: &Names) -> String {
    match rank.state {
        State::Before => "has not called MPI_Init yet".to_string(),
        State::Stopped => "is stopped by a signal (SIGSTOP, or a debugger)".to_string(),
        State::Left => "has finalized MPI".to_string(),
        State::Ended => "has ended".to_string(),
        State::Running => {
            let waiting = rank.waits().next();
            match (waiting, rank.threads.iter().max_by_key(|it| it.calls)) {
                (Some((thread, it)), _) => {
                    format!("waits in {} {}", call(thread), waits(it, named, names))
                }
                (None, Some(thread)) if !thread.call.is_empty() => {
                    let place = match thread.place.as_str() {
                        "" => String::new(),
                        place => format!(", and it is at {place}"),
                    };
                    format!(
                        "does not wait in MPI: its last call was {}{place}",
                        thread.call
                    )
                }
                _ => "does not wait in MPI".to_string(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_named_in_ranges() {
        let names = Names::of_job(1);
        let told = |ranks: &[u32]| names.all(ranks.iter().map(|&rank| Member { job: 1, rank }));
        assert_eq!(told(&[3]), "rank 3");
        assert_eq!(told(&[3, 4]), "ranks 3 and 4");
        assert_eq!(told(&[0, 1, 2, 3, 7]), "ranks 0 to 3 and 7");
        assert_eq!(
            told(&[0, 2, 4, 6, 8, 10, 12]),
            "ranks 0, 2, 4, 6, 8 and others"
        );
        assert_eq!(names.one(Member { job: 26, rank: 1 }), "rank 1 of job 1a");
        let of =
            |ranks: &[(u64, u32)]| names.all(ranks.iter().map(|&(job, rank)| Member { job, rank }));
        assert_eq!(of(&[(26, 0), (26, 1)]), "ranks 0 and 1 of job 1a");
        let both = [(1, 3), (26, 0), (26, 1), (26, 2)];
        assert_eq!(of(&both), "rank 3, and ranks 0 to 2 of job 1a");
    }
}
