//! The debug information of a file, and which part of it an address belongs to.

use std::cell::OnceCell;

use gimli::{
    AttributeValue, DebugInfoOffset, DebuggingInformationEntry, Dwarf, Error, Reader, Result,
    SectionId, Unit, UnitOffset, UnitType,
};

use crate::bytes::Bytes;
use crate::elf::Elf;

pub(crate) type Entry = DebuggingInformationEntry<Bytes>;

/// Most ranges of addresses that are noted.
const RANGES: usize = 1 << 20;

/// Begin, end, and the unit they belong to.
type Range = (u64, u64, DebugInfoOffset<usize>);

/// The debug information of a file.
#[derive(Debug)]
pub(crate) struct Units {
    pub dwarf: Dwarf<Bytes>,
    /// What the units say themselves about their addresses.
    index: OnceCell<Vec<Range>>,
}

impl Units {
    /// That of a file; `None` if it has none.
    pub fn new(elf: &Elf) -> Option<Units> {
        let needed = [
            SectionId::DebugInfo,
            SectionId::DebugAbbrev,
            SectionId::DebugLine,
        ];
        if !needed.iter().all(|it| elf.has(it.name())) {
            return None;
        }
        let mut empty = elf.pages().all();
        empty.empty();
        let load = |id: SectionId| {
            use SectionId as Id;
            let is_used = matches!(
                id,
                Id::DebugAbbrev
                    | Id::DebugAddr
                    | Id::DebugAranges
                    | Id::DebugInfo
                    | Id::DebugLine
                    | Id::DebugLineStr
                    | Id::DebugRanges
                    | Id::DebugRngLists
                    | Id::DebugStr
                    | Id::DebugStrOffsets
            );
            let bytes = match id {
                Id::DebugLoc | Id::DebugLocLists => elf.extra_section(id.name()),
                _ => is_used.then(|| elf.section(id.name())).flatten(),
            };
            Ok::<_, Error>(bytes.unwrap_or_else(|| empty.clone()))
        };
        let dwarf = Dwarf::load(load).ok()?;
        let index = OnceCell::new();
        Some(Units { dwarf, index })
    }

    /// The unit that an address lies in.
    pub fn find(&self, address: u64) -> Option<Unit<Bytes>> {
        if let Ok(Some(offset)) = self.in_table(address)
            && let Ok(header) = self.dwarf.unit_header(offset)
            && let Ok(unit) = self.dwarf.unit(header)
        {
            return Some(unit);
        }
        // Some compilers write no such table.
        let index = self.index.get_or_init(|| {
            let mut found = Vec::new();
            // What was found before something broke counts.
            _ = self.scan(&mut found);
            found
        });
        let mut ranges = index.iter();
        let range = ranges.find(|it| (it.0..it.1).contains(&address))?;
        let header = self.dwarf.unit_header(range.2).ok()?;
        self.dwarf.unit(header).ok()
    }

    fn in_table(&self, address: u64) -> Result<Option<DebugInfoOffset<usize>>> {
        let mut headers = self.dwarf.debug_aranges.headers();
        while let Some(header) = headers.next()? {
            let mut entries = header.entries();
            while let Ok(Some(entry)) = entries.next() {
                if address >= entry.address() && address - entry.address() < entry.length() {
                    return Ok(Some(header.debug_info_offset()));
                }
            }
        }
        Ok(None)
    }

    fn scan(&self, found: &mut Vec<Range>) -> Result<()> {
        let mut headers = self.dwarf.units();
        while let Some(header) = headers.next()? {
            let is_code = matches!(
                header.type_(),
                UnitType::Compilation | UnitType::Skeleton(_)
            );
            let Some(offset) = header.debug_info_offset().filter(|_| is_code) else {
                continue;
            };
            let unit = match self.dwarf.unit(header) {
                Ok(unit) => unit,
                Err(Error::Io) => return Err(Error::Io),
                Err(_) => continue,
            };
            let mut entries = unit.entries();
            if let Ok(Some(root)) = entries.next_dfs() {
                self.each_range(&unit, root, &mut |begin, end| {
                    found.push((begin, end, offset));
                    found.len() < RANGES
                })?;
            }
            if found.len() >= RANGES {
                break;
            }
        }
        Ok(())
    }

    /// Whether an address is one of those of an entry.
    pub fn contains(&self, unit: &Unit<Bytes>, entry: &Entry, address: u64) -> Result<bool> {
        let mut is_there = false;
        self.each_range(unit, entry, &mut |begin, end| {
            is_there |= (begin..end).contains(&address);
            !is_there
        })?;
        Ok(is_there)
    }

    /// Calls a function with the ranges of addresses of an entry, until it says that it has enough.
    fn each_range(
        &self,
        unit: &Unit<Bytes>,
        entry: &Entry,
        each: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<()> {
        if let Some(ranges) = entry.attr_value(gimli::DW_AT_ranges)
            && let Some(mut ranges) = self.dwarf.attr_ranges(unit, ranges)?
        {
            while let Some(range) = ranges.next()? {
                if !each(range.begin, range.end) {
                    break;
                }
            }
            return Ok(());
        }
        let address = |name| match entry.attr_value(name) {
            Some(value) => self.dwarf.attr_address(unit, value),
            None => Ok(None),
        };
        let Some(begin) = address(gimli::DW_AT_low_pc)? else {
            return Ok(());
        };
        let end = match entry.attr_value(gimli::DW_AT_high_pc) {
            Some(AttributeValue::Udata(size)) => begin.checked_add(size),
            _ => address(gimli::DW_AT_high_pc)?,
        };
        if let Some(end) = end {
            each(begin, end);
        }
        Ok(())
    }

    /// The name of a function, which another entry may have.
    pub fn name(&self, unit: &Unit<Bytes>, entry: &Entry) -> Option<String> {
        self.name_within(unit, entry, 8)
    }

    fn name_within(&self, unit: &Unit<Bytes>, entry: &Entry, most: u32) -> Option<String> {
        let own = [
            gimli::DW_AT_linkage_name,
            gimli::DW_AT_MIPS_linkage_name,
            gimli::DW_AT_name,
        ];
        let own = own.into_iter().find_map(|name| entry.attr_value(name));
        if let Some(value) = own
            && let Ok(text) = self.dwarf.attr_string(unit, value)
        {
            return text.to_string_lossy().ok().map(|it| it.into_owned());
        }
        let most = most.checked_sub(1)?;
        let others = [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification];
        match others.into_iter().find_map(|name| entry.attr_value(name))? {
            AttributeValue::UnitRef(offset) => {
                let entry = unit.entry(offset).ok()?;
                self.name_within(unit, &entry, most)
            }
            AttributeValue::DebugInfoRef(offset) => {
                let (unit, offset) = self.holder(offset)?;
                let entry = unit.entry(offset).ok()?;
                self.name_within(&unit, &entry, most)
            }
            _ => None,
        }
    }

    /// The unit that has the entry at a place.
    pub fn holder(&self, at: DebugInfoOffset<usize>) -> Option<(Unit<Bytes>, UnitOffset<usize>)> {
        let mut headers = self.dwarf.units();
        while let Some(header) = headers.next().ok()? {
            if let Some(offset) = at.to_unit_offset(&header) {
                return Some((self.dwarf.unit(header).ok()?, offset));
            }
        }
        None
    }
}
