//! Whether what another member has published belongs to the same call.

use catena_coll::Args;

use crate::board::Board;
use crate::meta::Meta;
use crate::payload::PayloadPlace;
use crate::program::{Program, Turn};
use crate::trouble::{Mismatch, Trouble};

/// In how many operations back a difference is looked for: no board has more records.
const LOOK_BACK: usize = 1024;

/// Where the payload of `rank` is, once it has published, and whether it prefers the ring.
#[inline(always)]
pub(crate) fn hear<P: Program, B: Board>(
    turn: &Turn,
    rank: u32,
    board: &B,
) -> Result<Option<(PayloadPlace, bool)>, Trouble> {
    let seq = turn.own.seq;
    if board.stamp(rank, seq) != seq {
        return Ok(None);
    }
    let theirs = board.meta(rank, seq);
    let place = if P::VARIES {
        Meta::place(theirs)
    } else {
        turn.own.place
    };
    let mine = Meta::pack(turn.kind, place, turn.detail, P::expects(turn, rank));
    let differs = theirs ^ mine;
    if differs & !Meta::RING != 0 {
        return strange((turn.args, seq), (rank, theirs), (mine, place), board);
    }
    Ok(Some((place, differs != 0)))
}

/// What a member says that is not in this call with data: it may be without.
#[cold]
#[inline(never)]
fn strange<B: Board>(
    call: (&Args, u64),
    (rank, theirs): (u32, u64),
    (mine, place): (u64, PayloadPlace),
    board: &B,
) -> Result<Option<(PayloadPlace, bool)>, Trouble> {
    let is_same = (theirs ^ mine) & !(Meta::RING | Meta::PLACE) == 0;
    match (is_same && Meta::is_without_data(theirs), B::HAS_DATA) {
        (false, _) => Err(mismatch(call, (rank, theirs), mine, board)),
        (true, true) => Err(Trouble::WithoutData(rank)),
        (true, false) => Ok(Some((place, theirs & Meta::RING != 0))),
    }
}

#[cold]
#[inline(never)]
pub(crate) fn mismatch<B: Board>(
    (args, seq): (&Args, u64),
    (rank, theirs): (u32, u64),
    mine: u64,
    board: &B,
) -> Trouble {
    let me = args.rank;
    if (theirs ^ mine) & (Meta::CALL | Meta::BYTES) == 0 {
        return earlier(args.size, seq, board)
            .map_or(Trouble::Parted { rank, me }, Trouble::Mismatch);
    }
    Trouble::Mismatch(Mismatch {
        rank,
        theirs: Meta::unpack(theirs),
        me,
        mine: Meta::unpack(mine),
    })
}

/// In what members parted before operation `seq` in which they agree, if two have published it and
/// that is still there.
pub(crate) fn earlier<B: Board>(size: u32, seq: u64, board: &B) -> Option<Mismatch> {
    let mut seqs = (1..seq).rev().take(LOOK_BACK);
    seqs.find_map(|seq| {
        let all = (0..size).filter(|&rank| board.stamp(rank, seq) == seq);
        let mut all = all.map(|rank| (rank, board.meta(rank, seq)));
        let (me, mine) = all.next()?;
        let (rank, theirs) = all.find(|(_, meta)| (meta ^ mine) & Meta::CALL != 0)?;
        Some(Mismatch {
            rank,
            theirs: Meta::unpack(theirs),
            me,
            mine: Meta::unpack(mine),
        })
    })
}
