//! One suite that every transport must pass: the promises of
//! [`Transport`], each as a test over two ends in one process.
//!
//! ```text
//! catena_fabric_tests::conformance!(tiny, make_pair);
//! ```
//!
//! where `make_pair` is a `fn() -> Pair<T>`, or a `fn() -> Option<Pair<T>>`
//! that says why the machine lacks what the transport needs.

mod help;
mod network;
mod operations;
mod suite;

use catena_fabric::{Peer, Transport};

pub use help::{Inbox, pattern};
pub use network::*;
pub use operations::*;
pub use suite::*;

/// Whether a route does something, as the test that makes a [`Pair`] declares: what is
/// declared must work, and what is not must not be offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It is not offered.
    Never,
    /// It may be refused at any time, as a simulated fault, but not always.
    Flaky,
    /// It is never refused.
    Always,
}

/// What a route does besides carrying packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims {
    /// Reads of the peer's memory, [`Rma::get`](catena_fabric::Rma::get).
    pub reads: Offer,
    /// Writes to the peer's memory, [`Rma::put`](catena_fabric::Rma::put).
    pub writes: Offer,
    /// Whether there are atomics of some kind, [`Rma::atomic`](catena_fabric::Rma::atomic).
    pub atomics: bool,
    /// Messages that both ends copy, [`Transport::take_part`].
    pub parts: bool,
    /// Operations fail whose keys, places or kinds of access are not those of a registration.
    pub keys_are_checked: bool,
}

impl Claims {
    /// Packets alone.
    pub const NONE: Claims = Claims {
        reads: Offer::Never,
        writes: Offer::Never,
        atomics: false,
        parts: false,
        keys_are_checked: true,
    };
    /// Packets, and remote reads and writes.
    pub const READS_AND_WRITES: Claims = Claims {
        reads: Offer::Always,
        writes: Offer::Always,
        ..Claims::NONE
    };
}

/// Two ends of one transport.
#[derive(Debug)]
pub struct Pair<T: Transport> {
    /// One end.
    pub a: T,
    /// The process at the end `a`.
    pub a_is: Peer,
    /// The other end.
    pub b: T,
    /// The process at the end `b`.
    pub b_is: Peer,
    /// What the route does besides carrying packets.
    pub claims: Claims,
    /// Ends process `b` and lets `a` notice.
    pub lose_b: fn(&mut T, T),
    /// Makes memory at an end that atomics work on; `None` if they work on all memory.
    pub window: fn(&mut T, usize) -> Option<*mut u8>,
}

/// Makes a module of tests out of the suite, for pairs that `$make` builds.
#[macro_export]
macro_rules! conformance {
    ($name:ident, $make:ident) => {
        $crate::conformance!(
            $name,
            $make,
            headers_and_payloads_arrive_unchanged,
            packets_arrive_once_and_in_order_if_claimed,
            a_full_route_takes_nothing_and_recovers,
            both_directions_are_independent,
            parts_of_any_shape_are_written_whole,
            registered_memory_is_read_rightly,
            registered_memory_is_written_rightly,
            parts_are_taken_once,
            sleep_ends_when_a_packet_is_there,
            a_lost_peer_stays_lost,
            no_way_is_chosen_that_is_not_offered,
            operations_that_are_not_offered_are_refused,
            puts_and_gets_move_what_they_are_to,
            each_operation_completes_once,
            atomics_compute_and_fetch,
            atomics_at_once_sum_up,
            a_flush_orders,
            bad_keys_fail,
            operations_to_a_lost_peer_end
        );
    };
    ($name:ident, $make:ident, $($test:ident),+) => {
        mod $name {
            $(
                #[test]
                fn $test() {
                    let pair: Option<$crate::Pair<_>> = super::$make().into();
                    pair.map($crate::$test);
                }
            )+
        }
    };
}
