//! The libraries below Catena: libfabric and UCX.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use crate::finding::{Finding, Weight};
use crate::machine::System;

/// The option by which this command tells the version of a library; no user gives it.
pub const VERSION_OF: &str = "--version-of";

/// A library by the name that [`version_of`] knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// libfabric.
    Libfabric,
    /// UCX.
    Ucx,
}

impl Library {
    /// Both.
    pub const ALL: [Library; 2] = [Library::Libfabric, Library::Ucx];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Library::Libfabric => "libfabric",
            Library::Ucx => "UCX",
        }
    }

    fn setting(self) -> &'static str {
        match self {
            Library::Libfabric => "CATENA_OFI_LIBRARY",
            Library::Ucx => "CATENA_UCX_LIBRARY",
        }
    }
}

/// Prints the version of a library, or why there is none.
pub fn version_of(name: &str) -> i32 {
    let found = match Library::ALL.into_iter().find(|it| it.name() == name) {
        Some(Library::Libfabric) => {
            let found = catena_ofi::library_version();
            found
                .map(|(major, minor)| format!("{major}.{minor}"))
                .map_err(|error| error.to_string())
        }
        Some(Library::Ucx) => {
            let found = catena_ucx::library_version();
            let found = found.map(|(major, minor, patch)| format!("{major}.{minor}.{patch}"));
            found.map_err(|error| error.to_string())
        }
        None => Err(format!("{name} is not known")),
    };
    match found {
        Ok(version) => println!("{version}"),
        Err(why) => catena_base::tell!("{why}"),
    }
    0
}

/// The version of a library, by a process of its own: to open one runs code of strangers.
pub fn version(library: Library, own: &[OsString]) -> Result<String, String> {
    let output = Command::new(&own[0])
        .args(&own[1..])
        .args([VERSION_OF, library.name()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let text = |bytes| String::from_utf8_lossy(bytes).trim().replace('\n', " ");
    let version = text(&output.stdout);
    match (version.is_empty(), output.status.success()) {
        (false, _) => Ok(version),
        (true, true) => Err(text(&output.stderr)),
        (true, false) => Err(format!(
            "it ends the process that opens it ({})",
            output.status
        )),
    }
}

/// The numbers of a version.
fn numbers(version: &str) -> (u32, u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    (next(), next(), next())
}

/// What is the matter with a library of this version, or with its absence.
pub fn judge(library: Library, version: &Result<String, String>, system: &System) -> Vec<Finding> {
    let note = |weight, cause: String, remedy: &str| {
        vec![Finding::new(weight, library.name(), cause, remedy)]
    };
    let names = |folder| system.names(folder).join(", ");
    let (verbs, slingshot) = (names("/sys/class/infiniband"), names("/sys/class/cxi"));
    let cards = match library {
        Library::Libfabric => slingshot,
        Library::Ucx => verbs,
    };
    match version {
        Err(why) if !cards.is_empty() => note(
            Weight::Slow,
            format!(
                "{} cannot be used ({why}), so messages do not take the card {cards}",
                library.name()
            ),
            &format!(
                "install it, or say where it is ({}=PATH)",
                library.setting()
            ),
        ),
        Err(why) if why.starts_with("it ends") => note(
            Weight::Broken,
            format!("{} cannot be used: {why}", library.name()),
            &format!(
                "install another version, or say where one is ({}=PATH)",
                library.setting()
            ),
        ),
        // Nothing here needs it.
        Err(_) => Vec::new(),
        Ok(version) => match (library, numbers(version)) {
            (Library::Ucx, found) if found < (1, 19, 1) && !cards.is_empty() => note(
                Weight::Note,
                format!(
                    "UCX {version} loses messages of its shared memory now and then (mended in 1.19.1); Catena takes its own for a node"
                ),
                "leave UCX to networks (CATENA_LINK=shm+ucx), or install a newer one",
            ),
            (Library::Ucx, (1, 21, _)) if !system.names("/proc/driver/nvidia").is_empty() => note(
                Weight::Broken,
                format!("UCX {version} has a fault in its use of CUDA's IPC"),
                "install another version, or set UCX_TLS=^cuda_ipc",
            ),
            _ => Vec::new(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_bad_versions_are_named() {
        let root = std::env::temp_dir().join(format!("catena-doctor-ucx-{}", std::process::id()));
        let system = System::at(&root);
        let judged = |library, version: &str| judge(library, &Ok(version.to_string()), &system);
        // Nothing here would use it.
        assert_eq!(judged(Library::Ucx, "1.17.0"), []);
        assert_eq!(judge(Library::Ucx, &Err("not found".into()), &system), []);
        std::fs::create_dir_all(root.join("sys/class/infiniband/mlx5_0")).unwrap();
        assert!(judged(Library::Ucx, "1.17.0")[0].cause.contains("1.19.1"));
        assert_eq!(judged(Library::Ucx, "1.19.1"), []);
        assert_eq!(judged(Library::Libfabric, "2.1.0"), []);
        let absent = judge(Library::Ucx, &Err("not found".into()), &system);
        assert!(absent[0].cause.contains("mlx5_0"), "{absent:?}");
        std::fs::remove_dir_all(&root).unwrap();
        let ends = judge(
            Library::Ucx,
            &Err("it ends the process that opens it".into()),
            &system,
        );
        assert_eq!(ends[0].weight, Weight::Broken);
    }
}
