//! Whether buffers are as long, and of the type, that the program has declared: where it was
//! compiled with debug information, that tells of its variables.
//!
//! A buffer may be a variable of a function that has called this one, or one outside of functions.
//! Several variables of a function may have the same place, one after the other, and a variable may
//! have several places: nothing is wrong where one of them fits, wherever in the function it is.
//! Memory of `malloc` has no type, but the pointers have that the calling function keeps to it: if
//! one leads to a buffer and none fits, the datatype is wrong. A pointer that may be older than the
//! block says nothing. Characters fit everything, as does `MPI_BYTE`.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use catena_symbols::{Home, Maps, Memory, Scalar, ScalarKind, Symbols, Variable};
use catena_tool::object;
use catena_trace::{Frame, walk};

use crate::bounds::REMEDY;
use crate::buffers::{Piece, Use};
use crate::leaves;
use crate::site::Site;
use crate::tell::{Finding, Kind};
use crate::{bounds, heap, mpi, stack, types};

/// Most frames that are looked at.
const FRAMES: usize = 24;

/// Answers that are remembered: what was looked at once is not looked at again soon.
const SEEN: usize = 4096;

/// Most members of elements that are looked at, where it is more than two elements.
const MOST_LEAVES: i64 = 1024;

/// An odd number without a pattern.
const FACTOR: u64 = 0xff51_afd7_ed55_8ccd;

/// What is known of the program's variables.
struct Program {
    maps: Option<Maps>,
    symbols: Symbols,
    /// By the address that a call in a function returns to.
    functions: HashMap<usize, Rc<[Variable]>>,
    seen: Box<[u64; SEEN]>,
}

struct Shared(Option<Program>);

// SAFETY: what is counted without locks stays in it, and it is used under a lock.
unsafe impl Send for Shared {}

static PROGRAM: Mutex<Shared> = Mutex::new(Shared(None));

/// Findings about the memory of a call that returns to `caller`.
pub fn find(uses: &[Use], caller: usize, site: impl Fn() -> Site) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut walked = None;
    for used in uses {
        let count = found.len();
        let mut is_new = false;
        for piece in &used.pieces {
            let mut program = PROGRAM.lock().unwrap_or_else(PoisonError::into_inner);
            let program = program.0.get_or_insert_with(Program::new);
            if program.has_seen(caller, piece) {
                continue;
            }
            is_new = true;
            let frames = walked.get_or_insert_with(|| walk(FRAMES));
            if let Some(finding) = program.look(used, piece, frames, &site) {
                found.push(finding);
                break;
            }
        }
        if is_new && used.from.is_some() && found.len() == count {
            let mut program = PROGRAM.lock().unwrap_or_else(PoisonError::into_inner);
            let program = program.0.get_or_insert_with(Program::new);
            let frames = walked.get_or_insert_with(|| walk(FRAMES));
            found.extend(program.look_outside(used, frames, &site));
        }
    }
    found
}

impl Program {
    fn new() -> Program {
        Program {
            maps: Maps::read(std::process::id()).ok(),
            symbols: Symbols::new(),
            functions: HashMap::new(),
            seen: Box::new([0; SEEN]),
        }
    }

    /// Whether the piece was looked at in a call from the same place; notes that it is.
    fn has_seen(&mut self, caller: usize, piece: &Piece) -> bool {
        let parts = [caller, piece.base, piece.count as usize, piece.ty.0];
        let mix = |sum: u64, part: usize| (sum ^ part as u64).wrapping_mul(FACTOR).rotate_left(29);
        let hash = parts.into_iter().fold(FACTOR, mix) | 1;
        let known = &mut self.seen[(hash >> 32) as usize % SEEN];
        std::mem::replace(known, hash) == hash
    }

    fn variables(&mut self, at: usize) -> Rc<[Variable]> {
        if let Some(known) = self.functions.get(&at) {
            return Rc::clone(known);
        }
        let maps = self.maps.as_ref();
        let found = maps.map_or(Vec::new(), |maps| self.symbols.variables(maps, at as u64));
        let found: Rc<[Variable]> = found.into();
        self.functions.insert(at, Rc::clone(&found));
        found
    }

    fn look(
        &mut self,
        used: &Use,
        piece: &Piece,
        frames: &[Frame],
        site: &impl Fn() -> Site,
    ) -> Option<Finding> {
        if let Some((block, _)) = heap::find(piece.base) {
            if heap::may_be_stale(piece.base) {
                return None;
            }
            let caller = frames.iter().find(|it| object::is_direct(it.at))?;
            let variables = self.variables(caller.at);
            let pointers = pointers(&variables, caller, piece.base, block);
            return untyped(used, piece, &pointers, site);
        }
        let wrong = |holder: &Holder| wrong(used, piece, holder, site);
        of_all(&self.holders(piece.base, frames), wrong)
    }

    /// A block of a buffer that lies wholly outside of the variable that others are in.
    fn look_outside(
        &mut self,
        used: &Use,
        frames: &[Frame],
        site: &impl Fn() -> Site,
    ) -> Option<Finding> {
        let wrong = |holder: &Holder| {
            bounds::outside(used, holder.room.clone(), &named(&holder.variable), site)
        };
        of_all(&self.holders(used.from?, frames), wrong)
    }

    /// The variables that an address outside of memory of `malloc` lies in.
    fn holders(&mut self, at: usize, frames: &[Frame]) -> Vec<Holder> {
        let is_in_stack = stack::own().contains(&at);
        let mut frames = frames.iter();
        let frame = match is_in_stack {
            true => frames.find(|it| it.low <= at && at < it.high),
            false => frames.find(|it| object::is_direct(it.at)),
        };
        let Some(frame) = frame else {
            return Vec::new();
        };
        let variables = self.variables(frame.at);
        let held = |it: &Variable| Holder::of(it, begin(it, frame), at);
        let mut found: Vec<_> = variables.iter().filter_map(held).collect();
        if !is_in_stack && let Some(maps) = self.maps.as_ref() {
            let variable = self.symbols.variable(maps, frame.at as u64, at as u64);
            let whole = variable.and_then(|it| match it.home {
                Home::Fixed(begin) => Holder::of(&it, begin as usize, at),
                _ => None,
            });
            match whole {
                // A COMMON block of Fortran has one symbol, and several variables, which programs
                // name the first of for all.
                Some(whole) if !found.is_empty() => {
                    for holder in &mut found {
                        let room = &mut holder.room;
                        *room = room.start.min(whole.room.start)..room.end.max(whole.room.end);
                    }
                }
                whole => found.extend(whole),
            }
        }
        found
    }
}

fn begin(variable: &Variable, frame: &Frame) -> usize {
    match variable.home {
        Home::Frame(by) => frame.high.wrapping_add(by as usize),
        Home::Pointer(by) => frame.pointer.wrapping_add(by as usize),
        Home::Fixed(at) => at as usize,
    }
}

/// A variable that an address lies in.
struct Holder {
    variable: Variable,
    own: Range<usize>,
    /// The memory that may be named by it.
    room: Range<usize>,
}

impl Holder {
    /// A variable that begins there, if the address `at` lies in it.
    fn of(variable: &Variable, begin: usize, at: usize) -> Option<Holder> {
        let own = begin..begin.checked_add(variable.memory.size? as usize)?;
        own.contains(&at).then(|| Holder {
            variable: variable.clone(),
            room: own.clone(),
            own,
        })
    }
}

/// What is wrong with memory that several variables may have: what the innermost says that is there
/// now, unless nothing is wrong with one of them.
fn of_all(all: &[Holder], wrong: impl Fn(&Holder) -> Option<Finding>) -> Option<Finding> {
    let found = all.iter().map(wrong).collect::<Option<Vec<_>>>()?;
    let both = all.iter().zip(found);
    let mut live = both.filter(|(holder, _)| holder.variable.is_live);
    live.next_back().map(|(_, finding)| finding)
}

/// What is wrong with a piece that begins in a variable.
fn wrong(
    used: &Use,
    piece: &Piece,
    Holder {
        variable,
        own,
        room,
    }: &Holder,
    site: &impl Fn() -> Site,
) -> Option<Finding> {
    let name = named(variable);
    let ty = mpi::type_name(piece.ty);
    if piece.end > room.end || piece.first < room.start {
        let text = format!(
            "its buffer {} is in {name} of {} bytes, but {} elements of {ty} take {} bytes, {} of \
             them outside",
            used.arg,
            room.len(),
            piece.count,
            piece.len(),
            piece.end.saturating_sub(room.end) + room.start.saturating_sub(piece.first),
        );
        return Some(Finding::error(Kind::Bounds, site(), text).remedy(REMEDY));
    }
    if piece.end > own.end || piece.first < own.start {
        return None;
    }
    let (leaf, other) = mismatch(piece, &variable.memory, own.start, true)?;
    let text = format!(
        "its buffer {} is in {name}, {}",
        used.arg,
        differs(&ty, leaf, other)
    );
    Some(mistyped(text, leaf, other, site))
}

fn named(variable: &Variable) -> String {
    match variable.name.as_str() {
        "" => "a variable".to_string(),
        name => format!("the variable {name}"),
    }
}

fn differs(ty: &str, leaf: Scalar, other: Option<Scalar>) -> String {
    match other {
        Some(other) if other == leaf => {
            format!("whose elements do not begin where those of {ty} do")
        }
        _ => format!(
            "which has {} where {ty} has {}",
            words(other),
            words(Some(leaf))
        ),
    }
}

fn mistyped(
    text: String,
    leaf: Scalar,
    other: Option<Scalar>,
    site: &impl Fn() -> Site,
) -> Finding {
    let is_sign =
        other.is_some_and(|it| it.size == leaf.size && is_integer(it) && is_integer(leaf));
    let finding = match is_sign {
        true => Finding::warning(Kind::Type, site(), text),
        false => Finding::error(Kind::Type, site(), text),
    };
    finding.remedy("use the datatype of what the buffer is declared as, or MPI_BYTE for bytes")
}

fn is_integer(scalar: Scalar) -> bool {
    matches!(scalar.kind, ScalarKind::Signed | ScalarKind::Unsigned)
}

/// What memory is, to which variables of the caller point that lead from the beginning of a block
/// of memory to a buffer there.
fn pointers(
    all: &[Variable],
    frame: &Frame,
    base: usize,
    block: usize,
) -> Vec<(String, Memory, usize)> {
    let mut found = Vec::new();
    for variable in all {
        let Some(pointee) = variable
            .memory
            .pointee
            .as_ref()
            .filter(|_| variable.is_live)
        else {
            continue;
        };
        let place = begin(variable, frame);
        // What the function does not use any more may be gone.
        if !(frame.low..frame.high).contains(&place) || !place.is_multiple_of(align_of::<usize>()) {
            continue;
        }
        // SAFETY: it lies in the frame of a function that is under way.
        let value = unsafe { *(place as *const usize) };
        if (block..=base).contains(&value) {
            found.push((variable.name.clone(), (**pointee).clone(), value));
        }
    }
    found
}

/// Whether a unit of memory is one number: what a pointer to it leads to is an array of those.
/// Behind a structure there may be anything, as behind a header.
fn is_number(memory: &Memory) -> bool {
    memory.members.as_ref().is_some_and(|it| it.len() == 1)
}

/// What is wrong with a piece in memory of `malloc`: none of the pointers to it has that type.
fn untyped(
    used: &Use,
    piece: &Piece,
    pointers: &[(String, Memory, usize)],
    site: &impl Fn() -> Site,
) -> Option<Finding> {
    let mut first = None;
    for (name, memory, value) in pointers {
        let found = mismatch(piece, memory, *value, is_number(memory))?;
        // What others lead to may stand before the buffer, as a header does.
        if *value == piece.base {
            first = first.or(Some((name, found)));
        }
    }
    let (name, (leaf, other)) = first?;
    let differs = differs(&mpi::type_name(piece.ty), leaf, other);
    let text = format!(
        "its buffer {} is what {name} points to, {differs}",
        used.arg
    );
    Some(mistyped(text, leaf, other, site))
}

/// The first number of a piece for which the memory has another one, or none; `None` if all fit, as
/// far as that is known. Memory `repeats` if all of it is units of that kind, not the first one
/// alone.
fn mismatch(
    piece: &Piece,
    memory: &Memory,
    begin: usize,
    repeats: bool,
) -> Option<(Scalar, Option<Scalar>)> {
    let members = memory.members.as_ref()?;
    if memory.unit == 0 || members.is_empty() {
        return None;
    }
    let leaves = leaves::of(piece.ty)?;
    // The longest numbers stand for memory of anything, as they have the largest alignment.
    let is_longest = |it: &Scalar| it.kind == ScalarKind::Float && it.size == 16;
    if members.iter().all(|(_, it)| is_longest(it)) {
        return None;
    }
    if are_bytes(members.iter().map(|(_, it)| it)) || are_bytes(leaves.iter().map(|(_, it)| it)) {
        return None;
    }
    let extent = types::shape(piece.ty)?.extent;
    // What follows on one unit is alike; two elements at least tell of all.
    let in_unit = (memory.unit as i64).checked_div(extent).unwrap_or(0);
    let most = MOST_LEAVES / leaves.len().max(1) as i64;
    let elements = in_unit.saturating_add(1).min(most).max(2);
    for i in 0..piece.count.min(elements) {
        for &(at, leaf) in leaves.iter() {
            let from = (piece.base as i64) - (begin as i64) + i * extent + at;
            let from = u64::try_from(from).ok()?;
            if !repeats && from >= memory.unit {
                continue;
            }
            let from = from % memory.unit;
            if let Some(other) = misfit((from, leaf), members) {
                return Some((leaf, other));
            }
        }
    }
    None
}

/// What a unit has in the place of a number that it does not have; `None` if it has that.
fn misfit((from, leaf): (u64, Scalar), members: &[(u64, Scalar)]) -> Option<Option<Scalar>> {
    let covering = members
        .iter()
        .find(|(at, it)| *at <= from && from < at + it.size);
    match covering {
        Some((at, it)) if *at == from && fits(leaf, *it) => None,
        Some((_, it)) => Some(Some(*it)),
        None => Some(None),
    }
}

/// Whether all are characters, which stand for bytes of anything.
fn are_bytes<'s>(mut all: impl Iterator<Item = &'s Scalar>) -> bool {
    all.all(|it| it.kind == ScalarKind::Character)
}

fn fits(leaf: Scalar, other: Scalar) -> bool {
    use ScalarKind::{Character, Enumeration, Logical, Pointer, Signed, Unsigned};
    if leaf.size != other.size {
        return false;
    }
    match (leaf.kind, other.kind) {
        (Signed | Unsigned, Enumeration | Pointer) => true,
        // Integers of one byte are characters, whatever they are called.
        (Character, Enumeration | Logical) | (Logical, Character) => true,
        // Some characters are longer.
        (Signed | Unsigned, Character) => true,
        (Signed, Logical) | (Logical, Signed | Unsigned) => true,
        (one, other) => one == other,
    }
}

fn words(scalar: Option<Scalar>) -> String {
    let Some(Scalar { kind, size }) = scalar else {
        return "a gap".into();
    };
    let what = match kind {
        ScalarKind::Signed => "an integer",
        ScalarKind::Unsigned => "an unsigned integer",
        ScalarKind::Float => "a floating-point number",
        ScalarKind::Logical => "a truth value",
        ScalarKind::Character => "a character",
        ScalarKind::Enumeration => "an enumeration",
        ScalarKind::Pointer => "a pointer",
    };
    format!("{what} of {size} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(kind: ScalarKind, size: u64) -> Scalar {
        Scalar { kind, size }
    }

    #[test]
    fn a_number_fits_one_of_its_kind_and_size_in_its_place() {
        use ScalarKind::{Character, Enumeration, Float, Logical, Signed, Unsigned};
        assert!(are_bytes([scalar(Character, 1)].iter()));
        assert!(!are_bytes([scalar(Character, 1), scalar(Signed, 4)].iter()));
        let members = [(0, scalar(Signed, 4)), (8, scalar(Float, 8))];
        assert_eq!(misfit((0, scalar(Signed, 4)), &members), None);
        assert_eq!(misfit((8, scalar(Float, 8)), &members), None);
        let other = Some(Some(scalar(Signed, 4)));
        assert_eq!(misfit((0, scalar(Unsigned, 4)), &members), other);
        assert_eq!(misfit((0, scalar(Float, 4)), &members), other);
        assert_eq!(misfit((4, scalar(Signed, 4)), &members), Some(None));
        assert_eq!(misfit((0, scalar(Character, 1)), &members), other);
        for (kind, its) in [
            (Character, Enumeration),
            (Character, Logical),
            (Logical, Character),
        ] {
            assert!(fits(scalar(kind, 1), scalar(its, 1)));
        }
        assert!(fits(scalar(Unsigned, 2), scalar(Character, 2)));
        assert!(!fits(scalar(Character, 1), scalar(Enumeration, 4)));
        let shifted = Some(Some(scalar(Float, 8)));
        assert_eq!(misfit((12, scalar(Float, 8)), &members), shifted);
    }
}
