//! What a program is linked to, and which files the dynamic loader takes for it.
//!
//! Arguments of programs are looked at, too, and may be anything: only regular files are opened, as
//! a pipe would be read or its other end told, and none is executed. The loader that a file names
//! is run if it is the system's, or if the file is what the user has asked to run.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
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
    pub const DEPAUDIT: u64 = 0x6fff_fefb;
    pub const AUDIT: u64 = 0x6fff_fefc;
}

/// How a program is linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// The libraries that it names (`DT_NEEDED`).
    pub needed: Vec<String>,
    /// Whether it names folders that come before those of `LD_LIBRARY_PATH`.
    pub has_rpath: bool,
    /// The dynamic loader that starts it, if that is glibc's and looks at the environment.
    loader: Option<PathBuf>,
    /// Whether it names libraries that the loader runs before it does anything else.
    has_audit: bool,
}

/// How a file came to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is going to be executed.
    Program,
    /// It is an argument, and may be data.
    Argument,
}

impl Linked {
    /// How the file at `path` is linked; nothing if it is no program for this
    /// kind of machine, or needs no libraries.
    pub fn read(path: &Path) -> Option<Linked> {
        let file = open(path)?;
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
            loader: interpreter.filter(|_| !privileged).and_then(glibc),
            has_audit: value(tag::AUDIT).or(value(tag::DEPAUDIT)).is_some(),
        })
    }
}

/// Opens a regular file, and nothing else: to open a pipe has an effect on its other end.
fn open(path: &Path) -> Option<File> {
    let is_file = |about: io::Result<Metadata>| about.is_ok_and(|about| about.is_file());
    if !is_file(std::fs::metadata(path)) {
        return None;
    }
    // It may have become something else meanwhile, which must not be waited for.
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags).open(path);
    file.ok().filter(|file| is_file(file.metadata()))
}

/// The path of a dynamic loader, which a zero ends, if that is glibc's, and so understands what
/// [`Listing::of`] asks of it.
fn glibc(interpreter: Vec<u8>) -> Option<PathBuf> {
    let text = interpreter.split(|&byte| byte == 0).next()?;
    let path = Path::new(OsStr::from_bytes(text));
    let name = path.file_name()?.as_bytes();
    (path.is_absolute() && name.starts_with(b"ld-linux")).then(|| path.into())
}

/// Whether a file is the system's: nobody else can have put it there.
fn is_systems(path: &Path) -> bool {
    let about = std::fs::metadata(path);
    about.is_ok_and(|about| about.uid() == 0 && about.mode() & 0o022 == 0)
}

/// What the dynamic loader would do for a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The libraries by the names that are asked for, with the files that they would be; none
    /// if there is no such file.
    pub libraries: Vec<(String, Option<PathBuf>)>,
    /// Symbols that none of them has, each with the file that needs it; only if they were
    /// asked for.
    pub lacking: Vec<(String, PathBuf)>,
}

impl Listing {
    /// What the dynamic loader would load for the program at `path`, if it is started in
    /// `folder` with variables `vars`. With `symbols` it also looks for every symbol, which
    /// takes longer. Nothing if the program's loader cannot be asked.
    pub fn of(
        (path, origin): (&Path, Origin),
        folder: &Path,
        vars: &[(OsString, OsString)],
        symbols: bool,
    ) -> Option<Listing> {
        // Another loader would not list, but run it.
        let linked = Linked::read(path)?;
        let loader = linked.loader?;
        if origin == Origin::Argument && (!is_systems(&loader) || linked.has_audit) {
            return None;
        }
        let mut command = Command::new(loader);
        command
            .arg(std::path::absolute(path).ok()?)
            .current_dir(folder)
            .env_clear()
            .envs(vars.iter().map(|(name, value)| (name, value)))
            // It lists what it would load, and goes no further.
            .env("LD_TRACE_LOADED_OBJECTS", "1")
            .stdin(Stdio::null());
        if symbols {
            command.env("LD_WARN", "1").env("LD_BIND_NOW", "1");
        } else {
            command.stderr(Stdio::null());
        }
        let output = command.output().ok()?;
        let lines = |bytes: &[u8]| {
            let lines = bytes.split(|&byte| byte == b'\n');
            lines.map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        let listed = lines(&output.stdout);
        let both = listed.iter().cloned().chain(lines(&output.stderr));
        Some(Listing {
            libraries: listed
                .iter()
                .filter_map(|line| library(line))
                .map(|(name, file)| (name, file.map(|file| folder.join(file))))
                .collect(),
            lacking: both.filter_map(|line| lacking(&line)).collect(),
        })
    }
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
    let program = (path, Origin::Program);
    let listing = Listing::of(program, folder, vars, false).unwrap_or_default();
    let libraries = listing.libraries.into_iter();
    libraries
        .filter(|(name, _)| wanted(name))
        .filter_map(|(_, file)| file)
        .collect()
}

/// Where a library has the object or function `name`, from the beginning of its first segment.
pub fn symbol(path: &Path, name: &str) -> Option<u64> {
    const DYNSYM: u32 = 11;
    let file = open(path)?;
    let head = read(&file, 0, 64)?;
    if head[..6] != *b"\x7fELF\x02\x01" {
        return None;
    }
    let (table, size, count) = (u64_at(&head, 40)?, u16_at(&head, 58)?, u16_at(&head, 60)?);
    let size = usize::from(size).max(64);
    let table = read(&file, table, size as u64 * u64::from(count))?;
    let section = |entry: &[u8]| read(&file, u64_at(entry, 24)?, u64_at(entry, 32)?);
    let symbols = table
        .chunks_exact(size)
        .find(|entry| u32_at(entry, 4) == Some(DYNSYM))?;
    let texts = section(
        table
            .chunks_exact(size)
            .nth(u32_at(symbols, 40)? as usize)?,
    )?;
    let is_it = |entry: &&[u8]| {
        let text = u32_at(entry, 0).and_then(|at| texts.get(at as usize..));
        let rest = text.and_then(|text| text.strip_prefix(name.as_bytes()));
        // It is defined here.
        rest.is_some_and(|rest| rest.first() == Some(&0)) && u16_at(entry, 6) != Some(0)
    };
    u64_at(section(symbols)?.chunks_exact(24).find(is_it)?, 8)
}

/// The name and the file in a line of the loader's list: `NAME => FILE (ADDRESS)`, `NAME =>
/// not found`, or `FILE (ADDRESS)`.
fn library(line: &[u8]) -> Option<(String, Option<PathBuf>)> {
    let line = line.trim_ascii();
    let arrow = line.windows(4).position(|four| four == b" => ");
    let end = line.windows(2).rposition(|two| two == b" (");
    let (name, file) = match (arrow, end) {
        (Some(arrow), Some(end)) if arrow + 4 <= end => {
            (&line[..arrow], Some(&line[arrow + 4..end]))
        }
        (Some(arrow), _) if &line[arrow + 4..] == b"not found" => (&line[..arrow], None),
        (None, Some(end)) => (&line[..end], Some(&line[..end])),
        _ => return None,
    };
    let name = Path::new(OsStr::from_bytes(name)).file_name()?;
    let file = file.map(|file| PathBuf::from(OsStr::from_bytes(file)));
    Some((name.to_string_lossy().into_owned(), file))
}

/// The symbol and the file in a line `undefined symbol: NAME\t(FILE)`.
fn lacking(line: &[u8]) -> Option<(String, PathBuf)> {
    let rest = line.trim_ascii().strip_prefix(b"undefined symbol: ")?;
    let rest = rest.strip_suffix(b")")?;
    let at = rest.windows(2).position(|two| two == b"\t(")?;
    let name = String::from_utf8_lossy(&rest[..at]);
    // A version may follow.
    let name = name
        .split([',', ' '])
        .next()
        .unwrap_or_default()
        .to_string();
    Some((name, PathBuf::from(OsStr::from_bytes(&rest[at + 2..]))))
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
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_libraries_of_this_test_are_listed() {
        let own = std::env::current_exe().unwrap();
        let linked = Linked::read(&own).unwrap();
        assert!(
            linked.needed.iter().any(|name| name == "libc.so.6"),
            "{linked:?}"
        );
        assert!(linked.loader.is_some() && !linked.has_rpath);
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
    fn symbols_of_a_library_are_found() {
        let own = std::env::current_exe().unwrap();
        let libc = loaded(&own, Path::new("/"), &[], |name| name == "libc.so.6");
        assert!(symbol(&libc[0], "malloc").is_some_and(|at| at > 0));
        assert_eq!(symbol(&libc[0], "mallo"), None);
        assert_eq!(symbol(Path::new("/etc/passwd"), "malloc"), None);
    }

    #[test]
    fn lines_of_the_loader_name_files() {
        let found = |name: &str, file: Option<&str>| Some((name.into(), file.map(PathBuf::from)));
        let file = Some("/a b/libmpi.so.12.1");
        let line = b"\tlibmpi.so.12 => /a b/libmpi.so.12.1 (0x7f00)";
        assert_eq!(library(line), found("libmpi.so.12", file));
        let line = b"\t/a b/libmpi.so.12.1 (0x7f00)";
        assert_eq!(library(line), found("libmpi.so.12.1", file));
        let line = b"\tlibmpi.so.12 => not found";
        assert_eq!(library(line), found("libmpi.so.12", None));
        assert_eq!(library(b"\tstatically linked"), None);
    }

    #[test]
    fn lines_of_the_loader_name_symbols() {
        let found = Some(("MPI_New".to_string(), PathBuf::from("./a (b)")));
        assert_eq!(lacking(b"undefined symbol: MPI_New\t(./a (b))"), found);
        let line = b"undefined symbol: MPI_New, version V1\t(./a (b))";
        assert_eq!(lacking(line), found);
        assert_eq!(lacking(b"symbol MPI_New\t(./a)"), None);
    }

    #[test]
    fn only_glibc_is_asked_for_a_list() {
        let loader = |text: &[u8]| glibc(text.to_vec());
        let path = "/lib64/ld-linux-x86-64.so.2";
        assert_eq!(loader(b"/lib64/ld-linux-x86-64.so.2\0"), Some(path.into()));
        assert_eq!(loader(b"/lib/ld-musl-x86_64.so.1\0"), None);
        assert_eq!(loader(b"./ld-linux-x86-64.so.2\0"), None);
    }

    #[test]
    fn the_loader_that_an_argument_names_is_not_run() {
        // A copy of this test names a loader that leaves a mark.
        let folder = std::env::temp_dir().join(format!("catena-linked-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (data, mark) = (folder.join("data"), folder.join("mark"));
        let mut bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let known = b"/lib64/ld-linux-x86-64.so.2\0";
        let at = bytes.windows(known.len()).position(|it| it == known);
        let at = at.expect("the interpreter of a program for this machine");
        // Short enough to take its place.
        let evil = PathBuf::from(format!("/tmp/ld-linux-{:x}", std::process::id()));
        let script = format!("#!/bin/sh\n: > {}\n", mark.display());
        std::fs::write(&evil, script).unwrap();
        std::fs::set_permissions(&evil, PermissionsExt::from_mode(0o777)).unwrap();
        let mut name = evil.as_os_str().as_bytes().to_vec();
        name.resize(known.len(), 0);
        bytes[at..at + known.len()].copy_from_slice(&name);
        std::fs::write(&data, bytes).unwrap();
        let listed = |origin| Listing::of((&data, origin), Path::new("/"), &[], false);
        assert_eq!(listed(Origin::Argument), None);
        let was_run = mark.exists();
        std::fs::remove_file(&evil).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(!was_run);
    }

    #[test]
    fn a_pipe_among_the_arguments_is_not_opened() {
        let path = std::env::temp_dir().join(format!("catena-pipe-{}", std::process::id()));
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        // It would wait for a writer.
        assert_eq!(Linked::read(&path), None);
        std::fs::remove_file(&path).unwrap();
    }
}
