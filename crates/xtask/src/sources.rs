//! The crates of the project and their source files.

use std::fs;
use std::path::{Path, PathBuf};

/// A crate as the rules see it.
#[derive(Debug)]
pub struct Crate {
    /// Name of its folder, which is its name without `catena-`.
    pub name: String,
    /// The text of its `Cargo.toml`.
    pub manifest: String,
    /// Path within the crate, and text, of each Rust file, sorted.
    pub sources: Vec<(PathBuf, String)>,
}

/// All crates, sorted by name.
///
/// # Errors
/// If a file or a folder cannot be read.
pub fn read(root: &Path) -> std::io::Result<Vec<Crate>> {
    let mut crates = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let dir = entry?.path();
        let manifest = dir.join("Cargo.toml");
        if !manifest.exists() {
            continue;
        }
        let mut sources = Vec::new();
        collect(&dir, &dir, &mut sources)?;
        sources.sort();
        let name = dir
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        crates.push(Crate {
            name,
            manifest: fs::read_to_string(manifest)?,
            sources,
        });
    }
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(crates)
}

fn collect(base: &Path, dir: &Path, out: &mut Vec<(PathBuf, String)>) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(base, &path, out)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path)?;
            out.push((path.strip_prefix(base).unwrap_or(&path).to_path_buf(), text));
        }
    }
    Ok(())
}
