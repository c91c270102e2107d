//! Collectives on a board in real shared memory, against the reference: members that are all in
//! this process, each with a mapping of its own, whose buffers are reached through the kernel.

#[path = "../../coll/tests/reference/case.rs"]
mod case;
#[allow(dead_code, reason = "only two of the operations have their like here")]
#[path = "../../coll/tests/reference/ops.rs"]
mod ops;

use std::collections::HashSet;
use std::ffi::{c_int, c_void};

use case::{Case, Job};
use catena_abi::{self as abi, consts};
use catena_board::{
    BoardMemory, BoardOffset, BoardShape, BoardUse, Member, Op, OpKind, Pool, Seat,
};
use catena_coll::Collective;
use catena_datatype::{Datatype, OpKind as Arithmetic};
use catena_fabric::Peer;
use catena_objects::callback::OpFn;
use catena_objects::op::{Op as Reduction, Reducer, UserFn};
use catena_schedule::Order;
use catena_shm::{Config, Shm};
use ops::{ELEM, SUM, TREE};

/// One member on its way through all calls.
struct Runner {
    rank: u32,
    member: Member,
    seat: Seat,
    input: Vec<u8>,
    output: Vec<u8>,
    /// Index of the call, and the operation if it has begun.
    at: usize,
    op: Option<Op>,
    kinds: HashSet<OpKind>,
}

/// A function of the program that is neither commutative nor associative.
unsafe extern "C" fn tree(
    from: *mut c_void,
    into: *mut c_void,
    len: *mut c_int,
    _: *mut abi::Datatype,
) {
    // SAFETY: both are `len` elements long, and do not overlap.
    let (from, into) = unsafe {
        let bytes = *len as usize * ELEM;
        (
            std::slice::from_raw_parts(from.cast::<u8>(), bytes),
            std::slice::from_raw_parts_mut(into.cast::<u8>(), bytes),
        )
    };
    (TREE.function)(from, into, Order::FromLeft);
}

/// What combines elements as the reference does.
fn reducer(case: &Case) -> Reducer {
    let op = match case.op.commutative {
        true => Reduction::Builtin(Arithmetic::Sum),
        false => Reduction::User {
            function: UserFn::Int((tree as OpFn).into()),
            commutative: false,
        },
    };
    let ty = Datatype::predefined(consts::UINT16_T.0 as u16).expect("a predefined type");
    op.bind(consts::UINT16_T, ty).expect("numbers can be added")
}

impl Runner {
    /// Polls the call it is in; true if it was completed.
    fn step(&mut self, calls: &[(Case, Job)]) -> bool {
        let Some((case, job)) = calls.get(self.at) else {
            return false;
        };
        let (rank, args) = (self.rank as usize, job.args(self.rank, None));
        let op = self.op.get_or_insert_with(|| {
            self.input.clone_from(&job.input[rank]);
            self.output.clone_from(&job.output[rank]);
            let kind = self.member.choose(Some(case.collective), &args);
            self.member
                .start(kind.expect("can run on a board"), case.root)
        });
        let reducer = reducer(case);
        let ends = (self.input.as_mut_ptr(), self.output.as_mut_ptr());
        // SAFETY: the buffers are those of the call, and stay until it is complete.
        let mut view = unsafe { self.seat.view_with(ends, Some(&reducer)) };
        let done = op.poll(&mut self.member, &args, &mut view);
        if !done.expect("calls fit") {
            return false;
        }
        let want = &job.expected[rank];
        let open = case.collective == Collective::ReduceScatter && case.in_place;
        let got = if open {
            &self.output[..want.len()]
        } else {
            &self.output
        };
        assert!(got == want, "rank {rank}: {case:?}");
        // What others do with the buffers from now on is wrong.
        self.input.fill(0xEE);
        self.kinds.extend(self.op.take().map(|op| op.kind()));
        self.at += 1;
        true
    }
}

/// The ends of a node's segment, and the members of a board in it. Blocks of `direct` bytes and
/// more are reached in the buffers, if the kernel allows it.
fn members(size: u32, oversubscribed: bool, direct: usize) -> (Vec<Shm>, Vec<Runner>) {
    let peers: Vec<Peer> = (0..size).map(Peer).collect();
    let mut ends = Shm::group(&peers, Config::from_settings(size, size)).expect("a segment");
    let shape = BoardShape::new(size, oversubscribed);
    let told = Pool::default().find(&mut ends[0], shape, BoardUse::All);
    assert_ne!(told, BoardOffset::NOWHERE, "there is memory for a board");
    let runner = |(rank, shm): (u32, &mut Shm)| {
        let memory = BoardMemory::open(shm, told, shape).expect("a board is there");
        let others = || peers.iter().copied().filter(|p| p.0 != rank);
        // SAFETY: the ends are dropped after the members.
        let bells = others().map(|p| unsafe { shm.bell(p) }).collect();
        let neighbours: Box<[_]> = peers
            .iter()
            .map(|&p| if p.0 == rank { None } else { shm.neighbour(p) })
            .collect();
        let reaches = neighbours.iter().flatten().count() as u32 == size - 1;
        let limits = memory.limits(if reaches { direct } else { usize::MAX });
        Runner {
            rank,
            member: Member::new(rank, size, oversubscribed, limits),
            seat: Seat::new(&memory, rank, bells, neighbours),
            input: Vec::new(),
            output: Vec::new(),
            at: 0,
            op: None,
            kinds: HashSet::new(),
        }
    };
    let members = (0..).zip(&mut ends).map(runner).collect();
    (ends, members)
}

/// Has all members run all calls, now and then one far ahead; the kinds that ran.
fn run(members: &mut [Runner], calls: &[(Case, Job)]) -> HashSet<OpKind> {
    let (mut random, mut idle) = (7u64, 0);
    while members.iter().any(|m| m.at < calls.len()) {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let member = &mut members[(random >> 40) as usize % members.len()];
        let mut moved = false;
        for _ in 0..(random >> 33) % 8 {
            moved |= member.step(calls);
        }
        idle = if moved { 0 } else { idle + 1 };
        assert!(idle < 100_000, "nobody moves");
    }
    members.iter().flat_map(|m| m.kinds.clone()).collect()
}

/// Calls of each collective with elements of `ELEM` bytes.
fn calls(size: u32, elems: &[usize], varies: bool) -> Vec<(Case, Job)> {
    use Collective::{Alltoallv, Gatherv, Scatterv};
    let mut calls = Vec::new();
    for &elems in elems {
        for collective in Collective::ALL {
            if matches!(collective, Alltoallv | Gatherv | Scatterv) && !varies {
                continue;
            }
            for (in_place, op) in [(false, SUM), (true, SUM), (false, TREE), (true, TREE)] {
                if in_place && !case::has_in_place(collective) {
                    continue;
                }
                let case = Case {
                    collective,
                    size,
                    root: calls.len() as u32 % size,
                    in_place,
                    elems,
                    op,
                };
                calls.push((case, case.job()));
            }
        }
    }
    calls
}

/// Payloads in records, in rings, in several segments.
#[test]
fn through_records_and_rings() {
    for (size, oversubscribed) in [(2, false), (3, true), (5, false), (9, false)] {
        let (_ends, mut members) = members(size, oversubscribed, usize::MAX);
        let calls = calls(size, &[1, 0, 7, 43, 1100, 9001], size == 2);
        assert!(run(&mut members, &calls).len() >= 12);
    }
}

/// Vectors that fill the rings several times: between two, the long ones.
#[test]
fn vectors_that_are_longer_than_a_ring() {
    for size in [2, 3] {
        let (_ends, mut members) = members(size, false, usize::MAX);
        run(&mut members, &calls(size, &[700_001, 3], size == 2));
    }
}

/// Blocks that stay in the buffers of the program, where the kernel copies them.
#[test]
fn from_buffer_to_buffer() {
    for (size, oversubscribed) in [(2, false), (3, true), (5, false)] {
        let (_ends, mut members) = members(size, oversubscribed, 512);
        let all = calls(size, &[1, 300, 5000, 0, 9001], false);
        run(&mut members, &all);
    }
}

/// A board whose members have left it is found again, ready for others.
#[test]
fn memory_is_used_again() {
    let mut ends = Shm::group(&[Peer(0), Peer(1)], Config::tiny()).expect("a segment");
    let shape = BoardShape::new(2, false);
    let mut pool = Pool::default();
    let first = pool.find(&mut ends[0], shape, BoardUse::All);
    let open = |shm: &Shm, told| BoardMemory::open(shm, told, shape).expect("a board");
    let memory = open(&ends[0], first);
    let seats = [0, 1].map(|rank| {
        let memory = open(&ends[rank as usize], first);
        Seat::new(&memory, rank, Box::new([]), Box::new([None, None]))
    });
    pool.leave(memory);
    let second = pool.find(&mut ends[0], shape, BoardUse::All);
    assert_ne!(second, first, "nobody has left the first");
    seats[0].leave();
    assert_ne!(
        pool.find(&mut ends[0], shape, BoardUse::All),
        first,
        "one is still there"
    );
    seats[1].leave();
    assert_eq!(pool.find(&mut ends[0], shape, BoardUse::All), first);
}

/// What another member tells is checked.
#[test]
fn no_board_is_where_none_can_be() {
    let (shm, _) = Shm::tiny_pair();
    let shape = BoardShape::new(2, false);
    for told in [
        BoardOffset::NOWHERE,
        BoardOffset(0),
        BoardOffset(u64::MAX - 63),
    ] {
        assert!(BoardMemory::open(&shm, told, shape).is_none(), "{told:?}");
    }
    let of_nine = BoardShape::new(9, false);
    assert!(
        BoardMemory::open(&shm, BoardOffset(1 << 20 | 1), of_nine).is_none(),
        "only a few have long rings"
    );
}
