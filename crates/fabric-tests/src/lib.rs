//! Row 3: one suite that every transport must pass: the promises of
//! [`Transport`](catena_fabric::Transport), each as a test over two ends in one process.
//!
//! ```text
//! catena_fabric_tests::conformance!(tiny, make_pair);
//! ```
//!
//! where `make_pair` is a `fn() -> Pair<T>`, or a `fn() -> Option<Pair<T>>`
//! that says why the machine lacks what the transport needs. One that is
//! [`NodeLocal`](catena_fabric::NodeLocal) passes [`parts_are_taken_once`], too:
//!
//! ```text
//! catena_fabric_tests::conformance!(tiny_parts, make_pair, parts_are_taken_once);
//! ```
//!
//! A network that [adds peers](catena_fabric::Rail::ADDS_PEERS) passes a second suite, over ends of
//! processes that are alone, which `make_strangers` makes as a [`Strangers`]:
//!
//! ```text
//! catena_fabric_tests::conformance_of_peers!(strangers, make_strangers);
//! ```

mod help;
mod network;
mod operations;
mod pair;
mod peers;
mod suite;

pub use help::{Inbox, pattern};
pub use network::*;
pub use operations::*;
pub use pair::{Claims, Offer, Pair};
pub use peers::*;
pub use suite::*;

/// Makes a module of tests out of the suite for networks that add peers, for ends that `$make`
/// makes.
#[macro_export]
macro_rules! conformance_of_peers {
    ($name:ident, $make:ident) => {
        $crate::conformance_of_peers!(
            $name,
            $make,
            peers_are_added_in_any_order,
            names_and_numbers_are_given_once,
            a_removed_peer_is_told_behind_what_was_sent,
            removed_peers_are_added_again,
            operations_to_a_removed_peer_end_once,
            a_peer_that_does_nothing_is_removed
        );
    };
    ($name:ident, $make:ident, $($test:ident),+) => {
        mod $name {
            $(
                #[test]
                fn $test() {
                    let strangers: Option<$crate::Strangers<_>> = super::$make().into();
                    strangers.map($crate::$test);
                }
            )+
        }
    };
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
            sleep_ends_when_a_packet_is_there,
            a_lost_peer_stays_lost,
            no_way_is_chosen_that_is_not_offered,
            operations_that_are_not_offered_are_refused,
            memory_of_other_kinds_is_refused,
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
