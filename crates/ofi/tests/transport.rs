//! What the conformance suite cannot know: long reads, strays, a peer that
//! dies, and what is said when the network cannot be opened.

mod common;

use catena_fabric::{Access, Buf, Header, LocalPeer, Peer, Posted, Transport};
use catena_fabric_tests::{Inbox, pattern, read, until};
use catena_ofi::{Config, Ofi, OfiError, Wanted};

use common::{connected, end, library};

/// Providers between hosts that read remote memory, all that there are.
const READERS: [&str; 3] = ["tcp", "net", "tcp;ofi_rxm"];

#[test]
fn long_reads_arrive_whole_and_are_counted() {
    let config = Config::from_settings();
    for provider in READERS {
        let Some((mut a, mut b)) = connected(provider, config) else {
            continue;
        };
        let data = pattern(0, 1 << 20);
        let remote = a.register(Some(Peer(1)), Buf::from(&*data), Access::READ);
        let remote = remote.expect("it can be read");
        let mut into = vec![0; data.len()];
        assert_eq!(
            read(&mut b, &mut a, remote, &mut into),
            data.len(),
            "{provider}"
        );
        assert!(into == data, "{provider}");
        assert_eq!(b.counters().reads, 1, "{provider}");
        assert_eq!(b.counters().read_bytes, 1 << 20, "{provider}");
        a.deregister(remote);
    }
}

#[test]
fn what_is_deregistered_is_read_no_more() {
    for provider in ["tcp", "net"] {
        let Some((mut a, mut b)) = connected(provider, Config::from_settings()) else {
            continue;
        };
        let data = pattern(0, 100_000);
        let first = a
            .register(
                Some(Peer(1)),
                Buf::host(data.as_ptr(), 50_000),
                Access::READ,
            )
            .expect("readable");
        let second = a
            .register(
                Some(Peer(1)),
                Buf::host(data.as_ptr(), 100_000),
                Access::READ,
            )
            .expect("readable");
        a.deregister(first);
        let mut into = vec![0; 100_000];
        assert_eq!(
            read(&mut b, &mut a, second, &mut into),
            100_000,
            "{provider}"
        );
        assert!(into == data, "{provider}");
        a.deregister(second);
        assert_eq!(read(&mut b, &mut a, second, &mut into), 0, "{provider}");
    }
}

#[test]
fn messages_of_other_jobs_are_thrown_away() {
    let config = Config::from_settings();
    let Some((mut a, _b)) = connected("tcp", config) else {
        return;
    };
    let mut stranger = end(1, 7, "tcp", config).expect("it was there before");
    let address = a.address().expect("an address");
    stranger.connect(Peer(0), &address).expect("a good address");
    let (mut inbox, mut back, mut sent) = (Inbox::default(), Inbox::default(), false);
    until(|| {
        let header = Header::default();
        sent = sent || stranger.try_send(Peer(0), header, &b"boo"[..]) == Ok(Posted::Done);
        stranger.poll(&mut back);
        a.poll(&mut inbox);
        a.counters().strays == 1
    });
    assert!(inbox.packets.is_empty() && inbox.lost.is_empty());
}

#[test]
fn a_peer_that_dies_with_messages_under_way_is_named() {
    for provider in ["tcp", "net", "tcp;ofi_rxm"] {
        let Some((mut a, b)) = connected(provider, Config::from_settings()) else {
            continue;
        };
        let mut inbox = Inbox::default();
        let packet = pattern(0, a.caps(Peer(1)).max_packet);
        let mut refused = 0;
        while refused < 100 {
            let sent = a.try_send(Peer(1), Header::default(), packet.as_slice());
            refused += i32::from(sent.expect("it lives") == Posted::Full);
            a.poll(&mut inbox);
        }
        drop(b);
        until(|| {
            a.poll(&mut inbox);
            !inbox.lost.is_empty()
        });
        let lost = a.try_send(Peer(1), Header::default(), [].as_slice());
        let lost = lost.expect_err("it is dead");
        assert_eq!(inbox.lost.len(), 1, "told once");
        assert_eq!(inbox.lost[0], lost, "the same cause");
        assert_eq!(lost.peer, Peer(1));
        let cause = lost.cause.strip_prefix("sending to it failed: ");
        assert!(cause.is_some_and(|words| words.len() > 5), "{}", lost.cause);
    }
}

#[test]
fn what_is_missing_is_said() {
    let Some(library) = library() else {
        return;
    };
    let place = LocalPeer {
        me: Peer(0),
        processes: 2,
        job: 1,
    };
    let wanted = Wanted {
        provider: Some("tpc".to_string()),
        domain: Some("eth7".to_string()),
    };
    let error = Ofi::open_with(library, place, &wanted, Config::tiny()).unwrap_err();
    assert!(matches!(error, OfiError::NoProvider { .. }));
    let text = error.to_string();
    assert!(
        text.contains("\"ofi:tpc:eth7\"") && text.contains("tcp;ofi_rxm"),
        "{text}"
    );
}
