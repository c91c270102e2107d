//! What was seen of a job at one moment, with what is kept of the looks before.

use std::collections::BTreeMap;

use catena_hang::{Glance, Names, Rank, State};
use catena_launcher::{Exit, JobGlance, ProcessGlance};
use catena_trace::Counts;

/// How much it is known of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// It runs, and was looked at.
    #[default]
    Runs,
    /// It has ended: what is shown was seen last.
    Ended,
    /// Nothing new is known of it, for that reason.
    Untold(String),
}

/// A job.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Its number; 0 if it is not known.
    pub id: u64,
    /// The process of its launcher if that tells of it; zero if it is out of sight.
    pub launcher: Option<u32>,
    /// The user that it is of.
    pub user: u32,
    /// What it runs.
    pub program: String,
    /// How many ranks it has that are not seen here.
    pub elsewhere: u32,
    /// Its ranks, and those of jobs that it has spawned.
    pub ranks: Vec<Process>,
    /// How ranks are called.
    pub names: Names,
    /// How much is known of it.
    pub standing: Standing,
    /// What ranks did at the look before.
    pub before: Vec<Rank>,
}

/// A rank.
#[derive(Clone, Debug)]
pub struct Process {
    /// Of which job: 0 for the one that is shown, else one that it has spawned, from 1 on.
    pub job: u32,
    /// Its rank there.
    pub rank: u32,
    /// Its number on its host; 0 before it was started.
    pub pid: u32,
    /// Its host.
    pub host: String,
    /// Whether it runs, or is about to.
    pub running: bool,
    /// How it has ended, if that is known.
    pub exit: Option<Exit>,
    /// What it does; `None` if that is not seen.
    pub now: Option<Glance>,
    /// What it did at the look before.
    pub before: Option<Glance>,
    /// What it had told before what it has told last.
    pub counted_before: Option<Counts>,
    /// Since when at least it has made no call, as looks have shown: nanoseconds of the monotonic
    /// clock of its host.
    pub quiet_since: Option<u64>,
}

impl Process {
    fn new(seen: ProcessGlance) -> Process {
        Process {
            job: seen.job,
            rank: seen.rank,
            pid: seen.pid,
            host: seen.host,
            running: seen.running,
            exit: seen.exit,
            now: seen.glance,
            before: None,
            counted_before: None,
            quiet_since: None,
        }
    }

    /// Takes over what the look before has shown of it.
    fn follow(&mut self, before: &Process) {
        let (Some(now), Some(then)) = (&self.now, &before.now) else {
            return;
        };
        if now.rank.member != then.rank.member || now.rank.pid != then.rank.pid {
            return;
        }
        self.quiet_since = match calls(now) == calls(then) {
            true => before.quiet_since.or(Some(then.rank.at)),
            false => None,
        };
        let is_told_anew = |last: &&Counts| now.counts.as_ref().is_none_or(|it| it.at != last.at);
        self.counted_before = match then.counts.as_ref().filter(is_told_anew) {
            Some(last) => Some(last.clone()),
            None => before.counted_before.clone(),
        };
        self.before = Some(then.clone());
    }
}

/// How many calls the threads of a process have made.
pub fn calls(glance: &Glance) -> u64 {
    let each = glance.rank.threads.iter().map(|it| it.calls);
    each.fold(0, u64::wrapping_add)
}

impl Job {
    /// What a launcher has told of its job.
    pub fn of_launcher(user: u32, id: u64, told: JobGlance) -> Job {
        let mut names = BTreeMap::from([(id, String::new())]);
        for process in &told.processes {
            if let (Some(glance), 1..) = (&process.glance, process.job) {
                let name = format!(" of spawned job {}", process.job);
                names.insert(glance.rank.member.job, name);
            }
        }
        Job {
            id,
            launcher: Some(told.launcher),
            user,
            program: told.summary.program,
            ranks: told.processes.into_iter().map(Process::new).collect(),
            names: Names { jobs: names },
            ..Job::default()
        }
    }

    /// What is seen of a job on this host, which has `ranks` on all of them.
    pub fn of_host(user: u32, id: u64, ranks: u32, program: String, seen: Vec<Glance>) -> Job {
        let here = seen.len() as u32;
        let processes = seen.into_iter().map(|glance| {
            Process::new(ProcessGlance {
                job: 0,
                rank: glance.rank.member.rank,
                pid: glance.rank.pid,
                running: glance.rank.state != State::Ended,
                exit: None,
                host: glance.rank.host.clone(),
                glance: Some(glance),
            })
        });
        let ranks_here: Vec<Process> = processes.collect();
        let standing = match ranks_here.iter().any(|it| it.running) {
            true => Standing::Runs,
            false => Standing::Ended,
        };
        Job {
            id,
            user,
            program,
            elsewhere: ranks.saturating_sub(here),
            ranks: ranks_here,
            names: Names::of_job(id),
            standing,
            ..Job::default()
        }
    }

    /// Takes over what the look before has shown of it.
    pub fn follow(&mut self, before: &Job) {
        let known = before.ranks.iter().map(|it| ((it.job, it.rank), it));
        let known: BTreeMap<_, _> = known.collect();
        for rank in &mut self.ranks {
            if let Some(before) = known.get(&(rank.job, rank.rank)) {
                rank.follow(before);
            }
        }
        self.before = before.looks();
    }

    /// What its ranks do.
    pub fn looks(&self) -> Vec<Rank> {
        let seen = self.ranks.iter().filter_map(|it| it.now.as_ref());
        seen.map(|it| it.rank.clone()).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use catena_hang::{Member, Need, Thread, Usage, WaitsFor, What};
    use catena_launcher::Summary;
    use catena_trace::Moved;

    use super::*;

    pub const SECOND: u64 = 1_000_000_000;

    /// What is seen of a rank of job 7 at that second, which has made so many calls, the last one a
    /// function of that name.
    pub fn glance(rank: u32, second: u64, calls: u64, call: &str) -> Glance {
        let thread = Thread {
            thread: 100 + rank,
            calls,
            call: call.into(),
            ..Thread::default()
        };
        Glance {
            rank: Rank {
                member: Member { job: 7, rank },
                host: "h0".into(),
                pid: 100 + rank,
                state: State::Running,
                at: second * SECOND,
                others: false,
                threads: vec![thread],
            },
            usage: Some(Usage {
                processor: second * 500,
                resident: 64 << 20,
                shared: 4 << 20,
            }),
            counts: Some(Counts {
                at: second * SECOND,
                shm: Moved {
                    messages: 10 * second,
                    bytes: second << 20,
                },
                network: Moved {
                    messages: second,
                    bytes: second << 10,
                },
                received: Moved {
                    messages: 11 * second,
                    bytes: second << 20,
                },
                asleep: second * SECOND / 4,
                networks: "tcp through eth0".into(),
                ..Counts::default()
            }),
        }
    }

    /// A rank of job 7 that waits for another one since that second, or, together with all of
    /// `ranks`, in a collective call.
    pub fn waits(mut glance: Glance, since: u64, what: What, of: &[u32]) -> Glance {
        let mut need = Need::new(what);
        of.iter()
            .for_each(|&rank| need.add(Member { job: 7, rank }));
        need.together = what == What::Collective;
        need.tag = (what == What::Message).then_some(5);
        need.about = "MPI_COMM_WORLD".into();
        glance.rank.threads[0].waits = Some(WaitsFor {
            since: since * SECOND,
            told: glance.rank.at,
            needs: vec![need],
            ..WaitsFor::default()
        });
        glance
    }

    /// What a launcher tells of a job with these processes.
    pub fn job(glances: Vec<Option<Glance>>) -> Job {
        let processes = (0..).zip(glances).map(|(rank, glance)| ProcessGlance {
            job: 0,
            rank,
            pid: 100 + rank,
            running: true,
            exit: None,
            host: glance
                .as_ref()
                .map_or("h0".into(), |it| it.rank.host.clone()),
            glance,
        });
        let told = JobGlance {
            launcher: 99,
            summary: Summary {
                jobs: vec![7],
                program: "./ring 100".into(),
                ..Summary::default()
            },
            processes: processes.collect(),
        };
        Job::of_launcher(1000, 7, told)
    }

    #[test]
    fn since_when_a_rank_makes_no_call_is_kept_from_look_to_look() {
        let at = |second, calls| job(vec![Some(glance(0, second, calls, "MPI_Send"))]);
        let mut looks = vec![at(10, 5)];
        for (second, calls) in [(11, 5), (12, 5), (13, 6)] {
            let mut now = at(second, calls);
            now.follow(looks.last().unwrap());
            looks.push(now);
        }
        let quiet = |look: usize| looks[look].ranks[0].quiet_since;
        let expected = [None, Some(10 * SECOND), Some(10 * SECOND), None];
        assert_eq!([quiet(0), quiet(1), quiet(2), quiet(3)], expected);
    }

    #[test]
    fn what_is_told_is_compared_with_what_was_told_before_it() {
        let at = |second, told| {
            let mut glance = glance(0, second, second, "MPI_Send");
            glance.counts.as_mut().unwrap().at = told;
            job(vec![Some(glance)])
        };
        let mut looks = vec![at(10, 10)];
        for (second, told) in [(11, 11), (12, 11), (13, 13)] {
            let mut now = at(second, told);
            now.follow(looks.last().unwrap());
            looks.push(now);
        }
        let before = |look: usize| looks[look].ranks[0].counted_before.as_ref().map(|it| it.at);
        assert_eq!(
            [before(1), before(2), before(3)],
            [Some(10), Some(10), Some(11)]
        );
    }

    #[test]
    fn another_process_in_the_place_of_a_rank_begins_anew() {
        let before = job(vec![Some(glance(0, 10, 5, "MPI_Send"))]);
        let mut other = glance(0, 11, 5, "MPI_Send");
        other.rank.pid = 4711;
        let mut now = job(vec![Some(other)]);
        now.follow(&before);
        assert!(now.ranks[0].before.is_none() && now.ranks[0].quiet_since.is_none());
    }
}
