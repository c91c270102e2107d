//! What the system tells of processes, in `/proc`.
//!
//! A look at a process in which nothing has changed is one read of a file that is kept open: of the
//! sizes of its memory. If these have changed, those of its code tell whether something was loaded.
//! Only then its whole map is read, which takes some hundred times as long.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::is_mpi;

/// Longest text of the sizes of a process, bytes.
const SIZES: usize = 160;

/// The lines of a process's status that change when it executes a program or loads a library.
const OF_CODE: [&[u8]; 3] = [b"Name:", b"VmExe:", b"VmLib:"];

/// What is known of a process.
#[derive(Debug)]
pub(super) struct Process {
    pid: u32,
    /// Where its sizes are read; opened each time if it is not kept.
    file: Option<File>,
    sizes: Vec<u8>,
    /// The lines [`OF_CODE`]; none if they are not known.
    code: Vec<u8>,
    /// The libraries of MPIs in its memory, each with the address at which it begins.
    pub(super) libraries: Vec<(PathBuf, u64)>,
    /// The processes that it had started when they were looked for last.
    pub(super) children: Vec<u32>,
}

/// What has become of a process since the last look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It has ended.
    Gone,
    /// It has the libraries that it had.
    Nothing,
    /// Its map was read.
    Code,
}

impl Process {
    /// One of which nothing is known yet; `keep` says whether a descriptor may be kept for it.
    pub(super) fn new(pid: u32, keep: bool) -> Process {
        Process {
            pid,
            file: open(pid).ok().filter(|_| keep),
            sizes: Vec::new(),
            code: Vec::new(),
            libraries: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Looks whether it has loaded anything.
    pub(super) fn refresh(&mut self) -> Change {
        let Ok(sizes) = self.read_sizes() else {
            return Change::Gone;
        };
        if is_of_ended(&sizes) {
            return Change::Gone;
        }
        // What is loaded from here on changes them.
        if self.sizes == sizes {
            return Change::Nothing;
        }
        self.sizes = sizes;
        let status = std::fs::read(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let code = of_code(&status);
        if !code.is_empty() && self.code == code {
            return Change::Nothing;
        }
        self.code = code;
        self.libraries = libraries(self.pid);
        Change::Code
    }

    /// Has its map read again with the next look.
    pub(super) fn forget(&mut self) {
        self.sizes.clear();
        self.code.clear();
    }

    fn read_sizes(&self) -> io::Result<Vec<u8>> {
        let mut sizes = [0; SIZES];
        let length = match &self.file {
            Some(file) => file.read_at(&mut sizes, 0)?,
            None => open(self.pid)?.read_at(&mut sizes, 0)?,
        };
        Ok(sizes[..length].to_vec())
    }
}

fn open(pid: u32) -> io::Result<File> {
    File::open(format!("/proc/{pid}/statm"))
}

/// Whether these are the sizes of a process that has ended: it has no memory, though its parent may
/// not have asked for it yet.
fn is_of_ended(sizes: &[u8]) -> bool {
    sizes.is_empty() || sizes.starts_with(b"0 ")
}

/// Whether a process has not ended.
pub fn is_running(pid: u32) -> bool {
    std::fs::read(format!("/proc/{pid}/statm")).is_ok_and(|sizes| !is_of_ended(&sizes))
}

/// The lines [`OF_CODE`] of a process's status.
fn of_code(status: &[u8]) -> Vec<u8> {
    let lines = status.split_inclusive(|&byte| byte == b'\n');
    let mut code: Vec<&[u8]> = lines
        .filter(|line| OF_CODE.iter().any(|of| line.starts_with(of)))
        .collect();
    // Without all of them nothing is known.
    if code.len() < OF_CODE.len() {
        code.clear();
    }
    code.concat()
}

/// A number that changes whenever the system starts a process or a thread, as far as this one sees
/// them. Cost: a read of a short file.
pub(super) fn last_started() -> Option<u32> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().last()?.parse().ok()
}

/// The process that has started process `pid`; none if there is no such process, as that is the
/// number of a thread.
pub fn parent(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line?.trim().parse::<u32>().ok()
    };
    (number("Tgid:") == Some(pid)).then(|| number("PPid:"))?
}

/// The file that process `pid` has as `path`: containers have files of their own.
pub(super) fn seen_by(pid: u32, path: &Path) -> Option<PathBuf> {
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    Some(root.join(path.strip_prefix("/").ok()?))
}

/// The number that process `pid` has at that address.
pub(super) fn number_at(pid: u32, at: u64) -> Option<i32> {
    let mut value = [0; 4];
    let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
    memory.read_exact_at(&mut value, at).ok()?;
    Some(i32::from_ne_bytes(value))
}

/// The libraries of MPIs that a process has in its memory, each with the address at which it
/// begins.
pub(super) fn libraries(pid: u32) -> Vec<(PathBuf, u64)> {
    let maps = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    let mut found = Vec::new();
    for line in maps.split(|&byte| byte == b'\n') {
        let Some(at) = line.iter().position(|&byte| byte == b'/') else {
            continue;
        };
        let path = Path::new(OsStr::from_bytes(&line[at..]));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_mpi(&name) && !found.iter().any(|(other, _)| other == path) {
            let first = line.split(|&byte| byte == b'-').next();
            let base = first
                .and_then(|text| u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok());
            found.push((path.to_path_buf(), base.unwrap_or_default()));
        }
    }
    found
}

/// The processes that a process has started, and that still run.
pub fn children(pid: u32) -> Vec<u32> {
    let of_threads = PathBuf::from(format!("/proc/{pid}/task"));
    // The folder has a link for each thread, and two of its own; most processes have one thread.
    let is_one = std::fs::metadata(&of_threads).is_ok_and(|about| about.nlink() == 3);
    if is_one {
        let list = std::fs::read_to_string(of_threads.join(format!("{pid}/children")));
        return numbers(&list.unwrap_or_default());
    }
    let Ok(threads) = std::fs::read_dir(of_threads) else {
        return Vec::new();
    };
    let of = |thread: PathBuf| std::fs::read_to_string(thread.join("children")).ok();
    let lists = threads.filter_map(|thread| of(thread.ok()?.path()));
    lists.flat_map(|list| numbers(&list)).collect()
}

fn numbers(list: &str) -> Vec<u32> {
    let pids = list.split_whitespace().filter_map(|pid| pid.parse().ok());
    pids.collect()
}

/// Whether another launcher takes care of process `pid`: one that `rank` has
/// started, as it finds PMI or PMIx where that process does not.
pub(super) fn has_launcher(pid: u32, rank: u32) -> bool {
    let variables = |pid: u32| std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let (of_rank, of_process) = (variables(rank), variables(pid));
    let known: Vec<&[u8]> = of_rank.split(|&byte| byte == 0).collect();
    let mut vars = of_process.split(|&byte| byte == 0);
    vars.any(|var| var.starts_with(b"PMI") && !known.contains(&var))
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A process that has one below it. Both have begun, and execute nothing more; they end with
    /// their input.
    fn pair(variable: &str) -> Child {
        let mut child = Command::new("sh")
            .args(["-c", "(echo up; read end); :"])
            .env(variable, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut up = [0; 3];
        let out = child.stdout.as_mut().unwrap();
        out.read_exact(&mut up).unwrap();
        child
    }

    #[test]
    fn what_another_launcher_has_started_is_its_own_affair() {
        let own = std::process::id();
        for (variable, expected) in [("PMI_RANK", true), ("OTHER", false)] {
            let mut child = pair(variable);
            let below = children(child.id());
            assert_eq!(below.len(), 1, "{below:?}");
            assert_eq!(parent(below[0]), Some(child.id()));
            assert_eq!(has_launcher(child.id(), own), expected, "{variable}");
            assert_eq!(has_launcher(below[0], own), expected, "{variable}");
            drop(child.stdin.take());
            child.wait().unwrap();
        }
        assert!(!has_launcher(own, own));
    }

    #[test]
    fn a_map_is_read_only_when_something_was_loaded() {
        for keep in [true, false] {
            let before = last_started().unwrap();
            let mut child = pair("OTHER");
            assert_ne!(last_started(), Some(before));
            let mut process = Process::new(child.id(), keep);
            assert_eq!(process.file.is_some(), keep);
            assert_eq!(process.refresh(), Change::Code);
            // Its sizes are settled, as it waits.
            process.refresh();
            assert_eq!(process.refresh(), Change::Nothing);
            process.forget();
            assert_eq!(process.refresh(), Change::Code);
            drop(child.stdin.take());
            child.wait().unwrap();
            assert_eq!(process.refresh(), Change::Gone);
        }
    }

    #[test]
    fn without_all_lines_nothing_is_known_of_the_code() {
        let status = b"Name:\tsh\nVmSize:\t 9 kB\nVmExe:\t 84 kB\nVmLib:\t 1424 kB\n";
        assert_eq!(
            of_code(status),
            b"Name:\tsh\nVmExe:\t 84 kB\nVmLib:\t 1424 kB\n"
        );
        assert_eq!(of_code(b"Name:\tsh\n"), b"");
    }
}
