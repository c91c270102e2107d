//! The promises of a transport.

mod common;

use catena_fabric::Peer;
use catena_fabric_tests::{Claims, Pair, Strangers, alone, conformance, conformance_of_peers};
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

fn strangers(config: Config) -> Strangers<Tcp> {
    let end = |job| (common::end(0, 1, job, config), alone(job).1);
    let ((a, a_is), (b, b_is)) = (end(5), end(6));
    Strangers { a, a_is, b, b_is }
}

fn usual_strangers() -> Strangers<Tcp> {
    strangers(Config::from_settings())
}

fn tiny_strangers() -> Strangers<Tcp> {
    strangers(Config::tiny())
}

conformance_of_peers!(strangers_over_tcp, usual_strangers);
conformance_of_peers!(strangers_with_the_smallest_buffers, tiny_strangers);
conformance!(over_tcp, usual);
conformance!(over_tcp_with_the_smallest_buffers, tiny);
