//! The promises of a transport.

mod common;

use catena_fabric::Peer;
use catena_fabric_tests::{Claims, Pair, conformance};
use catena_tcp::{Config, Tcp};

fn pair(config: Config) -> Pair<Tcp> {
    let (a, b) = common::connected(config);
    let lose_b = |a: &mut Tcp, b: Tcp| {
        a.mark_lost(Peer(1), "the test ended it".into());
        drop(b);
    };
    Pair {
        a,
        a_is: Peer(0),
        b,
        b_is: Peer(1),
        claims: Claims::NONE,
        lose_b,
        window: |_, _| None,
    }
}

fn usual() -> Pair<Tcp> {
    pair(Config::from_settings())
}

fn tiny() -> Pair<Tcp> {
    pair(Config::tiny())
}

conformance!(over_tcp, usual);
conformance!(over_tcp_with_the_smallest_buffers, tiny);
