//! What libraries leave in shared memory when a launch of theirs is ended before its time.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where it is.
const FOLDER: &str = "/dev/shm";

/// How its names begin: of MPICH, Intel MPI and Open MPI.
const THEIRS: [&str; 4] = ["mpich_shm_", "Intel_MPI_", "sm_segment.", "vader_segment."];

/// What was there before a launch, perhaps of others.
pub struct Before {
    folder: PathBuf,
    known: BTreeSet<PathBuf>,
}

impl Before {
    /// What is there now.
    pub fn now() -> Before {
        Before::of(PathBuf::from(FOLDER))
    }

    fn of(folder: PathBuf) -> Before {
        let known = theirs(&folder);
        Before { folder, known }
    }

    /// Removes what has come since and no process has mapped any more.
    pub fn remove_new(&self) {
        for path in theirs(&self.folder).difference(&self.known) {
            if !is_mapped(path) {
                // Another process was quicker and has done it.
                let _ = fs::remove_file(path);
            }
        }
    }
}

fn theirs(folder: &Path) -> BTreeSet<PathBuf> {
    let is_theirs = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        THEIRS.iter().any(|theirs| name.starts_with(theirs))
    };
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(is_theirs).collect()
}

/// Whether a process has the file mapped, as far as this one may know.
fn is_mapped(path: &Path) -> bool {
    let path = path.to_string_lossy();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut maps = processes.filter_map(|p| fs::read_to_string(p.path().join("maps")).ok());
    maps.any(|maps| maps.lines().any(|line| line.ends_with(&*path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_and_theirs_is_removed() {
        let folder = std::env::temp_dir().join(format!("catena-remains-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = |name: &str| fs::write(folder.join(name), "x").unwrap();
        file("mpich_shm_old");
        let before = Before::of(folder.clone());
        for name in ["mpich_shm_new", "Intel_MPI_new", "mine"] {
            file(name);
        }
        before.remove_new();
        let left = fs::read_dir(&folder).unwrap().flatten();
        let left: BTreeSet<_> = left.map(|e| e.file_name().into_string().unwrap()).collect();
        let expected = ["mine", "mpich_shm_old"].map(String::from);
        assert_eq!(left, BTreeSet::from(expected));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_runs_is_mapped() {
        assert!(is_mapped(&std::env::current_exe().unwrap()));
        assert!(!is_mapped(Path::new("/dev/shm/mpich_shm_of_nobody")));
    }
}
