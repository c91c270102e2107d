//! Blocks along the edges of a graph.
//!
//! A payload is a row as in `rows`, with an entry for each of
//! [`Edges::blocks`]: who reads it knows by its edges which
//! entries are for it.

use catena_coll::Args;
use catena_coll::neighbor::{Edges, Source};
use catena_schedule::Region;

use super::rows::{fits, put, row, row_of, show, take};
use crate::board::Board;
use crate::limits::DIRECT_ENTRY;
use crate::payload::Payload;
use crate::program::{Program, Turn};
use crate::trouble::Trouble;

/// A member that has something for neighbours publishes a row.
pub(crate) struct Neighbors;

#[inline(always)]
fn near<'a>(a: &Args<'a>) -> &'a Edges<'a> {
    a.near.expect("a collective among neighbours has edges")
}

/// Blocks in this member's row.
#[inline(always)]
fn blocks(a: &Args) -> u32 {
    near(a).blocks.len() as u32
}

/// Block `i` of this member's row.
#[inline(always)]
fn block(a: &Args, i: u32) -> Region {
    a.send_block(near(a).blocks[i as usize])
}

#[inline(always)]
fn edge(t: &Turn, i: u32) -> Source {
    near(t.args).sources[i as usize]
}

impl Program for Neighbors {
    const ALL: bool = false;
    const VARIES: bool = true;
    const SOME: bool = true;
    const OWN_WAY: bool = true;
    const EXCHANGES: bool = true;

    #[inline]
    fn extent(a: &Args) -> usize {
        let bytes = (0..blocks(a)).map(|i| block(a, i).len);
        row(blocks(a), bytes.sum())
    }

    fn table(a: &Args) -> usize {
        near(a).blocks.len() * DIRECT_ENTRY
    }

    #[inline]
    fn reader(t: &Turn) -> Option<u32> {
        near(t.args).reader
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        t.whole > row(blocks(t.args), 0)
    }

    #[inline(always)]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        put(t, board, blocks(t.args), |i| Some(block(t.args, i)));
    }

    fn shows<B: Board>(t: &Turn, board: &mut B) -> u64 {
        show(t, board, blocks(t.args), |i| block(t.args, i))
    }

    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        near(t.args).sources.get(i as usize).map(|edge| edge.peer)
    }

    #[inline(always)]
    fn wants(t: &Turn, _: u32, i: u32) -> bool {
        t.args.recv.len(edge(t, i).block) > 0
    }

    #[inline]
    fn says(_: &Turn) -> usize {
        0
    }

    #[inline]
    fn expects(_: &Turn, _: u32) -> usize {
        0
    }

    /// Several edges may lead there; none has an empty block that is waited for.
    fn has_nothing(_: &Turn, _: u32) -> bool {
        false
    }

    #[inline]
    fn length<B: Board>(t: &Turn, from: &Payload, i: u32, board: &B) -> usize {
        row_of(from, edge(t, i).entries, board)
    }

    #[inline(always)]
    fn take<B: Board>(t: &Turn, from: &Payload, i: u32, board: &mut B) -> Result<(), Trouble> {
        let edge = edge(t, i);
        let into = t.args.recv_block(edge.block);
        if from.rank != t.args.rank {
            return take(t, from, (edge.entry, edge.entries), into, board);
        }
        let own = block(t.args, edge.entry);
        fits(t, from.rank, own.len as u64, into.len)?;
        board.copy(own, into);
        Ok(())
    }

    #[inline]
    fn uses(t: &Turn, rank: u32) -> bool {
        let has = |block| t.args.send.len(block) > 0;
        let mut destinations = near(t.args).destinations.iter();
        destinations.any(|to| to.peer == rank && has(to.block))
    }
}
