//! Whether there is as much memory as a call takes it to be.

use std::ops::Range;

use crate::buffers::{Access, Piece, Use};
use crate::maps::{self, Trouble};
use crate::site::Site;
use crate::tell::{Finding, Kind};
use crate::{heap, mpi};

/// Findings about the memory that a call uses.
pub fn find(uses: &[Use], site: impl Fn() -> Site) -> Vec<Finding> {
    let mut found = Vec::new();
    for used in uses {
        let mut pieces = used.pieces.iter();
        let finding = pieces.find_map(|it| {
            beyond_block(used, it, &site)
                .or_else(|| gone(used, it, &site))
                .or_else(|| none(used, it, &site))
        });
        found.extend(finding.or_else(|| beside_block(used, &site)));
    }
    found
}

/// Memory that begins in a block of `malloc` and does not end there.
fn beyond_block(used: &Use, piece: &Piece, site: &impl Fn() -> Site) -> Option<Finding> {
    let (begin, len) = heap::find(piece.base)?;
    let end = begin + len;
    let text = if piece.end > end {
        format!(
            "its buffer {} ends {} bytes behind the {len} bytes that malloc has given: {} elements \
             of {} take {} bytes",
            used.arg,
            piece.end - end,
            piece.count,
            mpi::type_name(piece.ty),
            piece.len(),
        )
    } else if piece.first < begin {
        format!(
            "its buffer {} begins {} bytes before the memory that malloc has given",
            used.arg,
            begin - piece.first,
        )
    } else {
        return None;
    };
    Some(Finding::error(Kind::Bounds, site(), text).remedy(REMEDY))
}

/// Of blocks that begin in memory of `malloc`, one that does not.
fn beside_block(used: &Use, site: &impl Fn() -> Site) -> Option<Finding> {
    let (begin, len) = heap::find(used.from?)?;
    let what = format!("the {len} bytes that malloc has given");
    outside(used, begin..begin + len, &what, site)
}

/// A block of a buffer that does not begin in that memory, though others do: as displacements are
/// counted in one array, all belong there. What fills a block of `malloc` from its beginning on is
/// meant: its displacement was computed from two addresses.
pub fn outside(
    used: &Use,
    memory: Range<usize>,
    what: &str,
    site: &impl Fn() -> Site,
) -> Option<Finding> {
    let is_inside = |it: &&Piece| memory.contains(&it.base);
    let mut pieces = used.pieces.iter();
    if !memory.contains(&used.from?) || !pieces.clone().any(|it| is_inside(&it)) {
        return None;
    }
    let is_meant = |it: &Piece| {
        let block = heap::find(it.base);
        block.is_some_and(|(begin, len)| begin == it.first && it.end <= begin + len)
    };
    let piece = pieces.find(|it| !is_inside(it) && !is_meant(it))?;
    let text = format!(
        "its buffer {} is in {what}, but a block of {} elements of {} lies {} that",
        used.arg,
        piece.count,
        mpi::type_name(piece.ty),
        match piece.base < memory.start {
            true => "before",
            false => "behind",
        },
    );
    Some(Finding::error(Kind::Bounds, site(), text).remedy(REMEDY))
}

/// Memory that was given back before.
fn gone(used: &Use, piece: &Piece, site: &impl Fn() -> Site) -> Option<Finding> {
    if !heap::is_gone(piece.base) {
        return None;
    }
    let text = format!(
        "its buffer {} at {:#x} is memory that was given back before",
        used.arg, piece.base
    );
    let finding = Finding::error(Kind::Memory, site(), text);
    Some(finding.remedy("free memory when no call uses it any more"))
}

pub const REMEDY: &str =
    "make the buffer longer, or the count smaller; the datatype has to be that of the elements";

/// Memory that is not there, or may not be written.
fn none(used: &Use, piece: &Piece, site: &impl Fn() -> Site) -> Option<Finding> {
    let (text, remedy) = match maps::trouble(piece.first, piece.end, used.access == Access::Write)?
    {
        Trouble::Missing(at) if at == piece.first => (
            format!("its buffer {} at {:#x} is no memory", used.arg, piece.base),
            "allocate the buffer, and give its address",
        ),
        Trouble::Missing(at) => (
            format!(
                "its buffer {} has memory for {} bytes only: {} elements of {} take {}",
                used.arg,
                at - piece.first,
                piece.count,
                mpi::type_name(piece.ty),
                piece.len(),
            ),
            REMEDY,
        ),
        Trouble::ReadOnly(at) => (
            format!(
                "its buffer {} is to be written, but the memory at {at:#x} may only be read",
                used.arg
            ),
            "receive into a variable, not into a constant",
        ),
    };
    Some(Finding::error(Kind::Memory, site(), text).remedy(remedy))
}
