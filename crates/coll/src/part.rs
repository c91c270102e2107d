//! Parts of a schedule that concern some of the ranks: an algorithm within another.

use std::borrow::Cow;

use catena_schedule::{Builder, Region};

use crate::algorithm::Choose;
use crate::args::cut;
use crate::{Args, Collective, Layout, Model, Placement, Shape, Terms};

/// Some ranks; the part numbers them in this order.
#[derive(Clone, Debug)]
pub(crate) struct Part<'a> {
    /// What they are called outside; `None` for the same as inside.
    pub(crate) ranks: Option<Cow<'a, [u32]>>,
    /// How many they are.
    pub(crate) size: u32,
    /// Which of them is this one.
    pub(crate) me: u32,
    /// Where they are.
    pub(crate) placement: Placement,
    /// See [`Terms::oversubscribed`].
    pub(crate) crowd: u32,
    /// What messages cost.
    pub(crate) model: &'a Model,
    /// Chooses the algorithm.
    pub(crate) choose: Choose,
    /// See [`Args::elem`].
    pub(crate) elem: usize,
    /// See [`Args::commutative`].
    pub(crate) commutative: bool,
}

/// A call within a part; see [`Args`] and [`Shape`].
#[derive(Clone, Copy, Debug)]
struct Call<'a> {
    what: Collective,
    root: u32,
    bytes: usize,
    in_place: bool,
    send: Layout<'a>,
    recv: Layout<'a>,
    /// What the part takes for its buffers.
    input: Region,
    output: Region,
}

/// No bytes.
pub(crate) const NOTHING: Region = Region::output(0, 0);

impl Call<'_> {
    /// Of a collective in which every rank has `bytes`, with root 0.
    fn even(what: Collective, bytes: usize) -> Self {
        Call {
            what,
            root: 0,
            bytes,
            in_place: false,
            send: Layout::Even(bytes),
            recv: Layout::Even(bytes),
            input: NOTHING,
            output: NOTHING,
        }
    }
}

impl Part<'_> {
    /// What one of them is called outside.
    pub(crate) fn rank(&self, i: u32) -> u32 {
        self.ranks.as_ref().map_or(i, |ranks| ranks[i as usize])
    }

    /// Writes steps that have these ranks as peers.
    pub(crate) fn among(&self, b: &mut Builder, part: impl FnOnce(&mut Builder)) {
        match &self.ranks {
            Some(ranks) => b.among(ranks, part),
            None => part(b),
        }
    }

    /// Writes this rank's steps of the cheapest algorithm for a call.
    fn run(&self, call: &Call, b: &mut Builder) {
        let shape = Shape {
            size: self.size,
            bytes: call.bytes,
            elem: self.elem,
            commutative: self.commutative,
            placement: self.placement,
        };
        let args = Args {
            size: self.size,
            rank: self.me,
            root: call.root,
            in_place: call.in_place,
            elem: self.elem,
            commutative: self.commutative,
            send: call.send,
            recv: call.recv,
            site: None,
            turned: 0,
            near: None,
        };
        let terms = Terms::choosing(&shape, self.model, self.choose);
        let (algorithm, _) = terms.oversubscribed(self.crowd).cheapest(call.what);
        let build = algorithm.build;
        self.among(b, |b| {
            b.within(call.input, call.output, |b| build(&args, b))
        });
    }

    /// The message of `root`, which is at `message` on every rank.
    pub(crate) fn bcast(&self, root: u32, message: Region, b: &mut Builder) {
        let call = Call {
            root,
            output: message,
            ..Call::even(Collective::Bcast, message.len)
        };
        self.run(&call, b);
    }

    /// Combines `mine` of every rank to `result` at `root`, which may be the
    /// same.
    pub(crate) fn reduce(&self, root: u32, mine: Region, result: Region, b: &mut Builder) {
        let call = Call {
            root,
            in_place: mine == result,
            input: mine,
            output: result,
            ..Call::even(Collective::Reduce, mine.len)
        };
        self.run(&call, b);
    }

    /// Combines `mine` of every rank to `result` on every rank, which may be the
    /// same.
    pub(crate) fn allreduce(&self, mine: Region, result: Region, b: &mut Builder) {
        let call = Call {
            in_place: mine == result,
            input: mine,
            output: result,
            ..Call::even(Collective::Allreduce, mine.len)
        };
        self.run(&call, b);
    }

    /// Gathers `mine` of every rank in `all` at `root`.
    pub(crate) fn gather(&self, root: u32, mine: Region, all: Region, b: &mut Builder) {
        let call = Call {
            root,
            input: mine,
            output: all,
            ..Call::even(Collective::Gather, mine.len)
        };
        self.run(&call, b);
    }

    /// Hands out the blocks of one length that `all` holds at rank 0.
    pub(crate) fn scatter(&self, all: Region, mine: Region, b: &mut Builder) {
        let call = Call {
            input: all,
            output: mine,
            ..Call::even(Collective::Scatter, mine.len)
        };
        self.run(&call, b);
    }

    /// Hands out the blocks that `all` holds at rank 0, of lengths that every rank knows.
    pub(crate) fn scatterv(&self, all: Region, blocks: Layout<'_>, mine: Region, b: &mut Builder) {
        let call = Call {
            send: blocks,
            recv: Layout::Even(mine.len),
            input: all,
            output: mine,
            ..Call::even(Collective::Scatterv, 0)
        };
        self.run(&call, b);
    }

    /// Combines `vector` of every rank, and leaves each its piece of the result
    /// in `mine`.
    pub(crate) fn reduce_scatter(
        &self,
        pieces: &Pieces,
        vector: Region,
        mine: Region,
        b: &mut Builder,
    ) {
        let call = Call {
            send: pieces.layout(),
            input: vector,
            output: mine,
            ..Call::even(Collective::ReduceScatter, vector.len)
        };
        self.run(&call, b);
    }

    /// Completes `vector`, of which each rank has its piece.
    pub(crate) fn allgather(&self, pieces: &Pieces, vector: Region, b: &mut Builder) {
        let call = Call {
            in_place: true,
            recv: pieces.layout(),
            output: vector,
            ..Call::even(Collective::Allgatherv, vector.len)
        };
        self.run(&call, b);
    }
}

/// A vector cut in a piece for each rank of a part.
#[derive(Clone, Debug)]
pub(crate) struct Pieces {
    counts: Vec<usize>,
    displs: Vec<usize>,
}

impl Pieces {
    /// Pieces of whole elements, as equally long as can be.
    pub(crate) fn new(len: usize, elem: usize, ranks: u32) -> Self {
        let (displs, counts) = (0..ranks).map(|i| cut(len, elem, ranks, i)).unzip();
        Pieces { counts, displs }
    }

    /// Pieces of these lengths.
    pub(crate) fn of_lengths(counts: Vec<usize>) -> Self {
        let displs = counts.iter().scan(0, |at, n| {
            *at += n;
            Some(*at - n)
        });
        let displs = displs.collect();
        Pieces { counts, displs }
    }

    /// These pieces for more ranks, which get nothing.
    pub(crate) fn among(mut self, ranks: u32) -> Self {
        let end = self.displs.last().unwrap_or(&0) + self.counts.last().unwrap_or(&0);
        self.counts.resize(ranks as usize, 0);
        self.displs.resize(ranks as usize, end);
        self
    }

    /// Piece `i` of that vector.
    pub(crate) fn of(&self, vector: Region, i: u32) -> Region {
        vector.part(self.displs[i as usize], self.counts[i as usize])
    }

    /// First byte of piece `i`, and the one behind the last.
    pub(crate) fn range(&self, i: u32) -> (usize, usize) {
        let from = self.displs[i as usize];
        (from, from + self.counts[i as usize])
    }

    pub(crate) fn layout(&self) -> Layout<'_> {
        Layout::Table {
            counts: &self.counts,
            displs: &self.displs,
        }
    }
}
