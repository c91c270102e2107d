//! Parts of a plan that concern one group, with rank 0 as its leader.

use catena_plan::{Builder, Region};

use super::Args;
use crate::args::cut;
use crate::model::Terms;
use crate::registry::cheapest;
use crate::{Collective, Layout, Model, Placement, Shape, select};

/// Estimated time of a collective within a group.
pub(super) fn cost(what: Collective, t: &Terms) -> f64 {
    cheapest(what, t).1
}

/// No bytes.
const NOTHING: Region = Region::output(0, 0);

/// This group.
pub(super) struct Near<'a> {
    pub a: &'a Args<'a>,
    pub m: &'a Model,
}

impl Near<'_> {
    /// Whether this rank speaks for its group.
    pub(super) fn leads(&self) -> bool {
        self.a.rank == 0
    }

    /// Scratch of the leader; nothing elsewhere.
    pub(super) fn leader_place(&self, len: usize, b: &mut Builder) -> Region {
        if self.leads() {
            b.scratch(len)
        } else {
            NOTHING
        }
    }

    fn part(
        &self,
        what: Collective,
        bytes: usize,
        [send, recv]: [Layout<'_>; 2],
        [input, output]: [Region; 2],
        b: &mut Builder,
    ) {
        let Args {
            elem, commutative, ..
        } = *self.a;
        let (size, rank) = (self.a.local, self.a.rank);
        let shape = Shape {
            size,
            bytes,
            elem,
            commutative,
            placement: Placement::one_node(size),
        };
        let args = crate::Args {
            size,
            rank,
            root: 0,
            in_place: false,
            elem,
            commutative,
            send,
            recv,
            site: None,
        };
        let algorithm = select(what, &shape, self.m, None);
        b.within(input, output, |b| (algorithm.build)(&args, b));
    }

    /// The message of the leader, which lies in `message` on every rank.
    pub(super) fn bcast(&self, message: Region, b: &mut Builder) {
        let n = message.len;
        self.part(
            Collective::Bcast,
            n,
            [Layout::Even(n); 2],
            [NOTHING, message],
            b,
        );
    }

    /// Gathers `mine` of every rank, and says where the blocks are on the leader.
    pub(super) fn gather(&self, mine: Region, b: &mut Builder) -> Region {
        let n = mine.len;
        if self.a.local == 1 {
            return mine;
        }
        let all = self.leader_place(self.a.local as usize * n, b);
        self.part(Collective::Gather, n, [Layout::Even(n); 2], [mine, all], b);
        all
    }

    /// Hands out the blocks of one length that `all` holds on the leader.
    pub(super) fn scatter(&self, all: Region, mine: Region, b: &mut Builder) {
        let n = mine.len;
        self.part(Collective::Scatter, n, [Layout::Even(n); 2], [all, mine], b);
    }

    /// The same for blocks of lengths that every rank knows.
    pub(super) fn scatterv(&self, all: Region, blocks: Layout<'_>, mine: Region, b: &mut Builder) {
        let layouts = [blocks, Layout::Even(mine.len)];
        self.part(Collective::Scatterv, 0, layouts, [all, mine], b);
    }

    /// Combines `mine` of every rank, and says where the result is on the leader.
    pub(super) fn reduce(&self, mine: Region, b: &mut Builder) -> Region {
        let n = mine.len;
        if self.a.local == 1 {
            return mine;
        }
        let result = self.leader_place(n, b);
        self.part(
            Collective::Reduce,
            n,
            [Layout::Even(n); 2],
            [mine, result],
            b,
        );
        result
    }

    /// Combines `mine` of every rank, and says where this rank's piece of the
    /// result is; see [`Pieces`].
    pub(super) fn reduce_scatter(&self, mine: Region, b: &mut Builder) -> Region {
        if self.a.local == 1 {
            return mine;
        }
        let pieces = Pieces::new(mine.len, self.a.elem, self.a.local);
        let result = b.scratch(pieces.counts[self.a.rank as usize]);
        let layouts = [pieces.layout(), Layout::Even(0)];
        self.part(
            Collective::ReduceScatter,
            mine.len,
            layouts,
            [mine, result],
            b,
        );
        result
    }
}

/// A vector cut in a piece for each rank of a group.
pub(super) struct Pieces {
    counts: Vec<usize>,
    displs: Vec<usize>,
}

impl Pieces {
    pub(super) fn new(len: usize, elem: usize, ranks: u32) -> Self {
        let (displs, counts) = (0..ranks).map(|i| cut(len, elem, ranks, i)).unzip();
        Pieces { counts, displs }
    }

    /// Piece `i` of that vector.
    pub(super) fn of(&self, vector: Region, i: u32) -> Region {
        vector.part(self.displs[i as usize], self.counts[i as usize])
    }

    /// First byte of piece `i`, and the one behind the last.
    pub(super) fn range(&self, i: u32) -> (usize, usize) {
        let from = self.displs[i as usize];
        (from, from + self.counts[i as usize])
    }

    fn layout(&self) -> Layout<'_> {
        Layout::Table {
            counts: &self.counts,
            displs: &self.displs,
        }
    }
}
