//! File, line and inlined functions of an address.

use gimli::{AttributeValue, LineProgramHeader, Reader, Result, Unit};

use crate::bytes::{Bytes, TEXT};
use crate::place::Source;
use crate::units::Units;

/// Most functions that are inlined into each other.
const DEEPEST: usize = 64;

/// One of the functions that an address lies in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inlined {
    /// Its name in the debug information, of those that are inlined only.
    pub function: Option<String>,
    pub source: Option<Source>,
}

/// The functions that an address lies in, the innermost first: those that are inlined, and the one
/// of the file's own. Empty where nothing is known.
pub(crate) fn find(units: &Units, address: u64) -> Vec<Inlined> {
    let Some(unit) = units.find(address) else {
        return Vec::new();
    };
    let Ok(Some(innermost)) = line(units, &unit, address) else {
        return Vec::new();
    };
    // Without them the line is still right.
    let calls = inlined(units, &unit, address).unwrap_or_default();
    let mut found = Vec::new();
    let mut source = Some(innermost);
    for call in calls.into_iter().rev() {
        let function = call.function;
        found.push(Inlined { function, source });
        source = call.source;
    }
    found.push(Inlined {
        function: None,
        source,
    });
    found
}

/// The line that an address belongs to.
fn line(units: &Units, unit: &Unit<Bytes>, address: u64) -> Result<Option<Source>> {
    let Some(program) = unit.line_program.clone() else {
        return Ok(None);
    };
    let mut rows = program.rows();
    // Address, file and line of the row before, in the same sequence.
    let mut last: Option<(u64, u64, u64)> = None;
    while let Some((header, row)) = rows.next_row()? {
        if let Some((begin, file, line)) = last
            && begin <= address
            && address < row.address()
        {
            return Ok(source(units, unit, header, (file, line)));
        }
        last = match (row.end_sequence(), row.line(), last) {
            (true, ..) => None,
            // What the linker has left out begins at zero.
            (_, _, None) if row.address() == 0 => Some((u64::MAX, 0, 0)),
            (_, _, Some((u64::MAX, ..))) => last,
            // What belongs to no line belongs to the one before.
            (_, None, Some((_, file, line))) => Some((row.address(), file, line)),
            (_, line, _) => Some((row.address(), row.file_index(), line.map_or(0, u64::from))),
        };
    }
    Ok(None)
}

fn source(
    units: &Units,
    unit: &Unit<Bytes>,
    header: &LineProgramHeader<Bytes>,
    (file, line): (u64, u64),
) -> Option<Source> {
    let line = u32::try_from(line).ok().filter(|&line| line > 0)?;
    let file = header.file(file)?;
    let text = |value| {
        let mut bytes = units.dwarf.attr_string(unit, value).ok()?;
        bytes.truncate(bytes.len().min(TEXT)).ok()?;
        Some(bytes.to_string_lossy().ok()?.into_owned())
    };
    let name = text(file.path_name())?;
    let folder = file.directory(header).and_then(text);
    let path = match folder {
        Some(folder) if !name.starts_with('/') && !folder.is_empty() => format!("{folder}/{name}"),
        _ => name,
    };
    Some(Source { path, line })
}

/// A call that was inlined.
struct Call {
    function: Option<String>,
    /// Where it stands in the program.
    source: Option<Source>,
}

/// The inlined calls that an address lies in, the outermost first.
fn inlined(units: &Units, unit: &Unit<Bytes>, address: u64) -> Result<Vec<Call>> {
    let mut calls = Vec::new();
    let mut entries = unit.entries_raw(None)?;
    let mut entry = gimli::DebuggingInformationEntry::null();
    // How deep the function is that the address lies in.
    let mut within: Option<isize> = None;
    while !entries.is_empty() && calls.len() < DEEPEST {
        if !entries.read_entry(&mut entry)? {
            continue;
        }
        if within.is_some_and(|depth| entry.depth() <= depth) {
            break;
        }
        match entry.tag() {
            gimli::DW_TAG_subprogram if units.contains(unit, &entry, address)? => {
                within = Some(entry.depth());
            }
            gimli::DW_TAG_inlined_subroutine
                if within.is_some() && units.contains(unit, &entry, address)? =>
            {
                let number = |name| match entry.attr_value(name) {
                    Some(AttributeValue::FileIndex(number)) => Some(number),
                    Some(value) => value.udata_value(),
                    None => None,
                };
                let at = number(gimli::DW_AT_call_file).zip(number(gimli::DW_AT_call_line));
                let program = unit.line_program.as_ref();
                calls.push(Call {
                    function: units.name(unit, &entry),
                    source: at
                        .zip(program)
                        .and_then(|(at, program)| source(units, unit, program.header(), at)),
                });
            }
            _ => {}
        }
    }
    Ok(calls)
}
