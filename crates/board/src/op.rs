//! One operation on its way.

use std::mem;

use catena_coll::Args;

use crate::board::{Asked, Board, FAILED, GONE, LOST, LongOp};
use crate::hear::{expected, hear, mismatch};
use crate::kind::OpKind;
use crate::lacks::has_lack;
use crate::limits::INLINE;
use crate::member::{FLAT_MEMBERS, Member};
use crate::meta::{Called, Meta};
use crate::payload::{IN_LONG, LEFT, Payload, PayloadPlace};
use crate::program::{Program, Turn};
use crate::programs::{barrier, exchange, neighbors, pieces, reduce, rooted, rows, scan};
use crate::segment::{is_taken, lent_from, place, uses_long};
use crate::trouble::{Skipped, Trouble};

/// How many operations ahead this member's record is fetched for writing: with fewer
/// the store waits for it, with more readers who run ahead take it away again.
const WARM_AHEAD: u64 = 2;

/// How many operations ahead a member that is behind asks for the records of
/// others.
const EXPECT_AHEAD: u64 = 4;

/// Records that a leader fetches at once, as each of many members does for longer payloads: else it
/// would wait for one after the other. No more than a core has under way.
const FETCHED: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    First,
    Read,
    Last,
    /// Others still use this member's buffers.
    Settle,
    /// The operation was given up.
    Failed,
}

/// One operation under way. A few words; may be moved and copied about, but
/// only one copy be polled.
///
/// # Examples
/// Two members, both in this process, meet in a barrier:
/// ```
/// use catena_board::{BoardMemory, BoardShape, BoardUse, Member, OpKind, Pool, Seat};
/// use catena_coll::{Args, Collective};
/// use catena_shm::Shm;
///
/// let (mut first, second) = Shm::tiny_pair();
/// let shape = BoardShape::new(2, false);
/// let told = Pool::default().find(&mut first, shape, BoardUse::All);
/// let enter = |shm: &Shm, rank| {
///     let memory = BoardMemory::open(shm, told, shape).expect("a board");
///     let member = Member::new(rank, 2, false, memory.limits(usize::MAX));
///     // Nobody sleeps, and nobody's buffers are reached.
///     (member, Seat::new(&memory, rank, [].into(), [None, None].into()))
/// };
/// let (mut a, mut seat_a) = enter(&first, 0);
/// let (mut b, mut seat_b) = enter(&second, 1);
///
/// let kind = a.choose(Some(Collective::Barrier), &Args::new(2, 0)).expect("it can be");
/// assert_eq!(kind, OpKind::Barrier);
/// let (mut of_a, mut of_b) = (a.start(kind, 0), b.start(kind, 0));
/// assert_eq!(of_a.poll(&mut a, &Args::new(2, 0), &mut seat_a.view()), Ok(false));
/// assert_eq!(of_b.poll(&mut b, &Args::new(2, 1), &mut seat_b.view()), Ok(true));
/// assert_eq!(of_a.poll(&mut a, &Args::new(2, 0), &mut seat_a.view()), Ok(true));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Op {
    kind: OpKind,
    /// See [`Past::call`](crate::meta::Past::call).
    call: u64,
    stage: Stage,
    round: u8,
    /// Index of the source to hear from next, or of the reader to wait for.
    next: u32,
    /// Bytes of each block that are complete.
    offset: usize,
    /// Where this member's payload is, once it is published.
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
    /// Whether others may need something of this member yet.
    is_needed: bool,
}

impl Member {
    /// Begins an operation. It runs after all that were begun before it. All members must give the
    /// same detail: the root, say, or what combines.
    #[inline(always)]
    pub fn start(&mut self, kind: OpKind, called: impl Into<Called>) -> Op {
        self.started += 1;
        Op::new(
            (kind, self.past.call(kind, called.into())),
            self.started - 1,
        )
    }
}

/// Whether `rank`, which is done with operation `seq`, had no data for it, where its word of lacks
/// does not reach back to that. Its record tells, unless it may be that of a later operation by
/// now: then this one counts as such, for perhaps nothing, which is better than to take what was
/// not written for a result.
#[cold]
#[inline(never)]
fn may_have_lacked<B: Board>(rank: u32, seq: u64, lines: u64, board: &B) -> bool {
    let says = Meta::is_without_data(board.meta(rank, seq));
    // Read after that. Members say every quarter of a lap how far they are.
    let is_its_own = board.done(rank) <= seq + lines / 2;
    says || !is_its_own
}

impl Op {
    fn new((kind, call): (OpKind, u64), ticket: u64) -> Self {
        Op {
            kind,
            call,
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
            is_needed: true,
        }
    }

    /// How it runs.
    pub fn kind(&self) -> OpKind {
        self.kind
    }

    /// Whether another member may wait until this one polls it again. If not, it need be polled
    /// only by who waits for it here.
    #[inline]
    pub fn is_needed(&self) -> bool {
        self.is_needed
    }

    /// From now on it looks whether this member waits in vain.
    pub fn suspect(&mut self) {
        self.suspects = true;
    }

    /// This member has no data for it from now on, if it is in turn: those who wait for what it was
    /// to write to their memory learn of it. From now on it is polled with a board [without
    /// data](crate::WithoutData).
    pub fn withdraw<B: Board>(&self, member: &Member, board: &mut B) {
        let (me, seq) = (member.rank, member.seq);
        // What it was to read is there, and what it has completed is, too.
        let may_owe = self.ticket == member.completed && self.stage != Stage::Settle;
        if may_owe
            && board.stamp(me, seq) == seq
            && Meta::place(board.meta(me, seq)) == PayloadPlace::Direct
        {
            board.withdraw(seq);
        }
    }

    /// Gives it up, as after an error: polling it again only tells whether
    /// nobody uses this member's buffers any more. The board is of no more use.
    pub fn give_up(&mut self) {
        (self.stage, self.next) = (Stage::Failed, 0);
    }

    /// Does what can be done now; true once the operation is complete here,
    /// after which it is not polled again. `args` and `board` are the same in
    /// every call. Never blocks or allocates.
    ///
    /// # Errors
    /// [`Trouble`] if another member called something else, or its memory is
    /// out of reach. The board cannot be used any more. After `NoMemory` and `WithoutData` it can:
    /// the operation is [withdrawn](Op::withdraw), and polled to its end.
    #[inline(always)]
    pub fn poll<B: Board>(
        &mut self,
        member: &mut Member,
        args: &Args,
        board: &mut B,
    ) -> Result<bool, Trouble> {
        if self.ticket != member.completed {
            return Ok(false);
        }
        let outcome = self.dispatch(member, args, board);
        // One that was given up has said so, which must stand.
        if matches!(outcome, Ok(false)) && self.stage != Stage::Failed {
            member.tell(board);
        }
        outcome
    }

    #[inline(always)]
    fn dispatch<B: Board>(
        &mut self,
        member: &mut Member,
        args: &Args,
        board: &mut B,
    ) -> Result<bool, Trouble> {
        match self.kind {
            OpKind::Barrier => self.run::<barrier::Barrier, B>(member, args, board),
            OpKind::BarrierLeader => self.run::<barrier::BarrierLeader, B>(member, args, board),
            OpKind::Bcast => self.run::<rooted::Bcast, B>(member, args, board),
            OpKind::Reduce
            | OpKind::Allreduce
            | OpKind::AllreduceLeader
            | OpKind::AllreduceSplit
                if self.is_new() && member.in_pieces(self.kind, args.send.len(0)) =>
            {
                self.kind = match self.kind {
                    OpKind::Reduce => OpKind::ReducePieces,
                    _ => OpKind::AllreducePieces,
                };
                self.dispatch(member, args, board)
            }
            OpKind::Reduce if args.root > 1 || member.size == 1 => {
                self.run::<reduce::Reduce<false>, B>(member, args, board)
            }
            OpKind::Reduce => self.run::<reduce::Reduce<true>, B>(member, args, board),
            OpKind::Allreduce => self.run::<reduce::Allreduce, B>(member, args, board),
            OpKind::AllreduceLeader => self.run::<reduce::AllreduceLeader, B>(member, args, board),
            OpKind::AllreduceSplit => self.run::<reduce::AllreduceSplit, B>(member, args, board),
            OpKind::ReducePieces => self.run::<pieces::Pieces<false>, B>(member, args, board),
            OpKind::AllreducePieces => self.run::<pieces::Pieces<true>, B>(member, args, board),
            OpKind::Allgather => self.run::<exchange::Allgather, B>(member, args, board),
            OpKind::Gather => self.run::<rooted::Gather, B>(member, args, board),
            OpKind::Gatherv if member.size == 2 => {
                self.run::<rooted::Gather, B>(member, args, board)
            }
            OpKind::Gatherv => self.run::<rows::Gatherv, B>(member, args, board),
            OpKind::Scatter => self.run::<rooted::Scatter, B>(member, args, board),
            OpKind::Scatterv if member.size == 2 => {
                self.run::<rooted::Scatter, B>(member, args, board)
            }
            OpKind::Scatterv => self.run::<rows::Scatterv, B>(member, args, board),
            OpKind::Alltoall => self.run::<exchange::Alltoall, B>(member, args, board),
            OpKind::Alltoallv if member.size == 2 => {
                self.run::<exchange::Alltoall, B>(member, args, board)
            }
            OpKind::Alltoallv => self.run::<rows::Alltoallv, B>(member, args, board),
            OpKind::ReduceScatter => self.run::<reduce::ReduceScatter, B>(member, args, board),
            OpKind::Scan => self.run::<scan::Scan<true>, B>(member, args, board),
            OpKind::Exscan => self.run::<scan::Scan<false>, B>(member, args, board),
            OpKind::Neighbors => self.run::<neighbors::Neighbors, B>(member, args, board),
        }
    }

    #[inline(always)]
    fn run<P: Program, B: Board>(
        &mut self,
        member: &mut Member,
        args: &Args,
        board: &mut B,
    ) -> Result<bool, Trouble> {
        if self.is_new() {
            self.begin::<P, B>(member, args, board)
        } else {
            self.resume::<P, B>(P::extent(args), member, args, board)
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
        member: &mut Member,
        args: &Args,
        board: &mut B,
    ) -> Result<bool, Trouble> {
        let whole = P::extent(args);
        if !B::HAS_DATA || whole * P::blocks(args) > INLINE {
            self.weigh::<P, B>(whole, member, args, board);
            return self.resume::<P, B>(whole, member, args, board);
        }
        let mut op = Op::new((self.kind, self.call), self.ticket);
        while op.round < P::ROUNDS {
            match op.step::<P, B>(PayloadPlace::Line, (whole, whole), member, args, board) {
                Ok(true) => {}
                Ok(false) => {
                    // Who publishes in the only round has done its part; but others lend buffers
                    // where lengths vary.
                    let turn = op.turn(PayloadPlace::Line, (whole, whole), member, args);
                    let has_rest = P::ROUNDS > 1 || P::publishes_last(&turn);
                    op.is_needed = P::VARIES || has_rest || op.stage == Stage::First;
                    *self = op;
                    return Ok(false);
                }
                failed => {
                    *self = op;
                    return failed;
                }
            }
        }
        member.end();
        Ok(true)
    }

    /// Which way long payloads go, and what this member prefers.
    #[inline]
    fn weigh<P: Program, B: Board>(
        &self,
        whole: usize,
        member: &mut Member,
        args: &Args,
        board: &mut B,
    ) {
        let may_lend = P::lends(args, member.oversubscribed) && (P::OWN_WAY || !P::VARIES);
        if may_lend && whole > INLINE && whole >= member.limits.direct {
            let direct = self.turn(PayloadPlace::Direct, (whole, whole), member, args);
            // Else nobody ever hears what is better.
            if P::OWN_WAY || P::decider(&direct).is_some() {
                member.ways.enter(self.kind, whole);
            }
        }
        if member.ways.is_long() && member.ways.asked != member.seq {
            self.ask::<P, B>(whole, member, args, board);
        }
    }

    /// Asks what this member prefers.
    #[inline(never)]
    fn ask<P: Program, B: Board>(
        &self,
        whole: usize,
        member: &mut Member,
        args: &Args,
        board: &mut B,
    ) {
        let (place, _) = place::<P>(whole, args, member);
        let turn = self.turn(place, (whole, whole), member, args);
        let decides = P::decider(&turn) == Some(args.rank);
        let op = LongOp {
            kind: self.kind,
            bytes: whole.saturating_mul(P::blocks(args)),
            in_ring: member.ways.through_ring(),
            asked: match (decides, member.ways.unheard()) {
                _ if P::OWN_WAY => Asked::Now,
                (false, _) => Asked::Nothing,
                (true, 0) => Asked::Next,
                (true, passed) => Asked::InTurn(passed),
            },
        };
        member.ways.asked = member.seq;
        member.ways.said = board.prefers_ring(op);
        if P::OWN_WAY {
            member.ways.choose(member.ways.said);
        }
    }

    #[inline(never)]
    fn resume<P: Program, B: Board>(
        &mut self,
        whole: usize,
        member: &mut Member,
        args: &Args,
        board: &mut B,
    ) -> Result<bool, Trouble> {
        let (place, longest) = place::<P>(whole, args, member);
        loop {
            let part = (longest.min(whole - self.offset), whole);
            if self.stage == Stage::Failed {
                let turn = self.turn(place, part, member, args);
                return Ok(self.is_unused::<P, B>(&turn, board));
            }
            if !self.step::<P, B>(place, part, member, args, board)? {
                if self.suspects {
                    self.look::<P, B>(&self.turn(place, part, member, args), board)?;
                }
                return Ok(false);
            }
            if self.round == P::ROUNDS {
                self.round = 0;
                self.offset += part.0;
                if self.offset >= whole {
                    member.end();
                    return Ok(true);
                }
            }
        }
    }

    #[inline(always)]
    fn turn<'t, 'a>(
        &self,
        place: PayloadPlace,
        (len, whole): (usize, usize),
        member: &Member,
        args: &'t Args<'a>,
    ) -> Turn<'t, 'a> {
        Turn {
            args,
            kind: self.kind,
            call: self.call,
            offset: self.offset,
            len,
            whole,
            round: self.round,
            lent_from: lent_from(member),
            own: Payload {
                place,
                rank: args.rank,
                seq: member.seq,
                at: self.at,
                is_taken: false,
            },
        }
    }

    /// One round of one segment of `len` bytes; false if it has to wait.
    #[inline(always)]
    fn step<P: Program, B: Board>(
        &mut self,
        place: PayloadPlace,
        (len, whole): (usize, usize),
        member: &mut Member,
        args: &Args,
        board: &mut B,
    ) -> Result<bool, Trouble> {
        let first_look = self.stage == Stage::First;
        let mut turn = self.turn(place, (len, whole), member, args);
        let takes = place != PayloadPlace::Line && is_taken::<P>(&turn, member.oversubscribed);
        turn.own.is_taken = takes;
        if self.stage == Stage::First {
            let scratch = P::scratch(&turn);
            if scratch > 0 {
                board.reserve(scratch)?;
            }
            if P::publishes_first(&turn) && !self.publish::<P, B>((place, &mut turn), member, board)
            {
                return Ok(false);
            }
            (self.stage, self.next) = (Stage::Read, 0);
        }
        if self.stage == Stage::Read {
            let decider = match member.ways.is_long() {
                true => P::decider(&turn),
                false => None,
            };
            let fetches = P::LEADS || place != PayloadPlace::Line && args.size > FLAT_MEMBERS;
            while let Some(rank) = P::source(&turn, self.next) {
                if fetches && self.next.is_multiple_of(FETCHED) {
                    let next = self.next..self.next + FETCHED;
                    let others = next.map_while(|i| P::source(&turn, i));
                    others.for_each(|rank| board.expect(rank, member.seq));
                }
                if !P::wants(&turn, rank, self.next) {
                    (self.partial, self.next) = (true, self.next + 1);
                    continue;
                }
                let heard = match rank == args.rank {
                    true => None,
                    false => Some(hear::<P, B>(&turn, rank, board)),
                };
                let from = if let Some(heard) = heard {
                    let Ok(Some((place, prefers_ring))) = heard else {
                        return heard.map(|_| false);
                    };
                    if decider == Some(rank) {
                        member.ways.heard = Some(prefers_ring);
                    }
                    // Who finds everything there is behind: so is what comes
                    // next.
                    if first_look && !P::ALL {
                        board.expect(rank, member.seq + EXPECT_AHEAD);
                    }
                    if P::VARIES && place == PayloadPlace::Direct {
                        self.borrowed = true;
                    }
                    if P::OWN_WAY && place != PayloadPlace::Line && member.ways.is_long() {
                        board.came(rank, place == PayloadPlace::Ring);
                    }
                    let mut from = board.payload(rank, member.seq, place);
                    from.is_taken = takes && from.at & LEFT == 0;
                    from
                } else {
                    turn.own
                };
                if B::HAS_DATA
                    && let Err(trouble) = P::take(&turn, &from, self.next, board)
                {
                    return Err(trouble);
                }
                self.took::<P, B>((&turn, &from), member, board);
            }
            self.stage = Stage::Last;
        }
        self.end_round::<P, B>(place, turn, member, board)
    }

    /// The payload of the next source is read.
    #[inline(always)]
    fn took<P: Program, B: Board>(
        &mut self,
        (turn, from): (&Turn, &Payload),
        member: &mut Member,
        board: &B,
    ) {
        if P::VARIES && from.place == PayloadPlace::Ring {
            self.read = self.read.max(P::length(turn, from, self.next, board));
        }
        if P::swaps(turn) && from.place == PayloadPlace::Ring && from.rank != turn.args.rank {
            member.took(from, turn.len * P::blocks(turn.args));
        }
        self.next += 1;
    }

    /// What is left of a round when all sources were heard; false if it has to wait.
    #[inline(always)]
    fn end_round<P: Program, B: Board>(
        &mut self,
        place: PayloadPlace,
        mut turn: Turn,
        member: &mut Member,
        board: &mut B,
    ) -> Result<bool, Trouble> {
        if self.stage == Stage::Last {
            if P::publishes_last(&turn) && !self.publish::<P, B>((place, &mut turn), member, board)
            {
                return Ok(false);
            }
            let owed = self.owed::<P>(&turn);
            member.complete(owed, board);
            P::meanwhile(&turn, board);
            (self.stage, self.next) = (Stage::Settle, 0);
        }
        if place == PayloadPlace::Direct
            && !self.is_settled::<P, B>(&turn, member.limits.lines, board)?
        {
            return Ok(false);
        }
        P::finish(&turn, board);
        if place == PayloadPlace::Line && !P::VARIES {
            member.pass();
        }
        if member.ways.is_long() && P::decider(&turn) == Some(turn.args.rank) {
            member.ways.heard = Some(member.ways.said);
        }
        member.advance(P::ALL && !self.partial);
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
            PayloadPlace::Direct => usize::MAX,
            _ if P::VARIES => read,
            PayloadPlace::Line => 0,
            PayloadPlace::Ring => turn.len * P::blocks(turn.args),
        }
    }

    /// Publishes this member's payload; false if there is no room yet.
    #[inline(always)]
    fn publish<P: Program, B: Board>(
        &mut self,
        (place, turn): (PayloadPlace, &mut Turn),
        member: &mut Member,
        board: &mut B,
    ) -> bool {
        let bytes = match place {
            PayloadPlace::Line => 0,
            PayloadPlace::Ring => turn.len * P::blocks(turn.args),
            PayloadPlace::Direct => P::table(turn.args),
        };
        let reader = P::reader(turn);
        let swapped = match place {
            PayloadPlace::Ring if P::swaps(turn) => member.swap(bytes),
            _ => None,
        };
        let room = match swapped {
            Some(_) => (0, false),
            None => (
                bytes,
                place == PayloadPlace::Ring && uses_long::<P>(turn, member),
            ),
        };
        let Some(at) = member.reserve(room, reader, board) else {
            return false;
        };
        turn.own.at = swapped.unwrap_or(at);
        if place == PayloadPlace::Ring && turn.own.at & IN_LONG != 0 && board.leaves() {
            turn.own.at |= LEFT;
            turn.own.is_taken = false;
        }
        match place {
            PayloadPlace::Line | PayloadPlace::Ring => P::put(turn, board),
            PayloadPlace::Direct => turn.own.at = P::shows(turn, board),
        }
        self.at = turn.own.at;
        let mut meta = Meta::pack(self.kind, place, self.call, P::says(turn));
        if member.ways.is_long() {
            meta |= Meta::ring(member.ways.said);
        }
        board.publish(&turn.own, meta, reader);
        board.warm(turn.own.seq + WARM_AHEAD);
        if place == PayloadPlace::Ring && swapped.is_none() {
            board.warm_ring(member.next(at), bytes);
        }
        true
    }

    /// Whether all who use this member's buffers have done so. Only the last round
    /// waits for them: each program sees to it that the others need not.
    #[inline]
    fn is_settled<P: Program, B: Board>(
        &mut self,
        turn: &Turn,
        lines: u64,
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
                    // It may have had none when it was to write here.
                    _ if B::HAS_DATA
                        && has_lack(board.lacks(rank), seq)
                            .unwrap_or_else(|| may_have_lacked(rank, seq, lines, board)) =>
                    {
                        return Err(Trouble::WithoutData(rank));
                    }
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
        board.awaits(rank);
        let Some(rank) = rank else {
            return Ok(());
        };
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
                    mine: Meta::new(self.kind, self.call, turn.whole as u64),
                }))
            }
        }
    }

    /// What members have called in this operation, as far as their records tell. One that has
    /// published nothing and is ahead has heard from others: if these have all called the same, so
    /// has it.
    ///
    /// `bytes` are those that this member has said, if it has published nothing.
    #[cold]
    pub fn called_by<B: Board>(
        &self,
        member: &Member,
        args: &Args,
        board: &B,
        bytes: usize,
    ) -> Vec<(u32, Meta)> {
        let (me, seq) = (args.rank, member.seq);
        let bytes = match board.stamp(me, seq) == seq {
            true => ((board.meta(me, seq) ^ self.call) & Meta::BYTES) as usize,
            false => bytes,
        };
        let expected = expected(self.call, bytes, true);
        let (said, silent): (Vec<_>, Vec<_>) =
            (0..args.size).partition(|&rank| board.stamp(rank, seq) == seq);
        let mut all: Vec<_> = said
            .into_iter()
            .map(|rank| (rank, Meta::unpack_unlike(board.meta(rank, seq), expected)))
            .collect();
        let mut others = all.iter().filter(|(rank, _)| *rank != me);
        if let Some(&(_, first)) = others.next()
            && others.all(|(_, it)| (it.kind, it.detail) == (first.kind, first.detail))
        {
            let is_ahead = |&rank: &u32| {
                let done = board.done(rank);
                done > seq && !matches!(done, FAILED | LOST | GONE)
            };
            let silent = silent.into_iter().filter(|&rank| rank != me);
            all.extend(silent.filter(is_ahead).map(|rank| (rank, first)));
        }
        all
    }

    /// Whether all others that have published were in the same call.
    ///
    /// # Errors
    /// `Mismatch` if one was not.
    fn compare<B: Board>(&self, turn: &Turn, board: &B) -> Result<(), Trouble> {
        let (me, seq) = (turn.args.rank, turn.own.seq);
        let mine = Meta::pack(self.kind, PayloadPlace::Line, self.call, turn.whole);
        let expected = expected(self.call, turn.whole, false);
        for other in (0..turn.args.size).filter(|&other| other != me) {
            if board.stamp(other, seq) == seq {
                let theirs = board.meta(other, seq);
                if (theirs ^ mine) & Meta::CALL != 0 {
                    let mine = (mine, expected);
                    return Err(mismatch((turn.args, seq), (other, theirs), mine, board));
                }
            }
        }
        Ok(())
    }

    /// Whether nobody uses this member's buffers any more, after it was given up.
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
                let mut call = self.call;
                if P::EXCHANGES {
                    call ^= u64::from(turn.args.turned);
                }
                let bytes = P::expects(turn, rank);
                let mine = Meta::pack(self.kind, PayloadPlace::Line, call, bytes);
                let theirs = board.meta(rank, last);
                board.stamp(rank, last) == last
                    && (theirs ^ mine) & (Meta::CALL | Meta::BYTES) != 0
                    && !Meta::may_differ(
                        theirs,
                        mine,
                        expected(call, bytes, P::has_nothing(turn, rank)),
                    )
            };
            if rank != me && P::uses(turn, rank) && board.done(rank) <= last && !differs() {
                return false;
            }
            self.next += 1;
        }
        true
    }
}
