//! Files that are written when a job is over, or meanwhile: whether that will be possible is found
//! out before the job begins.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// The least room that there has to be on a file system.
const ROOM: u64 = 256 << 10;

/// Opens a file for writing, and leaves what is in it.
///
/// # Errors
/// If that is not possible, or there is no room: the cause and what to do.
pub fn open(option: &str, path: &Path) -> Result<File, String> {
    let wrong = |why: &str| format!("{option} {}: {why}, so nothing was started", path.display());
    let options = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(false)
        .open(path);
    let file = match options {
        Ok(file) => file,
        Err(error) => {
            let remedy = match error.kind() {
                io::ErrorKind::NotFound => "make the folder, or name another one",
                io::ErrorKind::IsADirectory => "name a file in that folder",
                _ => "name a file in a folder that you may write to",
            };
            return Err(wrong(&format!("it cannot be written ({error}); {remedy}")));
        }
    };
    let is_file = file.metadata().is_ok_and(|about| about.is_file());
    let room = rustix::fs::fstatvfs(file.as_fd());
    // One without a limit, as a tmpfs may be, says that it has no blocks at all.
    let is_short =
        |it: rustix::fs::StatVfs| it.f_blocks > 0 && it.f_bavail.saturating_mul(it.f_frsize) < ROOM;
    let is_full = is_file && room.is_ok_and(is_short);
    match is_full {
        true => Err(wrong(
            "its file system is full; make room there, or name a file elsewhere",
        )),
        false => Ok(file),
    }
}

/// Has no other job write the file as long as it is open.
///
/// # Errors
/// If another job does so already: the cause and what to do.
pub fn lock(option: &str, file: &File, path: &Path) -> Result<(), String> {
    let is_file = file.metadata().is_ok_and(|about| about.is_file());
    let operation = rustix::fs::FlockOperation::NonBlockingLockExclusive;
    // File systems without locks go without.
    match rustix::fs::flock(file.as_fd(), operation) {
        Err(rustix::io::Errno::WOULDBLOCK) if is_file => Err(format!(
            "{option} {}: another job writes its trace there, so nothing was started; name another file",
            path.display()
        )),
        _ => Ok(()),
    }
}

/// Writes to what is no file, as a device or a pipe may say only then that it takes nothing.
///
/// # Errors
/// The cause and what to do.
pub fn try_device(option: &str, file: &mut File, path: &Path) -> Result<(), String> {
    // A packet without anything in it.
    const EMPTY: [u8; 2] = [1 << 3 | 2, 0];
    let is_file = file.metadata().is_ok_and(|about| about.is_file());
    if is_file {
        return Ok(());
    }
    file.write_all(&EMPTY).map_err(|error| {
        format!(
            "{option} {}: it cannot be written ({error}), so nothing was started; name a file",
            path.display()
        )
    })
}

/// Finds out whether a file can be written, and leaves no new one.
///
/// # Errors
/// If that is not possible: the cause and what to do.
pub fn check(option: &str, path: &Path) -> Result<(), String> {
    let was_there = fs::symlink_metadata(path).is_ok();
    let opened = open(option, path);
    if !was_there {
        // Nothing was written there.
        _ = fs::remove_file(path);
    }
    opened.map(drop)
}

/// The name of one of several files of a kind each: a user may have named one of them.
pub fn of_kind(name: &Path, kind: &str, kinds: &[&str]) -> PathBuf {
    let is_named = name
        .extension()
        .is_some_and(|it| kinds.iter().any(|kind| it == *kind));
    match is_named {
        true => name.with_extension(kind),
        false => {
            let mut path = name.as_os_str().to_os_string();
            path.push(".");
            path.push(kind);
            path.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_kinds() {
        let of = |name: &str| of_kind(Path::new(name), "html", &["json", "html"]);
        assert_eq!(of("a"), Path::new("a.html"));
        assert_eq!(of("a.json"), Path::new("a.html"));
        assert_eq!(of("a.b"), Path::new("a.b.html"));
    }

    #[test]
    fn a_file_system_without_a_limit_is_not_full() {
        let memory = rustix::fs::memfd_create("report", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let room = rustix::fs::fstatvfs(&memory).unwrap();
        assert_eq!(
            (room.f_blocks, room.f_bavail),
            (0, 0),
            "it has a limit here"
        );
        let fd = std::os::fd::AsRawFd::as_raw_fd(&memory);
        let path = format!("/proc/self/fd/{fd}");
        assert!(open("--explain-report", Path::new(&path)).is_ok());
    }

    #[test]
    fn what_cannot_be_written_is_told_with_a_remedy() {
        let told = |path: &str| check("--trace", Path::new(path)).unwrap_err();
        assert!(
            told("/nowhere/x").contains("make the folder"),
            "{}",
            told("/nowhere/x")
        );
        assert!(
            told("/").contains("name a file in that folder"),
            "{}",
            told("/")
        );
        let path = std::env::temp_dir().join(format!("result-file-{}", std::process::id()));
        assert_eq!(check("--trace", &path), Ok(()));
        assert!(!path.exists());
    }
}
