//! Shared memory keeps the promises of a transport.

use catena_fabric::Peer;
use catena_fabric_tests::{Pair, conformance};
use catena_shm::{Config, Shm};

fn pair((a, b): (Shm, Shm)) -> Pair<Shm> {
    let lose_b = |a: &mut Shm, b: Shm| {
        a.mark_lost(Peer(1), "the test ended it".into());
        drop(b);
    };
    Pair {
        a,
        a_is: Peer(0),
        b,
        b_is: Peer(1),
        lose_b,
    }
}

fn tiny() -> Pair<Shm> {
    pair(Shm::tiny_pair())
}

fn usual() -> Pair<Shm> {
    let config = Config::from_settings(2, 2);
    let mut ends = Shm::group(&[Peer(0), Peer(1)], config).expect("a segment");
    let b = ends.pop().expect("two ends");
    pair((ends.pop().expect("two ends"), b))
}

conformance!(with_the_smallest_rings, tiny);
conformance!(with_the_usual_rings, usual);
