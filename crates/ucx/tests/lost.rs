//! Peers that are lost while UCX has memory for what is under way to them.

mod common;

use catena_fabric::{
    Access, Buf, Header, LocalPeer, OpId, Peer, Posted, Rma, RmaError, Started, Transport,
};
use catena_fabric_tests::{Inbox, pattern, until};
use catena_ucx::{Config, Ucx, Wanted};

/// Process `me` of eight over TCP; `None`, with a word, without UCX.
fn process(me: u32) -> Option<Ucx> {
    let wanted = Wanted {
        transports: Some("tcp".to_string()),
        devices: None,
    };
    let place = LocalPeer {
        me: Peer(me),
        processes: 8,
        job: 5,
    };
    let opened = Ucx::open_with(common::library()?, place, &wanted, Config::from_settings());
    Some(opened.expect("a worker"))
}

/// Another process, which knows `a`, process 0, and is known to it.
fn known(a: &mut Ucx, me: u32) -> Ucx {
    let mut b = process(me).expect("there is one already");
    b.connect(Peer(0), &a.address().expect("an address"));
    a.connect(Peer(me), &b.address().expect("an address"));
    b
}

/// Another process, to which `a` has talked.
fn joined(a: &mut Ucx, me: u32) -> Ucx {
    let mut b = known(a, me);
    let (mut here, mut there, mut said) = (Inbox::default(), Inbox::default(), false);
    until(|| {
        let hello = |from: &mut Ucx| from.try_send(Peer(me), Header::default(), &b"hello"[..]);
        said = said || hello(a) == Ok(Posted::Done);
        a.poll(&mut here);
        b.poll(&mut there);
        !there.packets.is_empty()
    });
    b
}

/// Sends packets to a peer that takes none, until it has been refused some times.
fn stuff(from: &mut Ucx, to: Peer, inbox: &mut Inbox) {
    let packet = pattern(7, from.caps(to).max_packet);
    let mut refused = 0;
    while refused < 300 {
        let sent = from.try_send(to, Header::default(), packet.as_slice());
        refused += i32::from(sent.expect("it lives") == Posted::Full);
        from.poll(inbox);
    }
}

/// Two silent peers have all buffers when they are lost, one after the other; others are reached by
/// new ways, and nobody else is named.
#[test]
fn those_that_are_lost_give_back_what_they_occupy() {
    let Some(mut a) = process(0) else {
        return;
    };
    let mut inbox = Inbox::default();
    let silent = [1, 2].map(|me| {
        let b = joined(&mut a, me);
        stuff(&mut a, Peer(me), &mut inbox);
        b
    });
    for peer in [1, 2] {
        a.mark_lost(Peer(peer), "its host is silent".into());
    }
    let packet = pattern(3, a.caps(Peer(3)).max_packet);
    for me in 3..8 {
        let mut c = known(&mut a, me);
        let (mut there, mut sent) = (Inbox::default(), 0);
        until(|| {
            let posted = a.try_send(Peer(me), Header::default(), packet.as_slice());
            sent += usize::from(posted == Ok(Posted::Done));
            a.poll(&mut inbox);
            c.poll(&mut there);
            sent >= 40 && a.is_quiet()
        });
        assert!(inbox.lost.is_empty(), "{:?}", inbox.lost);
        // It ends, which is noticed, while ways to others are opened.
        drop(c);
        until(|| {
            a.poll(&mut inbox);
            !inbox.lost.is_empty()
        });
        let named = inbox.lost.drain(..).map(|lost| lost.peer);
        assert_eq!(named.collect::<Vec<_>>(), [Peer(me)]);
    }
    drop(silent);
}

/// The peer is silent when it is lost, and comes back: what it has to say is written nowhere.
#[test]
fn memory_that_was_given_back_is_written_no_more() {
    let Some(mut a) = process(0) else {
        return;
    };
    let mut inbox = Inbox::default();
    let mut b = joined(&mut a, 1);
    let data = pattern(0, 1 << 20);
    let (at, len) = (data.as_ptr().cast_mut(), data.len());
    let remote = b.register(None, Buf::host(at, len), Access::READ);
    let remote = remote.expect("it can be read");
    let mut into = vec![0; len];
    let room = into.as_mut_ptr();
    let mut started = Ok(Started::Full);
    until(|| {
        // SAFETY: as long as told, and ours until the read has ended: that is what is tried.
        started = unsafe { a.get(OpId(1), Peer(1), Buf::host(room, len), remote) };
        a.poll(&mut inbox);
        if started == Ok(Started::Full) {
            b.poll(&mut Inbox::default());
        }
        started != Ok(Started::Full)
    });
    assert_eq!(started, Ok(Started::UnderWay));
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
    assert!(into.iter().all(|byte| *byte == 1));
}
