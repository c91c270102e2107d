//! Notices ranks that have the library of another MPI in them. Such a library
//! finds no launcher that it knows, so each rank would believe to be alone, and
//! the program would run N times instead of once on N ranks.
//!
//! A program that is linked to an MPI is looked at before it is started:
//! [`at_start`]. What a script or an interpreter loads shows later: [`Watch`]
//! looks at the processes of ranks that run without having called MPI_Init, often at first and then
//! less and less. Ranks that do so soon, as usual, cost nothing.
//!
//! A library that is only loaded, by a program that computes without MPI, does no harm. Open MPI's tells how far MPI_Init
//! has come, in a variable that is read in the memory of the process: so a rank that runs alone is known for
//! sure. Open MPI 4 and MPICH are kept from it in the first place, by [`forbid_alone`]. A library that does not tell is taken to be
//! used if it is there.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use catena_boot::BOOT_VAR;
use catena_boot::alias::{NO_MANAGER, TOGETHER, forbids_alone};

use crate::library;
use crate::linked::{self, Linked};

/// So often ranks that have not called MPI_Init are looked at, at first.
const FIRST: Duration = Duration::from_millis(25);

/// A look comes after this part of the time that the ranks have run, and so looks become rare.
const PART: u32 = 25;

/// So many times as long as a look has taken the next one waits at least.
const SHARE: u32 = 20;

/// Open MPI's variable that tells how far MPI_Init has come: it has begun with 1, and ended with 2. It has been there since
/// version 3.
const STATE: &str = "ompi_mpi_state";

/// Has ranks with `vars` find each other or fail if they use Open MPI 3 or 4, and fail if they use MPICH or a relative. What
/// the user has said about the first stays.
pub fn forbid_alone(vars: &mut Vec<(OsString, OsString)>) {
    let said = |(name, _): &(OsString, OsString)| TOGETHER.iter().any(|(of, _)| *name == *of);
    if !vars.iter().any(said) {
        vars.extend(TOGETHER.map(|(name, value)| (name.into(), value.into())));
    }
    // Of one that this launcher was started by, the ranks have no part.
    vars.retain(|(name, _)| name != NO_MANAGER.0);
    vars.push((NO_MANAGER.0.into(), NO_MANAGER.1.into()));
}

/// Lets ranks with `vars` run alone, as they may: what a launcher has set, one of whose ranks this one was started by, goes.
pub fn let_be_alone(vars: &mut Vec<(OsString, OsString)>) {
    vars.retain(|(name, value)| !forbids_alone(name, value));
}

/// Most processes of one rank that are looked at.
const MOST: usize = 256;

/// Whether a library of this name is an MPI: `libmpi.so.12`, `libmpich.so`,
/// `libmpi_abi.so.1`, `libmpi_cray.so.12`, `libmpi-0a1b2c3d.so.12` of a Python
/// package.
fn is_mpi(name: &str) -> bool {
    let Some((stem, version)) = name.split_once(".so") else {
        return false;
    };
    match stem.strip_prefix("libmpi") {
        Some("" | "ch") => true,
        Some(rest) => rest.starts_with(['_', '-']) && version.starts_with('.'),
        None => false,
    }
}

/// A function that those of Catena's libraries import which have the binary interface of another
/// MPI. The process may not have loaded yet what it is imported from.
const IMPORTED: &str = "catena_MPI_Init";

/// Whether the file is one of Catena's libraries: these know the variable by which
/// ranks find their launcher, or import functions of the one that does. `None` if it cannot be
/// read.
pub fn is_catena(path: &Path) -> Option<bool> {
    const CHUNK: usize = 1 << 20;
    let needles = [BOOT_VAR, IMPORTED].map(str::as_bytes);
    let longest = needles.map(<[u8]>::len).into_iter().max().unwrap_or(1);
    let mut file = File::open(path).ok()?;
    let mut bytes = Vec::with_capacity(CHUNK + longest);
    loop {
        // A name may lie across two chunks.
        bytes.drain(..bytes.len().saturating_sub(longest - 1));
        let read = file.by_ref().take(CHUNK as u64).read_to_end(&mut bytes);
        if read.ok()? == 0 {
            return Some(false);
        }
        let found = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
        if needles.into_iter().any(found) {
            return Some(true);
        }
    }
}

/// The library of another MPI that the program at `path` is going to be given if
/// it is started in `wdir` with variables `vars`; `own` is where Catena's is.
pub fn at_start(
    path: &Path,
    wdir: &Path,
    vars: &[(OsString, OsString)],
    own: Option<&Path>,
) -> Option<PathBuf> {
    let path = wdir.join(path);
    let linked = Linked::read(&path)?;
    let name = linked.needed.iter().find(|name| is_mpi(name))?;
    let ours = |own| name == library::NAME && !linked.has_rpath && !library::is_behind(own, vars);
    if own.is_some_and(ours) {
        return None;
    }
    // The names alone do not tell which file it is; the loader takes a while to.
    let loaded = linked::loaded(&path, wdir, vars, is_mpi);
    other(loaded, is_catena)
}

/// The library of another MPI among `files`, unless Catena's is there, too.
fn other(files: Vec<PathBuf>, mut is_catena: impl FnMut(&Path) -> Option<bool>) -> Option<PathBuf> {
    // Those for other languages have longer names.
    let plainest = files
        .iter()
        .min_by_key(|path| path.file_name().map(OsStr::len));
    let all_others = files.iter().all(|path| is_catena(path) == Some(false));
    all_others.then(|| plainest.cloned()).flatten()
}

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

/// What is known of a file.
#[derive(Clone, Copy, Debug)]
struct Known {
    is_catena: bool,
    /// Where the variable [`STATE`] is from its beginning on, if it has that.
    state: Option<u64>,
}

/// Looks at ranks that have not called MPI_Init.
pub struct Watch {
    started: Instant,
    at: Instant,
    /// Libraries, by device and number of the file.
    known: HashMap<(u64, u64), Known>,
    /// Whether that has become more since [`Watch::has_looked`].
    has_learnt: bool,
    /// Ranks that were seen in the MPI_Init of a library, by their processes.
    starting: HashMap<u32, PathBuf>,
}

impl Watch {
    /// One of ranks that were started at `now`.
    pub fn new(now: Instant) -> Watch {
        Watch {
            started: now,
            at: now + FIRST,
            known: HashMap::new(),
            has_learnt: false,
            starting: HashMap::new(),
        }
    }

    /// When it looks next.
    pub fn next_time(&self) -> Instant {
        self.at
    }

    /// Whether to look now.
    pub fn is_due(&self, now: Instant) -> bool {
        now >= self.at
    }

    /// Has looked from `begin` to `end`.
    pub fn has_looked(&mut self, begin: Instant, end: Instant) {
        // To learn takes long, and is done once.
        let took = match std::mem::take(&mut self.has_learnt) {
            true => Duration::ZERO,
            false => end - begin,
        };
        let pause = ((end - self.started) / PART).max(took * SHARE);
        self.at = end + pause.max(FIRST);
    }

    /// The library in whose MPI_Init process `rank`, or one that it has started, was seen.
    pub fn starting(&self, rank: u32) -> Option<&PathBuf> {
        self.starting.get(&rank)
    }

    /// The library of another MPI that process `rank`, or one that it has started,
    /// has in memory, unless that tells that its MPI_Init has not ended. Those that another launcher takes care of do not count.
    pub fn look(&mut self, rank: u32) -> Option<(PathBuf, Stage)> {
        let mut processes = vec![rank];
        let mut at = 0;
        while let Some(&pid) = processes.get(at) {
            at += 1;
            let libraries = libraries(pid);
            let none = libraries.is_empty();
            let paths = libraries.iter().map(|(path, _)| path.clone()).collect();
            let found = other(paths, |path| Some(self.know(pid, path)?.is_catena));
            // What ends meanwhile has no variables any more.
            if let Some(found) = found
                && !has_launcher(pid, rank)
                && libraries.iter().all(|of| self::libraries(pid).contains(of))
            {
                let base = libraries.iter().find(|(path, _)| *path == found);
                let stage = base.and_then(|(path, base)| {
                    let state = self.know(pid, path)?.state?;
                    stage(pid, base.checked_add(state)?)
                });
                let stage = stage.unwrap_or(Stage::Unknown);
                match stage {
                    Stage::Loaded => {}
                    Stage::Starting => drop(self.starting.insert(rank, found)),
                    Stage::Alone | Stage::Unknown => return Some((found, stage)),
                }
            }
            if none && processes.len() < MOST {
                processes.extend(children(pid));
            }
        }
        None
    }

    /// The file that process `pid` has as `path`.
    fn know(&mut self, pid: u32, path: &Path) -> Option<Known> {
        let path = seen_by(pid, path)?;
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

/// The file that process `pid` has as `path`: containers have files of their own.
fn seen_by(pid: u32, path: &Path) -> Option<PathBuf> {
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    Some(root.join(path.strip_prefix("/").ok()?))
}

/// What the library is up to whose variable [`STATE`] process `pid` has at that address.
fn stage(pid: u32, at: u64) -> Option<Stage> {
    let mut value = [0; 4];
    let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
    memory.read_exact_at(&mut value, at).ok()?;
    Some(match i32::from_ne_bytes(value) {
        0 => Stage::Loaded,
        1 => Stage::Starting,
        _ => Stage::Alone,
    })
}

/// The libraries of MPIs that a process has in its memory, each with the address at which it begins.
fn libraries(pid: u32) -> Vec<(PathBuf, u64)> {
    let maps = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    let mut found = Vec::new();
    for line in maps.split(|&byte| byte == b'\n') {
        let Some(at) = line.iter().position(|&byte| byte == b'/') else {
            continue;
        };
        let path = Path::new(OsStr::from_bytes(&line[at..]));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_mpi(&name) && !found.iter().any(|(other, _)| other == path) {
            let first = line.split(|&byte| byte == b'-').next();
            let base = first
                .and_then(|text| u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok());
            found.push((path.to_path_buf(), base.unwrap_or_default()));
        }
    }
    found
}

/// The processes that a process has started, and that still run.
fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let of = |thread: PathBuf| std::fs::read_to_string(thread.join("children")).ok();
    let lists = threads.filter_map(|thread| of(thread.ok()?.path()));
    let numbers = |list: String| {
        let pids = list.split_whitespace().filter_map(|pid| pid.parse().ok());
        pids.collect::<Vec<_>>()
    };
    lists.flat_map(numbers).collect()
}

/// Whether another launcher takes care of process `pid`: one that `rank` has
/// started, as it finds PMI or PMIx where that process does not.
fn has_launcher(pid: u32, rank: u32) -> bool {
    let variables = |pid: u32| std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let (of_rank, of_process) = (variables(rank), variables(pid));
    let known: Vec<&[u8]> = of_rank.split(|&byte| byte == 0).collect();
    let mut vars = of_process.split(|&byte| byte == 0);
    vars.any(|var| var.starts_with(b"PMI") && !known.contains(&var))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn an_mpi_is_known_by_its_name() {
        for name in [
            "libmpi.so.12",
            "libmpi.so.40.40.7",
            "libmpi.so",
            "libmpich.so.12.1.6",
            "libmpi_abi.so.1",
            "libmpi_cray.so.12",
            "libmpi-0a1b2c3d.so.12",
        ] {
            assert!(is_mpi(name), "{name}");
        }
        for name in [
            "libm.so.6",
            "libmpc.so.3",
            "libmpiP.so.3",
            "libmpi_stubs.so",
            "libmpiseq.so",
            "libmpitrampoline.so",
            "libmpi.a",
        ] {
            assert!(!is_mpi(name), "{name}");
        }
    }

    #[test]
    fn another_library_beside_catenas_does_no_harm() {
        let files = || ["/a/libmpi_cxx.so.40", "/a/libmpi.so.40"].map(PathBuf::from);
        let found = other(files().to_vec(), |_| Some(false));
        assert_eq!(found, Some(PathBuf::from("/a/libmpi.so.40")));
        let of_ours = |path: &Path| Some(path.ends_with("libmpi.so.40"));
        assert_eq!(other(files().to_vec(), of_ours), None);
        assert_eq!(other(files().to_vec(), |_| None), None);
        assert_eq!(other(Vec::new(), |_| Some(false)), None);
    }

    #[test]
    fn catena_is_found_across_chunks() {
        let path = std::env::temp_dir().join(format!("catena-foreign-{}", std::process::id()));
        let mut bytes = vec![0; (1 << 20) - 3];
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(is_catena(&path), Some(false));
        bytes.extend_from_slice(BOOT_VAR.as_bytes());
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(is_catena(&path), Some(true));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(is_catena(&path), None);
    }

    #[test]
    fn what_another_launcher_has_started_is_its_own_affair() {
        let own = std::process::id();
        for (variable, expected) in [("PMI_RANK", true), ("OTHER", false)] {
            let mut child = Command::new("sh")
                .args(["-c", "(echo up; read end); :"])
                .env(variable, "1")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            // Now both have begun, and execute nothing more; they end with their input.
            let mut up = [0; 3];
            let out = child.stdout.as_mut().unwrap();
            out.read_exact(&mut up).unwrap();
            let below = children(child.id());
            assert_eq!(below.len(), 1, "{below:?}");
            assert_eq!(has_launcher(child.id(), own), expected, "{variable}");
            assert_eq!(has_launcher(below[0], own), expected, "{variable}");
            drop(child.stdin.take());
            child.wait().unwrap();
        }
        assert!(!has_launcher(own, own));
    }

    #[test]
    fn looks_become_rare() {
        let start = Instant::now();
        let mut watch = Watch::new(start);
        assert!(!watch.is_due(start));
        let first = watch.next_time();
        assert!(watch.is_due(first));
        watch.has_looked(first, first);
        assert!(!watch.is_due(first));
        // Later they are further apart, and a look that takes long costs little all the same.
        for (at, took, pause) in [(50, 0, 2), (50, 1, 20)] {
            let begin = start + Duration::from_secs(at - took);
            watch.has_looked(begin, start + Duration::from_secs(at));
            assert_eq!(watch.next_time() - start, Duration::from_secs(at + pause));
        }
    }

    #[test]
    fn open_mpi_is_kept_from_running_alone_unless_the_user_says_otherwise() {
        let names = |mut vars: Vec<(OsString, OsString)>| {
            forbid_alone(&mut vars);
            vars.into_iter()
                .map(|var| var.0.into_string().unwrap())
                .collect::<Vec<_>>()
        };
        let all = ["OMPI_MCA_schizo", "OMPI_MCA_ess", "PMI_FD"];
        assert_eq!(names(Vec::new()), all);
        assert_eq!(names(vec![("PMI_FD".into(), "5".into())]), all);
        let own = vec![("OMPI_MCA_ess".into(), "pmi".into())];
        assert_eq!(names(own), ["OMPI_MCA_ess", "PMI_FD"]);
    }

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
            assert_eq!(stage(own, (&raw const place).addr() as u64), Some(told));
        }
        assert_eq!(stage(own, 0), None);
        assert!(libraries(own).is_empty());
    }
}
