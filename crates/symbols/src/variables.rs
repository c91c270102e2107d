//! Variables of a program: where they are, how long, and of what they are made.

use gimli::{AttributeValue, Operation, Reader, Result, Unit, UnitOffset};

use crate::bytes::{Bytes, TEXT};
use crate::units::{Entry, Units};

/// Most members that are told of a variable.
const MEMBERS: usize = 1024;

/// Most types that lie in each other.
const DEEPEST: u32 = 16;

/// Most variables of a function.
const MOST: usize = 1024;

/// Most places of a variable.
const PLACES: usize = 16;

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name in the program.
    pub name: String,
    /// Where it is.
    pub home: Home,
    /// Whether it is there at the address that was asked for: in a block of its function that the
    /// address lies in, and not in another place then.
    pub is_live: bool,
    /// What it is made of.
    pub memory: Memory,
}

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In the part of the stack that its function has: from the address on that the stack had
    /// before the function was called.
    Frame(i64),
    /// From the address on that the frame pointer has in its function.
    Pointer(i64),
    /// At an address.
    Fixed(u64),
}

/// What memory is made of: units that are all alike, as the elements of an array are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Bytes of all; `None` where the debug information does not say.
    pub size: Option<u64>,
    /// Bytes of a unit; zero if that is not known.
    pub unit: u64,
    /// Where the members of a unit are, in bytes from its beginning, and what they are; `None` if
    /// that is not known, as of a union.
    pub members: Option<Vec<(u64, Scalar)>>,
    /// If it is a pointer, the memory that it points to, as far as the type says.
    pub pointee: Option<Box<Memory>>,
}

/// A number, or something like that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its kind.
    pub kind: ScalarKind,
    /// Bytes of it.
    pub size: u64,
}

/// Kinds of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarKind {
    /// An integer with a sign.
    Signed,
    /// An integer without a sign.
    Unsigned,
    /// A number with a fraction.
    Float,
    /// A truth value.
    Logical,
    /// A character.
    Character,
    /// One of several names, which may be integers with or without a sign.
    Enumeration,
    /// An address.
    Pointer,
}

/// Where a variable of a name begins in the file, and its bytes.
type Named<'n> = &'n dyn Fn(&str) -> Option<(u64, u64)>;

/// The variables of the function that an address lies in, and of those that are inlined in it, as
/// far as they have places in memory: those of outer blocks first. One that has several places is
/// told for each. `bias` is how far the file was moved in memory.
///
/// Where the function is not optimized all have places of their own, and only those are told that
/// are there at the address.
/// `named` tells where a variable of a name begins in the file, and its bytes.
pub(crate) fn of_function(
    units: &Units,
    address: u64,
    bias: u64,
    named: Named<'_>,
) -> Vec<Variable> {
    let Some(unit) = units.find(address) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    // What was found before something broke counts.
    let mut is_optimized = false;
    let place = (address, bias, named);
    _ = walk(units, &unit, place, &mut found, &mut is_optimized);
    found.retain(|it| it.is_live || is_optimized);
    found
}

fn walk(
    units: &Units,
    unit: &Unit<Bytes>,
    (address, bias, named): (u64, u64, Named<'_>),
    found: &mut Vec<Variable>,
    is_optimized: &mut bool,
) -> Result<()> {
    let mut entries = unit.entries_raw(None)?;
    let mut entry = Entry::null();
    // How deep the function is that the address lies in, and where its frame begins.
    let mut within: Option<(isize, Option<Home>)> = None;
    // How deep a function is that lies in that one, and is another.
    let mut other: Option<isize> = None;
    // How deep a block is that the address does not lie in.
    let mut beside: Option<isize> = None;
    // What the function, and those that are inlined where the address is, were made from.
    let mut origins = Vec::new();
    while !entries.is_empty() && found.len() < MOST {
        if !entries.read_entry(&mut entry)? {
            continue;
        }
        let depth = entry.depth();
        if within.is_some_and(|(function, _)| depth <= function) {
            break;
        }
        if other.is_some_and(|function| depth > function) {
            continue;
        }
        other = None;
        beside = beside.filter(|block| depth > *block);
        match entry.tag() {
            gimli::DW_TAG_subprogram
                if within.is_none() && units.contains(unit, &entry, address)? =>
            {
                within = Some((depth, base(unit, &entry)));
                origins.extend(entry.attr_value(gimli::DW_AT_abstract_origin));
            }
            gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine
                if within.is_some()
                    && beside.is_none()
                    && !units.contains(unit, &entry, address)? =>
            {
                beside = Some(depth);
            }
            gimli::DW_TAG_inlined_subroutine if within.is_some() && beside.is_none() => {
                origins.extend(entry.attr_value(gimli::DW_AT_abstract_origin));
            }
            gimli::DW_TAG_subprogram if within.is_some() => other = Some(depth),
            gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                if let Some((_, base)) = within {
                    let place = Place {
                        address,
                        base,
                        bias,
                        is_live: beside.is_none(),
                    };
                    *is_optimized |= has_list(&entry);
                    variable(units, unit, &entry, &place, found);
                }
            }
            _ => {}
        }
    }
    for origin in origins {
        _ = fixed(units, unit, origin, (bias, named), found);
    }
    Ok(())
}

/// Adds the variables of a function that have fixed places which are told where the function itself
/// is described, and not again where it is inlined.
fn fixed(
    units: &Units,
    unit: &Unit<Bytes>,
    origin: AttributeValue<Bytes>,
    (bias, named): (u64, Named<'_>),
    found: &mut Vec<Variable>,
) -> Result<()> {
    let elsewhere;
    let (unit, at) = match origin {
        AttributeValue::UnitRef(at) => (unit, at),
        AttributeValue::DebugInfoRef(at) => {
            let Some((holder, at)) = units.holder(at) else {
                return Ok(());
            };
            elsewhere = holder;
            (&elsewhere, at)
        }
        _ => return Ok(()),
    };
    let place = Place {
        address: 0,
        base: None,
        bias,
        is_live: true,
    };
    let mut entries = unit.entries_raw(Some(at))?;
    let mut entry = Entry::null();
    entries.read_entry(&mut entry)?;
    // How deep a function is that lies in that one, and is another.
    let mut other: Option<isize> = None;
    while !entries.is_empty() && entries.next_depth() > 0 && found.len() < MOST {
        if !entries.read_entry(&mut entry)? {
            continue;
        }
        if other.is_some_and(|function| entry.depth() > function) {
            continue;
        }
        other = None;
        let mut added = Vec::new();
        match entry.tag() {
            gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine => {
                other = Some(entry.depth());
            }
            gimli::DW_TAG_variable if !has_list(&entry) => {
                variable(units, unit, &entry, &place, &mut added);
            }
            gimli::DW_TAG_common_block => {
                added = common_block(units, unit, &entry, (bias, named)).unwrap_or_default();
            }
            _ => {}
        }
        added.retain(|it| {
            let is_it = |known: &Variable| (known.home, &known.name) == (it.home, &it.name);
            !found.iter().any(is_it)
        });
        found.extend(added);
    }
    Ok(())
}

/// The variables of a `COMMON` block of which it is not told where they are, as gfortran does not
/// where it inlines a function: one lies behind the other, if they fill the block like that.
fn common_block(
    units: &Units,
    unit: &Unit<Bytes>,
    entry: &Entry,
    (bias, named): (u64, Named<'_>),
) -> Option<Vec<Variable>> {
    let name = entry.attr_value(gimli::DW_AT_linkage_name)?;
    let name = units.dwarf.attr_string(unit, name).ok()?;
    let (begin, size) = named(&name.to_string_lossy().ok()?)?;
    let (mut found, mut end) = (Vec::new(), 0_u64);
    for child in children(unit, entry.offset())? {
        if child.tag() != gimli::DW_TAG_variable {
            continue;
        }
        let (name, memory) = described(units, unit, &child)?;
        let numbers = memory.members.iter().flatten();
        let alignment = numbers.map(|(_, it)| it.size.min(16)).max()?;
        let at = end.checked_next_multiple_of(alignment)?;
        end = at.checked_add(memory.size?)?;
        found.push(Variable {
            name,
            home: Home::Fixed(begin.wrapping_add(at).wrapping_add(bias)),
            is_live: true,
            memory,
        });
    }
    (end == size).then_some(found)
}

/// Where the frame of a function begins.
fn base(unit: &Unit<Bytes>, entry: &Entry) -> Option<Home> {
    let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_frame_base)? else {
        return None;
    };
    let mut operations = expression.operations(unit.encoding());
    let first = operations.next().ok()??;
    match (first, operations.next().ok()?) {
        (Operation::CallFrameCFA, None) => Some(Home::Frame(0)),
        (Operation::Register { register }, None) if register == FRAME => Some(Home::Pointer(0)),
        (
            Operation::RegisterOffset {
                register, offset, ..
            },
            None,
        ) if register == FRAME => Some(Home::Pointer(offset)),
        _ => None,
    }
}

/// The register of the frame pointer.
#[cfg(not(target_arch = "aarch64"))]
const FRAME: gimli::Register = gimli::X86_64::RBP;
#[cfg(target_arch = "aarch64")]
const FRAME: gimli::Register = gimli::AArch64::X29;

/// Whether a variable has several places, one after the other.
fn has_list(entry: &Entry) -> bool {
    let location = entry.attr_value(gimli::DW_AT_location);
    location.is_some_and(|it| !matches!(it, AttributeValue::Exprloc(_)))
}

/// What is known of where the variables of a block are.
struct Place {
    /// The address in the code.
    address: u64,
    base: Option<Home>,
    bias: u64,
    is_live: bool,
}

/// Adds a variable, once for each place that it has.
fn variable(
    units: &Units,
    unit: &Unit<Bytes>,
    entry: &Entry,
    place: &Place,
    found: &mut Vec<Variable>,
) {
    let homes = homes(units, unit, entry, place);
    if homes.is_empty() {
        return;
    }
    let Some((name, memory)) = described(units, unit, entry) else {
        return;
    };
    found.extend(homes.into_iter().map(|(home, is_live)| Variable {
        name: name.clone(),
        home,
        is_live,
        memory: memory.clone(),
    }));
}

/// The name of a variable, and what it is made of.
fn described(units: &Units, unit: &Unit<Bytes>, entry: &Entry) -> Option<(String, Memory)> {
    let origin = match entry.attr_value(gimli::DW_AT_abstract_origin) {
        Some(AttributeValue::UnitRef(offset)) => Some(unit.entry(offset).ok()?),
        _ => None,
    };
    let said = |name| {
        let own = entry.attr_value(name);
        own.or_else(|| origin.as_ref()?.attr_value(name))
    };
    let mut name = units
        .dwarf
        .attr_string(unit, said(gimli::DW_AT_name)?)
        .ok()?;
    name.truncate(name.len().min(TEXT)).ok()?;
    let AttributeValue::UnitRef(ty) = said(gimli::DW_AT_type)? else {
        return None;
    };
    let memory = memory(unit, ty, DEEPEST).unwrap_or_default();
    Some((name.to_string_lossy().ok()?.into_owned(), memory))
}

/// The places of a variable, and whether it is in them at the address in the code.
fn homes(units: &Units, unit: &Unit<Bytes>, entry: &Entry, place: &Place) -> Vec<(Home, bool)> {
    let Some(location) = entry.attr_value(gimli::DW_AT_location) else {
        return Vec::new();
    };
    if let AttributeValue::Exprloc(expression) = location {
        let home = home(units, unit, expression, place);
        return home.map(|it| (it, place.is_live)).into_iter().collect();
    }
    let mut found: Vec<(Home, bool)> = Vec::new();
    let Ok(Some(mut locations)) = units.dwarf.attr_locations(unit, location) else {
        return found;
    };
    // What was found before something broke counts.
    while let Ok(Some(entry)) = locations.next() {
        let range = entry.range.begin..entry.range.end;
        let is_live = place.is_live && range.contains(&place.address);
        let Some(home) = home(units, unit, entry.data, place) else {
            continue;
        };
        match found.iter().position(|it| it.0 == home) {
            Some(known) => found[known].1 |= is_live,
            None if found.len() < PLACES => found.push((home, is_live)),
            None => break,
        }
    }
    found
}

fn home(
    units: &Units,
    unit: &Unit<Bytes>,
    expression: gimli::Expression<Bytes>,
    place: &Place,
) -> Option<Home> {
    let mut operations = expression.operations(unit.encoding());
    let first = operations.next().ok()??;
    if operations.next().ok()?.is_some() {
        return None;
    }
    match first {
        Operation::FrameOffset { offset } => Some(match place.base? {
            Home::Frame(from) => Home::Frame(from.checked_add(offset)?),
            Home::Pointer(from) => Home::Pointer(from.checked_add(offset)?),
            Home::Fixed(_) => return None,
        }),
        Operation::Address { address } => Some(Home::Fixed(address.wrapping_add(place.bias))),
        Operation::AddressIndex { index } => {
            let address = units.dwarf.address(unit, index).ok()?;
            Some(Home::Fixed(address.wrapping_add(place.bias)))
        }
        _ => None,
    }
}

/// The variable outside of functions that begins at an address, of the unit that has the code at
/// `code`.
pub(crate) fn of_unit(units: &Units, code: u64, begin: u64, bias: u64) -> Option<Variable> {
    let unit = units.find(code)?;
    let mut entries = unit.entries_raw(None).ok()?;
    let mut entry = Entry::null();
    while !entries.is_empty() {
        if !entries.read_entry(&mut entry).ok()? || entry.tag() != gimli::DW_TAG_variable {
            continue;
        }
        let place = Place {
            address: code,
            base: None,
            bias: 0,
            is_live: true,
        };
        let homes = homes(units, &unit, &entry, &place);
        if homes == [(Home::Fixed(begin), true)] {
            let (name, memory) = described(units, &unit, &entry)?;
            return Some(Variable {
                name,
                home: Home::Fixed(begin.wrapping_add(bias)),
                is_live: true,
                memory,
            });
        }
    }
    None
}

/// What a type is made of.
fn memory(unit: &Unit<Bytes>, at: UnitOffset<usize>, deepest: u32) -> Option<Memory> {
    let deepest = deepest.checked_sub(1)?;
    let entry = unit.entry(at).ok()?;
    let size = number(&entry, gimli::DW_AT_byte_size);
    let of = || match entry.attr_value(gimli::DW_AT_type)? {
        AttributeValue::UnitRef(of) => memory(unit, of, deepest),
        _ => None,
    };
    match entry.tag() {
        gimli::DW_TAG_typedef
        | gimli::DW_TAG_const_type
        | gimli::DW_TAG_volatile_type
        | gimli::DW_TAG_restrict_type
        | gimli::DW_TAG_atomic_type => of(),
        gimli::DW_TAG_base_type => {
            let AttributeValue::Encoding(encoding) = entry.attr_value(gimli::DW_AT_encoding)?
            else {
                return None;
            };
            let size = size?;
            Some(Memory {
                size: Some(size),
                unit: size,
                members: scalars(encoding, size),
                pointee: None,
            })
        }
        gimli::DW_TAG_enumeration_type => Some(one(ScalarKind::Enumeration, size?)),
        gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type => {
            let mut pointer = one(ScalarKind::Pointer, size.unwrap_or(8));
            // What a pointer points to is told, but not what that points to.
            pointer.pointee = of().map(|it| {
                Box::new(Memory {
                    pointee: None,
                    ..it
                })
            });
            Some(pointer)
        }
        gimli::DW_TAG_array_type => array(unit, at, &of()?),
        gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => {
            structure(unit, at, size?, deepest)
        }
        gimli::DW_TAG_union_type => Some(Memory {
            size,
            unit: size.unwrap_or(0),
            ..Memory::default()
        }),
        _ => None,
    }
}

fn one(kind: ScalarKind, size: u64) -> Memory {
    Memory {
        size: Some(size),
        unit: size,
        members: Some(vec![(0, Scalar { kind, size })]),
        pointee: None,
    }
}

fn number(entry: &Entry, name: gimli::DwAt) -> Option<u64> {
    entry.attr_value(name)?.udata_value()
}

fn scalars(encoding: gimli::DwAte, size: u64) -> Option<Vec<(u64, Scalar)>> {
    let one = |kind| Some(vec![(0, Scalar { kind, size })]);
    match encoding {
        gimli::DW_ATE_signed => one(ScalarKind::Signed),
        gimli::DW_ATE_unsigned => one(ScalarKind::Unsigned),
        gimli::DW_ATE_float => one(ScalarKind::Float),
        gimli::DW_ATE_boolean => one(ScalarKind::Logical),
        gimli::DW_ATE_signed_char
        | gimli::DW_ATE_unsigned_char
        | gimli::DW_ATE_ASCII
        | gimli::DW_ATE_UTF
        | gimli::DW_ATE_UCS => one(ScalarKind::Character),
        gimli::DW_ATE_complex_float => {
            let half = Scalar {
                kind: ScalarKind::Float,
                size: size / 2,
            };
            Some(vec![(0, half), (size / 2, half)])
        }
        _ => None,
    }
}

/// Elements in as many dimensions as the type has.
fn array(unit: &Unit<Bytes>, at: UnitOffset<usize>, of: &Memory) -> Option<Memory> {
    let mut count = Some(1_u64);
    for child in children(unit, at)? {
        if child.tag() != gimli::DW_TAG_subrange_type {
            continue;
        }
        // A number of few bits has no sign, unless it says so.
        let signed = |name| {
            let value = child.attr_value(name)?;
            let unsigned = value.udata_value().and_then(|it| i64::try_from(it).ok());
            unsigned.or_else(|| value.sdata_value())
        };
        let counted = number(&child, gimli::DW_AT_count).or_else(|| {
            let last = signed(gimli::DW_AT_upper_bound)?;
            let first = match child.attr_value(gimli::DW_AT_lower_bound) {
                Some(_) => signed(gimli::DW_AT_lower_bound)?,
                None => default_lower(unit),
            };
            u64::try_from(last.checked_sub(first)?.checked_add(1)?).ok()
        });
        count = count.zip(counted).and_then(|(a, b)| a.checked_mul(b));
    }
    Some(Memory {
        size: count.zip(of.size).and_then(|(a, b)| a.checked_mul(b)),
        unit: of.unit,
        members: of.members.clone(),
        pointee: None,
    })
}

/// Where arrays of the unit's language begin that do not say so.
fn default_lower(unit: &Unit<Bytes>) -> i64 {
    let mut entries = unit.entries();
    let language = match entries.next_dfs() {
        Ok(Some(root)) => root.attr_value(gimli::DW_AT_language),
        _ => None,
    };
    match language {
        Some(AttributeValue::Language(
            gimli::DW_LANG_Fortran77
            | gimli::DW_LANG_Fortran90
            | gimli::DW_LANG_Fortran95
            | gimli::DW_LANG_Fortran03
            | gimli::DW_LANG_Fortran08
            | gimli::DW_LANG_Fortran18,
        )) => 1,
        _ => 0,
    }
}

fn structure(unit: &Unit<Bytes>, at: UnitOffset<usize>, size: u64, deepest: u32) -> Option<Memory> {
    let mut members = Some(Vec::new());
    for child in children(unit, at)? {
        let is_member =
            child.tag() == gimli::DW_TAG_member || child.tag() == gimli::DW_TAG_inheritance;
        // What is static has a place of its own.
        if !is_member || child.attr_value(gimli::DW_AT_external).is_some() {
            continue;
        }
        let added = members.as_mut().and_then(|all| {
            if child.attr_value(gimli::DW_AT_data_bit_offset).is_some()
                || child.attr_value(gimli::DW_AT_bit_size).is_some()
            {
                return None;
            }
            let from = number(&child, gimli::DW_AT_data_member_location)?;
            let AttributeValue::UnitRef(ty) = child.attr_value(gimli::DW_AT_type)? else {
                return None;
            };
            add(all, from, &memory(unit, ty, deepest)?)
        });
        if added.is_none() {
            members = None;
        }
    }
    Some(Memory {
        size: Some(size),
        unit: size,
        members,
        pointee: None,
    })
}

/// Adds the members of what lies `from` bytes from the beginning.
fn add(all: &mut Vec<(u64, Scalar)>, from: u64, of: &Memory) -> Option<()> {
    let members = of.members.as_ref()?;
    let units = of.size?.checked_div(of.unit)?;
    for i in 0..units {
        for &(at, scalar) in members {
            if all.len() >= MEMBERS {
                return None;
            }
            all.push((from.checked_add(i * of.unit)?.checked_add(at)?, scalar));
        }
    }
    Some(())
}

/// The entries that belong to one.
fn children(unit: &Unit<Bytes>, at: UnitOffset<usize>) -> Option<Vec<Entry>> {
    let mut entries = unit.entries_raw(Some(at)).ok()?;
    let mut entry = Entry::null();
    let mut found = Vec::new();
    entries.read_entry(&mut entry).ok()?;
    while !entries.is_empty() && entries.next_depth() > 0 && found.len() < MEMBERS {
        if entries.read_entry(&mut entry).ok()? && entry.depth() == 1 {
            found.push(entry.clone());
        }
    }
    Some(found)
}
