//! Every provider that this machine has keeps the promises of a transport.
//! `CATENA_OFI_LIBRARY` chooses the libfabric.

mod common;

use catena_fabric::Peer;
use catena_fabric_tests::{Claims, Pair, Strangers, alone, conformance, conformance_of_peers};
use catena_ofi::{Config, Ofi, Sleep};

fn pair(provider: &str, config: Config) -> Option<Pair<Ofi>> {
    let (a, b) = common::connected(provider, config)?;
    let lose_b = |a: &mut Ofi, b: Ofi| {
        a.mark_lost(Peer(1), "the test ended it".into());
        drop(b);
    };
    // Up to libfabric 1.17, `tcp` stands for this.
    let atomics = a.provider().ends_with("ofi_rxm");
    Some(Pair {
        a,
        a_is: Peer(0),
        b,
        b_is: Peer(1),
        claims: match provider {
            // They would have memory of the program's for good once a peer is lost.
            "shm" | "sm2" | "udp;ofi_rxd" => Claims::NONE,
            _ => Claims {
                atomics,
                ..Claims::READS_AND_WRITES
            },
        },
        lose_b,
        window: |_, _| None,
    })
}

fn usual(provider: &str) -> Option<Pair<Ofi>> {
    pair(provider, Config::from_settings())
}

fn tcp() -> Option<Pair<Ofi>> {
    usual("tcp")
}

fn net() -> Option<Pair<Ofi>> {
    usual("net")
}

fn tcp_rxm() -> Option<Pair<Ofi>> {
    usual("tcp;ofi_rxm")
}

fn udp_rxd() -> Option<Pair<Ofi>> {
    usual("udp;ofi_rxd")
}

fn shm() -> Option<Pair<Ofi>> {
    usual("shm")
}

fn sm2() -> Option<Pair<Ofi>> {
    usual("sm2")
}

fn tiny_tcp() -> Option<Pair<Ofi>> {
    pair("tcp", Config::tiny())
}

fn tiny_net() -> Option<Pair<Ofi>> {
    pair("net", Config::tiny())
}

fn tiny_rxm() -> Option<Pair<Ofi>> {
    pair("tcp;ofi_rxm", Config::tiny())
}

/// The ends of two processes that are alone.
fn strangers(provider: &str, config: Config) -> Option<Strangers<Ofi>> {
    let end = |job| Some((common::stranger(job, provider, config)?, alone(job).1));
    let ((a, a_is), (b, b_is)) = (end(5)?, end(6)?);
    Some(Strangers { a, a_is, b, b_is })
}

fn strangers_tcp() -> Option<Strangers<Ofi>> {
    strangers("tcp", Config::from_settings())
}

fn strangers_net() -> Option<Strangers<Ofi>> {
    strangers("net", Config::from_settings())
}

fn strangers_rxm() -> Option<Strangers<Ofi>> {
    strangers("tcp;ofi_rxm", Config::from_settings())
}

fn tiny_strangers_tcp() -> Option<Strangers<Ofi>> {
    strangers("tcp", Config::tiny())
}

fn tiny_strangers_net() -> Option<Strangers<Ofi>> {
    strangers("net", Config::tiny())
}

conformance_of_peers!(strangers_over_tcp, strangers_tcp);
conformance_of_peers!(strangers_over_net, strangers_net);
conformance_of_peers!(strangers_over_rxm, strangers_rxm);
conformance_of_peers!(
    strangers_over_tcp_with_the_smallest_buffers,
    tiny_strangers_tcp
);
conformance_of_peers!(
    strangers_over_net_with_the_smallest_buffers,
    tiny_strangers_net
);

fn polled_tcp() -> Option<Pair<Ofi>> {
    let config = Config {
        sleep: Sleep::Poll,
        ..Config::from_settings()
    };
    pair("tcp", config)
}

conformance!(over_tcp, tcp);
conformance!(over_net, net);
conformance!(over_tcp_rxm, tcp_rxm);
conformance!(over_udp_rxd, udp_rxd);
conformance!(over_shm, shm);
conformance!(over_sm2, sm2);
conformance!(over_tcp_with_the_smallest_buffers, tiny_tcp);
conformance!(over_net_with_the_smallest_buffers, tiny_net);
conformance!(over_rxm_with_the_smallest_buffers, tiny_rxm);
conformance!(over_tcp_without_a_descriptor, polled_tcp);
