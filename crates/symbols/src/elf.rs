//! A file of code: its sections, functions and notes. Of the 64-bit, little-endian kind, which all
//! machines have that this library runs on.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Read;
use std::rc::Rc;

use gimli::Reader;

use crate::bytes::{Bytes, Pages};

/// Most sections, and most segments, that are looked at.
const MOST: u64 = 1 << 16;

const ELFCOMPRESS_ZLIB: u32 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_NOTE: u32 = 7;
const SHT_NOBITS: u32 = 8;
const SHT_DYNSYM: u32 = 11;
const SHF_COMPRESSED: u64 = 1 << 11;

/// Longest compressed section that is read though it may not be needed, bytes.
const EXTRA: u64 = 16 << 20;
const PT_LOAD: u32 = 1;
const STT_OBJECT: u8 = 1;
const STT_FUNC: u8 = 2;
const STT_GNU_IFUNC: u8 = 10;

#[derive(Debug)]
struct Section {
    name: String,
    kind: u32,
    flags: u64,
    address: u64,
    offset: u64,
    size: u64,
    link: usize,
}

#[derive(Debug)]
struct Segment {
    offset: u64,
    address: u64,
    size: u64,
}

/// A function of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its name as the file has it.
    pub name: String,
    /// Where it begins.
    pub address: u64,
}

/// A file of code.
#[derive(Debug)]
pub(crate) struct Elf {
    pages: Rc<Pages>,
    sections: Vec<Section>,
    segments: Vec<Segment>,
    inflated: RefCell<HashMap<String, Option<Rc<Pages>>>>,
}

impl Elf {
    /// What a file is, if it is one of code.
    pub fn new(pages: Rc<Pages>) -> Option<Elf> {
        let all = pages.all();
        let mut head = all.part(0, 64)?;
        let ident: [u8; 16] = head.read_u8_array().ok()?;
        if !ident.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        // Kind, machine, version, entry.
        head.skip(2 + 2 + 4 + 8).ok()?;
        let segments_at = head.read_u64().ok()?;
        let sections_at = head.read_u64().ok()?;
        head.skip(4 + 2).ok()?;
        let segment_size = u64::from(head.read_u16().ok()?);
        let segments = u64::from(head.read_u16().ok()?);
        let section_size = u64::from(head.read_u16().ok()?);
        let mut sections = u64::from(head.read_u16().ok()?);
        let mut names = usize::from(head.read_u16().ok()?);
        if sections_at == 0 {
            sections = 0;
        } else if let Some((first, _)) = section(&all, sections_at) {
            // There are too many for 16 bits.
            if sections == 0 {
                sections = first.size;
            }
            if names == 0xffff {
                names = first.link;
            }
        }
        let segments = (0..segments).map_while(|number| {
            let at = number.checked_mul(segment_size)?.checked_add(segments_at)?;
            segment(&all, at)
        });
        let mut elf = Elf {
            segments: segments.flatten().collect(),
            sections: Vec::new(),
            inflated: RefCell::default(),
            pages,
        };
        let sections = (0..sections.min(MOST)).map_while(|number| {
            let at = number.checked_mul(section_size)?.checked_add(sections_at)?;
            section(&all, at)
        });
        let (sections, names_at): (Vec<_>, Vec<_>) = sections.unzip();
        elf.sections = sections;
        let texts = elf.sections.get(names).and_then(|it| elf.bytes(it));
        if let Some(texts) = texts {
            for (section, at) in elf.sections.iter_mut().zip(names_at) {
                section.name = texts.text(at).unwrap_or_default();
            }
        }
        Some(elf)
    }

    pub fn pages(&self) -> &Rc<Pages> {
        &self.pages
    }

    /// Where a byte of the file lies in memory, before the file as a whole is moved there.
    pub fn address(&self, offset: u64) -> Option<u64> {
        let mut segments = self.segments.iter();
        let segment = segments.find(|it| {
            // A segment is mapped in whole pages.
            let begin = it.offset & !0xfff;
            offset >= begin && offset - begin < it.size.saturating_add(it.offset & 0xfff)
        })?;
        Some(
            offset
                .wrapping_sub(segment.offset)
                .wrapping_add(segment.address),
        )
    }

    fn bytes(&self, section: &Section) -> Option<Bytes> {
        match section.kind {
            SHT_NOBITS => None,
            _ => self.pages.all().part(section.offset, section.size),
        }
    }

    fn named(&self, name: &str) -> Option<&Section> {
        let mut named = self.sections.iter().filter(|it| it.name == name);
        named.find(|it| it.kind != SHT_NOBITS && it.size > 0)
    }

    /// The bytes of a section, decompressed if they are compressed.
    pub fn section(&self, name: &str) -> Option<Bytes> {
        let section = self.named(name)?;
        let bytes = self.bytes(section)?;
        if section.flags & SHF_COMPRESSED == 0 {
            return Some(bytes);
        }
        if let Some(known) = self.inflated.borrow().get(name) {
            return known.as_ref().map(Pages::all);
        }
        let inflated = self.inflate(bytes);
        let pages = inflated.map(|bytes| Pages::of_memory(bytes, self.pages.budget()));
        let bytes = pages.as_ref().map(Pages::all);
        self.inflated.borrow_mut().insert(name.into(), pages);
        bytes
    }

    /// The bytes of a section that many can do without: not those of a long one that is compressed.
    pub fn extra_section(&self, name: &str) -> Option<Bytes> {
        let section = self.named(name)?;
        let is_long = || {
            let mut bytes = self.bytes(section)?;
            bytes.skip(8).ok()?;
            Some(bytes.read_u64().ok()? > EXTRA)
        };
        match section.flags & SHF_COMPRESSED != 0 && is_long() != Some(false) {
            true => None,
            false => self.section(name),
        }
    }

    /// Whether there is such a section with anything in it.
    pub fn has(&self, name: &str) -> bool {
        self.named(name).is_some()
    }

    /// Where a section lies in memory, before the file as a whole is moved there.
    pub fn section_address(&self, name: &str) -> Option<u64> {
        self.named(name).map(|it| it.address)
    }

    fn inflate(&self, mut bytes: Bytes) -> Option<Vec<u8>> {
        let kind = bytes.read_u32().ok()?;
        bytes.skip(4).ok()?;
        let size = bytes.read_u64().ok()?;
        // Alignment.
        bytes.skip(8).ok()?;
        self.pages.budget().inflate(size)?;
        let mut inflated = Vec::new();
        // Another way to compress is as if the section were not there.
        let zlib = (kind == ELFCOMPRESS_ZLIB).then(|| flate2::read::ZlibDecoder::new(bytes))?;
        zlib.take(size).read_to_end(&mut inflated).ok()?;
        Some(inflated)
    }

    /// The function that an address lies in.
    pub fn function(&self, address: u64) -> Option<Function> {
        [SHT_SYMTAB, SHT_DYNSYM].into_iter().find_map(|kind| {
            let table = self.sections.iter().find(|it| it.kind == kind)?;
            let texts = self.bytes(self.sections.get(table.link)?)?;
            let (names, address) = in_table(self.bytes(table)?, address)?;
            let names = names.into_iter();
            let names = names.filter_map(|name| texts.text(u64::from(name)));
            // `read` is `__read` and `__libc_read` as well.
            let hidden = |name: &String| name.len() - name.trim_start_matches('_').len();
            let name = names.min_by_key(|name| (hidden(name), name.len()))?;
            Some(Function { name, address })
        })
    }

    /// The variable that an address lies in: where it begins, and its bytes.
    pub fn variable(&self, address: u64) -> Option<(u64, u64)> {
        [SHT_SYMTAB, SHT_DYNSYM].into_iter().find_map(|kind| {
            let table = self.sections.iter().find(|it| it.kind == kind)?;
            variable_in(self.bytes(table)?, address)
        })
    }

    /// The variable that all parts of the program know by a name: where it begins, and its bytes.
    pub fn variable_named(&self, name: &str) -> Option<(u64, u64)> {
        [SHT_SYMTAB, SHT_DYNSYM].into_iter().find_map(|kind| {
            let table = self.sections.iter().find(|it| it.kind == kind)?;
            let texts = self.bytes(self.sections.get(table.link)?)?;
            variable_of(self.bytes(table)?, &texts, name)
        })
    }

    /// What tells two builds of a program apart, if the linker was told to say so.
    pub fn build_id(&self) -> Option<Vec<u8>> {
        let mut notes = self.sections.iter().filter(|it| it.kind == SHT_NOTE);
        notes.find_map(|section| {
            let mut bytes = self.bytes(section)?;
            let (name, len) = (bytes.read_u32().ok()?, bytes.read_u32().ok()?);
            let kind = bytes.read_u32().ok()?;
            let owner: [u8; 4] = bytes.read_u8_array().ok()?;
            let is_id = (name, kind, &owner) == (4, 3, b"GNU\0") && (2..=64).contains(&len);
            let id = bytes.part(0, u64::from(len)).filter(|_| is_id)?;
            Some(id.to_slice().ok()?.into_owned())
        })
    }

    /// The name of the file that has what was stripped from this one, and the checksum of that.
    pub fn debug_link(&self) -> Option<(String, u32)> {
        let bytes = self.section(".gnu_debuglink")?;
        let name = bytes.text(0)?;
        let at = (name.len() as u64 + 1).next_multiple_of(4);
        let checksum = bytes.part(at, 4)?.read_u32().ok()?;
        (!name.is_empty() && !name.contains('/')).then_some((name, checksum))
    }
}

/// The section whose header is there, and where its name is.
fn section(all: &Bytes, at: u64) -> Option<(Section, u64)> {
    let mut head = all.part(at, 64)?;
    let name = head.read_u32().ok()?;
    let kind = head.read_u32().ok()?;
    let flags = head.read_u64().ok()?;
    let address = head.read_u64().ok()?;
    let offset = head.read_u64().ok()?;
    let size = head.read_u64().ok()?;
    let link = head.read_u32().ok()? as usize;
    let section = Section {
        name: String::new(),
        kind,
        flags,
        address,
        offset,
        size,
        link,
    };
    Some((section, u64::from(name)))
}

/// The segment whose header is there; `Some(None)` if it is none that is loaded.
fn segment(all: &Bytes, at: u64) -> Option<Option<Segment>> {
    let mut head = all.part(at, 56)?;
    let kind = head.read_u32().ok()?;
    head.skip(4).ok()?;
    let offset = head.read_u64().ok()?;
    let address = head.read_u64().ok()?;
    head.skip(8).ok()?;
    let size = head.read_u64().ok()?;
    let segment = Segment {
        offset,
        address,
        size,
    };
    Some((kind == PT_LOAD).then_some(segment))
}

/// The variable of a table of symbols that an address lies in.
fn variable_in(mut table: Bytes, address: u64) -> Option<(u64, u64)> {
    let mut entry = [0; 24];
    while table.len() >= entry.len() {
        table.read_slice(&mut entry).ok()?;
        let word = |at: usize| entry[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
        let (begin, size) = (word(8), word(16));
        if entry[4] & 0xf == STT_OBJECT && address >= begin && address - begin < size {
            return Some((begin, size));
        }
    }
    None
}

/// The variable of a table of symbols that has a name, and is no file's own.
fn variable_of(mut table: Bytes, texts: &Bytes, name: &str) -> Option<(u64, u64)> {
    let mut entry = [0; 24];
    while table.len() >= entry.len() {
        table.read_slice(&mut entry).ok()?;
        let is_local = entry[4] >> 4 == 0;
        let is_elsewhere = entry[6..8] == [0; 2];
        if entry[4] & 0xf != STT_OBJECT || is_local || is_elsewhere {
            continue;
        }
        let at = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
        if texts.text(u64::from(at)).as_deref() == Some(name) {
            let word = |at: usize| entry[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
            return Some((word(8), word(16)));
        }
    }
    None
}

/// Most names of a function that are looked at.
const NAMES: usize = 16;

/// Where the names are of the function of a table of symbols that an address lies in, and where
/// that begins.
fn in_table(mut table: Bytes, address: u64) -> Option<(Vec<u32>, u64)> {
    let mut found: Option<(Vec<(bool, u32)>, u64)> = None;
    let mut entry = [0; 24];
    while table.len() >= entry.len() {
        table.read_slice(&mut entry).ok()?;
        let (kind, binding) = (entry[4] & 0xf, entry[4] >> 4);
        if kind != STT_FUNC && kind != STT_GNU_IFUNC {
            continue;
        }
        let word = |at: usize| entry[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
        let (begin, size) = (word(8), word(16));
        if address < begin || address - begin >= size {
            continue;
        }
        let name = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
        let is_local = binding == 0;
        match &mut found {
            Some((_, at)) if *at > begin => {}
            Some((names, at)) if *at == begin => {
                if names.len() < NAMES {
                    names.push((is_local, name));
                }
            }
            _ => found = Some((vec![(is_local, name)], begin)),
        }
    }
    let (mut names, begin) = found?;
    // Those that others know it by come first.
    names.sort_by_key(|it| it.0);
    let count = names.iter().filter(|it| it.0 == names[0].0).count();
    let names = names[..count].iter().map(|it| it.1).collect();
    Some((names, begin))
}
