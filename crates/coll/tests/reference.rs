//! Every algorithm in the registry, on 1 to 33 ranks, against a reference that
//! is computed from the definition of the operation.

#[path = "reference/case.rs"]
mod case;
#[path = "reference/ops.rs"]
mod ops;
#[path = "reference/tree.rs"]
mod tree;

use case::{Case, Job};
use catena_coll::{Algorithm, Collective, Nodes, Placement, Shape, algorithms};
use catena_schedule::Schedule;
use catena_schedule::simulate::{Failure, RankPlace, Sends, check};
use ops::{AFFINE, MIX, Reduction, SUM};
use tree::TREE;

const RANKS: std::ops::RangeInclusive<u32> = 1..=33;

/// Runs the schedules of one case and compares every byte of every output.
fn run(algorithm: &Algorithm, schedules: &[&Schedule], (case, job): (&Case, &Job), sends: Sends) {
    let mut output = job.output.clone();
    let seed = u64::from(case.size) * 31 + case.elems as u64;
    let name = format!(
        "{}/{} {case:?} {sends:?}",
        algorithm.collective.name(),
        algorithm.name
    );
    if let Err(failure) = check(
        schedules,
        &job.input,
        &mut output,
        case.op.function,
        sends,
        seed,
    ) {
        panic!("{name}: {failure}");
    }
    if case.op.associative {
        for (rank, (got, want)) in output.iter().zip(&job.expected).enumerate() {
            // What lies behind the result of an in-place reduce_scatter is open.
            let open = algorithm.collective == Collective::ReduceScatter && case.in_place;
            let got = if open { &got[..want.len()] } else { &got[..] };
            assert!(
                got == want,
                "{name}: rank {rank}: {:?}",
                got.iter().zip(want).position(|(a, b)| a != b)
            );
        }
    } else {
        assert!(
            output.windows(2).all(|w| w[0] == w[1]),
            "{name}: ranks differ"
        );
    }
}

/// Nodes that `size` ranks may be on: few on the first and more on each further
/// one; one after the other in turns; all but one together; pairs.
fn maps(size: u32) -> [Nodes; 4] {
    let place = |node| RankPlace { node, domain: node };
    let of = |node: fn(u32, u32) -> u32| {
        let places: Vec<RankPlace> = (0..size).map(|r| place(node(r, size))).collect();
        Nodes::new(&places)
    };
    [
        of(|r, _| (2 * r).isqrt()),
        of(|r, _| 2 - r % 3),
        of(|r, size| u32::from(r + 1 < size)),
        of(|r, _| r / 2),
    ]
}

fn shape(case: &Case, nodes: Option<&Nodes>) -> Shape {
    let one = || Placement::one_node(case.size);
    Shape {
        size: case.size,
        bytes: case.elems * ops::ELEM,
        elem: ops::ELEM,
        commutative: case.op.commutative,
        placement: nodes.map_or_else(one, Nodes::placement),
    }
}

fn all_algorithms(case: &Case) {
    let job = case.job();
    for (algorithm, maps) in serving(case) {
        for nodes in &maps {
            let schedule = |r| algorithm.schedule(&job.args(r, nodes.as_ref()));
            let schedules: Vec<Schedule> = (0..case.size).map(schedule).collect();
            let schedules: Vec<&Schedule> = schedules.iter().collect();
            for sends in [Sends::Eager, Sends::Synchronous] {
                run(algorithm, &schedules, (case, &job), sends);
            }
        }
    }
}

/// The algorithms that can serve a case; those that go by nodes with maps of
/// nodes, the others once without.
fn serving(case: &Case) -> Vec<(&'static Algorithm, Vec<Option<Nodes>>)> {
    let serving = |a: &'static Algorithm| {
        if a.serves(&shape(case, None)) {
            return (a, vec![None]);
        }
        let serves = |nodes: &Nodes| a.serves(&shape(case, Some(nodes)));
        let maps = maps(case.size).into_iter().filter(serves);
        (a, maps.map(Some).collect())
    };
    algorithms(case.collective).iter().map(serving).collect()
}

/// All combinations of rank count, root, in-place, length and operation.
fn sweep(collective: Collective, operations: &[Reduction]) {
    for size in RANKS {
        let mut roots = vec![0, size / 2, size - 1];
        roots.dedup();
        if !collective.is_rooted() {
            roots.truncate(1);
        }
        for root in roots {
            for in_place in [false, true] {
                if in_place && !case::has_in_place(collective) {
                    continue;
                }
                let lengths: &[usize] = if size <= 16 { &[0, 1, 5, 37] } else { &[5, 37] };
                for &elems in lengths {
                    for &op in operations {
                        all_algorithms(&Case {
                            collective,
                            size,
                            root,
                            in_place,
                            elems,
                            op,
                        });
                    }
                }
            }
        }
    }
}

/// Long enough to be cut in segments.
fn long(collective: Collective, operations: &[Reduction]) {
    for size in [2, 3, 5, 8] {
        for in_place in [false, true] {
            if in_place && !case::has_in_place(collective) {
                continue;
            }
            for &op in operations {
                let root = size / 2;
                all_algorithms(&Case {
                    collective,
                    size,
                    root,
                    in_place,
                    elems: 70_001,
                    op,
                });
            }
        }
    }
}

macro_rules! collectives {
    ($($test:ident $collective:ident [$($op:expr),*];)*) => {$(
        #[test]
        fn $test() {
            sweep(Collective::$collective, &[$($op),*]);
            long(Collective::$collective, &[$($op),*]);
        }
    )*};
}

collectives! {
    barrier Barrier [SUM];
    bcast Bcast [SUM];
    gather Gather [SUM];
    gatherv Gatherv [SUM];
    scatter Scatter [SUM];
    scatterv Scatterv [SUM];
    allgather Allgather [SUM];
    allgatherv Allgatherv [SUM];
    alltoall Alltoall [SUM];
    alltoallv Alltoallv [SUM];
    reduce Reduce [SUM, AFFINE];
    allreduce Allreduce [SUM, AFFINE];
    reduce_scatter ReduceScatter [SUM, AFFINE];
    scan Scan [SUM, AFFINE];
    exscan Exscan [SUM, AFFINE];
}

/// Operations that show every difference in grouping, like floating-point addition but worse: all
/// ranks must have combined the same operands with the same others, so that they get the same bits
/// whatever the operation is. Of an operation that does not commute, on the same sides, too.
#[test]
fn allreduce_is_the_same_everywhere() {
    let case = |size, elems, in_place, op| Case {
        collective: Collective::Allreduce,
        size,
        root: 0,
        in_place,
        elems,
        op,
    };
    for size in RANKS {
        for in_place in [false, true] {
            for op in [MIX, TREE] {
                for elems in [1, 36] {
                    all_algorithms(&case(size, elems, in_place, op));
                }
                // What is within the algorithms for several nodes goes by the length.
                if [3, 8].contains(&size) {
                    all_algorithms(&case(size, 70_001, in_place, op));
                }
            }
        }
    }
}

/// No rank may leave a barrier before the last has entered: a rank that never
/// enters must keep all others inside.
#[test]
fn a_barrier_waits_for_every_rank() {
    for size in RANKS.skip(1) {
        let case = Case {
            collective: Collective::Barrier,
            size,
            root: 0,
            in_place: false,
            elems: 0,
            op: SUM,
        };
        for (algorithm, maps) in serving(&case) {
            for nodes in &maps {
                assert_waits(algorithm, &case, nodes.as_ref());
            }
        }
    }
}

fn assert_waits(algorithm: &Algorithm, case: &Case, nodes: Option<&Nodes>) {
    let (size, job) = (case.size, case.job());
    let schedules: Vec<Schedule> = (0..size)
        .map(|r| algorithm.schedule(&job.args(r, nodes)))
        .collect();
    let nothing = Schedule::default();
    for missing in 0..size {
        let schedule = |r| {
            if r == missing {
                &nothing
            } else {
                &schedules[r as usize]
            }
        };
        let schedules: Vec<&Schedule> = (0..size).map(schedule).collect();
        let (op, mut output) = (SUM.function, job.output.clone());
        let result = check(&schedules, &job.input, &mut output, op, Sends::Eager, 1);
        let Err(Failure::Stuck(waiting)) = result else {
            panic!(
                "{}: {size} ranks left without rank {missing}",
                algorithm.name
            );
        };
        let mut who: Vec<u32> = waiting.iter().map(|w| w.0).collect();
        who.sort_unstable();
        who.dedup();
        assert_eq!(
            who.len() as u32,
            size - 1,
            "{} {size} {missing}",
            algorithm.name
        );
    }
}
