//! Collectives on a board, against the reference: many calls one after the
//! other, each member running ahead as far as it can.

#[path = "../../coll/tests/reference/case.rs"]
mod case;
#[path = "../../coll/tests/reference/ops.rs"]
mod ops;
#[path = "support/shared.rs"]
mod shared;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use case::{Case, Job};
use catena_board::{Board, FAILED, Limits, Member, Mismatch, Op, OpKind, Trouble, WithoutData};
use catena_coll::Collective;
use ops::{AFFINE, MIX, SUM, TREE};
use shared::{Seat, Shared};

/// Small, so that most calls take several segments.
const COPIED: Limits = Limits {
    lines: 4,
    ring: 2048,
    long: 4096,
    direct: usize::MAX,
};

/// Small limits where members reach each other's buffers, too.
const DIRECT: Limits = Limits {
    direct: 100,
    ..COPIED
};

/// Small limits where members reach all that does not fit into a record.
const ALWAYS: Limits = Limits {
    direct: 0,
    ..COPIED
};

/// One member on its way through all calls.
struct Runner {
    seat: Seat,
    member: Member,
    /// Index of the call, and the operation if it has begun.
    at: usize,
    op: Option<Op>,
    kinds: Vec<OpKind>,
    /// Whether members lack memory in some of the calls.
    is_scarce: bool,
    /// Whether this one has no data in the call it is in, and the calls in which it had none.
    is_without: bool,
    without: Vec<usize>,
}

/// In which call which member lacks memory: at the begin, or after it has got some so often.
fn scarcity(call: usize, size: u32) -> Option<(u32, Option<u64>)> {
    let hash = (call as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (member, room) = ((hash >> 40) as u32 % size, (hash >> 20) & 7);
    let lacks = !call.is_multiple_of(3);
    lacks.then_some((member, room.checked_sub(3)))
}

impl Runner {
    /// The next call begins, perhaps without memory.
    fn begin(&mut self) {
        let (rank, size) = (self.seat.rank, self.seat.shared.buffers.len() as u32);
        let scarce = scarcity(self.at, size).filter(|&(who, _)| self.is_scarce && who == rank);
        let room = match scarce {
            Some((_, Some(room))) => room,
            Some((_, None)) => {
                self.is_without = true;
                *self.seat.shared.buffers[rank as usize].lock().unwrap() = Default::default();
                0
            }
            None => u64::MAX,
        };
        self.seat.shared.rooms[rank as usize].store(room, Ordering::Relaxed);
    }

    fn new(shared: &Arc<Shared>, rank: u32, size: u32, oversubscribed: bool) -> Self {
        Runner {
            seat: Seat {
                shared: shared.clone(),
                rank,
                op: *SUM.function,
            },
            member: Member::new(rank, size, oversubscribed, shared.limits),
            at: 0,
            op: None,
            kinds: Vec::new(),
            is_scarce: false,
            is_without: false,
            without: Vec::new(),
        }
    }

    /// Polls the call it is in; true if it was completed.
    fn step(&mut self, calls: &[(Case, Job)]) -> bool {
        let (case, job) = &calls[self.at];
        let args = job.args(self.seat.rank, None);
        let rank = self.seat.rank as usize;
        if self.op.is_none() {
            self.seat.load(job);
            self.begin();
        }
        let op = self.op.get_or_insert_with(|| {
            self.seat.op = *case.op.function;
            let kind = self.member.choose(Some(case.collective), &args);
            self.member
                .start(kind.expect("can run on a board"), case.root)
        });
        let seat = &mut self.seat;
        let polled = match self.is_without {
            false => op.poll(&mut self.member, &args, seat),
            true => op.poll(&mut self.member, &args, &mut WithoutData(seat)),
        };
        match polled {
            Ok(true) => {}
            Ok(false) => return false,
            Err(Trouble::NoMemory(_) | Trouble::WithoutData(_)) if self.is_scarce => {
                op.withdraw(&self.member, &mut self.seat);
                self.is_without = true;
                return false;
            }
            Err(trouble) => panic!("calls fit: {trouble}"),
        }
        if std::mem::take(&mut self.is_without) {
            self.without.push(self.at);
            self.seat.unload();
            (self.at, self.op) = (self.at + 1, None);
            return true;
        }
        let want = &job.expected[rank];
        let open = case.collective == Collective::ReduceScatter && case.in_place;
        let got = self.seat.unload();
        let got = if open { &got[..want.len()] } else { &got };
        assert!(got == want, "rank {rank}: {case:?}");
        self.at += 1;
        self.kinds.extend(self.op.take().map(|op| op.kind()));
        true
    }
}

impl Seat {
    fn load(&mut self, job: &Job) {
        let mut buffers = self.shared.buffers[self.rank as usize].lock().unwrap();
        buffers.input.clone_from(&job.input[self.rank as usize]);
        buffers.output.clone_from(&job.output[self.rank as usize]);
    }

    /// The output. What others do with the buffers from now on is wrong.
    fn unload(&mut self) -> Vec<u8> {
        let mut buffers = self.shared.buffers[self.rank as usize].lock().unwrap();
        buffers.input.fill(0xEE);
        let mut output = vec![0xEE; buffers.output.len()];
        std::mem::swap(&mut buffers.output, &mut output);
        output
    }
}

fn calls(size: u32, limits: Limits) -> Vec<(Case, Job)> {
    let mut calls = Vec::new();
    for elems in [1, 0, 5, 43, 200, 1100] {
        for in_place in [false, true] {
            for collective in Collective::ALL {
                use Collective::{Alltoallv, Gatherv, Scatterv};
                let varies = matches!(collective, Gatherv | Scatterv | Alltoallv);
                if varies && limits == COPIED || in_place && !case::has_in_place(collective) {
                    continue;
                }
                for op in [SUM, AFFINE, MIX, TREE] {
                    let root = (calls.len() as u32) % size;
                    let case = Case {
                        collective,
                        size,
                        root,
                        in_place,
                        elems,
                        op,
                    };
                    calls.push((case, case.job()));
                }
            }
        }
    }
    calls
}

/// Has all members run all calls: mostly one after the other, now and then one far ahead. How
/// each call ran on each member.
fn run(
    size: u32,
    (oversubscribed, limits): (bool, Limits),
    calls: &[(Case, Job)],
    random: &mut u64,
) -> Vec<Vec<OpKind>> {
    let members = run_with(size, (oversubscribed, limits), calls, random, false);
    members.into_iter().map(|m| m.kinds).collect()
}

fn next(random: u64) -> u64 {
    random
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1)
}

/// Has all members run all calls; in some of them memory may be scarce.
fn run_with(
    size: u32,
    (oversubscribed, limits): (bool, Limits),
    calls: &[(Case, Job)],
    random: &mut u64,
    is_scarce: bool,
) -> Vec<Runner> {
    let shared = Shared::new(size, limits);
    let mut members: Vec<Runner> = (0..size)
        .map(|r| Runner::new(&shared, r, size, oversubscribed))
        .collect();
    *random = next(*random);
    for m in &mut members {
        m.is_scarce = is_scarce;
        // Boards begin now with the ring, now without.
        m.member.reach(limits.direct, *random >> 63 == 1);
    }
    let mut idle = 0;
    while members.iter().any(|m| m.at < calls.len()) {
        *random = next(*random);
        let member = &mut members[(*random >> 40) as usize % size as usize];
        let mut moved = false;
        for _ in 0..(*random >> 33) % 8 {
            moved |= member.at < calls.len() && member.step(calls);
        }
        idle = if moved { 0 } else { idle + 1 };
        assert!(idle < 100_000, "nobody moves");
    }
    members
}

/// Members that have cores of their own, and such as share them, on each kind of board.
const BOARDS: [(bool, Limits); 4] = [
    (false, COPIED),
    (true, COPIED),
    (false, DIRECT),
    (true, ALWAYS),
];

#[test]
fn every_kind_on_1_to_17_ranks() {
    let mut seen = HashSet::new();
    let mut random = 12345u64;
    for size in 1..=17 {
        for board in BOARDS {
            let calls = calls(size, board.1);
            let kinds = run(size, board, &calls, &mut random);
            seen.extend(kinds.into_iter().flatten());
        }
    }
    assert_eq!(seen.len(), 19, "{seen:?}");
}

/// A member that has no memory for a call, or none any more, completes it with the others: those
/// that get something of what it lacks are told, all others have their results, and so have all in
/// the next calls.
#[test]
fn a_member_without_memory_keeps_step() {
    let (mut random, mut whole, mut told) = (777u64, 0, 0);
    for size in 1..=10 {
        for board in BOARDS {
            let calls = calls(size, board.1);
            let members = run_with(size, board, &calls, &mut random, true);
            for (call, (case, _)) in calls.iter().enumerate() {
                let without = |m: &&Runner| m.without.contains(&call);
                let lacking = members.iter().filter(without).count();
                match scarcity(call, size) {
                    None => assert_eq!(lacking, 0, "{case:?}"),
                    Some((member, None)) => {
                        assert!(without(&&members[member as usize]));
                        whole += members.len() - lacking;
                        told += lacking - 1;
                    }
                    Some((member, Some(_))) => {
                        let first = without(&&members[member as usize]);
                        assert!(first || lacking == 0, "{case:?}");
                    }
                }
            }
        }
    }
    assert!(whole > 1000 && told > 1000, "{whole} {told}");
}

/// Whichever way a call takes, which its caller does not see, operands are combined from rank 0
/// upwards: what the test's board says of the two ways of long payloads changes all the time.
#[test]
fn reductions_combine_from_rank_0_upwards() {
    use Collective::{Allreduce, Exscan, Reduce, ReduceScatter, Scan};
    const REDUCTIONS: [Collective; 5] = [Reduce, Allreduce, ReduceScatter, Scan, Exscan];
    assert!([MIX, TREE].iter().all(|op| !op.associative));
    let mut random = 99u64;
    let mut ways = HashMap::<_, HashSet<OpKind>>::new();
    for size in 1..=9 {
        let mut cases = Vec::new();
        for elems in [1, 5, 43, 200, 1100] {
            for collective in REDUCTIONS {
                let roots = if collective == Reduce { size } else { 1 };
                for (root, in_place) in (0..roots).flat_map(|r| [(r, false), (r, true)]) {
                    cases.extend([MIX, TREE].map(|op| Case {
                        collective,
                        size,
                        root,
                        in_place,
                        elems,
                        op,
                    }));
                }
            }
        }
        for board in BOARDS {
            for case in &cases {
                // Between two calls alike are some others.
                let mut calls = Vec::new();
                for others in 0..4 {
                    calls.push((*case, case.job()));
                    let short = Case {
                        collective: Allreduce,
                        elems: 1,
                        ..*case
                    };
                    calls.extend((0..others).map(|_| (short, short.job())));
                }
                for _ in 0..if size <= 4 { 8 } else { 2 } {
                    let kinds = run(size, board, &calls, &mut random);
                    for (at, (case, _)) in calls.iter().enumerate() {
                        let call = (case.collective, size, case.root, case.in_place, case.elems);
                        let way = kinds[0][at];
                        assert!(kinds.iter().all(|kinds| kinds[at] == way), "{case:?}");
                        ways.entry((board.0, call)).or_default().insert(way);
                    }
                }
            }
        }
    }
    let switched = ways.iter().filter(|(_, ways)| ways.len() > 1);
    let switched = switched.map(|((_, (what, size, root, ..)), _)| (what, size, root));
    let switched = switched.collect::<HashSet<_>>();
    for size in 2..=4 {
        assert!(switched.contains(&(&Allreduce, &size, &0)));
        for root in 0..size {
            assert!(
                switched.contains(&(&Reduce, &size, &root)),
                "{root} of {size}"
            );
        }
    }
}

/// Where each segment takes a turn of all on their cores, what would take many goes straight to
/// whom it is for.
#[test]
fn who_share_cores_have_few_segments() {
    const CALLS: u64 = 20;
    let segments = |oversubscribed| {
        let case = Case {
            collective: Collective::Scatter,
            size: 6,
            root: 0,
            in_place: false,
            elems: 1100,
            op: SUM,
        };
        let calls: Vec<_> = (0..CALLS).map(|_| (case, case.job())).collect();
        let shared = Shared::new(6, DIRECT);
        let new = |r| Runner::new(&shared, r, 6, oversubscribed);
        let mut members: Vec<Runner> = (0..6).map(new).collect();
        while members.iter().any(|m| m.at < calls.len()) {
            for m in members.iter_mut().filter(|m| m.at < calls.len()) {
                m.step(&calls);
            }
        }
        let stamps = (0..DIRECT.lines).map(|seq| members[0].seat.stamp(0, seq));
        stamps.max().unwrap()
    };
    assert_eq!(segments(true), CALLS);
    assert!(segments(false) > CALLS);
}

/// The root says which way it prefers, or member 0 where there is none, and all take that from the
/// next call on.
#[test]
fn one_decides_for_all() {
    let is_direct = |size: u32, collective, prefers_ring| {
        let case = Case {
            collective,
            size,
            root: 1,
            in_place: false,
            elems: 1100,
            op: SUM,
        };
        let calls = [(case, case.job()), (case, case.job())];
        let shared = Arc::new(Shared::with(size, DIRECT, Some(prefers_ring)));
        let new = |r| Runner::new(&shared, r, size, false);
        let mut members: Vec<Runner> = (0..size).map(new).collect();
        while members.iter().any(|m| m.at < calls.len()) {
            for m in members.iter_mut().filter(|m| m.at < calls.len()) {
                m.step(&calls);
            }
        }
        let stamps = (0..DIRECT.lines).map(|seq| members[0].seat.stamp(1, seq));
        match stamps.max().unwrap() {
            2 => true,
            segments => {
                assert!(segments > 3, "the second went through the ring");
                false
            }
        }
    };
    for size in [2, 3, 8, 9, 17] {
        for prefers_ring in 0..size {
            let decides = |collective| !is_direct(size, collective, prefers_ring);
            assert_eq!(decides(Collective::Scatter), prefers_ring == 1);
            assert_eq!(decides(Collective::Alltoall), prefers_ring == 0);
        }
    }
}

/// Through the ring nobody hears what the root of a gather prefers; now and then one goes the other
/// way, and then all hear it.
#[test]
fn what_nobody_hears_is_tried_in_turn() {
    let mut random = 4711u64;
    let sizes = [(Collective::Gather, 2..=5), (Collective::Reduce, 2..=4)];
    let both = sizes.map(|(collective, sizes)| sizes.map(move |size| (collective, size)));
    for (collective, size) in both.into_iter().flatten() {
        let case = Case {
            collective,
            size,
            root: size - 1,
            in_place: false,
            elems: 1100,
            op: SUM,
        };
        let calls: Vec<_> = (0..300).map(|_| (case, case.job())).collect();
        let members = run_with(size, (false, DIRECT), &calls, &mut random, false);
        let asked = members[0].seat.shared.asked.load(Ordering::Relaxed);
        assert_eq!(asked, u64::from(size) * calls.len() as u64);
        match collective {
            Collective::Reduce => {
                let kinds: HashSet<_> = members[0].kinds.iter().collect();
                assert_eq!(kinds.len(), 2, "{size}");
            }
            _ => {
                let stamps = (0..DIRECT.lines).map(|seq| members[0].seat.stamp(size - 1, seq));
                assert_ne!(
                    stamps.max(),
                    Some(0),
                    "the root shows where it wants blocks"
                );
            }
        }
    }
}

/// Whoever has completed all its calls is never heard of again: it may wait for the others in
/// another way. What it has left unsaid keeps nobody from going on.
#[test]
fn nobody_waits_for_who_is_through() {
    use Collective::{Alltoallv, Bcast, Gather, Gatherv, Reduce, Scatter, Scatterv};
    const KINDS: [Collective; 7] = [Reduce, Gather, Gatherv, Scatter, Scatterv, Bcast, Alltoallv];
    let limits = Limits {
        lines: 64,
        ring: 2048,
        long: 4096,
        direct: 2000,
    };
    let mut random = 1u64;
    let mut below = |n: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as usize % n
    };
    for round in 0..10_000 {
        let size = 3 + below(3) as u32;
        // Mostly one after the other of a kind, and payloads in rings.
        let mut case = Case {
            collective: Reduce,
            size,
            root: 0,
            in_place: false,
            elems: 100,
            op: SUM,
        };
        let calls: Vec<_> = (0..40)
            .map(|_| {
                if below(4) == 0 {
                    case.collective = KINDS[below(KINDS.len())];
                    case.elems = [1, 20, 100, 137, 210][below(5)];
                }
                if below(8) == 0 {
                    case.root = below(size as usize) as u32;
                }
                (case, case.job())
            })
            .collect();
        let shared = Shared::new(size, limits);
        let mut members: Vec<Runner> = (0..size)
            .map(|rank| Runner::new(&shared, rank, size, true))
            .collect();
        let mut idle = 0;
        while members.iter().any(|m| m.at < calls.len()) {
            let member = &mut members[below(size as usize)];
            let before = member.at;
            while member.at < calls.len() && member.step(&calls) {}
            idle = if member.at > before { 0 } else { idle + 1 };
            assert!(idle < 1000, "round {round}: nobody moves");
        }
    }
}

#[test]
fn members_in_threads() {
    for (size, limits) in [(2, COPIED), (2, DIRECT), (4, COPIED), (4, DIRECT)] {
        let calls = calls(size, limits);
        let shared = Shared::new(size, limits);
        let failed = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for rank in 0..size {
                let (calls, shared, failed) = (&calls, &shared, &failed);
                scope.spawn(move || {
                    let _guard = Guard(failed);
                    let mut member = Runner::new(shared, rank, size, false);
                    for _ in 0..5 {
                        while member.at < calls.len() {
                            if !member.step(calls) {
                                assert!(!failed.load(Ordering::Relaxed), "another rank failed");
                                std::thread::yield_now();
                            }
                        }
                        member.at = 0;
                        member.kinds.clear();
                    }
                });
            }
        });
    }
}

/// Ends the others if its thread panics.
struct Guard<'a>(&'a AtomicBool);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn operations_run_in_the_order_of_their_start() {
    let case = Case {
        collective: Collective::Barrier,
        size: 2,
        root: 0,
        in_place: false,
        elems: 0,
        op: SUM,
    };
    let job = case.job();
    let shared = Shared::new(2, DIRECT);
    let mut members: Vec<Runner> = (0..2).map(|r| Runner::new(&shared, r, 2, false)).collect();
    let [a, b] = &mut members[..] else {
        unreachable!()
    };
    let (mut a1, mut a2) = (
        a.member.start(OpKind::Barrier, 0),
        a.member.start(OpKind::Barrier, 0),
    );
    let (mut b1, mut b2) = (
        b.member.start(OpKind::Barrier, 0),
        b.member.start(OpKind::Barrier, 0),
    );
    let poll = |op: &mut Op, m: &mut Runner| {
        op.poll(&mut m.member, &job.args(m.seat.rank, None), &mut m.seat)
            .expect("calls fit")
    };
    assert!(!poll(&mut a2, a));
    assert!(!poll(&mut b2, b));
    assert!(!poll(&mut a1, a));
    assert!(!poll(&mut b2, b), "the second barrier waits for the first");
    assert!(poll(&mut b1, b));
    assert!(!poll(&mut b2, b));
    assert!(poll(&mut a1, a));
    assert!(poll(&mut a2, a));
    assert!(poll(&mut b2, b));
}

#[test]
fn without_data_only_a_barrier_waits() {
    use Collective::{Allgather, Allreduce, Alltoall, Barrier, ReduceScatter};
    for collective in [Barrier, Allgather, Allreduce, Alltoall, ReduceScatter] {
        let case = Case {
            collective,
            size: 2,
            root: 0,
            in_place: false,
            elems: 0,
            op: SUM,
        };
        let shared = Shared::new(2, DIRECT);
        let mut first = Runner::new(&shared, 0, 2, false);
        let alone = first.step(&[(case, case.job())]);
        assert_eq!(alone, collective != Barrier, "{collective:?}");
    }
}

/// What member 2 of 3 finds wrong after member 0 called `first`, it `second`.
fn misfit(first: Case, second: Case) -> Mismatch {
    let shared = Shared::new(3, DIRECT);
    let mut found = None;
    for (rank, case) in [(0, first), (2, second)] {
        let mut m = Runner::new(&shared, rank, 3, false);
        let job = case.job();
        m.seat.load(&job);
        let args = job.args(rank, None);
        let kind = m
            .member
            .choose(Some(case.collective), &args)
            .expect("can run");
        found = m
            .member
            .start(kind, case.root)
            .poll(&mut m.member, &args, &mut m.seat)
            .err();
    }
    match found {
        Some(Trouble::Mismatch(mismatch)) => mismatch,
        other => panic!("found {other:?}"),
    }
}

#[test]
fn calls_that_do_not_fit_are_noticed() {
    use Collective::{Allreduce, Alltoallv, Bcast, Gather, Gatherv, Scatterv};
    let call = |collective, elems, root| Case {
        collective,
        size: 3,
        root,
        in_place: false,
        elems,
        op: SUM,
    };
    let wrong = misfit(call(Allreduce, 3, 0), call(Allreduce, 4, 0));
    assert_eq!(
        (wrong.rank, wrong.theirs.bytes, wrong.mine.bytes),
        (0, 6, 8)
    );
    let text = Trouble::Mismatch(wrong).to_string();
    assert!(
        text.contains("rank 0 is in allreduce (0) with 6 bytes"),
        "{text}"
    );
    let wrong = misfit(call(Allreduce, 3, 0), call(Bcast, 3, 0));
    assert_ne!(wrong.theirs.kind, wrong.mine.kind);
    let wrong = misfit(call(Allreduce, 0, 0), call(Allreduce, 4, 0));
    assert_eq!((wrong.theirs.bytes, wrong.mine.bytes), (0, 8));
    // Of the last three only the two that exchange a block know its length; who
    // writes a long one into the root's buffer says so.
    for collective in [Gather, Gatherv, Scatterv, Alltoallv] {
        let root = if matches!(collective, Gather | Gatherv) {
            2
        } else {
            0
        };
        let wrong = misfit(call(collective, 4, root), call(collective, 92, root));
        assert_eq!(wrong.theirs.kind, wrong.mine.kind);
        assert!(wrong.theirs.bytes < wrong.mine.bytes, "{wrong:?}");
    }
}

/// Of two roots nobody reads, so both are through; so is who has nothing for anybody.
#[test]
fn who_parted_is_noticed_when_they_meet() {
    use Collective::{Allreduce, Alltoallv, Bcast};
    let meet = |first: [(Collective, u32, usize); 3]| {
        let shared = Shared::new(3, DIRECT);
        let mut members: Vec<Runner> = (0..3).map(|r| Runner::new(&shared, r, 3, false)).collect();
        let mut call = |rank: usize, (collective, root, elems)| {
            let case = Case {
                collective,
                size: 3,
                root,
                in_place: false,
                elems,
                op: SUM,
            };
            let (job, m) = (case.job(), &mut members[rank]);
            m.seat.load(&job);
            let args = job.args(rank as u32, None);
            let kind = m.member.choose(Some(collective), &args).expect("can run");
            let mut op = m.member.start(kind, root);
            op.poll(&mut m.member, &args, &mut m.seat)
        };
        for (rank, first) in first.into_iter().enumerate() {
            assert_eq!(call(rank, first), Ok(true));
        }
        let outcomes = [0, 1, 2].map(|rank| call(rank, (Allreduce, 0, 2)));
        assert_eq!(outcomes[0], Ok(false), "nobody else is there");
        outcomes
    };
    let outcomes = meet([(Bcast, 0, 2), (Bcast, 1, 2), (Bcast, 0, 2)]);
    for outcome in &outcomes[1..] {
        match outcome {
            Err(Trouble::Mismatch(it)) => {
                assert_eq!((it.me, it.mine.detail), (0, 0));
                assert_eq!((it.rank, it.theirs.detail), (1, 1));
            }
            other => panic!("found {other:?}"),
        }
    }
    let outcomes = meet([(Bcast, 0, 2), (Bcast, 0, 2), (Alltoallv, 0, 0)]);
    assert_eq!(outcomes[1], Ok(false));
    assert_eq!(outcomes[2], Err(Trouble::Parted { rank: 0, me: 2 }));
}

/// What must be alike may be any number; another one makes a difference from then on.
#[test]
fn a_detail_may_be_any_number() {
    let past = |details: [u32; 2]| {
        let mut member = Member::new(0, 2, false, COPIED);
        for detail in details {
            let _ = member.start(OpKind::Barrier, detail);
        }
        member
    };
    assert_ne!(past([u32::MAX, 0]), past([u32::MAX - 1, 0]));
}

/// Others wait for a member that gave up, unless they see that it did.
#[test]
fn who_gave_up_says_nothing_else_while_it_waits() {
    let call = |collective, elems| Case {
        collective,
        size: 3,
        root: 0,
        in_place: false,
        elems,
        op: SUM,
    };
    // Not each call tells the others of its end.
    let shared = Shared::new(
        3,
        Limits {
            lines: 16,
            ..DIRECT
        },
    );
    let mut members: Vec<Runner> = (0..3).map(|r| Runner::new(&shared, r, 3, false)).collect();
    let begin = |m: &mut Runner, case: Case| {
        let job = case.job();
        m.seat.load(&job);
        let args = job.args(m.seat.rank, None);
        let kind = m
            .member
            .choose(Some(case.collective), &args)
            .expect("can run");
        let mut op = m.member.start(kind, 0);
        let outcome = op.poll(&mut m.member, &args, &mut m.seat);
        (op, outcome)
    };
    for m in &mut members {
        let (_, outcome) = begin(m, call(Collective::Bcast, 3));
        assert!(matches!(outcome, Ok(true)));
    }
    let (_, outcome) = begin(&mut members[0], call(Collective::Alltoall, 90));
    assert!(matches!(outcome, Ok(false)), "nobody else is there");
    let (mut op, outcome) = begin(&mut members[2], call(Collective::Alltoall, 100));
    assert!(matches!(outcome, Err(Trouble::Mismatch(_))), "{outcome:?}");
    let m = &mut members[2];
    m.seat.set_done(FAILED);
    op.give_up();
    let job = call(Collective::Alltoall, 100).job();
    let unused = op.poll(&mut m.member, &job.args(2, None), &mut m.seat);
    assert!(matches!(unused, Ok(false)), "member 1 may still read");
    assert_eq!(m.seat.done(2), FAILED);
}
