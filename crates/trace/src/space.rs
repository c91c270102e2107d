//! Namespaces of processes: in a container a process counts itself otherwise than the host does.

use std::fs;
use std::os::unix::fs::MetadataExt;

/// The namespace that a process of that number is in, as the kernel numbers namespaces: its own for
/// `None`. Zero if that cannot be seen, as for processes of other users.
pub fn space_of(pid: Option<u32>) -> u64 {
    let path = match pid {
        Some(pid) => format!("/proc/{pid}/ns/pid"),
        None => "/proc/self/ns/pid".to_string(),
    };
    fs::metadata(path).map_or(0, |about| about.ino())
}

/// How a process is called here, and how it calls itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Its number here.
    pub here: u32,
    /// Its number in its own namespace.
    pub own: u32,
    /// That namespace.
    pub space: u64,
}

impl Numbers {
    /// Those of the process that is `pid` here; `None` if it has ended.
    pub fn of(pid: u32) -> Option<Numbers> {
        let own = own_number(&format!("/proc/{pid}/status"), pid)?;
        Some(Numbers {
            here: pid,
            own,
            space: space_of(Some(pid)),
        })
    }

    /// How a thread calls itself that is `tid` here, of the process that is `pid` here; `None` if
    /// it has ended.
    pub fn of_thread(pid: u32, tid: u32) -> Option<u32> {
        own_number(&format!("/proc/{pid}/task/{tid}/status"), tid)
    }
}

/// The number of a task in its own namespace, as its file of the kernel says.
fn own_number(path: &str, here: u32) -> Option<u32> {
    let status = fs::read_to_string(path).ok()?;
    let mut lines = status.lines();
    let numbers = lines.find_map(|line| line.strip_prefix("NSpid:"));
    // Kernels that do not say have no other one to show.
    match numbers {
        Some(numbers) => numbers.split_whitespace().last()?.parse().ok(),
        None => Some(here),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_of_this_namespace_has_one_number() {
        let pid = std::process::id();
        let numbers = Numbers::of(pid).expect("this process runs");
        assert_eq!((numbers.here, numbers.own), (pid, pid));
        assert_eq!(numbers.space, space_of(None));
        assert_ne!(numbers.space, 0);
        assert_eq!(Numbers::of(u32::MAX), None);
        assert_eq!(space_of(Some(u32::MAX)), 0);
    }
}
