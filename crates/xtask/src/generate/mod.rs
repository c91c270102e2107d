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

/// The file that tells which files nobody writes by hand, for tools that show changes or count
/// languages.
const ATTRIBUTES: &str = ".gitattributes";

/// What it says of such a file.
const MARK: &str = "linguist-generated";

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
    files.extend(catena_fortran::files());
    Ok(files)
}

/// Whether the content of a file is not what it should be.
fn is_stale(root: &Path, path: &str, text: &str) -> bool {
    !fs::read_to_string(root.join(path)).is_ok_and(|old| old == text)
}

/// Writes every generated file whose content has changed.
///
/// # Errors
/// If a file cannot be written, or the README lacks its marks.
pub fn write(root: &Path) -> Result<(), String> {
    let files = files(root)?.into_iter();
    for (path, text) in files.filter(|(path, text)| is_stale(root, path, text)) {
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
    match files(root) {
        Ok(files) => {
            let attributes = fs::read_to_string(root.join(ATTRIBUTES)).unwrap_or_default();
            let stale = (files.iter())
                .filter(|(path, text)| is_stale(root, path, text))
                .map(|(path, _)| format!("{path}: stale: run `cargo xtask gen`"));
            let unmarked = (files.iter())
                .filter(|(path, _)| *path != README && !is_marked(&attributes, path))
                .map(|(path, _)| {
                    format!("{path}: made, but {ATTRIBUTES} does not say {MARK} of it")
                });
            stale.chain(unmarked).collect()
        }
        Err(problem) => vec![problem],
    }
}

/// Whether a `.gitattributes` says of a path that the file is made: by the path itself, or by a
/// folder above it.
fn is_marked(attributes: &str, path: &str) -> bool {
    let marked = attributes.lines().filter_map(|l| l.strip_suffix(MARK));
    marked.map(str::trim_end).any(|pattern| {
        pattern
            .strip_suffix("**")
            .map_or(pattern == path, |folder| {
                folder.ends_with('/') && path.starts_with(folder)
            })
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn made_files_are_marked_by_path_or_folder() {
        let attributes =
            "# made\na/b.rs linguist-generated\nmade/** linguist-generated\nc.rs text\n";
        let is_marked = |path| super::is_marked(attributes, path);
        assert!(is_marked("a/b.rs") && is_marked("made/c.rs") && is_marked("made/in/d.rs"));
        assert!(!is_marked("a/b.rs2") && !is_marked("remade/c.rs") && !is_marked("c.rs"));
    }

    #[test]
    fn checked_in_files_are_up_to_date() {
        assert_eq!(super::check(&crate::root()), Vec::<String>::new());
    }
}
