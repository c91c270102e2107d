//! Blocks whose lengths only the two that exchange them know: gatherv,
//! scatterv, alltoallv of more than two members. Those among neighbours are in `neighbors`.
//!
//! A payload is a row: a table with an entry for each member, then the blocks,
//! without this member's. An entry is the end of the block, counted from the end
//! of the table. In a ring that is a whole number of lines: long blocks are
//! copied quicker if they begin on one (four ranks on two cores exchange 64 KiB
//! in 75 instead of 120 µs). A direct row is a table alone; an entry is the
//! length of the block and its address. For gatherv the root publishes such a
//! table of where it wants its blocks.

use catena_coll::Args;
use catena_schedule::{Buf, Region};

use crate::board::Board;
use crate::limits::{DIRECT_ENTRY, INLINE, LINE};
use crate::meta::Meta;
use crate::payload::{Payload, PayloadPlace};
use crate::program::{Program, Turn, around, at_root, root_only};
use crate::trouble::{Mismatch, Trouble};

/// Bytes of an entry of a row that is not direct.
const ENTRY: usize = 4;

/// Bytes of a table of `n` entries that is not direct.
#[inline(always)]
fn table(n: u32, place: PayloadPlace) -> usize {
    let entries = n as usize * ENTRY;
    match place {
        PayloadPlace::Line => entries,
        PayloadPlace::Ring | PayloadPlace::Direct => entries.next_multiple_of(LINE),
    }
}

/// Bytes of a row that is not direct, of `n` blocks that have so many together.
#[inline]
pub(crate) fn row(n: u32, bytes: usize) -> usize {
    match table(n, PayloadPlace::Line) + bytes {
        short if short <= INLINE => short,
        _ => table(n, PayloadPlace::Ring) + bytes,
    }
}

/// Bytes of this member's row of all members.
#[inline]
fn row_of_others(a: &Args, block: impl Fn(u32) -> Region) -> usize {
    let others = (0..a.size).filter(|&i| i != a.rank);
    row(a.size, others.map(|i| block(i).len).sum())
}

/// Bytes of somebody's row of `n` blocks, which is in a ring.
#[inline]
pub(crate) fn row_of<B: Board>(from: &Payload, n: u32, board: &B) -> usize {
    table(n, PayloadPlace::Ring) + board.word(from, (n as usize - 1) * ENTRY) as usize
}

/// Writes this member's row of `n` blocks, as far as they are there.
#[inline(always)]
pub(crate) fn put<B: Board>(
    t: &Turn,
    board: &mut B,
    n: u32,
    block: impl Fn(u32) -> Option<Region>,
) {
    let table = table(n, t.own.place);
    let mut end = 0;
    for i in 0..n {
        if let Some(block) = block(i) {
            board.put(&t.own, table + end, block);
            end += block.len;
        }
        board.put_word(&t.own, i as usize * ENTRY, end as u32);
    }
}

/// Writes this member's row of `n` blocks as a table of addresses.
pub(crate) fn show<B: Board>(
    t: &Turn,
    board: &mut B,
    n: u32,
    block: impl Fn(u32) -> Region,
) -> u64 {
    let table = t.own.ring();
    for i in 0..n {
        let entry = [block(i).len as u64, board.address(block(i))];
        for (k, word) in entry.into_iter().enumerate() {
            let at = i as usize * DIRECT_ENTRY + 8 * k;
            board.put_word(&table, at, word as u32);
            board.put_word(&table, at + 4, (word >> 32) as u32);
        }
    }
    table.at
}

/// Entry `i` of a row that is direct: the length of a block, and where it is.
#[inline(always)]
pub(crate) fn shown<B: Board>(from: &Payload, i: u32, board: &B) -> (u64, Payload) {
    let long = |at: usize| {
        let half = |at: usize| u64::from(board.word(&from.ring(), at));
        half(at) | half(at + 4) << 32
    };
    let entry = i as usize * DIRECT_ENTRY;
    (long(entry), from.direct(long(entry + 8)))
}

/// Where block `i` is in a row of `n`: its length, the payload that holds it, and
/// the place within.
#[inline(always)]
fn find<B: Board>(from: &Payload, (i, n): (u32, u32), board: &B) -> (u64, Payload, usize) {
    if from.place == PayloadPlace::Direct {
        let (len, data) = shown(from, i, board);
        return (len, data, 0);
    }
    let end = |i: u32| board.word(from, i as usize * ENTRY);
    let begin = if i == 0 { 0 } else { end(i - 1) };
    let at = table(n, from.place) + begin as usize;
    (end(i).wrapping_sub(begin).into(), *from, at)
}

/// Takes block `i` out of a row of `n`.
#[inline(always)]
pub(crate) fn take<B: Board>(
    t: &Turn,
    from: &Payload,
    (i, n): (u32, u32),
    into: Region,
    board: &mut B,
) -> Result<(), Trouble> {
    let (len, data, at) = find(from, (i, n), board);
    fits(t, from.rank, len, into.len)?;
    Ok(board.get(&data, at, into)?)
}

/// Which entry of a row of all members is this one's.
#[inline(always)]
fn own_entry(t: &Turn) -> (u32, u32) {
    (t.args.rank, t.args.size)
}

/// Writes this member's row of all members.
#[inline(always)]
fn put_others<B: Board>(t: &Turn, board: &mut B, block: impl Fn(u32) -> Region) {
    let me = t.args.rank;
    put(t, board, t.args.size, |i| (i != me).then(|| block(i)));
}

/// Writes a block where the owner of a direct row wants it.
#[inline(always)]
pub(crate) fn bring<B: Board>(
    t: &Turn,
    to: &Payload,
    block: Region,
    board: &mut B,
) -> Result<(), Trouble> {
    let (len, data) = shown(to, t.args.rank, board);
    fits(t, to.rank, len, block.len)?;
    Ok(board.give(&data, 0, block)?)
}

/// Takes this member's block for itself.
#[inline(always)]
fn keep<B: Board>(t: &Turn, from: Region, into: Region, board: &mut B) -> Result<(), Trouble> {
    fits(t, t.args.rank, from.len as u64, into.len)?;
    board.copy(from, into);
    Ok(())
}

#[inline]
pub(crate) fn fits(t: &Turn, rank: u32, theirs: u64, mine: usize) -> Result<(), Trouble> {
    if theirs == mine as u64 {
        return Ok(());
    }
    let meta = |bytes| Meta::new(t.kind, t.call, bytes);
    Err(Trouble::Mismatch(Mismatch {
        rank,
        theirs: meta(theirs),
        me: t.args.rank,
        mine: meta(mine as u64),
    }))
}

/// All publish, the root copies. A member that has a long block only says so, and writes
/// it where the root wants it.
pub(crate) struct Gatherv;

impl Program for Gatherv {
    const ALL: bool = false;
    const VARIES: bool = true;

    #[inline(always)]
    fn is_sole(_: &Turn) -> bool {
        true
    }

    /// At the root the longest of the others' blocks.
    #[inline]
    fn extent(a: &Args) -> usize {
        if a.rank != a.root {
            return a.send.len(a.rank);
        }
        let others = (0..a.size).filter(|&i| i != a.root);
        others.map(|i| a.recv.len(i)).max().unwrap_or(0)
    }

    fn table(a: &Args) -> usize {
        a.size as usize * DIRECT_ENTRY
    }

    #[inline]
    fn reader(t: &Turn) -> Option<u32> {
        (t.args.rank != t.args.root).then_some(t.args.root)
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        t.args.rank != t.args.root || t.is_direct()
    }

    #[inline(always)]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        board.put(&t.own, 0, Region::input(0, t.whole));
    }

    fn shows<B: Board>(t: &Turn, board: &mut B) -> u64 {
        if t.args.rank != t.args.root {
            return 0;
        }
        show(t, board, t.args.size, |i| t.args.recv_block(i))
    }

    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        if t.args.rank == t.args.root {
            at_root(t, i)
        } else {
            (i == 0 && t.is_direct()).then_some(t.args.root)
        }
    }

    #[inline]
    fn says(t: &Turn) -> usize {
        if t.args.rank == t.args.root {
            0
        } else {
            t.whole
        }
    }

    #[inline]
    fn expects(t: &Turn, rank: u32) -> usize {
        if rank == t.args.root {
            0
        } else {
            t.args.recv.len(rank)
        }
    }

    #[inline(always)]
    fn take<B: Board>(t: &Turn, from: &Payload, _: u32, board: &mut B) -> Result<(), Trouble> {
        if t.args.rank != t.args.root {
            return bring(t, from, Region::input(0, t.whole), board);
        }
        let into = t.args.recv_block(from.rank);
        if from.rank == t.args.rank {
            if !t.args.in_place {
                board.copy(Region::input(0, into.len), into);
            }
        } else if from.place != PayloadPlace::Direct {
            board.get(from, 0, into)?;
        }
        Ok(())
    }

    #[inline]
    fn uses(t: &Turn, rank: u32) -> bool {
        t.args.rank == t.args.root && t.args.recv.len(rank) >= t.lent_from
    }
}

/// The root publishes a row.
pub(crate) struct Scatterv;

impl Program for Scatterv {
    const ALL: bool = false;
    const VARIES: bool = true;
    const OWN_WAY: bool = true;

    #[inline(always)]
    fn is_sole(_: &Turn) -> bool {
        true
    }

    #[inline]
    fn extent(a: &Args) -> usize {
        if a.rank == a.root {
            row_of_others(a, |i| a.send_block(i))
        } else {
            0
        }
    }

    fn table(a: &Args) -> usize {
        a.size as usize * DIRECT_ENTRY
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        t.args.rank == t.args.root
    }

    #[inline(always)]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        put_others(t, board, |i| t.args.send_block(i));
    }

    fn shows<B: Board>(t: &Turn, board: &mut B) -> u64 {
        show(t, board, t.args.size, |i| t.args.send_block(i))
    }

    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        root_only(t, i)
    }

    #[inline]
    fn says(_: &Turn) -> usize {
        0
    }

    #[inline]
    fn expects(_: &Turn, _: u32) -> usize {
        0
    }

    fn has_nothing(t: &Turn, _: u32) -> bool {
        t.args.recv.len(t.args.rank) == 0
    }

    #[inline]
    fn length<B: Board>(t: &Turn, from: &Payload, _: u32, board: &B) -> usize {
        row_of(from, t.args.size, board)
    }

    #[inline(always)]
    fn take<B: Board>(t: &Turn, from: &Payload, _: u32, board: &mut B) -> Result<(), Trouble> {
        let me = t.args.rank;
        if me != t.args.root {
            let into = Region::output(0, t.args.recv.len(me));
            return take(t, from, own_entry(t), into, board);
        }
        if t.args.in_place {
            return Ok(());
        }
        let into = Region::output(0, t.args.recv.len(me));
        keep(t, t.args.send_block(me), into, board)
    }
}

/// A member that has something for others publishes a row. Also alltoallw.
pub(crate) struct Alltoallv;

impl Alltoallv {
    #[inline]
    fn block(a: &Args, i: u32) -> Region {
        if a.in_place {
            a.recv_block(i)
        } else {
            a.send_block(i)
        }
    }
}

impl Program for Alltoallv {
    const ALL: bool = true;
    const VARIES: bool = true;
    const OWN_WAY: bool = true;
    const EXCHANGES: bool = true;

    #[inline(always)]
    fn is_sole(_: &Turn) -> bool {
        true
    }

    #[inline]
    fn extent(a: &Args) -> usize {
        row_of_others(a, |i| Self::block(a, i))
    }

    fn table(a: &Args) -> usize {
        a.size as usize * DIRECT_ENTRY
    }

    #[inline]
    fn publishes_first(t: &Turn) -> bool {
        t.whole > row(t.args.size, 0)
    }

    #[inline(always)]
    fn put<B: Board>(t: &Turn, board: &mut B) {
        put_others(t, board, |i| Self::block(t.args, i));
    }

    fn shows<B: Board>(t: &Turn, board: &mut B) -> u64 {
        if !t.args.in_place {
            return show(t, board, t.args.size, |i| t.args.send_block(i));
        }
        // Blocks arrive where the others still read.
        let before = |i| (0..i).map(|k| t.args.recv.len(k)).sum();
        let copy = |i: u32| Region::new(Buf::Scratch, before(i), t.args.recv.len(i));
        for i in 0..t.args.size {
            board.copy(t.args.recv_block(i), copy(i));
        }
        show(t, board, t.args.size, copy)
    }

    #[inline]
    fn scratch(t: &Turn) -> usize {
        let all = || (0..t.args.size).map(|i| t.args.recv.len(i)).sum();
        if t.is_lent() { all() } else { 0 }
    }

    #[inline(always)]
    fn source(t: &Turn, i: u32) -> Option<u32> {
        around(t, i)
    }

    #[inline(always)]
    fn wants(t: &Turn, rank: u32, _: u32) -> bool {
        rank == t.args.rank || t.args.recv.len(rank) > 0
    }

    #[inline]
    fn says(_: &Turn) -> usize {
        0
    }

    #[inline]
    fn expects(_: &Turn, _: u32) -> usize {
        0
    }

    fn has_nothing(t: &Turn, rank: u32) -> bool {
        t.args.recv.len(rank) == 0
    }

    #[inline]
    fn length<B: Board>(t: &Turn, from: &Payload, _: u32, board: &B) -> usize {
        row_of(from, t.args.size, board)
    }

    #[inline(always)]
    fn take<B: Board>(t: &Turn, from: &Payload, _: u32, board: &mut B) -> Result<(), Trouble> {
        let into = t.args.recv_block(from.rank);
        if from.rank != t.args.rank {
            return take(t, from, own_entry(t), into, board);
        }
        if t.args.in_place {
            return Ok(());
        }
        let own = t.args.send_block(from.rank);
        fits(t, from.rank, own.len as u64, into.len)?;
        t.keep(own, into, board);
        Ok(())
    }

    #[inline(always)]
    fn meanwhile<B: Board>(t: &Turn, board: &mut B) {
        let me = t.args.rank;
        if t.is_direct() && !t.args.in_place {
            t.keep_rest(t.args.send_block(me), t.args.recv_block(me), board);
        }
    }
}
