//! Looks at ranks that have not called MPI_Init.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::pace::Pace;
use super::processes::{self, Change, Process};
use super::{is_catena, other};
use crate::linked;

/// Open MPI's variable that tells how far MPI_Init has come: it has begun with 1, and ended with 2.
/// It has been there since version 3.
const STATE: &str = "ompi_mpi_state";

/// Most processes of one rank that are looked at.
const MOST: usize = 256;

/// Most processes for which a descriptor is kept.
const KEPT: usize = 512;

/// Most new processes, besides two for each process that is known, of which each is asked whose it
/// is.
const FEW: u32 = 64;

/// What the library of another MPI in a process is up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It is loaded, and MPI_Init was not called.
    Loaded,
    /// MPI_Init is under way.
    Starting,
    /// MPI_Init has ended, though no launcher was asked.
    Alone,
    /// It does not tell.
    Unknown,
}

impl Stage {
    /// The one that [`STATE`] tells.
    fn of(state: i32) -> Stage {
        match state {
            0 => Stage::Loaded,
            1 => Stage::Starting,
            _ => Stage::Alone,
        }
    }
}

/// What is known of a file.
#[derive(Clone, Copy, Debug)]
struct Known {
    is_catena: bool,
    /// Where the variable [`STATE`] is from its beginning on, if it has that.
    state: Option<u64>,
}

/// The library of another MPI in a process that no other launcher takes care of.
#[derive(Clone, Debug)]
struct Foreign {
    library: PathBuf,
    /// The address of [`STATE`].
    state: Option<u64>,
}

/// A process that was looked at.
#[derive(Debug)]
struct Seen {
    process: Process,
    foreign: Option<Foreign>,
    /// In which round that was last.
    round: u64,
}

/// Looks at ranks that have not called MPI_Init.
#[derive(Debug)]
pub struct Watch {
    pace: Pace,
    round: u64,
    /// See [`processes::last_started`].
    started: Option<u32>,
    /// Whether there may be new processes in this round.
    may_be_more: bool,
    seen: HashMap<u32, Seen>,
    /// How many more descriptors may be kept.
    spare: usize,
    /// Libraries, by device and number of the file.
    known: HashMap<(u64, u64), Known>,
    /// Whether that has become more since [`Watch::has_looked`].
    has_learnt: bool,
    /// Ranks that were seen in the MPI_Init of a library, by their processes.
    starting: HashMap<u32, PathBuf>,
}

impl Watch {
    /// One of ranks that were started at `now`, which may keep this many descriptors.
    pub fn new(now: Instant, spare: u64) -> Watch {
        Watch {
            pace: Pace::new(now),
            round: 0,
            started: None,
            may_be_more: true,
            seen: HashMap::new(),
            spare: usize::try_from(spare).map_or(KEPT, |spare| spare.min(KEPT)),
            known: HashMap::new(),
            has_learnt: false,
            starting: HashMap::new(),
        }
    }

    /// When it looks next.
    pub fn next_time(&self) -> Instant {
        self.pace.next_time()
    }

    /// Whether to look now.
    pub fn is_due(&self, now: Instant) -> bool {
        now >= self.next_time()
    }

    /// Is going to [`Watch::look`] at all ranks that have not called MPI_Init.
    pub fn begin(&mut self) {
        self.round += 1;
        // Read before the processes are: those that are started meanwhile belong to the next round.
        let started = processes::last_started();
        let before = std::mem::replace(&mut self.started, started);
        self.may_be_more = match before.zip(started) {
            Some((before, started)) if before <= started => {
                // Where few are new on this host it costs less to ask each of them whose it is.
                let few = 2 * self.seen.len() as u32 + FEW;
                let are_few = started - before <= few;
                if are_few {
                    (before + 1..=started).for_each(|pid| self.adopt(pid));
                }
                !are_few
            }
            _ => true,
        };
    }

    /// Looks whose process a new one is.
    fn adopt(&mut self, pid: u32) {
        let parent = processes::parent(pid);
        if let Some(parent) = parent.and_then(|parent| self.seen.get_mut(&parent)) {
            let children = &mut parent.process.children;
            if !children.contains(&pid) {
                children.push(pid);
            }
        }
    }

    /// Has looked from `begin` to `end`.
    pub fn has_looked(&mut self, begin: Instant, end: Instant) {
        let round = self.round;
        self.seen.retain(|_, seen| seen.round == round);
        // To learn takes long, and is done once.
        let took = match std::mem::take(&mut self.has_learnt) {
            true => Duration::ZERO,
            false => end - begin,
        };
        self.pace.looked(took, end);
    }

    /// The library in whose MPI_Init process `rank`, or one that it has started, was seen.
    pub fn starting(&self, rank: u32) -> Option<&PathBuf> {
        self.starting.get(&rank)
    }

    /// The library of another MPI that process `rank`, or one that it has started,
    /// has in memory, unless that tells that its MPI_Init has not ended. Those that another
    /// launcher takes care of do not count. Cost: see `processes`.
    pub fn look(&mut self, rank: u32) -> Option<(PathBuf, Stage)> {
        let mut processes = vec![rank];
        let mut gone = Vec::new();
        let mut at = 0;
        while let Some(&pid) = processes.get(at) {
            at += 1;
            let Some(seen) = self.refresh(pid, rank) else {
                gone.push(pid);
                continue;
            };
            if seen.process.libraries.is_empty() && processes.len() < MOST {
                processes.extend(&seen.process.children);
            }
            let Some(foreign) = seen.foreign.clone() else {
                continue;
            };
            let state = foreign.state.and_then(|at| processes::number_at(pid, at));
            match state.map_or(Stage::Unknown, Stage::of) {
                Stage::Loaded => {}
                Stage::Starting => drop(self.starting.insert(rank, foreign.library)),
                stage @ (Stage::Alone | Stage::Unknown) => return Some((foreign.library, stage)),
            }
        }
        if !gone.is_empty() {
            for pid in &processes {
                if let Some(seen) = self.seen.get_mut(pid) {
                    let children = &mut seen.process.children;
                    children.retain(|child| !gone.contains(child));
                }
            }
        }
        None
    }

    /// Looks at one process of a rank; none if it has ended.
    fn refresh(&mut self, pid: u32, rank: u32) -> Option<&Seen> {
        let mut seen = self.seen.remove(&pid).unwrap_or_else(|| Seen {
            process: Process::new(pid, self.spare > self.seen.len()),
            foreign: None,
            round: 0,
        });
        let change = seen.process.refresh();
        let is_new = seen.round == 0;
        seen.round = self.round;
        match change {
            Change::Gone => return None,
            Change::Code => {
                seen.foreign = self.judge(pid, rank, &seen.process.libraries);
                let has_none = seen.process.libraries.is_empty();
                if !has_none && processes::libraries(pid) != seen.process.libraries {
                    // What executes a program or ends meanwhile has no variables any more, or
                    // others.
                    seen.process.forget();
                    seen.foreign = None;
                }
            }
            Change::Nothing => {}
        }
        if seen.process.libraries.is_empty()
            && (is_new || self.may_be_more || change == Change::Code)
        {
            seen.process.children = processes::children(pid);
        }
        Some(self.seen.entry(pid).insert_entry(seen).into_mut())
    }

    /// What a process with these libraries uses, if that is another MPI, and no other launcher
    /// takes care of it.
    fn judge(&mut self, pid: u32, rank: u32, libraries: &[(PathBuf, u64)]) -> Option<Foreign> {
        let paths = libraries.iter().map(|(path, _)| path.clone()).collect();
        let library = other(paths, |path| Some(self.know(pid, path)?.is_catena))?;
        if processes::has_launcher(pid, rank) {
            return None;
        }
        let (_, base) = libraries.iter().find(|(path, _)| *path == library)?;
        let state = self.know(pid, &library).and_then(|known| known.state);
        let state = state.and_then(|state| base.checked_add(state));
        Some(Foreign { library, state })
    }

    /// The file that process `pid` has as `path`.
    fn know(&mut self, pid: u32, path: &Path) -> Option<Known> {
        let path = processes::seen_by(pid, path)?;
        let about = std::fs::metadata(&path).ok()?;
        let file = (about.dev(), about.ino());
        if let Some(&known) = self.known.get(&file) {
            return Some(known);
        }
        let found = Known {
            is_catena: is_catena(&path)?,
            state: linked::symbol(&path, STATE),
        };
        self.has_learnt = true;
        self.known.insert(file, found);
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_library_tells_how_far_it_has_come() {
        let own = std::process::id();
        for (value, told) in [
            (0, Stage::Loaded),
            (1, Stage::Starting),
            (2, Stage::Alone),
            (7, Stage::Alone),
        ] {
            let place: i32 = value;
            let state = processes::number_at(own, (&raw const place).addr() as u64);
            assert_eq!(state.map(Stage::of), Some(told));
        }
        assert_eq!(processes::number_at(own, 0), None);
    }
    #[test]
    fn what_a_process_starts_is_looked_at_as_long_as_it_runs() {
        let script = "echo up; read go; (echo below; read end); echo done; read end";
        let mut rank = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut to = rank.stdin.take().unwrap();
        let mut said = BufReader::new(rank.stdout.take().unwrap());
        let mut hear = |word: &str| {
            let mut line = String::new();
            said.read_line(&mut line).unwrap();
            assert_eq!(line.trim(), word);
        };
        let mut watch = Watch::new(Instant::now(), 100);
        let mut look = || {
            watch.begin();
            watch.look(rank.id());
            watch.has_looked(Instant::now(), Instant::now());
            let children = watch.seen[&rank.id()].process.children.len();
            (watch.seen.len(), children)
        };
        hear("up");
        assert_eq!(look(), (1, 0));
        to.write_all(b"\n").unwrap();
        hear("below");
        assert_eq!(look(), (2, 1));
        to.write_all(b"\n").unwrap();
        hear("done");
        look();
        assert_eq!(look(), (1, 0));
        drop(to);
        rank.wait().unwrap();
    }

    #[test]
    fn what_is_loaded_late_is_seen_with_the_next_look() {
        let folder = std::env::temp_dir().join(format!("catena-late-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let library = folder.join("libmpi.so.4096");
        std::fs::write(&library, [0; 4096]).unwrap();
        let own = std::process::id();
        let mut watch = Watch::new(Instant::now(), 100);
        let mut look = || {
            watch.begin();
            let found = watch.look(own);
            watch.has_looked(Instant::now(), Instant::now());
            found
        };
        assert_eq!(look(), None);
        assert_eq!(look(), None);
        crate::sys::load(&library);
        let found = look();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, Some((library, Stage::Unknown)));
    }
}
