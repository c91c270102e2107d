//! Which memory a call uses.

use std::sync::Arc;

use catena_abi::{Comm, Datatype, consts};

use crate::call::{Args, At, Class, Direction, Length, Means, Style, Told};
use crate::types::{self, Run, Shape};
use crate::{mpi, objects};

/// Longest memory in which elements are looked for that lie upon each other, bytes.
const DOUBLED: usize = 1 << 20;

/// What MPI does with memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    Read,
    Write,
}

/// Elements of one type.
#[derive(Clone, Debug)]
pub struct Piece {
    /// What the program calls the buffer's address.
    pub base: usize,
    pub count: i64,
    pub ty: Datatype,
    /// The first byte, and that behind the last one.
    pub first: usize,
    pub end: usize,
    /// Whether all bytes between them belong to it.
    pub is_solid: bool,
    /// If not, those that do, once that was asked for: later the type may be gone.
    pub runs: Option<Arc<[Run]>>,
}

impl Piece {
    /// `count` elements at an address.
    pub fn new(base: usize, count: i64, ty: Datatype, shape: Shape) -> Option<Piece> {
        if count <= 0 || shape.size <= 0 {
            return None;
        }
        let (begin, end) = shape.hull(count);
        let first = base.wrapping_add(begin as usize);
        let end = base.wrapping_add(end as usize);
        (first < end).then_some(Piece {
            base,
            count,
            ty,
            first,
            end,
            is_solid: shape.is_solid(),
            runs: None,
        })
    }

    /// Finds out which bytes belong to it, as long as its type is there.
    pub fn resolve(&mut self) {
        if !self.is_solid && self.runs.is_none() {
            self.runs = self.layout();
        }
    }

    fn layout(&self) -> Option<Arc<[Run]>> {
        if self.is_solid {
            let from = (self.first as i64).wrapping_sub(self.base as i64);
            return Some(Arc::from([(from, from + self.len() as i64)]));
        }
        let known = self.runs.clone();
        known.or_else(|| match objects::is_good(Class::Type, self.ty.0) {
            true => types::layout(self.ty, self.count),
            false => None,
        })
    }

    /// How many bytes of the elements lie where others lie as well; `None` if that is not known.
    pub fn doubled(&self) -> Option<i64> {
        if self.is_solid || self.len() > DOUBLED {
            return None;
        }
        let bytes = types::shape(self.ty)?.size.checked_mul(self.count)?;
        let taken: i64 = self.layout()?.iter().map(|(begin, end)| end - begin).sum();
        Some(bytes - taken)
    }

    /// Memory as bytes.
    pub fn of_bytes(base: usize, len: usize) -> Option<Piece> {
        let len = i64::try_from(len).ok()?;
        let byte = Shape {
            size: 1,
            extent: 1,
            true_lb: 0,
            true_extent: 1,
            is_doubled: false,
        };
        Piece::new(base, len, consts::BYTE, byte)
    }

    pub fn len(&self) -> usize {
        self.end - self.first
    }

    /// How many bytes two pieces have in common; `None` if that cannot be told.
    pub fn common(&self, other: &Piece) -> Option<usize> {
        let hull = self
            .end
            .min(other.end)
            .saturating_sub(self.first.max(other.first));
        if hull == 0 || (self.is_solid && other.is_solid) {
            return Some(hull);
        }
        let (own, others) = (self.layout()?, other.layout()?);
        let by = other.base.wrapping_sub(self.base) as i64;
        Some(shared(&own, &others, by))
    }
}

/// How many bytes two lists of runs have in common, of which the second is moved by that much.
fn shared(own: &[Run], others: &[Run], by: i64) -> usize {
    let (mut i, mut j, mut sum) = (0, 0, 0);
    while i < own.len() && j < others.len() {
        let other = (others[j].0 + by, others[j].1 + by);
        let common = own[i].1.min(other.1) - own[i].0.max(other.0);
        sum += usize::try_from(common).unwrap_or(0);
        match own[i].1 < other.1 {
            true => i += 1,
            false => j += 1,
        }
    }
    sum
}

/// The memory of one argument.
#[derive(Clone, Debug)]
pub struct Use {
    /// Its name.
    pub arg: &'static str,
    pub access: Access,
    pub pieces: Vec<Piece>,
    /// Of blocks that lie at displacements in elements, the address that they are counted from.
    pub from: Option<usize>,
}

/// How much is believed of the handles that a call is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trust {
    /// What the program has made itself, and predefined ones.
    Known,
    /// All: the call has succeeded.
    All,
}

/// The memory that a call uses, as far as handles are good and addresses mean memory.
pub fn of(args: &Args, trust: Trust) -> Vec<Use> {
    let mut all = Vec::new();
    if is_nowhere(args) {
        return all;
    }
    if let Some(comm) = args.comm()
        && trust == Trust::Known
        && !objects::is_good(Class::Comm, comm.0)
    {
        return all;
    }
    let mut part = None;
    for (at, arg) in args.call.args.iter().enumerate() {
        let Means::Buffer(told) = &arg.means else {
            continue;
        };
        let part = *part.get_or_insert_with(|| Part::of(args));
        let base = args.word(at);
        let is_meant = match told.at {
            At::All => part.is_root || part.is_other,
            At::Root => part.is_root,
            At::Others => part.is_other,
        };
        // Of a call that sends and receives, one of both may go nowhere.
        let is_nobodys = match arg.direction {
            Direction::In => is_null(args, "dest"),
            Direction::Out => is_null(args, "source"),
            Direction::InOut => false,
        };
        if !is_meant || is_nobodys || [consts::BOTTOM, consts::IN_PLACE].contains(&base) {
            continue;
        }
        let access = match arg.direction {
            Direction::In => Access::Read,
            Direction::InOut if args.call.root.is_some() && part.is_root => Access::Read,
            _ => Access::Write,
        };
        let pieces = pieces(args, told, base, trust);
        if !pieces.is_empty() {
            all.push(Use {
                arg: arg.name,
                access,
                pieces,
                from: (told.style == Style::Displaced).then_some(base),
            });
        }
    }
    all
}

/// Whether the argument of that name is no rank's number, so that no memory is used for it.
fn is_null(args: &Args, peer: &str) -> bool {
    let peer = args.named(peer);
    peer.is_some_and(|it| it as i64 == i64::from(consts::PROC_NULL))
}

/// Whether a message goes nowhere, so that no memory is used.
fn is_nowhere(args: &Args) -> bool {
    let peers = ["dest", "source", "target_rank"];
    let mut named = peers.iter().filter_map(|name| args.named(name)).peekable();
    named.peek().is_some() && named.all(|it| it as i64 == i64::from(consts::PROC_NULL))
}

/// The part that this rank has in a call.
#[derive(Clone, Copy)]
struct Part {
    is_root: bool,
    is_other: bool,
}

impl Part {
    fn of(args: &Args) -> Part {
        let both = Part {
            is_root: true,
            is_other: true,
        };
        let (Some(root), Some(comm)) = (args.call.root, args.comm()) else {
            return both;
        };
        let root = args.int(root.into()) as i32;
        match mpi::is_inter(comm) {
            false => Part {
                is_root: root == mpi::rank(comm),
                is_other: true,
            },
            true => Part {
                is_root: root == consts::ROOT,
                is_other: root != consts::ROOT && root != consts::PROC_NULL,
            },
        }
    }
}

/// The number of blocks of that length.
fn count(args: &Args, length: Length) -> usize {
    let comm = args.comm().unwrap_or(consts::COMM_NULL);
    match length {
        Length::One | Length::Own => 1,
        Length::Argument(at) => usize::try_from(args.int(at.into())).unwrap_or(0),
        // Each rank of this group receives a part of the sum of what the other group sends.
        Length::Ranks if args.call.name.contains("educe_scatter") => mpi::members(comm),
        Length::Ranks => mpi::peers(comm),
        // At the edges of a grid there is nobody, and no memory has to be there.
        Length::Sources | Length::Destinations if mpi::is_grid(comm) => 0,
        Length::Sources => mpi::neighbors(comm).0,
        Length::Destinations => mpi::neighbors(comm).1,
        Length::Other => 0,
    }
}

fn good(ty: Datatype, trust: Trust) -> Option<Shape> {
    let is_there = trust == Trust::All && ty != consts::DATATYPE_NULL;
    match is_there || objects::is_good(Class::Type, ty.0) {
        true => types::shape(ty),
        false => None,
    }
}

fn pieces(args: &Args, told: &Told, base: usize, trust: Trust) -> Vec<Piece> {
    let mut all = Vec::new();
    let blocks = count(args, told.blocks);
    if told.style == Style::Apart {
        let types = args.word(told.ty.into()) as *const Datatype;
        for i in 0..blocks {
            // SAFETY: the arrays have an entry for each block.
            let (ty, count, displ) = unsafe {
                let entry = |at: Option<u8>| at.map_or(0, |at| args.entry(at, i));
                (*types.add(i), entry(told.count), entry(told.more))
            };
            if count > 0
                && let Some(shape) = good(ty, trust)
            {
                all.extend(Piece::new(
                    base.wrapping_add(displ as usize),
                    count,
                    ty,
                    shape,
                ));
            }
        }
        return all;
    }
    let ty = args.datatype(told.ty);
    let Some(shape) = good(ty, trust) else {
        return all;
    };
    // SAFETY: the arrays have an entry for each block, or for each rank.
    let entry = |at: Option<u8>, i| at.map_or(0, |at| unsafe { args.entry(at, i) });
    match told.style {
        Style::Displaced => {
            for i in 0..blocks {
                let displ = entry(told.more, i).wrapping_mul(shape.extent);
                let base = base.wrapping_add(displ as usize);
                all.extend(Piece::new(base, entry(told.count, i), ty, shape));
            }
        }
        Style::Behind => {
            let own = || mpi::rank(args.comm().unwrap_or(Comm(0)));
            let count = match told.blocks {
                Length::Own => entry(told.count, usize::try_from(own()).unwrap_or(0)),
                _ => (0..blocks).map(|i| entry(told.count, i)).sum(),
            };
            all.extend(Piece::new(base, count, ty, shape));
        }
        _ => {
            let number = |at: Option<u8>| at.map_or(1, |at| args.int(at.into()));
            let count = number(told.count).saturating_mul(number(told.more));
            let count = count.saturating_mul(blocks as i64);
            all.extend(Piece::new(base, count, ty, shape));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_common_are_counted() {
        assert_eq!(shared(&[(0, 4), (8, 12)], &[(0, 4), (8, 12)], 4), 0);
        assert_eq!(shared(&[(0, 4), (8, 12)], &[(0, 4), (8, 12)], 2), 4);
        assert_eq!(shared(&[(0, 100)], &[(0, 4), (8, 12)], 50), 8);
        assert_eq!(shared(&[], &[(0, 4)], 0), 0);
    }

    #[test]
    fn solid_pieces_are_compared_by_their_ends() {
        let piece = |base, len| Piece::of_bytes(base, len).unwrap();
        assert_eq!(piece(100, 10).common(&piece(105, 10)), Some(5));
        assert_eq!(piece(100, 10).common(&piece(110, 10)), Some(0));
        assert!(Piece::of_bytes(100, 0).is_none());
    }
}
