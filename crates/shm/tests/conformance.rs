//! Shared memory keeps the promises of a transport.

mod common;

use catena_fabric::Peer;
use catena_fabric_tests::{Claims, Offer, Pair, conformance};
use catena_shm::{Config, Shm, SingleCopy, create_segment};

use common::{FORBIDDEN, kernel_copies};

fn pair(mut config: Config) -> Pair<Shm> {
    let mut transfers = Offer::Always;
    if !kernel_copies() {
        catena_testing::skip("single copies", &FORBIDDEN);
        (config.single_copy, transfers) = (SingleCopy::Never, Offer::Never);
    }
    let mut ends = Shm::group(&[Peer(0), Peer(1)], config).expect("a segment");
    let b = ends.pop().expect("two ends");
    let lose_b = |a: &mut Shm, b: Shm| {
        a.mark_lost(Peer(1), "the test ended it".into());
        drop(b);
    };
    Pair {
        a: ends.pop().expect("two ends"),
        a_is: Peer(0),
        b,
        b_is: Peer(1),
        claims: Claims {
            atomics: true,
            reads: transfers,
            writes: transfers,
            parts: true,
            keys_are_checked: false,
        },
        lose_b,
        window: |shm, len| {
            let offset = shm.region_alloc(len, usize::MAX)?;
            shm.region(offset, len)
        },
    }
}

/// Two processes of different jobs, each on a node with others of its own; the jobs have
/// rings of different sizes.
fn of_two_jobs() -> Pair<Shm> {
    let configs = [Config::tiny(), Config::from_settings(3, 2)];
    let jobs: [&[Peer]; 2] = [&[Peer(0), Peer(1)], &[Peer(0), Peer(1), Peer(2)]];
    let fds = [(); 2].map(|()| create_segment().expect("a file"));
    let attach = |job: usize, me, mut config: Config| {
        if !kernel_copies() {
            config.single_copy = SingleCopy::Never;
        }
        let fd = fds[job].try_clone().expect("a descriptor");
        Shm::attach_with(fd, me, jobs[job], config).expect("a segment")
    };
    let (mut a, mut b) = (attach(0, 1, configs[0]), attach(1, 2, configs[1]));
    let [of_a, of_b] = fds;
    let from_a = [Peer(2), Peer(3), Peer(4)];
    a.attach_other(of_b, (10, 11), &from_a)
        .expect("the other job");
    let from_b = [Peer(3), Peer(4)];
    b.attach_other(of_a, (11, 10), &from_b)
        .expect("the other job");
    assert!(a.shares_segment(Peer(0)) && !a.shares_segment(Peer(4)));
    let like = pair(Config::tiny());
    Pair {
        a,
        a_is: Peer(4),
        b,
        b_is: Peer(4),
        lose_b: |a: &mut Shm, b: Shm| {
            a.mark_lost(Peer(4), "the test ended it".into());
            drop(b);
        },
        ..like
    }
}

fn tiny() -> Pair<Shm> {
    pair(Config::tiny())
}

fn usual() -> Pair<Shm> {
    pair(Config::from_settings(2, 2))
}

conformance!(between_two_jobs, of_two_jobs);
conformance!(with_the_smallest_rings, tiny);
conformance!(with_the_usual_rings, usual);
conformance!(parts_between_two_jobs, of_two_jobs, parts_are_taken_once);
conformance!(parts_with_the_smallest_rings, tiny, parts_are_taken_once);
conformance!(parts_with_the_usual_rings, usual, parts_are_taken_once);
