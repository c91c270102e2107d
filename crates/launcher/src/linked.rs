//! What a program is linked to, and which files the dynamic loader takes for it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Longest table of a file that is read, bytes.
const MAX_TABLE: u64 = 16 << 20;

/// Kinds of program headers, of the ELF specification.
mod header {
    pub const LOAD: u32 = 1;
    pub const DYNAMIC: u32 = 2;
    pub const INTERP: u32 = 3;
}

/// Tags of entries of the dynamic section, of the ELF specification.
mod tag {
    pub const END: u64 = 0;
    pub const NEEDED: u64 = 1;
    pub const STRTAB: u64 = 5;
    pub const STRSZ: u64 = 10;
    pub const RPATH: u64 = 15;
    pub const RUNPATH: u64 = 29;
}

/// How a program is linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// The libraries that it names (`DT_NEEDED`).
    pub needed: Vec<String>,
    /// Whether it names folders that come before those of `LD_LIBRARY_PATH`.
    pub has_rpath: bool,
    /// Whether glibc's dynamic loader starts it, and looks at the environment.
    lists: bool,
}

impl Linked {
    /// How the file at `path` is linked; nothing if it is no program for this
    /// kind of machine, or needs no libraries.
    pub fn read(path: &Path) -> Option<Linked> {
        let file = File::open(path).ok()?;
        let head = read(&file, 0, 64)?;
        // 64 bits, little-endian.
        if head[..6] != *b"\x7fELF\x02\x01" {
            return None;
        }
        let (table, size, count) = (u64_at(&head, 32)?, u16_at(&head, 54)?, u16_at(&head, 56)?);
        let table = read(&file, table, u64::from(size) * u64::from(count))?;
        let (mut loads, mut dynamic, mut interpreter) = (Vec::new(), None, None);
        for entry in table.chunks_exact(usize::from(size).max(56)) {
            let (offset, address, len) =
                (u64_at(entry, 8)?, u64_at(entry, 16)?, u64_at(entry, 32)?);
            match u32_at(entry, 0)? {
                header::LOAD => loads.push((offset, address, len)),
                header::DYNAMIC => dynamic = Some((offset, len)),
                header::INTERP => interpreter = Some((offset, len)),
                _ => {}
            }
        }
        let (offset, len) = dynamic?;
        let dynamic = read(&file, offset, len)?;
        let entries = dynamic
            .chunks_exact(16)
            .filter_map(|entry| Some((u64_at(entry, 0)?, u64_at(entry, 8)?)));
        let entries: Vec<(u64, u64)> = entries.take_while(|entry| entry.0 != tag::END).collect();
        let value = |tag| {
            let found = entries.iter().find(|entry| entry.0 == tag);
            found.map(|entry| entry.1)
        };
        let (texts, len) = (value(tag::STRTAB)?, value(tag::STRSZ)?);
        let (offset, address, _) = loads
            .into_iter()
            .find(|&(_, address, len)| texts >= address && texts - address < len)?;
        let texts = read(&file, offset.checked_add(texts - address)?, len)?;
        let text = |at: u64| {
            let text = texts.get(usize::try_from(at).ok()?..)?;
            let end = text.iter().position(|&byte| byte == 0)?;
            Some(String::from_utf8_lossy(&text[..end]).into_owned())
        };
        let names = entries.iter().filter(|entry| entry.0 == tag::NEEDED);
        let privileged = file.metadata().ok()?.mode() & (libc::S_ISUID | libc::S_ISGID) != 0;
        let interpreter = interpreter.and_then(|(offset, len)| read(&file, offset, len));
        Some(Linked {
            needed: names.filter_map(|entry| text(entry.1)).collect(),
            has_rpath: value(tag::RPATH).is_some() && value(tag::RUNPATH).is_none(),
            lists: !privileged && interpreter.is_some_and(|path| is_glibc(&path)),
        })
    }
}

/// Whether this is the path of glibc's dynamic loader, and so understands what
/// [`loaded`] asks of it.
fn is_glibc(interpreter: &[u8]) -> bool {
    let name = interpreter.rsplit(|&byte| byte == b'/').next();
    name.is_some_and(|name| name.starts_with(b"ld-linux"))
}

/// The files that the dynamic loader takes for the program at `path`, of those
/// libraries whose names are `wanted`, if it is started in `folder` with
/// variables `vars`.
pub fn loaded(
    path: &Path,
    folder: &Path,
    vars: &[(OsString, OsString)],
    wanted: impl Fn(&str) -> bool,
) -> Vec<PathBuf> {
    // Another loader would not list, but run it.
    if !Linked::read(path).is_some_and(|linked| linked.lists) {
        return Vec::new();
    }
    let Ok(path) = std::path::absolute(path) else {
        return Vec::new();
    };
    let mut command = Command::new(path);
    command
        .current_dir(folder)
        .env_clear()
        .envs(vars.iter().map(|(name, value)| (name, value)))
        // It lists what it would load, and goes no further.
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let Ok(output) = command.output() else {
        return Vec::new();
    };
    let lines = output.stdout.split(|&byte| byte == b'\n');
    lines
        .filter_map(|line| listed(line, &wanted))
        .map(|file| folder.join(file))
        .collect()
}

/// The file in a line of the loader's list, `NAME => FILE (ADDRESS)` or `FILE
/// (ADDRESS)`, if its name is `wanted`.
fn listed(line: &[u8], wanted: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let line = line.trim_ascii();
    let end = line.windows(2).rposition(|two| two == b" (")?;
    let line = &line[..end];
    let arrow = line.windows(4).position(|four| four == b" => ");
    let (name, file) = match arrow {
        Some(at) => (&line[..at], &line[at + 4..]),
        None => (line, line),
    };
    let name = Path::new(OsStr::from_bytes(name)).file_name()?;
    wanted(&name.to_string_lossy()).then(|| PathBuf::from(OsStr::from_bytes(file)))
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
        let linked = Linked::read(&own).unwrap();
        assert!(
            linked.needed.iter().any(|name| name == "libc.so.6"),
            "{linked:?}"
        );
        assert!(linked.lists && !linked.has_rpath);
        let libc = loaded(&own, Path::new("/"), &[], |name| name == "libc.so.6");
        assert!(libc.len() == 1 && libc[0].is_absolute(), "{libc:?}");
    }

    #[test]
    fn files_that_are_no_programs_need_nothing() {
        for path in ["/etc/passwd", "/dev/null", "/", "/nonexistent"] {
            assert_eq!(Linked::read(Path::new(path)), None, "{path}");
            assert!(loaded(Path::new(path), Path::new("/"), &[], |_| true).is_empty());
        }
    }

    #[test]
    fn lines_of_the_loader_name_files() {
        let all = |line: &[u8]| listed(line, |name| name.starts_with("libmpi"));
        let found = Some(PathBuf::from("/a b/libmpi.so.12.1"));
        assert_eq!(
            all(b"\tlibmpi.so.12 => /a b/libmpi.so.12.1 (0x7f00)"),
            found
        );
        assert_eq!(all(b"\t/a b/libmpi.so.12.1 (0x7f00)"), found);
        assert_eq!(all(b"\tlibmpi.so.12 => not found"), None);
        assert_eq!(all(b"\tlibc.so.6 => /lib/libmpi.so.6 (0x7f00)"), None);
        assert_eq!(all(b"\tstatically linked"), None);
    }

    #[test]
    fn only_glibc_is_asked_for_a_list() {
        assert!(is_glibc(b"/lib64/ld-linux-x86-64.so.2\0"));
        assert!(!is_glibc(b"/lib/ld-musl-x86_64.so.1\0"));
    }
}
