//! Which processes descend from which, as `/proc` tells.

use std::fs;

/// Most ancestors that are looked at: a launcher is never that far up.
const MOST: usize = 64;

/// The ancestors of a process that can be seen from here, its parent first.
pub(crate) fn ancestors(process: u32) -> impl Iterator<Item = u32> {
    let parent = |&process: &u32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        parent(&stat)
    };
    std::iter::successors(Some(process), parent)
        .skip(1)
        .take(MOST)
}

/// The nearest process of which all of `processes` are descendants, the calling
/// one among them; `None` if there is none that is no ancestor of everything.
/// Cost: a file per process and generation.
pub(crate) fn common(processes: &[u32]) -> Option<u32> {
    let me = std::process::id();
    let mine: Vec<u32> = ancestors(me).filter(|&pid| pid > 1).collect();
    // How far up the one is found that all so far have in common.
    let mut at = 0;
    for &other in processes.iter().filter(|&&other| other != me) {
        let meets = |pid| mine.iter().position(|&it| it == pid);
        at = ancestors(other).find_map(meets)?.max(at);
    }
    mine.get(at).copied()
}

/// Parent of a process, by its `/proc/<pid>/stat`.
fn parent(stat: &str) -> Option<u32> {
    // The name, in parentheses, may contain anything.
    let (_, after) = stat.rsplit_once(')')?;
    let parent = after.split_ascii_whitespace().nth(1)?.parse().ok()?;
    (parent != 0).then_some(parent)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A shell that tells the process id of a child of its own, and waits.
    fn family() -> (Child, u32) {
        let script = "sleep 1000 & echo $!; read end; kill $!";
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(shell.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        (shell, line.trim().parse().unwrap())
    }

    #[test]
    fn relatives_are_found() {
        let me = std::process::id();
        let mut families = [family(), family()];
        let [(one, grandchild), (other, cousin)] = &families;
        let line: Vec<u32> = ancestors(*grandchild).take(2).collect();
        assert_eq!(line, [one.id(), me]);
        let parent = ancestors(me).next().expect("a parent");
        let known = (parent > 1).then_some(parent);
        assert_eq!(common(&[me]), known);
        assert_eq!(common(&[me, *grandchild, *cousin, other.id()]), known);
        // A process that has ended, or is another's.
        assert_eq!(common(&[me, u32::MAX]), None);
        assert_eq!(common(&[me, 1]), None);
        for (shell, _) in &mut families {
            drop(shell.stdin.take());
            shell.wait().unwrap();
        }
    }

    #[test]
    fn names_do_not_confuse() {
        assert_eq!(parent("7 (a) S 9) S 5 7 7"), Some(5));
        assert_eq!(parent("1 (init) S 0 1 1"), None);
        assert_eq!(parent("nonsense"), None);
    }
}
