//! Proof by trying everything that no record is overwritten too early: all
//! interleavings of all short sequences of operations, on the smallest boards.
//!
//! One step is one poll. That is fine enough: if a member could overwrite what
//! another has still to read, then the order in which it does so before the
//! other is polled at all is among those tried, and the other then finds a
//! wrong stamp for ever, or a wrong payload in a slot.

use std::collections::HashSet;

use catena_coll::node::{Board, Kind, Node, Op, Place};
use catena_coll::{Args, Layout};
use catena_plan::{Order, Region};

/// Payloads up to this size go into the record, longer ones into a slot.
const SHORT: usize = 1;
const LONG: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Call {
    kind: Kind,
    root: u32,
    bytes: usize,
}

const fn call(kind: Kind, root: u32, bytes: usize) -> Call {
    Call { kind, root, bytes }
}

/// One of each way to communicate: everybody hears from everybody, directly or
/// from a leader; one to all; all to one; upwards. In records and in slots.
const ALPHABET: [Call; 7] = [
    call(Kind::Barrier, 0, 0),
    call(Kind::BarrierLeader, 0, 0),
    call(Kind::Allreduce, 0, LONG),
    call(Kind::Bcast, 0, SHORT),
    call(Kind::Bcast, 1, LONG),
    call(Kind::Reduce, 0, SHORT),
    call(Kind::Scan, 0, LONG),
];

impl Call {
    fn args(&self, rank: u32, size: u32) -> Args<'static> {
        Args {
            size,
            rank,
            root: self.root,
            in_place: false,
            elem: 1,
            commutative: true,
            send: Layout::Even(self.bytes),
            recv: Layout::Even(self.bytes),
            site: None,
        }
    }
}

/// The memory of a board. A payload is the number of the operation that wrote
/// it: that is all there is to get wrong.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Memory<const LINES: u64, const SLOTS: u64> {
    /// By rank and place: stamp, meta, payload.
    lines: Vec<(u64, u64, u64)>,
    slots: Vec<u64>,
    done: Vec<u64>,
    /// Stands for a protocol without the counters.
    blind: bool,
    rank: u32,
}

impl<const LINES: u64, const SLOTS: u64> Memory<LINES, SLOTS> {
    fn new(size: u32, blind: bool) -> Self {
        let size = size as usize;
        Memory {
            lines: vec![(0, 0, 0); size * LINES as usize],
            slots: vec![0; size * SLOTS as usize],
            done: vec![0; size],
            blind,
            rank: 0,
        }
    }

    fn line(rank: u32, seq: u64) -> usize {
        (u64::from(rank) * LINES + seq % LINES) as usize
    }

    fn slot(rank: u32, seq: u64) -> usize {
        (u64::from(rank) * SLOTS + seq % SLOTS) as usize
    }

    fn check(&self, place: Place, rank: u32, seq: u64) {
        let found = match place {
            Place::Line => self.lines[Self::line(rank, seq)].2,
            Place::Slot => self.slots[Self::slot(rank, seq)],
        };
        assert_eq!(
            found, seq,
            "overwritten: payload of rank {rank} for operation {seq}"
        );
    }
}

impl<const LINES: u64, const SLOTS: u64> Board for Memory<LINES, SLOTS> {
    const LINES: u64 = LINES;
    const SLOTS: u64 = SLOTS;

    fn capacity(&self) -> usize {
        LONG
    }

    fn stamp(&self, rank: u32, seq: u64) -> u64 {
        self.lines[Self::line(rank, seq)].0
    }

    fn meta(&self, rank: u32, seq: u64) -> u64 {
        self.lines[Self::line(rank, seq)].1
    }

    fn put(&mut self, place: Place, seq: u64, _: usize, _: Region) {
        match place {
            Place::Line => self.lines[Self::line(self.rank, seq)].2 = seq,
            Place::Slot => self.slots[Self::slot(self.rank, seq)] = seq,
        }
    }

    fn publish(&mut self, seq: u64, meta: u64) {
        let line = &mut self.lines[Self::line(self.rank, seq)];
        (line.0, line.1) = (seq, meta);
    }

    fn get(&mut self, place: Place, rank: u32, seq: u64, _: usize, _: Region) {
        self.check(place, rank, seq);
    }

    fn combine(&mut self, place: Place, rank: u32, seq: u64, _: usize, _: Region, _: Order) {
        self.check(place, rank, seq);
    }

    fn copy(&mut self, _: Region, _: Region) {}

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
struct State<const LINES: u64, const SLOTS: u64> {
    memory: Memory<LINES, SLOTS>,
    /// By rank: its node, the index of its call, the operation if it has begun.
    members: Vec<(Node, usize, Option<Op>)>,
}

/// Explores all interleavings; gives the number of states, panics if in one of
/// them nobody can go on.
fn explore<const LINES: u64, const SLOTS: u64>(size: u32, calls: &[Call], blind: bool) -> usize {
    let start = State::<LINES, SLOTS> {
        memory: Memory::new(size, blind),
        members: (0..size)
            .map(|r| (Node::new(r, size, false), 0, None))
            .collect(),
    };
    let mut seen = HashSet::from([start.clone()]);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        let mut moved = false;
        let finished = state.members.iter().all(|m| m.1 == calls.len());
        for rank in 0..size {
            let mut next = state.clone();
            let (node, at, op) = &mut next.members[rank as usize];
            let Some(call) = calls.get(*at) else { continue };
            next.memory.rank = rank;
            let running = op.get_or_insert_with(|| node.start(call.kind));
            if running
                .poll(node, &call.args(rank, size), &mut next.memory)
                .expect("calls fit")
            {
                *op = None;
                *at += 1;
            }
            next.memory.rank = 0;
            if next != state {
                moved = true;
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        assert!(moved || finished, "stuck: {size} ranks in {calls:?}");
    }
    seen.len()
}

/// Every sequence of `length` operations.
fn sequences(length: u32) -> impl Iterator<Item = Vec<Call>> {
    (0..ALPHABET.len().pow(length)).map(move |mut number| {
        (0..length)
            .map(|_| {
                let call = ALPHABET[number % ALPHABET.len()];
                number /= ALPHABET.len();
                call
            })
            .collect()
    })
}

#[test]
fn two_ranks() {
    for calls in sequences(5) {
        explore::<2, 2>(2, &calls, false);
    }
}

#[test]
fn three_ranks() {
    for calls in sequences(4) {
        explore::<2, 2>(3, &calls, false);
    }
}

#[test]
fn more_records_than_slots() {
    for calls in sequences(5) {
        explore::<4, 2>(2, &calls, false);
    }
}

/// The search does find it when a member does not wait for the readers.
#[test]
fn a_protocol_without_counters_is_found_wrong() {
    let bcasts = [call(Kind::Bcast, 0, SHORT); 4];
    let slots = [call(Kind::Bcast, 1, LONG); 4];
    for calls in [bcasts, slots] {
        let found = std::panic::catch_unwind(|| explore::<2, 2>(2, &calls, true));
        assert!(found.is_err(), "{calls:?}");
        explore::<2, 2>(2, &calls, false);
    }
}
