//! What an algorithm is told about one call.

use catena_schedule::Region;

use crate::algorithm::Choose;
use crate::edges::Edges;
use crate::{Model, Nodes};

/// How the blocks of the ranks lie in a buffer of packed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout<'a> {
    /// Block i has this many bytes and starts at i times as many.
    Even(usize),
    /// Block i has `counts[i]` bytes and starts at `displs[i]`.
    Table {
        /// Bytes of each block.
        counts: &'a [usize],
        /// First byte of each block.
        displs: &'a [usize],
    },
}

impl Layout<'_> {
    /// Bytes of block `i`.
    #[inline(always)]
    pub fn len(&self, i: u32) -> usize {
        match self {
            Layout::Even(len) => *len,
            Layout::Table { counts, .. } => counts[i as usize],
        }
    }

    /// The byte behind the last of `n` blocks that lie one behind the other.
    #[inline]
    pub fn end(&self, n: u32) -> usize {
        self.offset(n - 1) + self.len(n - 1)
    }

    /// First byte of block `i`.
    #[inline(always)]
    pub fn offset(&self, i: u32) -> usize {
        match self {
            Layout::Even(len) => i as usize * len,
            Layout::Table { displs, .. } => displs[i as usize],
        }
    }
}

/// What an algorithm that goes by nodes has to know.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Where the ranks are.
    pub nodes: &'a Nodes,
    /// What messages cost.
    pub model: &'a Model,
    /// Chooses the algorithms of its parts.
    pub(crate) choose: Choose,
}

/// One call of a collective operation on one rank.
///
/// | collective | `send` | `recv` |
/// |---|---|---|
/// | barrier | – | – |
/// | bcast | – | `Even(n)`: the message, also at the root |
/// | gather(v) | `Even(n)`: this rank's block | blocks of all ranks (root) |
/// | scatter(v) | blocks of all ranks (root) | `Even(n)`: this rank's block |
/// | allgather(v) | `Even(n)`: this rank's block | blocks of all ranks |
/// | alltoall(v, w) | blocks to all ranks | blocks from all ranks |
/// | reduce, allreduce, scan, exscan | `Even(n)`: the vector | `Even(n)` |
/// | reduce_scatter(_block) | blocks of the vector, one behind the other | – |
///
/// A layout that is not significant on this rank may be anything. The result
/// of reduce_scatter is `send.len(rank)` bytes at the start of the output.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    /// Number of ranks.
    pub size: u32,
    /// This rank.
    pub rank: u32,
    /// The root, of the rooted collectives.
    pub root: u32,
    /// Whether this rank passed `MPI_IN_PLACE`: its input is where its output
    /// goes, and the schedule mentions no [`catena_schedule::Buf::Input`]. Others may not
    /// have, so what they see of this rank does not depend on it.
    pub in_place: bool,
    /// Bytes of one element of a reduction, as vectors are cut only between
    /// elements; 1 if nothing is reduced.
    pub elem: usize,
    /// Whether operands of the reduction may be exchanged.
    pub commutative: bool,
    /// By which bits the kinds of elements that this rank wants differ from those that it gives: a
    /// signature (`Kinds::bits` of `datatype`) against the other. No algorithm needs it.
    pub turned: u32,
    /// The send buffer.
    pub send: Layout<'a>,
    /// The receive buffer.
    pub recv: Layout<'a>,
    /// Where the ranks are; needed by algorithms that go by nodes.
    pub site: Option<Site<'a>>,
    /// This rank's edges, of a collective among neighbours on a board; they tell
    /// which blocks there are.
    pub near: Option<&'a Edges<'a>>,
}

impl Args<'_> {
    /// The arguments of a call that moves nothing: a barrier, say.
    #[inline(always)]
    pub fn new(size: u32, rank: u32) -> Self {
        Args {
            size,
            rank,
            root: 0,
            in_place: false,
            elem: 1,
            commutative: true,
            turned: 0,
            send: Layout::Even(0),
            recv: Layout::Even(0),
            site: None,
            near: None,
        }
    }

    /// The whole vector of a reduction as this rank contributes it.
    #[inline]
    pub fn vector_in(&self) -> Region {
        let n = self.send.len(0);
        if self.in_place {
            Region::output(0, n)
        } else {
            Region::input(0, n)
        }
    }

    /// The whole vector of a reduction as this rank receives it.
    #[inline]
    pub fn vector_out(&self) -> Region {
        Region::output(0, self.send.len(0))
    }

    /// Block `i` of the send buffer.
    #[inline(always)]
    pub fn send_block(&self, i: u32) -> Region {
        Region::input(self.send.offset(i), self.send.len(i))
    }

    /// Block `i` of the receive buffer.
    #[inline(always)]
    pub fn recv_block(&self, i: u32) -> Region {
        Region::output(self.recv.offset(i), self.recv.len(i))
    }

    /// Block `i` of the vector that this rank contributes to a reduce_scatter.
    #[inline]
    pub fn vector_block(&self, i: u32) -> Region {
        let (offset, len) = (self.send.offset(i), self.send.len(i));
        if self.in_place {
            Region::output(offset, len)
        } else {
            Region::input(offset, len)
        }
    }

    /// Where this rank's result of a reduce_scatter goes.
    #[inline]
    pub fn result_block(&self) -> Region {
        Region::output(0, self.send.len(self.rank))
    }

    /// The rank `by` places above this one, round the ring.
    pub(crate) fn up(&self, by: u32) -> u32 {
        wrap(self.rank, by, self.size)
    }

    /// The rank `by` places below this one, round the ring.
    pub(crate) fn down(&self, by: u32) -> u32 {
        wrap(self.rank, self.size - by % self.size, self.size)
    }

    /// Place of this rank on the ring that starts with the root.
    pub(crate) fn place(&self) -> u32 {
        wrap(self.rank, self.size - self.root, self.size)
    }

    /// The rank at place `i` of the ring that starts with the root.
    pub(crate) fn nth_from_root(&self, i: u32) -> u32 {
        wrap(self.root, i, self.size)
    }
}

/// `(a + b) mod size` for `a, b <= size`, without overflow.
pub(crate) fn wrap(a: u32, b: u32, size: u32) -> u32 {
    ((u64::from(a) + u64::from(b)) % u64::from(size)) as u32
}

/// Cuts `len` bytes of elements of `elem` bytes into `parts` pieces that
/// differ by at most one element; gives offset and length of piece `i`.
#[inline]
pub fn cut(len: usize, elem: usize, parts: u32, i: u32) -> (usize, usize) {
    debug_assert!(
        len.is_multiple_of(elem),
        "a vector is a whole number of elements"
    );
    let (parts, i) = (parts as usize, i as usize);
    let elems = len / elem;
    let (base, longer) = (elems / parts, elems % parts);
    (
        (i * base + i.min(longer)) * elem,
        (base + usize::from(i < longer)) * elem,
    )
}
