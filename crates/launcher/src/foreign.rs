//! Notices ranks that have the library of another MPI in them. Such a library
//! finds no launcher that it knows, so each rank would believe to be alone, and
//! the program would run N times instead of once on N ranks.
//!
//! A program that is linked to an MPI is looked at before it is started:
//! [`at_start`]. What a script or an interpreter loads shows later: [`Watch`]
//! looks at the processes of ranks that run without having called MPI_Init. Ranks that do so soon,
//! as usual, cost nothing.
//!
//! A library that is only loaded, by a program that computes without MPI, does no harm. Open MPI's
//! tells how far MPI_Init has come, in a variable that is read in the memory of the process: so a
//! rank that runs alone is known for sure. Open MPI 4 and MPICH are kept from it in the first
//! place, by [`forbid_alone`]. A library that does not tell is taken to be used if it is there.
//!
//! | module      | what it has                                        |
//! |-------------|----------------------------------------------------|
//! | `watch`     | looks at ranks that have not called MPI_Init       |
//! | `pace`      | when the next look comes, and what looks may cost  |
//! | `processes` | what the system tells of processes                 |
//! | `users`     | who uses Catena, or may be about to                |

mod pace;
mod processes;
mod users;
mod watch;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use catena_boot::BOOT_VAR;
use catena_boot::alias::{NO_MANAGER, TOGETHER, forbids_alone};

use crate::library;
use crate::linked::{self, Linked};

pub use processes::{children, is_running, parent};
pub use users::Users;
pub use watch::{Stage, Watch};

/// Has ranks with `vars` find each other or fail if they use Open MPI 3 or 4, and fail if they use
/// MPICH or a relative. What the user has said about the first stays.
pub fn forbid_alone(vars: &mut Vec<(OsString, OsString)>) {
    let said = |(name, _): &(OsString, OsString)| TOGETHER.iter().any(|(of, _)| *name == *of);
    if !vars.iter().any(said) {
        vars.extend(TOGETHER.map(|(name, value)| (name.into(), value.into())));
    }
    // Of one that this launcher was started by, the ranks have no part.
    vars.retain(|(name, _)| name != NO_MANAGER.0);
    vars.push((NO_MANAGER.0.into(), NO_MANAGER.1.into()));
}

/// Lets ranks with `vars` run alone, as they may: what a launcher has set, one of whose ranks this
/// one was started by, goes.
pub fn let_be_alone(vars: &mut Vec<(OsString, OsString)>) {
    vars.retain(|(name, value)| !forbids_alone(name, value));
}

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
    const CHUNK: usize = 64 << 10;
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

#[cfg(test)]
mod tests {
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
}
