//! One operation on its way.

use std::mem;

use super::board::{Board, FAILED, IN_LONG, INLINE, LEFT, LOST, Meta, Payload, Place};
use super::error::{Mismatch, Skipped, Trouble};
use super::program::{Heard, Program, Turn};
use super::{
    FEW, FLAT_MEMBERS, Kind, LINE, Node, barrier, exchange, neighbors, pieces, reduce, rooted,
    rows, scan,
};
use crate::Args;

/// How many operations ahead the own record is fetched for writing: with fewer
/// the store waits for it, with more readers who run ahead take it away again.
const WARM_AHEAD: u64 = 2;

/// How many operations ahead a member that is behind asks for the records of
/// others.
const EXPECT_AHEAD: u64 = 4;

/// Records that a leader fetches at once, as each of many members does for longer payloads: else it
/// would wait for one after the other. No more than a core has under way.
const FETCHED: u32 = 16;

/// What one member has for others comes in so many segments, unless they are
/// shorter than `PART`: they read the first while the second is written.
const PARTS: usize = 4;
const PART: usize = 16 << 10;

/// Where ranks outnumber cores, payloads of up to [`FEW`] members, or of so many bytes, are taken by
/// all their readers. Measured here: 64 KiB from one of 4 take 8 instead of 18 µs.
const LONG: usize = 16 << 10;

/// In how many operations back a difference is looked for: no board has more records.
const LOOK_BACK: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    First,
    Read,
    Last,
    /// Others still use the own buffers.
    Settle,
    /// It was given up.
    Failed,
}

/// One operation under way. A few words; may be moved and copied about, but
/// only one copy be polled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Op {
    kind: Kind,
    detail: u32,
    stage: Stage,
    round: u8,
    /// Index of the source to hear from next, or of the reader to wait for.
    next: u32,
    /// Bytes of each block that are complete.
    offset: usize,
    /// Where the own payload is, once it is published.
    at: u64,
    ticket: u64,
    /// Whether it used a payload in the buffer of who published it, who waits.
    borrowed: bool,
    /// Bytes of the longest payload that was read in a ring, if lengths vary.
    read: usize,
    /// Whether it did without some that everybody hears from.
    partial: bool,
    /// Whether to look if those who are waited for will ever publish.
    suspects: bool,
}

impl Op {
    pub(super) fn new((kind, detail): (Kind, u32), ticket: u64) -> Self {
        Op {
            kind,
            detail,
            stage: Stage::First,
            round: 0,
            next: 0,
            offset: 0,
            at: 0,
            ticket,
            borrowed: false,
            read: 0,
            partial: false,
            suspects: false,
        }
    }

    /// How it runs.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// From now on it looks whether this member waits in vain.
    pub fn suspect(&mut self) {
        self.suspects = true;
    }

    /// Gives it up, as after an error: polling it again only tells whether
    /// nobody uses the own buffers any more. The board is of no more use.
    pub fn give_up(&mut self) {
        (self.stage, self.next) = (Stage::Failed, 0);
    }

    /// Does what can be done now; true once the operation is complete here,
    /// after which it is not polled again. `args` and `board` are the same in
    /// every call. Never blocks or allocates.
    ///
    /// # Errors
    /// [`Trouble`] if another member called something else, or its memory is
    /// out of reach. The board cannot be used any more.
    #[inline(always)]
    pub fn poll<B: Board>(
        &mut self,
        node: &mut Node,
        args: &Args,
        board: &mut B,
    ) -> Result<bool, Trouble> {
        if self.ticket != node.completed {
            return Ok(false);
        }
        let outcome = self.dispatch(node, args, board);
        // One that was given up has said so, which must stand.
        if matches!(outcome, Ok(false)) && self.stage != Stage::Failed {
            node.tell(board);
        }
        outcome
    }

    #[inline(always)]
    fn dispatch<B: Board>(
        &mut self,
        node: &mut Node,
        args: &Args,
        board: &mut B,
    ) -> Result<bool, Trouble> {
        match self.kind {
            Kind::Barrier => self.run::<barrier::Barrier, B>(node, args, board),
            Kind::BarrierLeader => self.run::<barrier::BarrierLeader, B>(node, args, board),
            Kind::Bcast => self.run::<rooted::Bcast, B>(node, args, board),
            Kind::Reduce | Kind::Allreduce | Kind::AllreduceLeader | Kind::AllreduceSplit
                if self.is_new() && node.in_pieces(args.send.len(0)) =>
            {
                self.kind = match self.kind {
                    Kind::Reduce => Kind::ReducePieces,
                    _ => Kind::AllreducePieces,
                };
                self.dispatch(node, args, board)
            }
            Kind::Reduce if args.root > 1 || node.size == 1 => {
                self.run::<reduce::Reduce<false>, B>(node, args, board)
            }
            Kind::Reduce => self.run::<reduce::Reduce<true>, B>(node, args, board),
            Kind::Allreduce => self.run::<reduce::Allreduce, B>(node, args, board),
            Kind::AllreduceLeader => self.run::<reduce::AllreduceLeader, B>(node, args, board),
            Kind::AllreduceSplit => self.run::<reduce::AllreduceSplit, B>(node, args, board),
            Kind::ReducePieces => self.run::<pieces::Pieces<false>, B>(node, args, board),
            Kind::AllreducePieces => self.run::<pieces::Pieces<true>, B>(node, args, board),
            Kind::Allgather => self.run::<exchange::Allgather, B>(node, args, board),
            Kind::Gather => self.run::<rooted::Gather, B>(node, args, board),
            Kind::Gatherv if node.size == 2 => self.run::<rooted::Gather, B>(node, args, board),
            Kind::Gatherv => self.run::<rows::Gatherv, B>(node, args, board),
            Kind::Scatter => self.run::<rooted::Scatter, B>(node, args, board),
            Kind::Scatterv if node.size == 2 => self.run::<rooted::Scatter, B>(node, args, board),
            Kind::Scatterv => self.run::<rows::Scatterv, B>(node, args, board),
            Kind::Alltoall => self.run::<exchange::Alltoall, B>(node, args, board),
            Kind::Alltoallv if node.size == 2 => {
                self.run::<exchange::Alltoall, B>(node, args, board)
            }
            Kind::Alltoallv => self.run::<rows::Alltoallv, B>(node, args, board),
            Kind::ReduceScatter => self.run::<reduce::ReduceScatter, B>(node, args, board),
            Kind::Scan => self.run::<scan::Scan<true>, B>(node, args, board),
            Kind::Exscan => self.run::<scan::Scan<false>, B>(node, args, board),
            Kind::Neighbors => self.run::<neighbors::Neighbors, B>(node, args, board),
        }
    }

    #[inline(always)]
    fn run<P: Program, B: Board>(
        &mut self,
        node: &mut Node,
        args: &Args,
        board: &mut B,
    ) -> Result<bool, Trouble> {
        if self.is_new() {
            self.begin::<P, B>(node, args, board)
        } else {
            self.resume::<P, B>(P::extent(args), node, args, board)
        }
    }

    /// Whether it was never polled, or had no room yet.
    #[inline(always)]
    fn is_new(&self) -> bool {
        self.stage == Stage::First && self.round == 0 && self.offset == 0
    }

    /// The first look. Payloads within records have code of their own, of which
    /// little is left: what is known of an operation at its beginning need not
    /// be looked up.
    #[inline(never)]
    fn begin<P: Program, B: Board>(
        &mut self,
        node: &mut Node,
        args: &Args,
        board: &mut B,
    ) -> Result<bool, Trouble> {
        let whole = P::extent(args);
        if whole * P::blocks(args) > INLINE {
            return self.resume::<P, B>(whole, node, args, board);
        }
        let mut op = Op::new((self.kind, self.detail), self.ticket);
        while op.round < P::ROUNDS {
            if !op.step::<P, B>(Place::Line, (whole, whole), node, args, board)? {
                *self = op;
                return Ok(false);
            }
        }
        node.end();
        Ok(true)
    }

    #[inline(never)]
    fn resume<P: Program, B: Board>(
        &mut self,
        whole: usize,
        node: &mut Node,
        args: &Args,
        board: &mut B,
    ) -> Result<bool, Trouble> {
        let (place, longest) = place::<P>(whole, args, node);
        loop {
            let part = (longest.min(whole - self.offset), whole);
            if self.stage == Stage::Failed {
                let turn = self.turn(place, part, node, args);
                return Ok(self.is_unused::<P, B>(&turn, board));
            }
            if !self.step::<P, B>(place, part, node, args, board)? {
                if self.suspects {
                    self.look::<P, B>(&self.turn(place, part, node, args), board)?;
                }
                return Ok(false);
            }
            if self.round == P::ROUNDS {
                self.round = 0;
                self.offset += part.0;
                if self.offset >= whole {
                    node.end();
                    return Ok(true);
                }
            }
        }
    }

    #[inline(always)]
    fn turn<'t, 'a>(
        &self,
        place: Place,
        (len, whole): (usize, usize),
        node: &Node,
        args: &'t Args<'a>,
    ) -> Turn<'t, 'a> {
        Turn {
            args,
            kind: self.kind,
            detail: self.detail,
            offset: self.offset,
            len,
            whole,
            round: self.round,
            lent_from: lent_from(node),
            own: Payload {
                place,
                rank: args.rank,
                seq: node.seq,
                at: self.at,
                is_taken: false,
            },
        }
    }

    /// One round of one segment of `len` bytes; false if it has to wait.
    #[inline(always)]
    fn step<P: Program, B: Board>(
        &mut self,
        place: Place,
        (len, whole): (usize, usize),
        node: &mut Node,
        args: &Args,
        board: &mut B,
    ) -> Result<bool, Trouble> {
        let first_look = self.stage == Stage::First;
        let mut turn = self.turn(place, (len, whole), node, args);
        let takes = place != Place::Line && is_taken::<P>(&turn, node.oversubscribed);
        turn.own.is_taken = takes;
        if self.stage == Stage::First {
            let scratch = P::scratch(&turn);
            if scratch > 0 {
                board.reserve(scratch)?;
            }
            if P::publishes_first(&turn) && !self.publish::<P, B>((place, &mut turn), node, board) {
                return Ok(false);
            }
            (self.stage, self.next) = (Stage::Read, 0);
        }
        if self.stage == Stage::Read {
            let counts = counts::<P>(&turn);
            // Of those it has heard from in this round, how many prefer the ring.
            let mut votes = if first_look { 0 } else { node.tally };
            let fetches = P::LEADS || place != Place::Line && args.size > FLAT_MEMBERS;
            while let Some(rank) = P::source(&turn, self.next) {
                if fetches && self.next.is_multiple_of(FETCHED) {
                    let next = self.next..self.next + FETCHED;
                    let others = next.map_while(|i| P::source(&turn, i));
                    others.for_each(|rank| board.expect(rank, node.seq));
                }
                if !P::wants(&turn, rank, self.next) {
                    (self.partial, self.next) = (true, self.next + 1);
                    continue;
                }
                let from = if rank == args.rank {
                    turn.own
                } else if let Some((place, wants_ring)) = hear::<P, B>(&turn, rank, board)? {
                    if counts {
                        votes += u32::from(wants_ring);
                    } else if rank == 0 && P::heard(&turn) == Heard::First {
                        node.heard = wants_ring;
                    }
                    // Who finds everything there is behind: so is what comes
                    // next.
                    if first_look && !P::ALL {
                        board.expect(rank, node.seq + EXPECT_AHEAD);
                    }
                    if P::VARIES && place == Place::Direct {
                        self.borrowed = true;
                    }
                    let mut from = board.payload(rank, node.seq, place);
                    from.is_taken = takes && from.at & LEFT == 0;
                    from
                } else {
                    if counts {
                        node.tally = votes;
                    }
                    return Ok(false);
                };
                P::take(&turn, &from, self.next, board)?;
                if P::VARIES && from.place == Place::Ring {
                    self.read = self.read.max(P::length(&turn, &from, self.next, board));
                }
                if P::swaps(&turn) && from.place == Place::Ring && rank != args.rank {
                    node.took(&from, turn.len * P::blocks(args));
                }
                self.next += 1;
            }
            if counts && !self.partial {
                match (P::LEADS, args.rank) {
                    (true, 0) => node.tally = votes,
                    (true, _) => node.heard = votes > 0,
                    _ => node.heard = votes + u32::from(node.said) >= node.quorum,
                }
            }
            self.stage = Stage::Last;
        }
        if self.stage == Stage::Last {
            if P::publishes_last(&turn) && !self.publish::<P, B>((place, &mut turn), node, board) {
                return Ok(false);
            }
            let owed = self.owed::<P>(&turn);
            node.complete(owed, board);
            P::meanwhile(&turn, board);
            (self.stage, self.next) = (Stage::Settle, 0);
        }
        if place == Place::Direct && !self.is_settled::<P, B>(&turn, board)? {
            return Ok(false);
        }
        P::finish(&turn, board);
        if place == Place::Line && !P::VARIES {
            node.pass();
        }
        if args.rank == 0 && P::heard(&turn) == Heard::First && !self.partial {
            node.heard = node.said;
        }
        node.advance(P::ALL && !self.partial);
        self.stage = Stage::First;
        self.round += 1;
        Ok(true)
    }

    /// Bytes of a ring that any member may want back after this round, at most; all there are
    /// if one waits for it, or this one has not heard how many they are.
    #[inline(always)]
    fn owed<P: Program>(&mut self, turn: &Turn) -> usize {
        let read = mem::take(&mut self.read);
        let unheard = P::SOME || P::VARIES && (self.partial || self.next == 0);
        match turn.own.place {
            _ if self.borrowed || unheard => usize::MAX,
            Place::Direct => usize::MAX,
            _ if P::VARIES => read,
            Place::Line => 0,
            Place::Ring => turn.len * P::blocks(turn.args),
        }
    }

    /// Publishes the own payload; false if there is no room yet.
    #[inline(always)]
    fn publish<P: Program, B: Board>(
        &mut self,
        (place, turn): (Place, &mut Turn),
        node: &mut Node,
        board: &mut B,
    ) -> bool {
        let bytes = match place {
            Place::Line => 0,
            Place::Ring => turn.len * P::blocks(turn.args),
            Place::Direct => P::table(turn.args),
        };
        let reader = P::reader(turn);
        let swapped = match place {
            Place::Ring if P::swaps(turn) => node.swap(bytes),
            _ => None,
        };
        let room = match swapped {
            Some(_) => (0, false),
            None => (bytes, place == Place::Ring && uses_long::<P>(turn, node)),
        };
        let Some(at) = node.reserve(room, reader, board) else {
            return false;
        };
        turn.own.at = swapped.unwrap_or(at);
        if place == Place::Ring && turn.own.at & IN_LONG != 0 && board.leaves() {
            turn.own.at |= LEFT;
            turn.own.is_taken = false;
        }
        match place {
            Place::Line | Place::Ring => P::put(turn, board),
            Place::Direct => turn.own.at = P::shows(turn, board),
        }
        self.at = turn.own.at;
        let mut meta = Meta::pack(self.kind, place, self.detail, P::says(turn));
        let speaks = match counts::<P>(turn) {
            true => node.votes,
            false => turn.args.rank == 0,
        };
        if speaks {
            node.said = board.prefers_ring(place);
            if P::LEADS && self.stage == Stage::Last {
                node.said = node.tally + u32::from(node.said) >= node.quorum;
            }
            meta |= Meta::ring(node.said);
        }
        board.publish(&turn.own, meta, reader);
        board.warm(turn.own.seq + WARM_AHEAD);
        if place == Place::Ring && swapped.is_none() {
            board.warm_ring(node.next(at), bytes);
        }
        true
    }

    /// Whether all who use the own buffers have done so. Only the last round
    /// waits for them: each program sees to it that the others need not.
    #[inline]
    fn is_settled<P: Program, B: Board>(
        &mut self,
        turn: &Turn,
        board: &B,
    ) -> Result<bool, Trouble> {
        let published = P::publishes_first(turn) || P::publishes_last(turn);
        if !published || turn.round + 1 < P::ROUNDS {
            return Ok(true);
        }
        let (me, seq) = (turn.args.rank, turn.own.seq);
        while self.next < turn.args.size {
            let rank = self.next;
            if rank != me && P::uses(turn, rank) {
                match board.done(rank) {
                    FAILED | LOST => return Err(Trouble::Failed(rank)),
                    done if done <= seq => return Ok(false),
                    _ => {}
                }
            }
            self.next += 1;
        }
        Ok(true)
    }

    /// Looks whether this member waits in vain.
    ///
    /// # Errors
    /// `Mismatch` or `Skipped` if the one it waits for has published nothing and is ahead.
    #[cold]
    #[inline(never)]
    fn look<P: Program, B: Board>(&self, turn: &Turn, board: &mut B) -> Result<(), Trouble> {
        let (me, seq) = (turn.args.rank, turn.own.seq);
        let rank = match self.stage {
            Stage::Read => P::source(turn, self.next),
            Stage::Settle => Some(self.next),
            _ => None,
        };
        let Some(rank) = rank else {
            return Ok(());
        };
        board.awaits(rank);
        if self.stage == Stage::Settle {
            return Ok(());
        }
        let done = board.done(rank);
        // The stamp is read again: it comes before what says that it is done.
        if rank == me || done <= seq || board.stamp(rank, seq) == seq {
            return Ok(());
        }
        match done {
            // That member tells what happened.
            FAILED | LOST => Err(Trouble::Failed(rank)),
            _ => {
                // Who called something else says more than who did not.
                self.compare(turn, board)?;
                Err(Trouble::Skipped(Skipped {
                    rank,
                    me,
                    mine: Meta::new(self.kind, self.detail, turn.whole as u64),
                }))
            }
        }
    }

    /// Whether all others that have published were in the same call.
    ///
    /// # Errors
    /// `Mismatch` if one was not.
    fn compare<B: Board>(&self, turn: &Turn, board: &B) -> Result<(), Trouble> {
        let (me, seq) = (turn.args.rank, turn.own.seq);
        let mine = Meta::pack(self.kind, Place::Line, self.detail, turn.whole);
        for other in (0..turn.args.size).filter(|&other| other != me) {
            if board.stamp(other, seq) == seq {
                let theirs = board.meta(other, seq);
                if (theirs ^ mine) & Meta::CALL != 0 {
                    return Err(mismatch((turn.args, seq), (other, theirs), mine, board));
                }
            }
        }
        Ok(())
    }

    /// Whether nobody uses the own buffers any more, after it was given up.
    fn is_unused<P: Program, B: Board>(&mut self, turn: &Turn, board: &B) -> bool {
        let (me, seq) = (turn.args.rank, turn.own.seq);
        let last = match board.stamp(me, seq) == seq {
            true => seq,
            false if turn.round > 0 => seq - 1,
            false => return true,
        };
        while turn.is_direct() && self.next < turn.args.size {
            let rank = self.next;
            // Who called something else, or with another length, will not look.
            let differs = || {
                let mine = Meta::pack(self.kind, Place::Line, self.detail, P::expects(turn, rank));
                let compared = Meta::CALL | Meta::BYTES;
                board.stamp(rank, last) == last && (board.meta(rank, last) ^ mine) & compared != 0
            };
            if rank != me && P::uses(turn, rank) && board.done(rank) <= last && !differs() {
                return false;
            }
            self.next += 1;
        }
        true
    }
}

/// How the own payload gets to the others, and the longest segment.
#[inline]
fn place<P: Program>(whole: usize, args: &Args, node: &Node) -> (Place, usize) {
    let (blocks, elem) = (P::blocks(args), args.elem.max(1));
    if whole * blocks <= INLINE {
        return (Place::Line, whole);
    }
    let lent = match P::VARIES {
        true => whole >= lent_from(node),
        false => P::lends(args, node.oversubscribed) && whole >= node.direct_from(whole * blocks),
    };
    if lent {
        return (Place::Direct, whole);
    }
    if P::VARIES {
        return (Place::Ring, whole);
    }
    let ring = node.limits.bytes(node.limits.is_long(whole * blocks));
    let mut segment = match P::ROUNDS {
        // Each segment takes a turn of all on their cores.
        1 if node.takes_turns() || P::MUTUAL && node.oversubscribed => ring / 2,
        1 => ring / 4,
        // All wait for all in every round: the fewer there are the better.
        _ => ring,
    };
    if !P::ALL && !node.takes_turns() {
        segment = segment.min((whole * blocks / PARTS).max(PART));
    }
    (Place::Ring, longest_segment(whole, blocks, elem, segment))
}

/// Whether the payloads of an operation are in the long ring.
#[inline(always)]
fn uses_long<P: Program>(turn: &Turn, node: &Node) -> bool {
    !P::VARIES && node.limits.is_long(turn.whole * P::blocks(turn.args))
}

/// Whether it counts what all members prefer.
#[inline(always)]
fn counts<P: Program>(turn: &Turn) -> bool {
    P::LEADS || P::heard(turn) == Heard::All
}

/// Whether who reads a payload takes its lines. Several readers would take them from each other, but
/// for few cores, where the next reader mostly is where the last one was.
#[inline(always)]
fn is_taken<P: Program>(turn: &Turn, oversubscribed: bool) -> bool {
    P::is_sole(turn) || oversubscribed && (turn.args.size <= FEW || turn.len >= LONG)
}

/// Where not all know the lengths, there are no segments.
#[inline]
fn lent_from(node: &Node) -> usize {
    node.direct_from(0).min(node.limits.row() + 1)
}

/// Bytes of each block in one segment: all, if that many blocks fit.
#[inline]
fn longest_segment(extent: usize, blocks: usize, elem: usize, segment: usize) -> usize {
    if extent * blocks <= segment {
        return extent;
    }
    let fits = segment / blocks;
    // Whole cache lines if they hold whole elements.
    let unit = if elem <= LINE && LINE.is_multiple_of(elem) && fits >= LINE {
        LINE
    } else {
        elem
    };
    fits - fits % unit
}

/// Where the payload of `rank` is, once it has published, and whether it prefers the ring.
#[inline(always)]
fn hear<P: Program, B: Board>(
    turn: &Turn,
    rank: u32,
    board: &B,
) -> Result<Option<(Place, bool)>, Trouble> {
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
        return Err(mismatch((turn.args, seq), (rank, theirs), mine, board));
    }
    Ok(Some((place, differs != 0)))
}

#[cold]
#[inline(never)]
fn mismatch<B: Board>(
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
fn earlier<B: Board>(size: u32, seq: u64, board: &B) -> Option<Mismatch> {
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
