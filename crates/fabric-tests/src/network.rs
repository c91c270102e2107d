//! What tests over real networks share.

use std::time::{Duration, Instant};

use catena_fabric::{Buf, Header, OpId, Peer, Posted, RemoteKey, Rma, Started, Transport};

use crate::Inbox;

/// How long something may take before it counts as never.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Does something until it says that it is done.
pub fn until(mut done: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < PATIENCE, "it never happens");
    }
}

/// Has `a`, which is peer 0, and `b`, peer 1, send each other a packet. Both begin
/// before either hears: two ends in one process of which only one began are not
/// connected rightly by the shm provider of libfabric 2.5, which then crashes in a
/// remote read.
pub fn meet<T: Transport>(a: &mut T, b: &mut T) {
    let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
    let (mut from_a, mut from_b) = (false, false);
    let send = |from: &mut T, peer, sent: &mut bool| {
        let header = Header::default();
        *sent = *sent || from.try_send(peer, header, &b"hello"[..]) == Ok(Posted::Done);
    };
    until(|| {
        send(a, Peer(1), &mut from_a);
        send(b, Peer(0), &mut from_b);
        a.poll(&mut at_a);
        b.poll(&mut at_b);
        !at_a.packets.is_empty() && !at_b.packets.is_empty()
    });
    for inbox in [at_a, at_b] {
        assert_eq!(inbox.packets[0].2, b"hello");
    }
}

/// Reads what peer 0, which is `of`, has registered; how much came: all of it, or nothing if the
/// route refuses.
pub fn read<T: Rma>(at: &mut T, of: &mut T, remote: RemoteKey, into: &mut [u8]) -> usize {
    let (mut inbox, mut others) = (Inbox::default(), Inbox::default());
    let (room, len) = (into.as_mut_ptr(), into.len());
    let mut started = Ok(Started::Full);
    until(|| {
        // SAFETY: as long as told, and ours until the read has ended.
        started = unsafe { at.get(OpId(0), Peer(0), Buf::host(room, len), remote) };
        at.poll(&mut inbox);
        of.poll(&mut others);
        started != Ok(Started::Full)
    });
    if started == Ok(Started::UnderWay) {
        until(|| {
            at.poll(&mut inbox);
            of.poll(&mut others);
            !inbox.completed.is_empty()
        });
        started = inbox.completed.remove(0).1.map(Started::Complete);
    }
    if started.is_ok() { len } else { 0 }
}
