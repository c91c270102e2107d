//! Memory that two operations use at once, of which one writes.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::buffers::{Access, Piece, Use};
use crate::call::{Args, number};
use crate::requests;
use crate::site::Site;
use crate::tell::{Finding, Kind};

/// Findings about the memory of a call: what it has in common with that of pending operations, and
/// with other memory of the same call. The call returns to `caller`.
pub fn find(args: &Args, uses: &[Use], caller: usize, site: impl Fn() -> Site) -> Vec<Finding> {
    if is_known(args, caller) {
        return Vec::new();
    }
    let found = look(args, uses, site);
    if !found.is_empty() {
        note(args, caller);
    }
    found
}

fn look(args: &Args, uses: &[Use], site: impl Fn() -> Site) -> Vec<Finding> {
    if matches!(args.number, number::Start | number::Startall) {
        let uses = requests::started(args);
        return with_pending(&uses, &site);
    }
    // What is made now is used later.
    if args.call.name.contains("_init") {
        return Vec::new();
    }
    let mut found = with_pending(uses, &site);
    found.extend(with_itself(uses, &site));
    found
}

/// How often something was found at a call, by its function and where it returns to: what was told
/// some times is not looked for again.
static FOUND: Mutex<Option<HashMap<(u16, usize), u8>>> = Mutex::new(None);
const ENOUGH: u8 = 8;

fn is_known(args: &Args, caller: usize) -> bool {
    let found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let known = found.as_ref().and_then(|it| it.get(&(args.number, caller)));
    known.is_some_and(|&times| times >= ENOUGH)
}

fn note(args: &Args, caller: usize) {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let times = found.get_or_insert_default().entry((args.number, caller));
    let times = times.or_insert(0);
    *times = times.saturating_add(1);
}

fn with_pending(uses: &[Use], site: &impl Fn() -> Site) -> Vec<Finding> {
    let mut found = Vec::new();
    for used in uses {
        for piece in &used.pieces {
            let Some((met, bytes)) = requests::meets(piece, used.access) else {
                continue;
            };
            let text = format!(
                "its buffer {} {} {bytes} bytes at {:#x} that are in use as the buffer {} of a \
                 pending {}",
                used.arg,
                verb(used.access),
                piece.first.max(met.piece.first),
                met.arg,
                met.site.call,
            );
            let finding = Finding::error(Kind::Overlap, site(), text);
            let finding = finding.besides("the pending operation began in", &met.site);
            found.push(finding.remedy(match met.access {
                Access::Write => {
                    "use another buffer, or complete the pending operation first, as by MPI_Wait"
                }
                Access::Read => {
                    "write to the buffer of a send after its request is complete, as by MPI_Wait"
                }
            }));
        }
    }
    found
}

fn verb(access: Access) -> &'static str {
    match access {
        Access::Read => "reads",
        Access::Write => "writes",
    }
}

fn with_itself(uses: &[Use], site: &impl Fn() -> Site) -> Vec<Finding> {
    let writes = uses.iter().filter(|it| it.access == Access::Write);
    for used in writes {
        let mut doubled = used.pieces.iter().filter_map(Piece::doubled);
        if let Some(bytes) = doubled.find(|&it| it > 0) {
            let text = format!(
                "elements of the datatype of its buffer {} lie upon each other: {bytes} bytes are \
                 written twice",
                used.arg
            );
            let finding = Finding::error(Kind::Type, site(), text);
            return vec![finding.remedy(
                "give each element of a datatype to receive with its own memory: look at strides \
                 and displacements",
            )];
        }
    }
    let mut all: Vec<(&Use, &Piece)> = Vec::new();
    for used in uses {
        all.extend(used.pieces.iter().map(|piece| (used, piece)));
    }
    if all.len() < 2 || uses.iter().all(|it| it.access == Access::Read) {
        return Vec::new();
    }
    all.sort_by_key(|(_, piece)| piece.first);
    let mut found = Vec::new();
    for (i, (used, piece)) in all.iter().enumerate() {
        let behind = all[i + 1..].iter();
        for (other, next) in behind.take_while(|(_, next)| next.first < piece.end) {
            if used.access == Access::Read && other.access == Access::Read {
                continue;
            }
            let Some(bytes) = piece.common(next).filter(|&it| it > 0) else {
                continue;
            };
            let text = match used.arg == other.arg {
                true => format!(
                    "two blocks of its buffer {} have {bytes} bytes in common at {:#x}",
                    used.arg, next.first
                ),
                false => format!(
                    "its buffers {} and {} have {bytes} bytes in common at {:#x}",
                    used.arg, other.arg, next.first
                ),
            };
            found.push(
                Finding::error(Kind::Overlap, site(), text).remedy(
                    "use memory of its own for each, or MPI_IN_PLACE where the call has that",
                ),
            );
            return found;
        }
    }
    found
}
