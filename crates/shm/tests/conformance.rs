//! Shared memory keeps the promises of a transport.

use catena_fabric::Peer;
use catena_fabric_tests::{Claims, Offer, Pair, conformance};
use catena_shm::{Config, Shm, SingleCopy};

/// Whether the kernel lets this process read and write memory by process_vm_readv(2)
/// and process_vm_writev(2), which security modules and containers may forbid.
fn kernel_copies() -> bool {
    let (from, mut into) = (7u64, 0u64);
    let part = |addr| libc::iovec {
        iov_base: addr,
        iov_len: 8,
    };
    let here = part((&raw mut into).cast());
    let there = part((&raw const from).cast_mut().cast());
    // SAFETY: both have eight bytes, and only `into` is written.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &here, 1, &there, 1, 0) };
    // SAFETY: as above: `into` is what is written to.
    let written = unsafe { libc::process_vm_writev(libc::getpid(), &there, 1, &here, 1, 0) };
    (read, written, into) == (8, 8, 7)
}

fn pair(mut config: Config) -> Pair<Shm> {
    let mut transfers = Offer::Always;
    if !kernel_copies() {
        let why = "the kernel does not allow process_vm_readv and process_vm_writev";
        catena_testing::skip("single copies", &why);
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
        },
        lose_b,
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
