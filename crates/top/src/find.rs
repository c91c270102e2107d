//! Finds jobs, and looks at them.
//!
//! A job whose launcher answers is seen on all of its hosts; of others, the ranks on this host are.
//! A launcher that does not answer in time keeps nobody from seeing the other jobs: they are looked
//! at side by side.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use catena_hang::{HostJob, Seen, State, seen};
use catena_launcher::{Launched, Untold, launchers, user};

use crate::args::Args;
use crate::seen::{Job, Standing};

/// How long from one search for launchers to the next.
const SEARCH: Duration = Duration::from_secs(2);

/// How long from one search for jobs without a launcher to the next: it looks at the open files of
/// all processes.
const SEARCH_FILES: Duration = Duration::from_secs(15);

/// How long a launcher is given for its answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long a launcher is left alone that has not answered: each question that it has not heard
/// takes room.
const PAUSE: Duration = Duration::from_secs(10);

/// How long a job is shown that has ended, among others.
const SHOWN: Duration = Duration::from_secs(10);

/// How a job is looked at.
enum Way {
    /// By its launcher.
    Launcher(Launched),
    /// By what its processes here have.
    Host(HostJob),
    /// These processes here are of another version.
    Stranger(Vec<u32>),
}

/// A job that is followed.
struct Followed {
    way: Way,
    last: Job,
    ended: Option<Instant>,
    /// When it is looked at again, if not at once.
    again: Option<Instant>,
}

/// Jobs that are looked at again and again.
pub struct Finder {
    jobs: Vec<Followed>,
    host: String,
    /// Whether only the jobs are wanted that there are.
    is_named: bool,
    /// Whether those of all users are.
    all: bool,
    searched: Option<Instant>,
    searched_files: Option<Instant>,
}

impl Finder {
    /// The jobs that a command line asks for.
    ///
    /// # Errors
    /// If it names one that is not there.
    pub fn new(args: &Args) -> Result<Finder, String> {
        let mut finder = Finder {
            jobs: Vec::new(),
            host: catena_boot::host_name(),
            is_named: false,
            all: args.all,
            searched: None,
            searched_files: None,
        };
        // Root may name the job of anybody.
        finder.all |= args.job.is_some();
        finder.search();
        if let Some(name) = &args.job {
            finder.look();
            let host = finder.host.clone();
            let silent = finder
                .jobs
                .iter()
                .find_map(|it| match &it.last.standing {
                    Standing::Untold(why) => Some(format!("; of job {:x}: {why}", it.last.id)),
                    _ => None,
                })
                .unwrap_or_default();
            finder.jobs.retain(|it| is_named(it, name, &host));
            finder.is_named = true;
            if finder.jobs.is_empty() {
                return Err(format!(
                    "no job of yours on this host is {name}, nor has it a process with that \
                     number: `catena ps` shows them{silent}"
                ));
            }
        }
        Ok(finder)
    }

    /// Looks at all jobs.
    pub fn look(&mut self) -> Vec<Job> {
        let is_due = self.searched.is_none_or(|at| at.elapsed() >= SEARCH);
        if is_due && !self.is_named {
            self.search();
        }
        let host = self.host.as_str();
        match &mut self.jobs[..] {
            [one] => one.look(host),
            all => thread::scope(|scope| {
                for job in all {
                    scope.spawn(move || job.look(host));
                }
            }),
        }
        // What a launcher tells of is more than what is seen here.
        let told = self.told();
        let is_double =
            |it: &Followed| matches!(&it.way, Way::Host(job) if told.contains(&job.job));
        self.jobs.retain(|it| !is_double(it));
        if !self.is_named {
            let is_shown = |it: &Followed| it.ended.is_none_or(|at| at.elapsed() < SHOWN);
            self.jobs.retain(is_shown);
        }
        self.shown()
    }

    /// The jobs as they are shown: each once, also where its launcher does not tell of it.
    fn shown(&self) -> Vec<Job> {
        let mut shown: Vec<Job> = Vec::new();
        for followed in &self.jobs {
            let job = &followed.last;
            let is_nothing = job.standing == Standing::Ended && job.ranks.is_empty();
            if is_nothing && !self.is_named {
                continue;
            }
            match shown
                .iter_mut()
                .find(|it| it.id == job.id && it.launcher.is_none())
            {
                // What its launcher does not tell is seen here, as far as it is here.
                Some(untold) if job.id != 0 => {
                    let standing = std::mem::take(&mut untold.standing);
                    *untold = job.clone();
                    if job.standing == Standing::Runs {
                        untold.standing = standing;
                    }
                }
                _ => shown.push(job.clone()),
            }
        }
        shown
    }

    /// Takes in jobs that have come since the last search.
    fn search(&mut self) {
        self.searched = Some(Instant::now());
        let (own, all) = (user(), self.all);
        let is_wanted = |of: u32| all || of == own;
        for launcher in launchers().into_iter().filter(|it| is_wanted(it.user)) {
            let is_known = |it: &Followed| match &it.way {
                Way::Launcher(known) => (known.user, known.job) == (launcher.user, launcher.job),
                _ => false,
            };
            if !self.jobs.iter().any(is_known) {
                let (user, id) = (launcher.user, launcher.job);
                self.follow(Way::Launcher(launcher), user, id);
            }
        }
        let is_due = |at: Instant| at.elapsed() >= SEARCH_FILES;
        if self.searched_files.is_none_or(is_due) {
            self.searched_files = Some(Instant::now());
            self.search_files();
        }
    }

    /// Takes in what the open files of processes show.
    fn search_files(&mut self) {
        let (own, all) = (user(), self.all);
        let is_wanted = |of: u32| all || of == own;
        let Seen {
            mut jobs,
            strangers,
        } = seen().unwrap_or_default();
        let told = self.told();
        jobs.retain(|it| is_wanted(it.user) && !told.contains(&it.job));
        jobs.sort_by_key(|job| job.here.first().map(|(_, who)| who.pid));
        for job in jobs {
            let mut known = self.jobs.iter_mut();
            let same = known.find(|it| matches!(&it.way, Way::Host(known) if known.job == job.job));
            match same {
                // Ranks may have come that had not begun.
                Some(followed) => followed.way = Way::Host(job),
                // Its launcher may still have its memory.
                None if job.look("").iter().all(|it| it.state == State::Ended) => {}
                None => {
                    let (user, id) = (job.user, job.job);
                    self.follow(Way::Host(job), user, id);
                }
            }
        }
        self.jobs.retain(|it| !matches!(it.way, Way::Stranger(_)));
        for pids in strangers {
            // What a launcher says of them is enough.
            let is_untold = |it: &Followed| {
                matches!(
                    (&it.way, &it.last.standing),
                    (Way::Launcher(_), Standing::Untold(_))
                )
            };
            let owner = pids.first().and_then(|&pid| owner(pid));
            if owner.is_some_and(is_wanted) && !self.jobs.iter().any(is_untold) {
                self.follow(Way::Stranger(pids), owner.unwrap_or(own), 0);
            }
        }
    }

    fn follow(&mut self, way: Way, user: u32, id: u64) {
        let last = Job {
            id,
            user,
            ..Job::default()
        };
        self.jobs.push(Followed {
            way,
            last,
            ended: None,
            again: None,
        });
    }

    /// The numbers of the jobs of which launchers tell.
    fn told(&self) -> BTreeSet<u64> {
        let told = self.jobs.iter().filter(|it| it.last.launcher.is_some());
        let ids = told.flat_map(|it| it.last.names.jobs.keys().chain([&it.last.id]));
        ids.copied().collect()
    }
}

impl Followed {
    fn look(&mut self, host: &str) {
        if self.ended.is_some() || self.again.is_some_and(|at| Instant::now() < at) {
            return;
        }
        self.again = None;
        let seen = match &self.way {
            Way::Launcher(launcher) => match launcher.glance(PATIENCE) {
                Ok(told) => Ok(Job::of_launcher(launcher.user, launcher.job, told)),
                Err(Untold::Ended) => Err(Standing::Ended),
                Err(Untold::Because(why)) => {
                    self.again = Some(Instant::now() + PAUSE);
                    Err(Standing::Untold(why))
                }
            },
            Way::Host(job) => {
                let program = program(job);
                let glances = job.glance(host);
                Ok(Job::of_host(job.user, job.job, job.ranks, program, glances))
            }
            Way::Stranger(pids) => Err(match pids.iter().any(|&pid| owner(pid).is_some()) {
                true => {
                    let pids: Vec<_> = pids.iter().map(u32::to_string).collect();
                    let pids = pids.join(", ");
                    Standing::Untold(format!(
                        "its processes here ({pids}) use another version of Catena: that one's \
                         `catena top` shows it"
                    ))
                }
                false => Standing::Ended,
            }),
        };
        match seen {
            Ok(mut job) => {
                job.follow(&self.last);
                // Its processes have ended: what they did before is more than nothing.
                if job.standing == Standing::Ended && !self.last.ranks.is_empty() {
                    self.last.ranks = job.ranks;
                    self.last.standing = Standing::Ended;
                } else {
                    self.last = job;
                }
            }
            Err(standing) => self.last.standing = standing,
        }
        if self.last.standing == Standing::Ended {
            self.ended = Some(Instant::now());
        }
    }
}

/// Whether a job has that name: its number, or that of its launcher or of a process of it on this
/// host.
fn is_named(job: &Followed, name: &str, host: &str) -> bool {
    let pid = name.parse::<u32>().ok().filter(|&pid| pid != 0);
    let has_number = |id: u64| id != 0 && format!("{id:x}") == name;
    let is_it = |pid_of: u32| Some(pid_of) == pid;
    let last = &job.last;
    let mut ranks = last.ranks.iter();
    has_number(last.id)
        || last.names.jobs.keys().any(|&id| has_number(id))
        || last.launcher.is_some_and(is_it)
        || ranks.any(|it| it.host == host && is_it(it.pid))
        || matches!(&job.way, Way::Stranger(pids) if pids.iter().any(|&it| is_it(it)))
}

/// What the processes of a job here run.
fn program(job: &HostJob) -> String {
    let first = job.here.iter().find(|(_, who)| who.pid != 0);
    let words = first.and_then(|(_, who)| fs::read(format!("/proc/{}/cmdline", who.pid)).ok());
    let words = words.unwrap_or_default();
    let words: Vec<_> = words
        .split(|&byte| byte == 0)
        .map(String::from_utf8_lossy)
        .collect();
    words.join(" ").trim().replace(char::is_control, "?")
}

/// The user whose process that is, if there is one.
fn owner(pid: u32) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(format!("/proc/{pid}")).ok().map(|it| it.uid())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::tests::{glance, job};

    fn finder(jobs: Vec<Job>) -> Finder {
        let followed = jobs.into_iter().map(|last| Followed {
            way: Way::Stranger(Vec::new()),
            last,
            ended: None,
            again: None,
        });
        Finder {
            jobs: followed.collect(),
            host: "h0".into(),
            is_named: false,
            all: false,
            searched: None,
            searched_files: None,
        }
    }

    fn untold() -> Job {
        Job {
            id: 7,
            standing: Standing::Untold("it has not answered".into()),
            ..Job::default()
        }
    }

    #[test]
    fn a_job_whose_launcher_does_not_tell_is_shown_once_as_far_as_it_is_here() {
        let mut here = job(vec![Some(glance(0, 10, 5, "MPI_Send"))]);
        here.launcher = None;
        let shown = finder(vec![untold(), here.clone()]).shown();
        assert_eq!((shown.len(), shown[0].ranks.len()), (1, 1));
        assert_eq!(shown[0].standing, untold().standing);
        here.standing = Standing::Ended;
        let shown = finder(vec![untold(), here.clone()]).shown();
        assert_eq!((shown.len(), &shown[0].standing), (1, &Standing::Ended));
        // Processes of another version do not tell the number of their job, so they are not taken
        // for one job.
        let strangers = [untold(), untold()].map(|job| Job { id: 0, ..job });
        assert_eq!(finder(strangers.to_vec()).shown().len(), 2);
    }

    #[test]
    fn a_job_that_has_ended_before_it_was_seen_is_shown_if_it_was_named() {
        let ended = Job {
            id: 7,
            standing: Standing::Ended,
            ..Job::default()
        };
        let mut finder = finder(vec![ended]);
        assert!(finder.shown().is_empty());
        finder.is_named = true;
        assert_eq!(finder.shown().len(), 1);
    }

    #[test]
    fn a_job_is_known_by_its_numbers() {
        let mut seen = job(vec![Some(glance(0, 10, 5, "MPI_Send"))]);
        seen.id = 0x9f;
        let finder = finder(vec![seen]);
        let is = |name: &str| is_named(&finder.jobs[0], name, "h0");
        // Its number, that of its launcher, and that of a rank.
        assert!(is("9f") && is("99") && is("100"));
        assert!(!is("9") && !is("0") && !is("101") && !is(""));
        assert!(
            !is_named(&finder.jobs[0], "100", "h1"),
            "it is on another host"
        );
    }
}
