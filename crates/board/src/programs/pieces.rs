//! Reductions of long vectors, which stay in the buffers of the program: each
//! member combines a piece of all of them, and writes it where it is wanted.

use catena_coll::Args;
use catena_schedule::{Buf, Region};

use super::reduce::{take_upwards, upwards};
use super::rows::{show, shown};
use crate::board::Board;
use crate::limits::DIRECT_ENTRY;
use crate::payload::{Payload, PayloadPlace};
use crate::program::{Program, Turn};
use crate::trouble::Trouble;

/// Reduce; or allreduce, where `ALL` want the result.
///
/// In place, a piece of the result is written where nobody but its writer reads
/// an operand.
pub(crate) struct Pieces<const ALL: bool>;

/// What a member shows: so many addresses.
const SHOWN: u32 = 2;
const OPERAND: u32 = 0;
const RESULT: u32 = 1;

impl<const ALL: bool> Pieces<ALL> {
    #[inline]
    fn wants(t: &Turn, rank: u32) -> bool {
        ALL || rank == t.args.root
    }

    /// This member's piece of a vector. Of `n` members each reads `n - 1` operands, and all but a
    /// root write one result besides: a root's share is `n` where that of the others is `n - 1`.
    #[inline]
    fn piece(t: &Turn, of: Region) -> Region {
        let (n, me, elem) = (t.args.size, t.args.rank, t.args.elem.max(1));
        let share = if ALL { 1 } else { n - 1 };
        let before = |rank| rank * share + u32::from(!ALL && t.args.root < rank);
        let begin = |rank| t.len / elem * before(rank) as usize / before(n) as usize * elem;
        of.part(begin(me), begin(me + 1) - begin(me))
    }

    /// Whether the piece is combined where it belongs. In place its operand is there.
    #[inline]
    fn is_at_home(t: &Turn) -> bool {
        Self::wants(t, t.args.rank) && !t.args.in_place
    }

    /// Writes the piece, which is at `from`, where it is wanted.
    fn deliver<B: Board>(t: &Turn, from: Region, board: &mut B) -> Result<(), Trouble> {
        let (me, into) = (t.args.rank, Self::piece(t, t.args.vector_out()));
        for rank in (0..t.args.size).filter(|&rank| Self::wants(t, rank)) {
            if rank != me {
                let row = board.payload(rank, t.own.seq, PayloadPlace::Direct);
                let (_, result) = shown(&row, RESULT, board);
                board.give(&result, into.offset, from)?;
            } else if from != into {
                board.copy(from, into);
            }
        }
        Ok(())
    }
}

impl<const ALL: bool> Program for Pieces<ALL> {
    const ALL: bool = true;

    #[inline]
    fn extent(a: &Args) -> usize {
        a.send.len(0)
    }

    fn table(_: &Args) -> usize {
        SHOWN as usize * DIRECT_ENTRY
    }

    #[inline]
    fn publishes_first(_: &Turn) -> bool {
        true
    }

    fn put<B: Board>(_: &Turn, _: &mut B) {
        unreachable!("always direct")
    }

    fn shows<B: Board>(t: &Turn, board: &mut B) -> u64 {
        show(t, board, SHOWN, |i| match i {
            RESULT => t.args.vector_out(),
            _ => t.args.vector_in(),
        })
    }

    #[inline]
    fn scratch(t: &Turn) -> usize {
        match Self::is_at_home(t) {
            true => 0,
            false => Self::piece(t, t.args.vector_in()).len,
        }
    }

    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        upwards(t, i, true)
    }

    fn take<B: Board>(t: &Turn, from: &Payload, i: u32, board: &mut B) -> Result<(), Trouble> {
        let own = Self::piece(t, t.args.vector_in());
        let into = match Self::is_at_home(t) {
            true => Self::piece(t, t.args.vector_out()),
            false => Region::new(Buf::Scratch, 0, own.len),
        };
        let operand = match from.rank == t.args.rank {
            true => *from,
            false => shown(from, OPERAND, board).1,
        };
        take_upwards(t, (&operand, i, true), own.offset, own, into, board)?;
        // Of two, one operand is combined with this member's at once.
        if upwards(t, i + 1, true).is_none() {
            Self::deliver(t, into, board)?;
        }
        Ok(())
    }
}
