//! Peers that are lost while the provider has memory for what is under way to them or from them.

mod common;

use catena_fabric::{
    Access, Buf, Header, LocalPeer, OpId, Peer, Posted, Rma, RmaError, Started, Transport,
};
use catena_fabric_tests::{Inbox, pattern, until};
use catena_ofi::{Config, Ofi, OfiError, Wanted};
use catena_testing::skip;

/// Providers that go through the kernel's TCP.
const OVER_TCP: [&str; 3] = ["tcp", "net", "tcp;ofi_rxm"];

/// Process `me` of eight; `None`, with a word, where this machine lacks the provider.
fn process(me: u32, provider: &str) -> Option<Ofi> {
    let wanted = Wanted {
        provider: Some(provider.to_string()),
        domain: None,
    };
    let place = LocalPeer {
        me: Peer(me),
        processes: 8,
        job: 5,
    };
    match Ofi::open_with(common::library()?, place, &wanted, Config::from_settings()) {
        Ok(end) => Some(end),
        Err(error @ OfiError::NoProvider { .. }) => {
            skip(provider, &error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Another process, which knows `a`, process 0, and is known to it.
fn known(a: &mut Ofi, me: u32, provider: &str) -> Ofi {
    let mut b = process(me, provider).expect("there is one already");
    let (at_a, at_b) = (a.address(), b.address());
    b.connect(Peer(0), &at_a.expect("an address"))
        .expect("a good one");
    a.connect(Peer(me), &at_b.expect("an address"))
        .expect("a good one");
    b
}

/// One process says something to another one, which hears it.
fn speak(from: &mut Ofi, to: &mut Ofi, at: u32) {
    let (mut here, mut there, mut said) = (Inbox::default(), Inbox::default(), false);
    until(|| {
        let hello = |from: &mut Ofi| from.try_send(Peer(at), Header::default(), &b"hello"[..]);
        said = said || hello(from) == Ok(Posted::Done);
        from.poll(&mut here);
        to.poll(&mut there);
        !there.packets.is_empty()
    });
}

/// Another process, which has talked with `a`: the one that begins makes the connection.
fn joined(a: &mut Ofi, me: u32, provider: &str, a_begins: bool) -> Ofi {
    let mut b = known(a, me, provider);
    if a_begins {
        speak(a, &mut b, me);
    }
    speak(&mut b, a, 0);
    speak(a, &mut b, me);
    b
}

/// Sends packets to a peer that takes none, until it has been refused some times.
fn stuff(from: &mut Ofi, to: Peer, inbox: &mut Inbox) {
    let packet = pattern(7, from.caps(to).max_packet);
    let mut refused = 0;
    while refused < 300 {
        let sent = from.try_send(to, Header::default(), packet.as_slice());
        refused += i32::from(sent.expect("it lives") == Posted::Full);
        from.poll(inbox);
    }
}

/// Each has sent a part of a frame when it dies.
#[test]
fn those_that_die_inside_a_frame_leave_room_for_others() {
    for provider in OVER_TCP {
        let Some(mut a) = process(0, provider) else {
            continue;
        };
        let mut inbox = Inbox::default();
        for me in 1..=7 {
            let mut b = joined(&mut a, me, provider, false);
            stuff(&mut b, Peer(0), &mut Inbox::default());
            drop(b);
            // Some versions tell of the frame that was cut short, others do not.
            for _ in 0..3000 {
                a.poll(&mut inbox);
            }
        }
    }
}

/// Two peers that are silent have all buffers when they are lost; nobody else closes the
/// connections.
#[test]
fn those_that_are_lost_give_back_what_they_occupy() {
    for provider in OVER_TCP {
        let Some(mut a) = process(0, provider) else {
            continue;
        };
        let mut inbox = Inbox::default();
        let silent = [1, 2].map(|me| {
            let b = joined(&mut a, me, provider, true);
            stuff(&mut a, Peer(me), &mut inbox);
            b
        });
        let mut c = known(&mut a, 3, provider);
        for peer in [1, 2] {
            a.mark_lost(Peer(peer), "its host is silent".into());
        }
        let (mut there, mut sent) = (Inbox::default(), 0);
        let packet = pattern(3, a.caps(Peer(3)).max_packet);
        until(|| {
            let posted = a.try_send(Peer(3), Header::default(), packet.as_slice());
            sent += usize::from(posted == Ok(Posted::Done));
            a.poll(&mut inbox);
            c.poll(&mut there);
            sent >= 100 && a.is_quiet()
        });
        drop(silent);
    }
}

/// The peer is silent when it is lost, and comes back: what it has to say is written nowhere.
#[test]
fn memory_that_was_given_back_is_written_no_more() {
    let each = OVER_TCP
        .iter()
        .flat_map(|name| [(name, true), (name, false)]);
    for (provider, a_begins) in each {
        let Some(mut a) = process(0, provider) else {
            continue;
        };
        let mut inbox = Inbox::default();
        let mut b = joined(&mut a, 1, provider, a_begins);
        let data = pattern(0, 1 << 20);
        let (at, len) = (data.as_ptr().cast_mut(), data.len());
        let remote = b.register(Some(Peer(0)), Buf::host(at, len), Access::READ);
        let remote = remote.expect("it can be read");
        let mut into = vec![0; len];
        let room = into.as_mut_ptr();
        let mut started = Ok(Started::Full);
        until(|| {
            // SAFETY: as long as told, and ours until the read has ended: that is what is tried.
            started = unsafe { a.get(OpId(1), Peer(1), Buf::host(room, len), remote) };
            a.poll(&mut inbox);
            started != Ok(Started::Full)
        });
        assert_eq!(started, Ok(Started::UnderWay), "{provider}");
        a.mark_lost(Peer(1), "its host is silent".into());
        until(|| {
            a.poll(&mut inbox);
            !inbox.completed.is_empty()
        });
        assert!(matches!(
            inbox.completed[..],
            [(OpId(1), Err(RmaError::Lost(_)))]
        ));
        // Ours again.
        into.fill(1);
        for _ in 0..2000 {
            b.poll(&mut Inbox::default());
            a.poll(&mut inbox);
        }
        assert!(into.iter().all(|byte| *byte == 1), "{provider}");
    }
}
