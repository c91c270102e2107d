//! Proof by trying everything that no record is overwritten too early: all
//! interleavings of all short sequences of operations, on the smallest boards.
//!
//! One step is one poll. That is fine enough: if a member could overwrite what
//! another has still to read, then the order in which it does so before the
//! other is polled at all is among those tried, and the other then finds a
//! wrong stamp for ever, or a wrong payload in a slot.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::slice;

use catena_board::{
    Board, Limits, LongOp, Member, Op, OpKind, Payload, PayloadPlace, Refused, Trouble,
};
use catena_coll::neighbor::{Edge, Edges, Source};
use catena_coll::{Args, Layout};
use catena_schedule::{Order, Region};

/// Goes into the record; into the ring, of which it is a quarter, or nearly so that
/// there is room for a table; stays in the buffers of the program.
const SHORT: usize = 1;
const LONG: usize = 64;
const ROW: usize = 50;
const HUGE: usize = 600;

const RING: usize = 256;
const LONG_RING: usize = 512;
const RINGS: usize = RING + LONG_RING;
const UNIT: usize = 64;

/// Most members.
const MOST: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Call {
    kind: OpKind,
    root: u32,
    /// Bytes of a block of each member.
    bytes: [usize; MOST],
}

const fn call(kind: OpKind, root: u32, bytes: usize) -> Call {
    let bytes = [bytes; MOST];
    Call { kind, root, bytes }
}

/// A call in which only `owner` has data.
const fn only(kind: OpKind, owner: u32, block: usize) -> Call {
    let mut bytes = [0; MOST];
    bytes[owner as usize] = block;
    let root = 0;
    Call { kind, root, bytes }
}

/// One of each way to communicate: everybody hears from everybody, directly or
/// from a leader; one to all; all to one; upwards. In records, in rings, and
/// directly.
const ALPHABET: [Call; 12] = [
    call(OpKind::Barrier, 0, 0),
    call(OpKind::BarrierLeader, 0, 0),
    call(OpKind::Bcast, 0, SHORT),
    call(OpKind::Bcast, 1, LONG),
    call(OpKind::Bcast, 0, HUGE),
    call(OpKind::Reduce, 0, SHORT),
    call(OpKind::Scan, 0, LONG),
    call(OpKind::AllreduceSplit, 0, LONG),
    call(OpKind::Allgather, 0, LONG),
    call(OpKind::Allreduce, 0, HUGE),
    call(OpKind::Gather, 1, HUGE),
    call(OpKind::Reduce, 1, HUGE),
];

impl Call {
    fn args<'a>(&'a self, rank: u32, size: u32, near: &'a Edges) -> Args<'a> {
        let of = |rank: u32| self.bytes[rank as usize];
        let recv = match self.kind {
            OpKind::Gatherv | OpKind::Alltoallv => Layout::Table {
                counts: &self.bytes,
                displs: &[0; MOST],
            },
            OpKind::Neighbors => Layout::Even(of(near.sources[0].peer)),
            _ => Layout::Even(of(rank)),
        };
        Args {
            size,
            rank,
            root: self.root,
            in_place: false,
            elem: 1,
            commutative: true,
            send: match self.kind {
                OpKind::ReduceScatter => Layout::Table {
                    counts: &self.bytes,
                    displs: &[0; MOST],
                },
                _ => Layout::Even(of(rank)),
            },
            recv,
            site: None,
            turned: 0,
            near: Some(near),
        }
    }
}

/// The neighbours of `rank` in a ring: it sends to the next one.
fn near(rank: u32, size: u32) -> Edges<'static> {
    const fn to(peer: u32) -> [Edge; 1] {
        [Edge { peer, block: 0 }]
    }
    const fn from(peer: u32) -> [Source; 1] {
        [Source {
            peer,
            block: 0,
            entry: 0,
            entries: 1,
        }]
    }
    const TO: [[Edge; 1]; MOST] = [to(0), to(1), to(2)];
    const FROM: [[Source; 1]; MOST] = [from(0), from(1), from(2)];
    let (next, last) = ((rank + 1) % size, (rank + size - 1) % size);
    Edges {
        blocks: &[0],
        destinations: &TO[next as usize],
        sources: &FROM[last as usize],
        reader: Some(next),
    }
}

/// What a record holds; its payload is the number of the operation that wrote
/// it: that is all there is to get wrong, but for the table of a row.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Record {
    stamp: u64,
    meta: u64,
    at: u64,
    payload: u64,
    table: [u32; 4 * MOST],
}

/// What a ring says of its payload.
fn written(p: &Payload) -> u64 {
    p.seq << 8 | u64::from(p.rank)
}

/// The memory of a board.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Memory<const LINES: u64> {
    /// By rank and place.
    lines: Vec<Record>,
    /// By rank and unit: who wrote it, and for which operation.
    rings: Vec<u64>,
    /// By rank: first and last operation in which the program lends its
    /// buffers just now.
    lent: Vec<(u64, u64)>,
    done: Vec<u64>,
    /// Stands for a protocol without the counters.
    blind: bool,
    rank: u32,
}

impl<const LINES: u64> Memory<LINES> {
    const LIMITS: Limits = Limits {
        lines: LINES,
        ring: RING,
        long: LONG_RING,
        direct: HUGE / 4,
    };

    fn new(size: u32, blind: bool) -> Self {
        let size = size as usize;
        Memory {
            lines: vec![Record::default(); size * LINES as usize],
            rings: vec![0; size * RINGS / UNIT],
            lent: vec![(0, 0); size],
            done: vec![0; size],
            blind,
            rank: 0,
        }
    }

    fn line(rank: u32, seq: u64) -> usize {
        (u64::from(rank) * LINES + seq % LINES) as usize
    }

    /// The units of the rings that a payload takes.
    fn units(p: &Payload, at: usize, len: usize) -> Range<usize> {
        let (begin, end) = p.ring_place(&Self::LIMITS);
        let from = begin + at;
        assert!(from + len <= end, "beyond the ring");
        let first = p.ring_of() as usize * RINGS / UNIT;
        first + from / UNIT..first + (from + len).div_ceil(UNIT)
    }

    fn write(&mut self, to: &Payload, at: usize, len: usize) {
        match to.place {
            PayloadPlace::Line => self.lines[Self::line(self.rank, to.seq)].payload = to.seq,
            _ => self.rings[Self::units(to, at, len)].fill(written(to)),
        }
    }

    fn check(&self, p: &Payload, at: usize, len: usize) {
        let good = match p.place {
            PayloadPlace::Line => self.lines[Self::line(p.rank, p.seq)].payload == p.seq,
            PayloadPlace::Ring => {
                let mut units = self.rings[Self::units(p, at, len)].iter();
                units.all(|&found| found == written(p))
            }
            PayloadPlace::Direct => {
                let (first, last) = self.lent[p.rank as usize];
                (first..=last).contains(&p.seq)
            }
        };
        assert!(good, "overwritten: {p:?}");
    }
}

impl<const LINES: u64> Board for Memory<LINES> {
    /// Members prefer now this way, now that, at times not all the same one.
    fn prefers_ring(&mut self, _: LongOp) -> bool {
        let own = self.lines.chunks(LINES as usize).nth(self.rank as usize);
        let stamps = own.into_iter().flatten().map(|line| line.stamp);
        let last = stamps.max().unwrap_or(0);
        last % 3 == 0 && (self.rank == 0 || last % 2 == 0)
    }

    fn stamp(&self, rank: u32, seq: u64) -> u64 {
        self.lines[Self::line(rank, seq)].stamp
    }

    fn meta(&self, rank: u32, seq: u64) -> u64 {
        self.lines[Self::line(rank, seq)].meta
    }

    fn payload(&self, rank: u32, seq: u64, place: PayloadPlace) -> Payload {
        let at = self.lines[Self::line(rank, seq)].at;
        Payload {
            place,
            rank,
            seq,
            at,
            is_taken: false,
        }
    }

    fn put(&mut self, to: &Payload, at: usize, from: Region) {
        self.write(to, at, from.len);
    }

    fn put_word(&mut self, to: &Payload, at: usize, word: u32) {
        self.write(to, at, 4);
        self.lines[Self::line(self.rank, to.seq)].table[at / 4] = word;
    }

    fn publish(&mut self, own: &Payload, meta: u64, _: Option<u32>) {
        if own.place == PayloadPlace::Direct {
            let lent = &mut self.lent[self.rank as usize];
            *lent = (if lent.0 == 0 { own.seq } else { lent.0 }, own.seq);
        }
        let line = &mut self.lines[Self::line(self.rank, own.seq)];
        (line.stamp, line.meta, line.at) = (own.seq, meta, own.at);
    }

    fn withdraw(&mut self, _: u64) {
        unreachable!("there is memory");
    }

    fn lack(&mut self, _: u64) {
        unreachable!("there is memory");
    }

    fn lacks(&self, _: u32) -> u64 {
        0
    }

    fn get(&mut self, from: &Payload, at: usize, into: Region) -> Result<(), Refused> {
        self.check(from, at, into.len);
        Ok(())
    }

    fn give(&mut self, to: &Payload, at: usize, from: Region) -> Result<(), Refused> {
        assert_eq!(to.place, PayloadPlace::Direct);
        self.check(to, at, from.len);
        Ok(())
    }

    fn word(&self, from: &Payload, at: usize) -> u32 {
        self.check(from, at, 4);
        self.lines[Self::line(from.rank, from.seq)].table[at / 4]
    }

    fn combine(
        &mut self,
        from: &Payload,
        at: usize,
        into: Region,
        _: Order,
    ) -> Result<(), Trouble> {
        self.check(from, at, into.len);
        Ok(())
    }

    fn join(
        &mut self,
        from: &Payload,
        at: usize,
        _: Region,
        into: Region,
        order: Order,
    ) -> Result<(), Trouble> {
        self.combine(from, at, into, order)
    }

    fn reserve(&mut self, _: usize) -> Result<(), Trouble> {
        Ok(())
    }

    fn copy(&mut self, _: Region, _: Region) {}

    fn fold(&mut self, _: Region, _: Region, _: Order) -> Result<(), Trouble> {
        Ok(())
    }

    fn address(&mut self, _: Region) -> u64 {
        0
    }

    fn set_done(&mut self, seq: u64) {
        self.done[self.rank as usize] = seq;
    }

    fn done(&self, rank: u32) -> u64 {
        if self.blind {
            u64::MAX
        } else {
            self.done[rank as usize]
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct BoardState<const LINES: u64> {
    memory: Memory<LINES>,
    /// By rank: its member, the index of its call, the operation if it has begun.
    members: Vec<(Member, usize, Option<Op>)>,
}

impl<const LINES: u64> BoardState<LINES> {
    fn new(size: u32, blind: bool) -> Self {
        let member = |r| Member::new(r, size, false, Memory::<LINES>::LIMITS);
        BoardState {
            memory: Memory::new(size, blind),
            members: (0..size).map(|r| (member(r), 0, None)).collect(),
        }
    }

    /// What is to come depends on this alone, and on the calls that some have still to finish. As a
    /// search has some millions of states, a hash stands for each: that two have the same one is
    /// less likely than one in a million.
    fn digest(&self, calls: &[Call]) -> u64 {
        let finished = self.members.iter().map(|m| m.1).min().unwrap_or(0);
        let mut hasher = DefaultHasher::new();
        (self, &calls[finished..]).hash(&mut hasher);
        hasher.finish()
    }

    /// What comes of it if `rank` takes its next step, which belongs to this call.
    fn step(&self, rank: u32, call: &Call) -> Self {
        let (mut next, size) = (self.clone(), self.members.len() as u32);
        let (member, at, op) = &mut next.members[rank as usize];
        next.memory.rank = rank;
        let running = op.get_or_insert_with(|| member.start(call.kind, call.root));
        let near = near(rank, size);
        if running
            .poll(member, &call.args(rank, size, &near), &mut next.memory)
            .expect("calls fit")
        {
            *op = None;
            *at += 1;
            next.memory.lent[rank as usize] = (0, 0);
        }
        next.memory.rank = 0;
        next
    }
}

/// Explores all interleavings of the calls `first` and `more` others, each of which may be any of
/// `of`; panics if in one of them nobody can go on. Sequences that begin alike are explored
/// together, and those whose states have become the same.
fn explore<const LINES: u64>(size: u32, first: &[Call], of: &[Call], more: usize, blind: bool) {
    let length = first.len() + more;
    let start = (BoardState::<LINES>::new(size, blind), first.to_vec());
    let mut seen = HashSet::from([start.0.digest(&start.1)]);
    let mut open = vec![start];
    while let Some((state, calls)) = open.pop() {
        let mut moved = false;
        let finished = state.members.iter().all(|m| m.1 == length);
        for rank in 0..size {
            let at = state.members[rank as usize].1;
            let choices = match calls.get(at) {
                Some(call) => slice::from_ref(call),
                None if at < length => of,
                None => &[],
            };
            for call in choices {
                let next = state.step(rank, call);
                if next == state {
                    continue;
                }
                moved = true;
                let mut calls = calls.clone();
                if at == calls.len() {
                    calls.push(*call);
                }
                if seen.insert(next.digest(&calls)) {
                    open.push((next, calls));
                }
            }
        }
        assert!(moved || finished, "stuck: {size} ranks in {calls:?}");
    }
}

#[test]
fn two_ranks() {
    explore::<2>(2, &[], &ALPHABET, 5, false);
}

#[test]
fn three_ranks() {
    explore::<2>(3, &[], &ALPHABET, 4, false);
}

/// Where lengths differ nobody waits for who has nothing for it.
#[test]
fn members_without_data() {
    const SOME: [Call; 5] = [
        call(OpKind::Alltoallv, 0, ROW),
        only(OpKind::Alltoallv, 0, ROW),
        only(OpKind::Neighbors, 1, ROW),
        only(OpKind::Gatherv, 1, HUGE),
        call(OpKind::Bcast, 1, LONG),
    ];
    explore::<2>(2, &[], &SOME, 5, false);
    explore::<2>(3, &[], &SOME, 4, false);
}

/// Members that combine a piece each, for all.
#[test]
fn reductions_in_two_rounds() {
    const SPLIT: [Call; 3] = [
        call(OpKind::AllreduceSplit, 0, LONG),
        call(OpKind::Bcast, 1, LONG),
        call(OpKind::Reduce, 2, SHORT),
    ];
    explore::<2>(2, &[], &SPLIT[..2], 5, false);
    explore::<2>(3, &[], &SPLIT, 4, false);
}

/// Records for more operations than the ring holds payloads.
#[test]
fn a_ring_that_fills_up() {
    const LAPS: [Call; 5] = [
        call(OpKind::Bcast, 0, LONG),
        call(OpKind::Bcast, 1, LONG - 9),
        call(OpKind::Allreduce, 0, LONG),
        call(OpKind::Allgather, 0, LONG - 9),
        call(OpKind::Gather, 0, LONG),
    ];
    explore::<8>(2, &[], &LAPS, 6, false);
}

/// Of two that exchange payloads each writes its own one where it has read the other's.
#[test]
fn places_that_are_swapped() {
    const EXCHANGE: Call = call(OpKind::Allgather, 0, LONG);
    const THEN: [Call; 8] = [
        EXCHANGE,
        only(OpKind::Alltoallv, 0, LONG),
        call(OpKind::Barrier, 0, 0),
        call(OpKind::Bcast, 1, SHORT),
        only(OpKind::ReduceScatter, 1, LONG),
        call(OpKind::Bcast, 0, LONG),
        call(OpKind::Bcast, 1, LONG),
        call(OpKind::AllreduceSplit, 0, LONG),
    ];
    for exchanges in 2..4 {
        explore::<8>(2, &vec![EXCHANGE; exchanges], &THEN, 5, false);
    }
}

/// Who has no data publishes, and waits for nobody.
#[test]
fn operations_without_data() {
    const SOME: [Call; 4] = [
        call(OpKind::Allreduce, 0, 0),
        call(OpKind::Allreduce, 0, LONG),
        call(OpKind::Bcast, 1, LONG),
        call(OpKind::Barrier, 0, 0),
    ];
    explore::<2>(2, &[], &SOME, 6, false);
}

/// The search does find it when a member does not wait for the readers.
#[test]
fn a_protocol_without_counters_is_found_wrong() {
    let lines = [call(OpKind::Bcast, 0, SHORT); 6];
    let ring = [call(OpKind::Bcast, 1, LONG); 6];
    let direct = [call(OpKind::Gather, 1, HUGE); 1];
    let unheard = [only(OpKind::Neighbors, 0, ROW); 6];
    for calls in [&lines[..], &ring, &direct, &unheard] {
        let found = std::panic::catch_unwind(|| explore::<4>(2, calls, &[], 0, true));
        assert!(found.is_err(), "{calls:?}");
        explore::<4>(2, calls, &[], 0, false);
    }
}
