//! Files made from the tables of `catena-abi`.

mod foreign;
mod functions;
mod header;
mod manual;
mod rust;

use catena_foreign::Interface;
use std::fs;
use std::path::Path;

/// A file of which a part is made.
const README: &str = "README.md";

/// Path from the root of the repository, and content.
fn files(root: &Path) -> Result<Vec<(&'static str, String)>, String> {
    let readme = fs::read_to_string(root.join(README)).map_err(|e| format!("{README}: {e}"))?;
    let mut files = vec![
        ("crates/abi/src/consts.rs", rust::consts()),
        ("crates/abi/src/names.rs", rust::names()),
        ("include/mpi.h", header::header()),
        ("docs/functions.md", functions::page()),
        ("docs/options.md", catena_launcher::options_page()),
        (
            "crates/fortran/made/mpich/mpi.h",
            foreign::header(Interface::Mpich),
        ),
        (
            "crates/fortran/made/openmpi/mpi.h",
            foreign::header(Interface::OpenMpi),
        ),
        (
            "crates/fortran/made/openmpi/handles.c",
            foreign::module_handles(),
        ),
        (README, functions::readme(&readme)?),
    ];
    files.extend(manual::pages(root)?);
    files.extend(catena_check::files());
    files.extend(catena_fortran::files());
    Ok(files)
}

/// The files whose content is not what it should be.
fn stale(root: &Path) -> Result<Vec<(&'static str, String)>, String> {
    let mut files = files(root)?;
    files.retain(|(path, text)| !fs::read_to_string(root.join(path)).is_ok_and(|old| old == *text));
    Ok(files)
}

/// Writes every generated file whose content has changed.
///
/// # Errors
/// If a file cannot be written, or the README lacks its marks.
pub fn write(root: &Path) -> Result<(), String> {
    for (path, text) in stale(root)? {
        let path = root.join(path);
        let parent = path.parent().unwrap_or(root);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(|e| format!("{}: {e}", path.display()))?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

/// What is wrong with the generated files, a line for each.
pub fn check(root: &Path) -> Vec<String> {
    match stale(root) {
        Ok(stale) => {
            let lines = stale.into_iter();
            lines
                .map(|(path, _)| format!("{path}: stale: run `cargo xtask gen`"))
                .collect()
        }
        Err(problem) => vec![problem],
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn checked_in_files_are_up_to_date() {
        assert_eq!(super::check(&crate::root()), Vec::<String>::new());
    }
}
