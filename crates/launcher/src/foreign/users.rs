//! Who uses Catena, or may be about to.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::processes::{libraries, seen_by};
use super::{is_catena, is_mpi};
use crate::linked::Linked;

/// Tells who does; remembers what it has read.
#[derive(Debug, Default)]
pub struct Users {
    /// Whether files are libraries of Catena, and whether programs are linked to an MPI, by device
    /// and number.
    libraries: HashMap<(u64, u64), bool>,
    programs: HashMap<(u64, u64), bool>,
}

/// What is said of a file; it is asked once.
fn know(
    known: &mut HashMap<(u64, u64), bool>,
    path: &Path,
    ask: impl FnOnce(&Path) -> Option<bool>,
) -> Option<bool> {
    let about = std::fs::metadata(path).ok()?;
    let file = (about.dev(), about.ino());
    if let Some(&said) = known.get(&file) {
        return Some(said);
    }
    let said = ask(path)?;
    known.insert(file, said);
    Some(said)
}

impl Users {
    /// Whether a process has one of Catena's libraries in its memory, or executes a program that is
    /// linked to an MPI, which its loader may be about to load.
    pub fn may_use_catena(&mut self, pid: u32) -> bool {
        let libraries = libraries(pid);
        if libraries.is_empty() {
            let is_linked = |path: &Path| {
                let linked = Linked::read(path)?;
                Some(linked.needed.iter().any(|name| is_mpi(name)))
            };
            let program = format!("/proc/{pid}/exe");
            return know(&mut self.programs, Path::new(&program), is_linked) == Some(true);
        }
        let mut files = libraries.iter().filter_map(|(path, _)| seen_by(pid, path));
        files.any(|file| know(&mut self.libraries, &file, is_catena) == Some(true))
    }
}
