//! Which file lies at which address of a process.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Most bytes of a map that are read.
const LONGEST: u64 = 32 << 20;

/// What the code is called that the kernel gives all processes.
const KERNELS: &str = "[vdso]";

/// A part of memory that has a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub begin: u64,
    pub end: u64,
    /// Which byte of the file the first one is.
    pub offset: u64,
    /// Device and number of the file, as the kernel writes them.
    pub file: String,
    /// Its name, as the process sees it.
    pub path: String,
    /// Whether the file has no name any more.
    pub deleted: bool,
}

impl Mapping {
    /// Which byte of the file is at an address.
    pub fn offset_of(&self, address: u64) -> u64 {
        address.wrapping_sub(self.begin).wrapping_add(self.offset)
    }

    /// Whether it is the code that the kernel gives all processes.
    pub fn is_kernels(&self) -> bool {
        self.path == KERNELS
    }
}

/// The code in a process's memory, and the files that it is from: a copy of what was true at one
/// moment. It can be used after the process has ended, as long as its files are there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Maps {
    pid: u32,
    mappings: Vec<Mapping>,
}

impl Maps {
    /// That of a process of this machine. Cost: some ten microseconds.
    ///
    /// # Errors
    /// If there is no such process, or it is of another user.
    pub fn read(pid: u32) -> io::Result<Maps> {
        let mut text = Vec::new();
        let file = File::open(format!("/proc/{pid}/maps"))?;
        file.take(LONGEST).read_to_end(&mut text)?;
        Ok(Maps::parse(pid, &String::from_utf8_lossy(&text)))
    }

    /// That of the process of that number, from a copy of its file `/proc/PID/maps`. Lines that say
    /// nothing are left out.
    pub fn parse(pid: u32, text: &str) -> Maps {
        let mappings = text.lines().filter_map(mapping).collect();
        Maps { pid, mappings }
    }

    pub(crate) fn at(&self, address: u64) -> Option<&Mapping> {
        let at = self.mappings.partition_point(|it| it.end <= address);
        let mapping = self.mappings.get(at)?;
        (mapping.begin <= address).then_some(mapping)
    }

    /// Opens the file of a part. The process may see other files by its names than this one does.
    pub(crate) fn open(&self, mapping: &Mapping) -> Option<File> {
        let Mapping { begin, end, .. } = mapping;
        let kept = format!("/proc/{}/map_files/{begin:x}-{end:x}", self.pid);
        let own = self.in_root(&mapping.path);
        let names = [PathBuf::from(kept), own, PathBuf::from(&mapping.path)];
        // What has the name now is not what is running.
        let names = &names[..if mapping.deleted { 1 } else { names.len() }];
        names.iter().find_map(|name| File::open(name).ok())
    }

    /// The code that the kernel gives all processes: this one has it, too.
    pub(crate) fn kernels() -> Option<Vec<u8>> {
        let own = Maps::read(std::process::id()).ok()?;
        let mapping = own.mappings.iter().find(|it| it.is_kernels())?;
        let memory = File::open("/proc/self/mem").ok()?;
        let len = mapping.end.checked_sub(mapping.begin)?.min(1 << 20);
        let mut bytes = vec![0; len as usize];
        memory.read_exact_at(&mut bytes, mapping.begin).ok()?;
        Some(bytes)
    }

    /// How this process calls a file of that one.
    pub(crate) fn in_root(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{path}", self.pid))
    }
}

/// The meaning of a line: `begin-end access offset device number path`.
fn mapping(line: &str) -> Option<Mapping> {
    let mut rest = line;
    let mut word = || {
        let (word, left) = rest.trim_start().split_once(' ')?;
        rest = left;
        Some(word)
    };
    let (begin, end) = word()?.split_once('-')?;
    let access = word()?;
    let offset = word()?;
    let file = format!("{} {}", word()?, word()?);
    let path = rest.trim_start();
    let is_code = access.contains('x') && (path.starts_with('/') || path == KERNELS);
    if !is_code {
        return None;
    }
    let number = |digits| u64::from_str_radix(digits, 16).ok();
    let (path, deleted) = match path.strip_suffix(" (deleted)") {
        Some(path) => (path, true),
        None => (path, false),
    };
    Some(Mapping {
        begin: number(begin)?,
        end: number(end)?,
        offset: number(offset)?,
        file,
        path: path.replace("\\012", "\n"),
        deleted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_code_with_a_file_are_found() {
        let maps = Maps::parse(
            7,
            "00400000-00401000 r--p 00000000 08:01 77   /a/b c\n\
             00401000-00402000 r-xp 00001000 08:01 77   /a/b c\n\
             7f00-7f10 nonsense\n\
             8000-z r-xp 0 08:01 9 /x\n\
             7fff00000000-7fff00001000 r-xp 00002000 00:2a 5 /l\\012.so (deleted)\n\
             7fff10000000-7fff10001000 r-xp 00000000 00:00 0      [vdso]\n\
             7fff20000000-7fff20001000 rwxp 00000000 00:00 0\n",
        );
        assert_eq!(maps.mappings.len(), 3);
        assert!(maps.at(0x7fff_1000_0000).is_some_and(Mapping::is_kernels));
        let mapping = maps.at(0x40_1fff).expect("code");
        assert_eq!((&*mapping.path, mapping.offset), ("/a/b c", 0x1000));
        assert!(maps.at(0x40_0010).is_none(), "no code");
        assert!(maps.at(0x40_2000).is_none());
        let gone = maps.at(0x7fff_0000_0000).expect("code");
        assert!(gone.deleted && gone.path == "/l\n.so");
    }

    #[test]
    fn this_process_is_found_in_its_own() {
        let maps = Maps::read(std::process::id()).unwrap();
        let here = maps.at(this_process_is_found_in_its_own as fn() as usize as u64);
        let here = maps.open(here.expect("code")).expect("a program");
        let own = File::open("/proc/self/exe").unwrap();
        let number = |file: &File| {
            use std::os::unix::fs::MetadataExt;
            file.metadata().unwrap().ino()
        };
        assert_eq!(number(&here), number(&own));
        assert!(Maps::read(u32::MAX).is_err());
    }
}
