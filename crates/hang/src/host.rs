//! The jobs of this host, whoever has started them: each of their processes has the memory open in
//! which they tell what they do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;

use catena_trace::{AREA, Numbers, OFFSET, View, Who, space_of};

use crate::glance::Glance;
use crate::look::{look, state_of};
use crate::rank::{Rank, State};

/// How the memory is called where processes have it open.
const NAME: &str = "/memfd:catena";

/// A job, as far as it is on this host.
#[derive(Debug)]
pub struct HostJob {
    file: File,
    /// Its number, which other jobs of the host do not have.
    pub job: u64,
    /// The user that it is of.
    pub user: u32,
    /// How many ranks it has on all hosts.
    pub ranks: u32,
    /// Its processes here by their places, in the order of their ranks. The number of each is that
    /// by which it is known here, or zero if there is none: it has ended, or is out of sight.
    pub here: Vec<(u32, Who)>,
    /// Namespaces of processes that can be seen from here.
    spaces: BTreeSet<u64>,
}

/// What processes of this host that this user may look at have.
#[derive(Debug, Default)]
pub struct Seen {
    /// Their jobs.
    pub jobs: Vec<HostJob>,
    /// Processes of jobs of another version, of which no more can be told, job by job.
    pub strangers: Vec<Vec<u32>>,
}

/// The jobs on this host whose processes this user may look at.
///
/// # Errors
/// If there is no `/proc`.
pub fn jobs() -> io::Result<Vec<HostJob>> {
    seen().map(|seen| seen.jobs)
}

/// The jobs on this host whose processes this user may look at, also those of other versions. Cost:
/// a call of the system for each open file of each process.
///
/// # Errors
/// If there is no `/proc`.
pub fn seen() -> io::Result<Seen> {
    let mut files: BTreeMap<u64, (File, Vec<Numbers>)> = BTreeMap::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|it| it.parse().ok()) else {
            continue;
        };
        // The descriptors of another user's process cannot be read.
        let descriptors = fs::read_dir(entry.path().join("fd"));
        for descriptor in descriptors.into_iter().flatten().flatten() {
            let path = descriptor.path();
            let is_ours =
                fs::read_link(&path).is_ok_and(|to| to.to_string_lossy().starts_with(NAME));
            if !is_ours {
                continue;
            }
            if let Ok(file) = File::open(&path)
                && let Ok(about) = file.metadata()
                && about.len() >= OFFSET + AREA as u64
            {
                let (_, users) = files.entry(about.ino()).or_insert((file, Vec::new()));
                if users.last().is_none_or(|last| last.here != pid) {
                    users.extend(Numbers::of(pid));
                }
            }
        }
    }
    let mut seen = Seen::default();
    for (file, users) in files.into_values() {
        let is_strange = View::is_of_another_version(&file).unwrap_or(false);
        match HostJob::of(file, &users) {
            Some(job) => seen.jobs.push(job),
            None if is_strange => seen
                .strangers
                .push(users.iter().map(|it| it.here).collect()),
            None => {}
        }
    }
    Ok(seen)
}

impl HostJob {
    /// The job whose memory a file is that these have open; `None` if no process uses it.
    fn of(file: File, users: &[Numbers]) -> Option<HostJob> {
        let own = space_of(None);
        let about = file.metadata().ok()?;
        let most = about.len().saturating_sub(OFFSET) / AREA as u64;
        let mut here = Vec::new();
        // They have the first places, but for those that have not begun.
        let mut unused = 0;
        for place in 0..u32::try_from(most).unwrap_or(u32::MAX) {
            match View::open(&file, place) {
                Ok(Some(view)) => {
                    let mut who = view.who();
                    who.pid = number_here(who, users, own);
                    here.push((place, who));
                    unused = 0;
                }
                Ok(None) if unused < UNUSED => unused += 1,
                _ => break,
            }
        }
        let (_, who) = *here.first()?;
        let spaces = users.iter().map(|it| it.space).chain([own]);
        Some(HostJob {
            spaces: spaces.collect(),
            user: about.uid(),
            file,
            job: who.job,
            ranks: who.ranks,
            here,
        })
    }

    /// What is seen of its processes here.
    pub fn look(&self, host: &str) -> Vec<Rank> {
        self.each(|view, pid| look(view, host, pid))
    }

    /// What is seen of its processes here, with what is counted of them.
    pub fn glance(&self, host: &str) -> Vec<Glance> {
        self.each(|view, pid| Glance::of(view, host, pid))
    }

    /// What `look` makes of each of its processes here, of which it is given the number, or none of
    /// one that has ended.
    fn each<T>(&self, look: impl Fn(&View<'_>, Option<u32>) -> io::Result<T>) -> Vec<T> {
        // Whether one has ended whose namespace is out of sight cannot be told.
        let seen = self
            .here
            .iter()
            .filter(|(_, who)| self.spaces.contains(&who.space));
        let views = seen.filter_map(|&(place, who)| {
            let view = View::open(&self.file, place).ok()??;
            let is_there = who.pid != 0 && state_of(who.pid) != State::Ended;
            look(&view, is_there.then_some(who.pid)).ok()
        });
        views.collect()
    }

    /// What to look at one of them by.
    pub fn view(&self, place: u32) -> Option<View<'_>> {
        View::open(&self.file, place).ok()?
    }
}

/// Places in a row that nobody uses, behind which nobody is looked for.
const UNUSED: u32 = 1024;

/// The number by which a process is known here that calls itself so; zero if it is none of those
/// that can be seen.
fn number_here(who: Who, users: &[Numbers], own: u64) -> u32 {
    if who.space == own {
        return who.pid;
    }
    let is_it = |it: &&Numbers| (it.own, it.space) == (who.pid, who.space);
    users.iter().find(is_it).map_or(0, |it| it.here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_in_a_namespace_of_its_own_is_known_by_its_number_here() {
        let users = [(900, 900, 1), (901, 5, 2), (902, 5, 3)];
        let users = users.map(|(here, own, space)| Numbers { here, own, space });
        let number = |pid, space| {
            let who = Who {
                pid,
                space,
                ..Who::default()
            };
            number_here(who, &users, 1)
        };
        assert_eq!(number(5, 2), 901);
        assert_eq!(number(5, 3), 902);
        assert_eq!(number(900, 1), 900);
        assert_eq!(number(5, 1), 5, "it may have closed the file");
        assert_eq!(number(6, 2), 0);
    }
}
