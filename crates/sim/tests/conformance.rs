//! The simulator keeps the promises of a transport under every fault that a
//! transport may have.

use catena_fabric_tests::{Claims, Offer, Pair, conformance};
use catena_sim::{Port, Reads, Seed, Sim};

fn pair(sim: Sim, transfers: Offer) -> Pair<Port> {
    let (a, b) = sim.pair();
    let (a_is, b_is) = (a.peer(), b.peer());
    Pair {
        a,
        a_is,
        b,
        b_is,
        claims: Claims {
            atomics: transfers != Offer::Never,
            reads: transfers,
            writes: transfers,
            parts: true,
            keys_are_checked: true,
        },
        lose_b: |_, mut b| b.die(),
        window: |_, _| None,
    }
}

fn faultless() -> Pair<Port> {
    pair(Sim::new(Seed(1)), Offer::Always)
}

fn unordered() -> Pair<Port> {
    pair(
        Sim::new(Seed(2))
            .unordered()
            .full_one_in(3)
            .reads(Reads::Flaky),
        Offer::Flaky,
    )
}

fn tiny() -> Pair<Port> {
    pair(
        Sim::new(Seed(3))
            .ring_slots(1)
            .max_packet(16)
            .full_one_in(2)
            .reads(Reads::Never),
        Offer::Never,
    )
}

conformance!(without_faults, faultless);
conformance!(without_order, unordered);
conformance!(with_one_slot, tiny);
conformance!(parts, faultless, parts_are_taken_once);
conformance!(parts_without_order, unordered, parts_are_taken_once);
