//! Versions of Catena out of its git repository, built once each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::library::{self, Home};
use crate::raw::Variant;
use crate::show;

/// A variant for each of `commits` of the repository that `inside` is in.
///
/// # Errors
/// In words: no repository, no such commit, or it cannot be built.
pub fn build(inside: &Path, commits: &[String], home: &Home) -> Result<Vec<Variant>, String> {
    let top = git(inside, &["rev-parse", "--show-toplevel"])?;
    let top = Path::new(&top);
    let build = |commit: &String| {
        let spec = format!("{commit}^{{commit}}");
        let id = git(top, &["rev-parse", "--verify", "--quiet", &spec])
            .map_err(|_| format!("--commit {commit}: {} has no such commit", top.display()))?;
        let prefix = library::cache()?.join(format!("commit-{id}"));
        if !prefix.join("bin/catena").exists() {
            show::tell(format_args!(
                "catena bench: building {commit}, which takes some minutes\n"
            ));
            let built = install(top, &id, &prefix);
            built.map_err(|why| format!("--commit {commit}: {why}"))?;
        }
        library::find(&format!("{commit}={}", prefix.display()), home)
    };
    commits.iter().map(build).collect()
}

/// Builds a commit in a work tree of its own and installs it; the work tree is gone afterwards.
fn install(top: &Path, id: &str, prefix: &Path) -> Result<(), String> {
    let tree = prefix.with_extension("tree");
    let tree_name = tree.display().to_string();
    if tree.exists() {
        // Somebody was interrupted, maybe in another clone, which this one knows nothing of.
        fs::remove_dir_all(&tree).map_err(|e| format!("{tree_name} cannot be removed: {e}"))?;
    }
    git(
        top,
        &["worktree", "add", "--force", "--detach", &tree_name, id],
    )?;
    let made = make(&tree, prefix);
    git(top, &["worktree", "remove", "--force", &tree_name])?;
    made
}

fn make(tree: &Path, prefix: &Path) -> Result<(), String> {
    // All commits share what has been compiled.
    let target = library::cache()?.join("target");
    let packages = [
        "build",
        "--release",
        "-p",
        "catena-capi",
        "-p",
        "catena-cli",
    ];
    call(
        Command::new("cargo")
            .args(packages)
            .env("CARGO_TARGET_DIR", &target)
            .current_dir(tree),
    )?;
    // Whole or not at all: who interrupts this finds nothing half installed the next time.
    let new: PathBuf = prefix.with_extension("new");
    let install = tree.join("scripts/install");
    call(
        Command::new(install)
            .arg("--quiet")
            .arg(&new)
            .env("CARGO_TARGET_DIR", &target),
    )?;
    fs::rename(&new, prefix).map_err(|e| format!("{} cannot be made: {e}", prefix.display()))
}

fn git(folder: &Path, words: &[&str]) -> Result<String, String> {
    call(Command::new("git").arg("-C").arg(folder).args(words))
}

/// What a command prints.
fn call(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command
        .output()
        .map_err(|e| format!("{name} cannot be started: {e}"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).trim().to_string());
    }
    let words = String::from_utf8_lossy(&done.stderr);
    let last: Vec<&str> = words.lines().rev().take(8).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(format!("{name} failed:\n{}", last.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_commit_is_told() {
        let home = Home {
            prefix: PathBuf::new(),
            program: None,
        };
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let failed = |inside: &Path| build(inside, &["no-such-branch".into()], &home).unwrap_err();
        assert!(
            failed(Path::new("/")).contains("git failed"),
            "{}",
            failed(Path::new("/"))
        );
        if here.join("../../.git").exists() {
            assert!(failed(here).contains("no such commit"), "{}", failed(here));
        }
    }
}
