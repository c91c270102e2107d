//! Parts of a schedule that concern one group, with rank 0 as its leader.

use catena_schedule::{Builder, Region};

use super::call::Args;
use crate::part::{NOTHING, Part};
use crate::registry::cheapest;
use crate::{Collective, Layout, Model, Placement, Terms};

pub(super) use crate::part::Pieces;

/// Estimated time of a collective within a group.
pub(super) fn cost(what: Collective, t: &Terms) -> f64 {
    cheapest(what, t).1
}

/// This group.
pub(super) struct LocalGroup<'a> {
    pub a: &'a Args<'a>,
    pub m: &'a Model,
}

impl LocalGroup<'_> {
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

    fn part(&self) -> Part<'_> {
        Part {
            ranks: None,
            size: self.a.local,
            me: self.a.rank,
            placement: Placement::one_node(self.a.local),
            crowd: 1,
            model: self.m,
            choose: cheapest,
            elem: self.a.elem,
            commutative: self.a.commutative,
        }
    }

    /// The message of the leader, which lies in `message` on every rank.
    pub(super) fn bcast(&self, message: Region, b: &mut Builder) {
        self.part().bcast(0, message, b);
    }

    /// Gathers `mine` of every rank, and says where the blocks are on the leader.
    pub(super) fn gather(&self, mine: Region, b: &mut Builder) -> Region {
        if self.a.local == 1 {
            return mine;
        }
        let all = self.leader_place(self.a.local as usize * mine.len, b);
        self.part().gather(0, mine, all, b);
        all
    }

    /// Hands out the blocks of one length that `all` holds on the leader.
    pub(super) fn scatter(&self, all: Region, mine: Region, b: &mut Builder) {
        self.part().scatter(all, mine, b);
    }

    /// Hands out the blocks that `all` holds on the leader, of lengths that every rank knows.
    pub(super) fn scatterv(&self, all: Region, blocks: Layout<'_>, mine: Region, b: &mut Builder) {
        self.part().scatterv(all, blocks, mine, b);
    }

    /// Combines `mine` of every rank, and says where the result is on the leader.
    pub(super) fn reduce(&self, mine: Region, b: &mut Builder) -> Region {
        if self.a.local == 1 {
            return mine;
        }
        let result = self.leader_place(mine.len, b);
        self.part().reduce(0, mine, result, b);
        result
    }

    /// Combines `mine` of every rank, and says where this rank's piece of the
    /// result is; see [`Pieces`].
    pub(super) fn reduce_scatter(&self, mine: Region, b: &mut Builder) -> Region {
        if self.a.local == 1 {
            return mine;
        }
        let pieces = Pieces::new(mine.len, self.a.elem, self.a.local);
        let result = b.scratch(pieces.of(mine, self.a.rank).len);
        self.part().reduce_scatter(&pieces, mine, result, b);
        result
    }
}
