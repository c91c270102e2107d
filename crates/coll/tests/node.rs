//! Collectives on a board, against the reference: many calls one after the
//! other, each member running ahead as far as it can.

#[path = "reference/case.rs"]
mod case;
#[path = "reference/ops.rs"]
mod ops;
#[path = "node/shared.rs"]
mod shared;

use std::sync::atomic::{AtomicBool, Ordering};

use case::{Case, Job};
use catena_coll::Collective;
use catena_coll::node::{Kind, Node, Op};
use ops::{AFFINE, MIX, SUM};
use shared::{Seat, Shared};

/// Small, so that most calls take several segments.
const CAPACITY: usize = 256;

/// One member on its way through all calls.
struct Member {
    seat: Seat,
    node: Node,
    /// Index of the call, and the operation if it has begun.
    at: usize,
    op: Option<Op>,
    kinds: Vec<Kind>,
}

impl Member {
    fn new(shared: &std::sync::Arc<Shared>, rank: u32, size: u32, crowded: bool) -> Self {
        Member {
            seat: Seat {
                shared: shared.clone(),
                rank,
                input: Vec::new(),
                output: Vec::new(),
                op: *SUM.function,
            },
            node: Node::new(rank, size, crowded),
            at: 0,
            op: None,
            kinds: Vec::new(),
        }
    }

    /// Polls the call it is in; true if it was completed.
    fn step(&mut self, calls: &[(Case, Job)]) -> bool {
        let (case, job) = &calls[self.at];
        let args = job.args(self.seat.rank);
        let rank = self.seat.rank as usize;
        let op = self.op.get_or_insert_with(|| {
            self.seat.input.clone_from(&job.input[rank]);
            self.seat.output.clone_from(&job.output[rank]);
            self.seat.op = *case.op.function;
            let kind = self.node.choose(case.collective, &args, &self.seat);
            self.kinds.push(kind.expect("can run on a board"));
            self.node.start(self.kinds[self.at])
        });
        if !op
            .poll(&mut self.node, &args, &mut self.seat)
            .expect("calls fit")
        {
            return false;
        }
        let want = &job.expected[rank];
        let open = case.collective == Collective::ReduceScatter && case.in_place;
        let got = if open {
            &self.seat.output[..want.len()]
        } else {
            &self.seat.output[..]
        };
        assert!(got == want, "rank {rank}: {case:?}");
        self.at += 1;
        self.op = None;
        true
    }
}

fn calls(size: u32) -> Vec<(Case, Job)> {
    let mut calls = Vec::new();
    for elems in [1, 0, 5, 40, 200, 1100] {
        for in_place in [false, true] {
            for collective in Collective::ALL {
                use Collective::{Alltoallv, Gatherv, Scatterv};
                if matches!(collective, Gatherv | Scatterv | Alltoallv)
                    || in_place && !case::has_in_place(collective)
                {
                    continue;
                }
                for op in [SUM, AFFINE, MIX] {
                    // The grouping of a reduce depends on the root.
                    if collective == Collective::Reduce && !op.associative {
                        continue;
                    }
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

#[test]
fn every_kind_on_1_to_17_ranks() {
    let mut seen = std::collections::HashSet::new();
    let mut random = 12345u64;
    for size in 1..=17 {
        let calls = calls(size);
        for crowded in [false, true] {
            let shared = Shared::new(size, CAPACITY);
            let mut members: Vec<Member> = (0..size)
                .map(|r| Member::new(&shared, r, size, crowded))
                .collect();
            let mut idle = 0;
            while members.iter().any(|m| m.at < calls.len()) {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                // Mostly one after the other, now and then one far ahead.
                let member = &mut members[(random >> 40) as usize % size as usize];
                let mut moved = false;
                for _ in 0..(random >> 33) % 8 {
                    moved |= member.at < calls.len() && member.step(&calls);
                }
                idle = if moved { 0 } else { idle + 1 };
                assert!(idle < 100_000, "nobody moves");
            }
            seen.extend(members.into_iter().flat_map(|m| m.kinds));
        }
    }
    assert_eq!(seen.len(), 14, "{seen:?}");
}

#[test]
fn members_in_threads() {
    for size in [2, 4] {
        let calls = calls(size);
        let shared = Shared::new(size, CAPACITY);
        let failed = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for rank in 0..size {
                let (calls, shared, failed) = (&calls, &shared, &failed);
                scope.spawn(move || {
                    let _guard = Guard(failed);
                    let mut member = Member::new(shared, rank, size, false);
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
    let shared = Shared::new(2, CAPACITY);
    let mut members: Vec<Member> = (0..2).map(|r| Member::new(&shared, r, 2, false)).collect();
    let [a, b] = &mut members[..] else {
        unreachable!()
    };
    let (mut a1, mut a2) = (a.node.start(Kind::Barrier), a.node.start(Kind::Barrier));
    let (mut b1, mut b2) = (b.node.start(Kind::Barrier), b.node.start(Kind::Barrier));
    let poll = |op: &mut Op, m: &mut Member| {
        op.poll(&mut m.node, &job.args(m.seat.rank), &mut m.seat)
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
fn calls_that_do_not_fit_are_noticed() {
    let call = |elems| Case {
        collective: Collective::Allreduce,
        size: 2,
        root: 0,
        in_place: false,
        elems,
        op: SUM,
    };
    let shared = Shared::new(2, CAPACITY);
    let mut members: Vec<Member> = (0..2).map(|r| Member::new(&shared, r, 2, false)).collect();
    let poll = |m: &mut Member, case: Case| {
        let job = case.job();
        let rank = m.seat.rank;
        m.seat.input.clone_from(&job.input[rank as usize]);
        m.seat.output.clone_from(&job.output[rank as usize]);
        m.node
            .start(Kind::Allreduce)
            .poll(&mut m.node, &job.args(rank), &mut m.seat)
    };
    assert_eq!(poll(&mut members[0], call(3)), Ok(false));
    let wrong = poll(&mut members[1], call(4)).expect_err("3 elements are not 4");
    assert_eq!(
        (wrong.rank, wrong.theirs.bytes, wrong.mine.bytes),
        (0, 6, 8)
    );
    assert!(
        wrong
            .to_string()
            .contains("rank 0 is in allreduce with root 0 and 6 bytes")
    );
}
