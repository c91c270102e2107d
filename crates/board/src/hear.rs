//! Whether what another member has published belongs to the same call.

use std::cmp::Reverse;

use catena_coll::Args;
use catena_datatype::Kinds;

use crate::board::Board;
use crate::meta::{Expected, Meta};
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
    let mut call = turn.call;
    if P::EXCHANGES {
        call ^= u64::from(turn.args.turned);
    }
    let bytes = P::expects(turn, rank);
    let mine = Meta::pack(turn.kind, place, call, bytes);
    let differs = theirs ^ mine;
    if differs & !Meta::RING != 0 {
        let expected = expected(call, bytes, P::has_nothing(turn, rank));
        return strange(
            (turn.args, seq),
            (rank, theirs),
            (mine, place, expected),
            board,
        );
    }
    Ok(Some((place, differs != 0)))
}

/// What this member expects in a call of that word.
#[cold]
pub(crate) fn expected(call: u64, bytes: usize, is_nothing: bool) -> Expected {
    Expected {
        kinds: Kinds::from_bits((call & Meta::BYTES) as u32).unwrap_or_default(),
        bytes,
        is_nothing,
    }
}

/// What a member says that is not in this call with data: it may be without.
#[cold]
#[inline(never)]
fn strange<B: Board>(
    call: (&Args, u64),
    (rank, theirs): (u32, u64),
    (mine, place, expected): (u64, PayloadPlace, Expected),
    board: &B,
) -> Result<Option<(PayloadPlace, bool)>, Trouble> {
    let is_same = (theirs ^ mine) & !(Meta::RING | Meta::PLACE) == 0
        || Meta::may_differ(theirs, mine, expected);
    let is_there = (theirs ^ mine) & Meta::PLACE == 0;
    if is_same && is_there {
        return Ok(Some((place, theirs & Meta::RING != 0)));
    }
    match (is_same && Meta::is_without_data(theirs), B::HAS_DATA) {
        (false, _) => Err(mismatch(call, (rank, theirs), (mine, expected), board)),
        (true, true) => Err(Trouble::WithoutData(rank)),
        (true, false) => Ok(Some((place, theirs & Meta::RING != 0))),
    }
}

#[cold]
#[inline(never)]
pub(crate) fn mismatch<B: Board>(
    (args, seq): (&Args, u64),
    (rank, theirs): (u32, u64),
    (mine, expected): (u64, Expected),
    board: &B,
) -> Trouble {
    let me = args.rank;
    if (theirs ^ mine) & (Meta::CALL | Meta::BYTES) == 0 {
        return earlier(args.size, seq, board)
            .map_or(Trouble::Parted { rank, me }, Trouble::Mismatch);
    }
    Trouble::Mismatch(Mismatch {
        rank,
        theirs: Meta::unpack_unlike(theirs, expected),
        me,
        mine: Meta {
            kinds: expected.kinds,
            bytes: (expected.bytes as u64 & Meta::BYTES) as u32,
            ..Meta::unpack(mine)
        },
    })
}

/// In what members parted before operation `seq` in which they agree, if two have published it and
/// that is still there.
pub(crate) fn earlier<B: Board>(size: u32, seq: u64, board: &B) -> Option<Mismatch> {
    let mut seqs = (1..seq).rev().take(LOOK_BACK);
    seqs.find_map(|seq| {
        let all = (0..size).filter(|&rank| board.stamp(rank, seq) == seq);
        let all: Vec<_> = all.map(|rank| (rank, board.meta(rank, seq))).collect();
        let alike = |a: u64, b: u64| (a ^ b) & Meta::CALL == 0;
        let as_many = |call: u64| all.iter().filter(|(_, meta)| alike(*meta, call)).count();
        let first = all.first()?.1;
        if all.iter().all(|(_, meta)| alike(*meta, first)) {
            return None;
        }
        // One of most, the lowest, and one that differs.
        let most = |&&(rank, meta): &&(u32, u64)| (as_many(meta), Reverse(rank));
        let &(me, mine) = all.iter().max_by_key(most)?;
        let &(rank, theirs) = all.iter().find(|(_, meta)| !alike(*meta, mine))?;
        Some(Mismatch {
            rank,
            theirs: Meta::unpack(theirs),
            me,
            mine: Meta::unpack(mine),
        })
    })
}
