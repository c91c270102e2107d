//! Files made from the tables of `catena-abi`.

mod header;
mod rust;

use std::fs;
use std::path::Path;

/// Path from the root of the repository, and content.
fn files() -> [(&'static str, String); 3] {
    [
        ("crates/abi/src/consts.rs", rust::consts()),
        ("crates/abi/src/names.rs", rust::names()),
        ("include/mpi.h", header::header()),
    ]
}

/// Writes every generated file whose content has changed.
pub fn write(root: &Path) -> Result<(), String> {
    for (path, text) in files() {
        let path = root.join(path);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        let parent = path.parent().unwrap_or(root);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(|e| format!("{}: {e}", path.display()))?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn checked_in_files_are_up_to_date() {
        for (path, text) in super::files() {
            let old = std::fs::read_to_string(crate::root().join(path)).unwrap();
            assert!(old == text, "{path} is stale: run `cargo xtask gen`");
        }
    }
}
