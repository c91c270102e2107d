//! What the conformance suite cannot know: long reads, rights that are
//! forgotten, strays, a peer that dies, and what is said when the network
//! cannot be opened.

mod common;

use catena_fabric::{Access, Buf, Header, LocalPeer, Peer, Posted, Transport};
use catena_fabric_tests::{Inbox, pattern, read, until};
use catena_ucx::{Config, Ucx, UcxError, Wanted};

use common::{connected, end, library};

/// What leads from one end to the other.
const WAYS: [&str; 3] = ["tcp", "posix,cma", "sysv"];

#[test]
fn long_reads_arrive_whole_and_are_counted() {
    let config = Config::from_settings();
    for way in WAYS {
        let Some((mut a, mut b)) = connected(way, config) else {
            continue;
        };
        let data = pattern(0, 1 << 20);
        let remote = a.register(Some(Peer(1)), Buf::from(&*data), Access::READ);
        let remote = remote.expect("it can be read");
        let mut into = vec![0; data.len()];
        assert_eq!(read(&mut b, &mut a, remote, &mut into), 1 << 20, "{way}");
        assert!(into == data, "{way}");
        assert_eq!(b.counters().reads, 1, "{way}");
        assert_eq!(b.counters().read_bytes, 1 << 20, "{way}");
        a.deregister(remote);
    }
}

/// Rights that are alike are told once; those that are forgotten are told anew.
#[test]
fn rights_are_told_before_they_are_used() {
    for way in WAYS {
        let Some((mut a, mut b)) = connected(way, Config::tiny()) else {
            continue;
        };
        let data = pattern(0, 50_000);
        for round in 0..20 {
            let from = round * 1000;
            let part = &data[from..from + 500 * (round + 1)];
            let remote = a.register(Some(Peer(1)), Buf::from(part), Access::READ);
            let remote = remote.expect("there is room for a word");
            let mut into = vec![0; part.len()];
            let came = read(&mut b, &mut a, remote, &mut into);
            assert_eq!(came, part.len(), "{way}, {round}");
            assert!(into == part, "{way}, {round}");
            a.deregister(remote);
        }
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
    stranger.connect(Peer(0), &address);
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

/// With messages under way, and without: the connection ends either way.
#[test]
fn a_peer_that_dies_is_named() {
    for busy in [true, false] {
        let Some((mut a, b)) = connected("tcp", Config::from_settings()) else {
            return;
        };
        let mut inbox = Inbox::default();
        let packet = pattern(0, a.caps(Peer(1)).max_packet);
        let mut refused = 0;
        while busy && refused < 100 {
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
        assert!(lost.cause.contains(" failed: "), "{}", lost.cause);
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
        transports: Some("tpc".to_string()),
        devices: Some("eth7".to_string()),
    };
    let error = Ucx::open_with(library, place, &wanted, Config::tiny()).unwrap_err();
    assert!(matches!(error, UcxError::NoTransport { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("\"ucx:tpc:eth7\"") && text.contains("ucx_info"),
        "{text}"
    );
}

/// UCX is a guest: it takes no signal from the program.
#[test]
fn signals_stay_as_they_are() {
    let handler = |signal| {
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: asks only; zeros are a valid action.
        unsafe {
            libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
            action.assume_init().sa_sigaction
        }
    };
    let signals = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGHUP];
    let before = signals.map(handler);
    if connected("tcp", Config::tiny()).is_some() {
        assert_eq!(signals.map(handler), before);
    }
}
