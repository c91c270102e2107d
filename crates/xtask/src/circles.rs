//! The rule against circles of files, and the list of those that stand.
//!
//! Files of a crate form a circle if each of them uses, directly or through
//! others, every other one; [`crate::modules`] says what counts as use. A new
//! circle is refused. So is an entry of `circles.tbl` that differs from what is
//! found, so that the list only ever tells of what is there: a circle that grows
//! needs a decision, and one that is broken or made smaller leaves the list.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::modules;
use crate::sources::{self, Crate};

/// The text of the list.
const LISTED: &str = include_str!("circles.tbl");

/// A circle of files in one crate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Circle {
    /// Name of the crate's folder.
    pub krate: String,
    /// Paths within the crate.
    pub files: BTreeSet<PathBuf>,
    /// Why it stands; empty for one that is found.
    pub reason: String,
}

/// Compares the circles of all crates with the list; a line for each problem.
pub fn check(crates: &[Crate]) -> Vec<String> {
    match (listed(LISTED), found(crates)) {
        (Ok(listed), Ok(found)) => compare(&listed, &found),
        (Err(problem), _) | (_, Err(problem)) => vec![problem],
    }
}

/// Prints each circle of a crate, or of all: which of its files uses what of which other one.
///
/// # Errors
/// If a file cannot be read or is not Rust.
pub fn print(root: &Path, krate: Option<&str>) -> Result<(), String> {
    let crates = sources::read(root).map_err(|e| format!("crates cannot be read: {e}"))?;
    let wanted = |c: &&Crate| krate.is_none_or(|name| c.name == name);
    for krate in crates.iter().filter(wanted) {
        let uses =
            modules::uses(&krate.sources).map_err(|e| format!("crates/{}/{e}", krate.name))?;
        for circle in modules::circles(&uses) {
            println!("{}: a circle of {} files", krate.name, circle.len());
            for file in &circle {
                println!("    {}", file.display());
                for (used, names) in uses[file].iter().filter(|(used, _)| circle.contains(*used)) {
                    let names: Vec<_> = names.iter().map(String::as_str).collect();
                    println!("        {}: {}", used.display(), names.join(", "));
                }
            }
        }
    }
    Ok(())
}

/// The circles of all crates.
///
/// # Errors
/// If a file is not Rust.
pub fn found(crates: &[Crate]) -> Result<Vec<Circle>, String> {
    let mut all = Vec::new();
    for krate in crates {
        let uses =
            modules::uses(&krate.sources).map_err(|e| format!("crates/{}/{e}", krate.name))?;
        all.extend(modules::circles(&uses).into_iter().map(|files| Circle {
            krate: krate.name.clone(),
            files,
            reason: String::new(),
        }));
    }
    Ok(all)
}

/// Reads the list: a line `crate: reason`, then a line with an indent for each file.
fn listed(text: &str) -> Result<Vec<Circle>, String> {
    let mut all: Vec<Circle> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let fault = || format!("circles.tbl:{number}: cannot read \"{line}\"");
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(file) = line.strip_prefix("    ") {
            let circle = all.last_mut().ok_or_else(fault)?;
            circle.files.insert(PathBuf::from(file));
            continue;
        }
        let (krate, reason) = line.split_once(": ").ok_or_else(fault)?;
        all.push(Circle {
            krate: krate.to_string(),
            files: BTreeSet::new(),
            reason: reason.to_string(),
        });
    }
    Ok(all)
}

fn compare(listed: &[Circle], found: &[Circle]) -> Vec<String> {
    let same = |a: &Circle, b: &Circle| a.krate == b.krate && a.files == b.files;
    let new = found.iter().filter(|f| !listed.iter().any(|l| same(l, f)));
    let gone = listed.iter().filter(|l| !found.iter().any(|f| same(l, f)));
    let new = new.map(|c| {
        format!(
            "crates/{}: files use each other in a circle: {}",
            c.krate,
            names(c)
        )
    });
    let gone = gone.map(|c| {
        format!(
            "circles.tbl in xtask: {} has no circle of exactly these files, so they leave the \
             list: {}",
            c.krate,
            names(c)
        )
    });
    new.chain(gone).collect()
}

fn names(circle: &Circle) -> String {
    let names = circle.files.iter().map(|file| file.display().to_string());
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Words.\n\nlink: both speak of peers\n    src/a.rs\n    src/b.rs\n";

    #[test]
    fn the_list_is_read() {
        let all = listed(TEXT).unwrap();
        assert_eq!((all.len(), all[0].krate.as_str()), (1, "link"));
        assert_eq!(all[0].reason, "both speak of peers");
        assert_eq!(names(&all[0]), "src/a.rs, src/b.rs");
        assert!(listed("    src/a.rs").is_err());
        assert!(listed("link without a reason").is_err());
    }

    #[test]
    fn the_list_matches_exactly() {
        let listed = listed(TEXT).unwrap();
        let problems = |files: &[&str]| {
            let sources = files
                .iter()
                .map(|f| (PathBuf::from("src").join(f), f.to_string()));
            let mut sources: Vec<_> = sources.collect();
            sources.push(("src/lib.rs".into(), "mod a; mod b; mod c;".into()));
            for (path, text) in &mut sources {
                // Each file uses the next one, and the last uses the first.
                *text = match path.file_stem().unwrap().to_str().unwrap() {
                    "a" => "pub struct A; use crate::b::B;".into(),
                    "b" if files.len() == 2 => "pub struct B; use crate::a::A;".into(),
                    "b" => "pub struct B; use crate::c::C;".into(),
                    "c" => "pub struct C; use crate::a::A;".into(),
                    _ => text.clone(),
                };
            }
            let krate = Crate {
                name: "link".into(),
                manifest: String::new(),
                sources,
            };
            compare(&listed, &found(&[krate]).unwrap())
        };
        assert!(problems(&["a.rs", "b.rs"]).is_empty());
        let grown = problems(&["a.rs", "b.rs", "c.rs"]);
        assert_eq!(grown.len(), 2);
        assert!(grown[0].ends_with("in a circle: src/a.rs, src/b.rs, src/c.rs"));
        assert!(grown[1].ends_with("leave the list: src/a.rs, src/b.rs"));
        assert_eq!(problems(&["a.rs"]).len(), 1);
    }

    #[test]
    fn every_listed_circle_has_its_reason() {
        for circle in listed(LISTED).unwrap() {
            assert!(
                circle.reason.len() > 20,
                "{}: {}",
                circle.krate,
                names(&circle)
            );
            assert!(
                circle.files.len() > 1,
                "{}: {}",
                circle.krate,
                names(&circle)
            );
        }
    }
}
