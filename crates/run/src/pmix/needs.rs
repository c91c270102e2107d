//! Whether a program wants PMIx, by the libraries that it is linked to.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Longest table of a file that is read, bytes.
const MAX_TABLE: u64 = 16 << 20;

/// The library of Open MPI, or of PMIx itself, that the file at `path` is linked
/// to, if it is a program that is.
pub fn library(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    needed(&file)?.into_iter().find(|name| wants(name))
}

/// Libraries of Open MPI have this number, up to version 5 at least.
fn wants(name: &str) -> bool {
    let open_mpi = name.starts_with("libmpi") || name.starts_with("liboshmem");
    name.starts_with("libpmix.so") || open_mpi && name.ends_with(".so.40")
}

/// Where the dynamic loader finds the libpmix of the program at `path`, if it
/// has variables `vars`.
pub fn libpmix(path: &Path, vars: &[(OsString, OsString)]) -> Option<OsString> {
    let mut command = Command::new(path);
    command
        .env_clear()
        .envs(vars.iter().map(|(name, value)| (name, value)))
        // It lists what it would load, and goes no further.
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let listed = command.output().ok()?.stdout;
    listed.split(|&byte| byte == b'\n').find_map(|line| {
        let line = OsStr::from_bytes(line).to_string_lossy();
        let (name, rest) = line.trim().split_once(" => ")?;
        let (found, _) = rest.rsplit_once(" (")?;
        name.starts_with("libpmix.so").then(|| found.into())
    })
}

/// The libraries that a program names (`DT_NEEDED`); nothing if it is none for
/// this kind of machine.
fn needed(file: &File) -> Option<Vec<String>> {
    let head = read(file, 0, 64)?;
    // 64 bits, little-endian.
    if head[..6] != *b"\x7fELF\x02\x01" {
        return None;
    }
    let (table, size, count) = (u64_at(&head, 32)?, u16_at(&head, 54)?, u16_at(&head, 56)?);
    let table = read(file, table, u64::from(size) * u64::from(count))?;
    let (mut loads, mut dynamic) = (Vec::new(), None);
    for entry in table.chunks_exact(usize::from(size).max(56)) {
        let (offset, address, len) = (u64_at(entry, 8)?, u64_at(entry, 16)?, u64_at(entry, 32)?);
        match u32_at(entry, 0)? {
            1 => loads.push((offset, address, len)),
            2 => dynamic = Some((offset, len)),
            _ => {}
        }
    }
    let (offset, len) = dynamic?;
    let dynamic = read(file, offset, len)?;
    let entries = dynamic
        .chunks_exact(16)
        .filter_map(|entry| Some((u64_at(entry, 0)?, u64_at(entry, 8)?)));
    let entries: Vec<(u64, u64)> = entries.take_while(|entry| entry.0 != 0).collect();
    let value = |tag| {
        entries
            .iter()
            .find(|entry| entry.0 == tag)
            .map(|entry| entry.1)
    };
    let (texts, len) = (value(5)?, value(10)?);
    let (offset, address, _) = loads
        .into_iter()
        .find(|&(_, address, len)| texts >= address && texts - address < len)?;
    let texts = read(file, offset.checked_add(texts - address)?, len)?;
    let text = |at: u64| {
        let text = texts.get(usize::try_from(at).ok()?..)?;
        let end = text.iter().position(|&byte| byte == 0)?;
        Some(String::from_utf8_lossy(&text[..end]).into_owned())
    };
    let names = entries.iter().filter(|entry| entry.0 == 1);
    Some(names.filter_map(|entry| text(entry.1)).collect())
}

fn read(file: &File, offset: u64, len: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(len.min(MAX_TABLE)).ok()?];
    file.read_exact_at(&mut bytes, offset).ok()?;
    Some(bytes)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_of_this_test_are_listed() {
        let own = std::env::current_exe().unwrap();
        let names = needed(&File::open(&own).unwrap()).unwrap();
        assert!(names.iter().any(|name| name == "libc.so.6"), "{names:?}");
        assert_eq!(library(&own), None);
        assert_eq!(libpmix(&own, &[]), None);
    }

    #[test]
    fn files_that_are_no_programs_need_nothing() {
        for path in ["/etc/passwd", "/dev/null", "/", "/nonexistent"] {
            assert_eq!(library(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn open_mpi_is_told_from_others() {
        for name in [
            "libmpi.so.40",
            "libmpi_mpifh.so.40",
            "liboshmem.so.40",
            "libpmix.so.2",
        ] {
            assert!(wants(name), "{name}");
        }
        for name in [
            "libmpi.so.12",
            "libmpi_abi.so.1",
            "libm.so.6",
            "libpmi.so.0",
        ] {
            assert!(!wants(name), "{name}");
        }
    }
}
