//! Shared memory keeps the promises of a transport.

mod common;

use catena_fabric::Peer;
use catena_fabric_tests::{Claims, Offer, Pair, conformance};
use catena_shm::{Config, Shm, SingleCopy};

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
            reads: transfers,
            writes: transfers,
            parts: true,
            keys_are_checked: false,
        },
        lose_b,
        window: |shm, len| {
            let offset = shm.board_alloc(len, usize::MAX)?;
            shm.board(offset, len)
        },
    }
}

fn tiny() -> Pair<Shm> {
    pair(Config::tiny())
}

fn usual() -> Pair<Shm> {
    pair(Config::from_settings(2, 2))
}

conformance!(with_the_smallest_rings, tiny);
conformance!(with_the_usual_rings, usual);
