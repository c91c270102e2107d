//! Every way through UCX that this machine has keeps the promises of a
//! transport. `CATENA_UCX_LIBRARY` chooses the libucp.

mod common;

use catena_fabric::Peer;
use catena_fabric_tests::{Claims, Pair, Strangers, alone, conformance, conformance_of_peers};
use catena_ucx::{Config, Sleep, Ucx};

fn pair(transports: &str, config: Config) -> Option<Pair<Ucx>> {
    let (a, b) = common::connected(transports, config)?;
    let (major, minor, _) = a.version();
    let lose_b = |a: &mut Ucx, b: Ucx| {
        a.mark_lost(Peer(1), "the test ended it".into());
        drop(b);
    };
    Some(Pair {
        a,
        a_is: Peer(0),
        b,
        b_is: Peer(1),
        claims: Claims {
            // What transports of a node check is the mapping, not the registration.
            keys_are_checked: false,
            // Later versions hang in them.
            atomics: (major, minor) < (1, 16),
            ..Claims::READS_AND_WRITES
        },
        lose_b,
        window: |_, _| None,
    })
}

fn usual(transports: &str) -> Option<Pair<Ucx>> {
    pair(transports, Config::from_settings())
}

fn tcp() -> Option<Pair<Ucx>> {
    usual("tcp")
}

fn posix_cma() -> Option<Pair<Ucx>> {
    usual("posix,cma")
}

fn sysv() -> Option<Pair<Ucx>> {
    usual("sysv")
}

fn all() -> Option<Pair<Ucx>> {
    usual("all")
}

fn tiny_tcp() -> Option<Pair<Ucx>> {
    pair("tcp", Config::tiny())
}

fn tiny_posix() -> Option<Pair<Ucx>> {
    pair("posix", Config::tiny())
}

/// The ends of two processes that are alone.
fn strangers(transports: &str, config: Config) -> Option<Strangers<Ucx>> {
    let end = |job| Some((common::stranger(job, transports, config)?, alone(job).1));
    let ((a, a_is), (b, b_is)) = (end(5)?, end(6)?);
    Some(Strangers { a, a_is, b, b_is })
}

fn strangers_tcp() -> Option<Strangers<Ucx>> {
    strangers("tcp", Config::from_settings())
}

fn strangers_posix() -> Option<Strangers<Ucx>> {
    strangers("posix,cma", Config::from_settings())
}

fn strangers_all() -> Option<Strangers<Ucx>> {
    strangers("all", Config::from_settings())
}

fn tiny_strangers_tcp() -> Option<Strangers<Ucx>> {
    strangers("tcp", Config::tiny())
}

conformance_of_peers!(strangers_over_tcp, strangers_tcp);
conformance_of_peers!(strangers_over_posix_and_cma, strangers_posix);
conformance_of_peers!(strangers_over_what_ucx_chooses, strangers_all);
conformance_of_peers!(
    strangers_over_tcp_with_the_smallest_buffers,
    tiny_strangers_tcp
);

fn polled_tcp() -> Option<Pair<Ucx>> {
    let config = Config {
        sleep: Sleep::Poll,
        ..Config::from_settings()
    };
    pair("tcp", config)
}

conformance!(over_tcp, tcp);
conformance!(over_posix_and_cma, posix_cma);
conformance!(over_sysv, sysv);
conformance!(over_what_ucx_chooses, all);
conformance!(over_tcp_with_the_smallest_buffers, tiny_tcp);
conformance!(over_posix_with_the_smallest_buffers, tiny_posix);
conformance!(over_tcp_without_a_descriptor, polled_tcp);
