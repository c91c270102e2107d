//! Two and more ends in one process.

mod common;

use std::collections::VecDeque;

use catena_base::{PayloadRoom, PeerBytes};
use catena_fabric::{
    Access, Buf, Header, Load, NodeLocal, OpId, Payload, Peer, Posted, RemoteKey, Rendezvous, Rma,
    RmaError, Started, Transport,
};
use catena_shm::{Config, CopyWay, Geometry, Notifier, Shm, ShmError, SingleCopy, create_segment};
use common::*;
use proptest::prelude::*;

fn config(cells: usize, data: usize, packet: usize) -> Config {
    Config {
        geometry: Geometry::new(cells, data, packet),
        ..Config::tiny()
    }
}

fn pair(config: Config) -> (Shm, Shm) {
    let mut ends = Shm::group(&[Peer(4), Peer(2)], config).unwrap();
    let second = ends.pop().unwrap();
    (ends.pop().unwrap(), second)
}

#[test]
fn packets_arrive_unchanged_and_in_order() {
    let (mut a, mut b) = pair(Config::from_settings(2, 2));
    let max = a.caps(Peer(2)).max_packet;
    let lens = [0, 1, 7, 8, 31, 32, 33, 64, 1000, 4096, 5000, max];
    let mut inbox = Inbox::default();
    for (seed, len) in (0..).zip(lens) {
        assert!(try_send(&mut a, Peer(2), seed, len));
        b.poll(&mut inbox);
    }
    while b.poll(&mut inbox) > 0 {}
    assert_eq!(inbox.packets.len(), lens.len());
    for ((seed, len), (from, got, bytes)) in (0..).zip(lens).zip(inbox.packets) {
        assert_eq!(
            (from, got, bytes),
            (Peer(4), header(seed), pattern(seed, len))
        );
    }
}

/// What a poll has taken is given back, also when it ends because it has taken enough: nobody polls
/// again until something comes.
#[test]
fn room_is_given_back_after_a_whole_batch() {
    const BATCH: usize = 32;
    let (mut a, mut b) = pair(config(64, 8192, 4096));
    let mut inbox = Inbox::default();
    (0..3).for_each(|seed| assert!(try_send(&mut a, Peer(2), seed, 1024)));
    while b.poll(&mut inbox) > 0 {}
    (0..BATCH).for_each(|seed| assert!(try_send(&mut a, Peer(2), seed as u64, 64)));
    assert_eq!(b.poll(&mut inbox), BATCH);
    assert!(b.is_silent() && !b.is_ready());
    assert!(
        try_send(&mut a, Peer(2), 9, 4096),
        "all of the ring is free"
    );
}

proptest! {
    #[test]
    fn behaves_like_queues(
        cells in 2usize..20,
        data in 128usize..4000,
        ops in prop::collection::vec((0u8..4, 0usize..2000), 1..300),
    ) {
        let (a, b) = pair(config(cells, data, data));
        let (mut ends, peers) = ([a, b], [Peer(4), Peer(2)]);
        let mut queues: [VecDeque<(u64, usize)>; 2] = Default::default();
        let mut seed = 0;
        for (op, len) in ops {
            let me = (op & 1) as usize;
            if op & 2 == 0 {
                seed += 1;
                let len = len % (ends[me].caps(peers[1 - me]).max_packet + 1);
                if try_send(&mut ends[me], peers[1 - me], seed, len) {
                    queues[me].push_back((seed, len));
                } else {
                    prop_assert!(!queues[me].is_empty(), "full although empty");
                }
            } else {
                let mut inbox = Inbox::default();
                let count = ends[me].poll(&mut inbox);
                prop_assert_eq!(count, inbox.packets.len());
                prop_assert!(count > 0 || queues[1 - me].is_empty());
                for (from, got, bytes) in inbox.packets {
                    let (seed, len) = queues[1 - me].pop_front().unwrap();
                    prop_assert_eq!((from, got), (peers[1 - me], header(seed)));
                    prop_assert_eq!(bytes, pattern(seed, len));
                }
            }
        }
    }
}

/// Not contiguous, as a vector datatype would be.
struct Strided<'a>(&'a [u8]);

impl Payload for Strided<'_> {
    fn len(&self) -> usize {
        self.0.len() / 2
    }
    fn contiguous(&self) -> Option<*const u8> {
        None
    }
    fn write(&self, mut room: PayloadRoom<'_>) {
        assert_eq!(room.len(), self.len());
        for (at, byte) in self.0.iter().step_by(2).take(self.len()).enumerate() {
            room.write(at, &[*byte]);
        }
    }
}

#[test]
fn payloads_may_lie_scattered() {
    let (mut a, mut b) = pair(config(8, 8192, 4096));
    for len in [2, 20, 64, 100, 6000] {
        let bytes = pattern(9, len);
        let sent = a.try_send(Peer(2), header(1), Strided(&bytes)).unwrap();
        assert_eq!(sent, Posted::Done);
        let mut inbox = Inbox::default();
        b.poll(&mut inbox);
        let even: Vec<u8> = bytes.iter().step_by(2).copied().collect();
        assert_eq!(inbox.packets[0].2, even);
    }
}

#[test]
fn all_ways_of_copying_copy() {
    for copy in [CopyWay::Take, CopyWay::Plain, CopyWay::Stream] {
        let (mut a, mut b) = pair(Config {
            copy,
            ..config(8, 65536, 16384)
        });
        for (seed, len) in (0..).zip([2048, 2049, 4096, 10_001, 16_384]) {
            assert!(try_send(&mut a, Peer(2), seed, len));
            let mut inbox = Inbox::default();
            b.poll(&mut inbox);
            assert_eq!(inbox.packets[0].2, pattern(seed, len));
        }
        let counters = a.counters();
        let (used, unused) = match copy {
            CopyWay::Stream => (counters.streamed, counters.plain),
            _ => (counters.plain, counters.streamed),
        };
        assert_eq!((used, unused), (5, 0));
    }
}

#[test]
fn a_full_ring_says_so_and_recovers() {
    let (mut a, mut b) = Shm::tiny_pair();
    for (seed, len) in [(0, 0), (50, 128)] {
        let mut sent = 0;
        while try_send(&mut a, Peer(1), seed + sent, len) {
            sent += 1;
        }
        assert_eq!(sent, 2, "two cells, or two packets of half the data area");
        assert_eq!(a.try_send(Peer(1), header(7), &[][..]), Ok(Posted::Full));
        let mut inbox = Inbox::default();
        while b.poll(&mut inbox) > 0 {}
        assert_eq!(inbox.packets.len(), 2);
        assert!(a.is_ready(), "room for what was refused");
        assert!(try_send(&mut a, Peer(1), 99, len));
        b.poll(&mut inbox);
        assert_eq!(inbox.packets[2].2, pattern(99, len));
    }
    assert!(a.counters().full > 0);
}

#[test]
fn a_process_can_send_to_itself() {
    let (mut a, _b) = Shm::tiny_pair();
    let mut inbox = Inbox::default();
    for (seed, len) in [(1, 8), (2, 100)] {
        assert!(try_send(&mut a, Peer(0), seed, len));
        a.poll(&mut inbox);
    }
    assert_eq!(inbox.packets[1], (Peer(0), header(2), pattern(2, 100)));
}

#[test]
fn all_to_all_of_many() {
    let peers: Vec<Peer> = (0..20).map(|i| Peer(i * 3 + 5)).collect();
    let mut ends = Shm::group(&peers, config(2, 1024, 512)).unwrap();
    for (me, end) in (0u64..).zip(&mut ends) {
        for (it, to) in (0u64..).zip(&peers) {
            assert!(try_send(
                end,
                *to,
                me * 100 + it,
                length(me * 100 + it, 512)
            ));
        }
    }
    for (me, end) in (0u64..).zip(&mut ends) {
        let mut inbox = Inbox::default();
        while end.poll(&mut inbox) > 0 {}
        assert_eq!(inbox.packets.len(), peers.len());
        for (from, got, bytes) in inbox.packets {
            let sender = peers.iter().position(|p| *p == from).unwrap() as u64;
            let seed = sender * 100 + me;
            assert_eq!(
                (got, bytes),
                (header(seed), pattern(seed, length(seed, 512)))
            );
        }
    }
}

#[test]
fn remote_reads_copy_or_say_that_they_cannot() {
    let (mut a, mut b) = Shm::tiny_pair();
    let data = pattern(3, 3 << 20);
    let remote = a
        .register(Some(Peer(1)), Buf::from(&*data), Access::READ)
        .unwrap();
    assert_eq!(b.rendezvous(Peer(0), 1 << 16, Load::Heavy), Rendezvous::Get);
    let mut into = vec![0u8; data.len()];
    // SAFETY: the room has as many bytes.
    let got = unsafe { b.get(OpId(1), Peer(0), Buf::from(&mut *into), remote) };
    // The kernel forbids it here: that must be remembered.
    if let Err(RmaError::Refused(_)) = got {
        assert!(!kernel_copies(), "{got:?}");
        catena_testing::skip("single copies", &FORBIDDEN);
        assert_eq!(
            b.rendezvous(Peer(0), 1 << 16, Load::Heavy),
            Rendezvous::Stream
        );
        return;
    }
    assert_eq!(got, Ok(Started::Complete(0)));
    assert_eq!(into, data);
    a.deregister(remote);
    let nowhere = RemoteKey { addr: 8, key: 0 };
    // SAFETY: `into` has these bytes.
    let got = unsafe { b.get(OpId(1), Peer(0), Buf::host(into.as_mut_ptr(), 8), nowhere) };
    assert!(matches!(got, Err(RmaError::Refused(_))), "{got:?}");
}

#[test]
fn single_copy_can_be_forbidden() {
    let (mut a, mut b) = pair(Config {
        single_copy: SingleCopy::Never,
        ..Config::tiny()
    });
    let word = 7u64;
    let addr: *const u8 = (&raw const word).cast();
    assert_eq!(
        a.register(Some(Peer(2)), Buf::host(addr, 8), Access::READ),
        None
    );
    assert_eq!(
        b.rendezvous(Peer(4), 1 << 30, Load::Light),
        Rendezvous::Stream
    );
    let mut into = 0u64;
    let remote = RemoteKey {
        addr: addr as u64,
        key: 0,
    };
    // SAFETY: eight bytes.
    let got = unsafe {
        b.get(
            OpId(1),
            Peer(4),
            Buf::host((&raw mut into).cast(), 8),
            remote,
        )
    };
    assert!(matches!(got, Err(RmaError::Refused(_))), "{got:?}");
    assert_eq!(into, 0);
}

#[test]
fn which_way_long_messages_may_go_depends_on_who_has_time() {
    let auto = |ranks, cpus| {
        pair(Config {
            ..Config::from_settings(ranks, cpus)
        })
        .0
    };
    let mut oversubscribed = auto(8, 2);
    for load in [Load::Light, Load::Heavy, Load::Exchange] {
        let way = oversubscribed.rendezvous(Peer(2), 1 << 20, load);
        assert_eq!(way, Rendezvous::Get, "{load:?}");
    }
    assert!(
        oversubscribed.streams(Peer(2), 1 << 20),
        "as long as nothing is known"
    );
    assert_eq!(
        oversubscribed.rendezvous(Peer(2), 1 << 10, Load::Light),
        Rendezvous::Stream
    );
    assert_eq!(
        auto(2, 2).rendezvous(Peer(2), 1 << 20, Load::Light),
        Rendezvous::Share { part: 1 << 18 }
    );
    assert_eq!(
        auto(2, 2).rendezvous(Peer(2), 1 << 20, Load::Heavy),
        Rendezvous::Share { part: 1 << 18 }
    );
    assert_eq!(
        auto(2, 2).rendezvous(Peer(2), 1 << 17, Load::Heavy),
        Rendezvous::Get
    );
    assert_eq!(
        auto(2, 2).rendezvous(Peer(2), 1 << 20, Load::Exchange),
        Rendezvous::Get
    );
}

#[test]
fn a_lost_peer_stays_lost() {
    let (mut a, mut b) = Shm::tiny_pair();
    assert!(try_send(&mut a, Peer(1), 1, 100));
    b.mark_lost(Peer(0), "killed by signal 9".into());
    b.mark_lost(Peer(0), "something later".into());
    for _ in 0..2 {
        let lost = b.try_send(Peer(0), header(1), &[1u8][..]).unwrap_err();
        assert_eq!(
            (lost.peer, lost.cause.as_str()),
            (Peer(0), "killed by signal 9")
        );
    }
    let mut inbox = Inbox::default();
    b.poll(&mut inbox);
    assert_eq!(inbox.packets.len(), 1, "what was sent before still arrives");
}

#[test]
fn ranks_that_disagree_are_told_so() {
    let fd = create_segment().unwrap();
    let peers = [Peer(0), Peer(1)];
    let attach = |me, config| Shm::attach_with(fd.try_clone().unwrap(), me, &peers, config);
    let _first = attach(0, config(4, 1024, 512)).unwrap();
    let error = attach(1, config(8, 1024, 512)).unwrap_err();
    assert!(matches!(error, ShmError::Layout { .. }), "{error}");
    assert!(error.to_string().contains("same"), "{error}");
    let error = attach(2, config(4, 1024, 512)).unwrap_err();
    assert!(
        matches!(error, ShmError::Ranks { me: 2, ranks: 2 }),
        "{error}"
    );
    attach(1, config(4, 1024, 512)).unwrap();
}

#[test]
fn regions_are_zeroed_at_first_shared_and_checked() {
    let (mut a, b) = Shm::tiny_pair();
    let offset = a.region_alloc(5000, usize::MAX).unwrap();
    let (mine, theirs) = (
        a.region(offset, 5000).unwrap(),
        b.region(offset, 5000).unwrap(),
    );
    assert_ne!(mine, theirs, "two mappings");
    assert_eq!(mine as usize % 64, 0);
    // SAFETY: both are 5000 bytes, and nobody else uses them now.
    unsafe {
        assert_eq!(PeerBytes::new(theirs, 5000).to_vec(), vec![0; 5000]);
        mine.write_bytes(0x5a, 5000);
        assert_eq!(PeerBytes::new(theirs, 5000).to_vec(), vec![0x5a; 5000]);
    }
    a.region_free(offset, 5000);
    let used = a.memory().regions;
    let again = a.region_alloc(4500, usize::MAX).unwrap();
    assert_eq!((again, a.memory().regions), (offset, used), "used again");
    assert_eq!(a.region_alloc(4500, used), None, "a second one is too much");
    a.region_free(offset, 4500);
    assert_eq!(
        a.region_alloc(4500, 0),
        Some(offset),
        "there is one already"
    );
    assert_ne!(a.region_alloc(4500, usize::MAX).unwrap(), offset);
    for (offset, bytes) in [
        (0, 1),
        (offset + 1, 1),
        (offset, 1 << 40),
        (u64::MAX, 1),
        (1, usize::MAX),
    ] {
        assert_eq!(b.region(offset, bytes), None, "{offset} {bytes}");
    }
    assert_eq!(a.region_alloc(1 << 50, usize::MAX), None);
}

/// Few ranks with a core each have rings before they talk; one more rank, or one core less, and
/// nobody has.
#[test]
fn few_ranks_have_rings_at_the_start() {
    for (ranks, cpus, least, most) in [
        (2u32, 2, 64 << 10, 300 << 10),
        (4, 4, 3 * (64 << 10), 3 * (300 << 10)),
        (4, 3, 0, 8 << 10),
        (5, 8, 0, 8 << 10),
    ] {
        let config = Config::from_settings(ranks, cpus);
        let peers: Vec<Peer> = (0..ranks).map(Peer).collect();
        let end = Shm::group(&peers, config).unwrap().swap_remove(0);
        let idle = end.memory().total();
        assert!(
            (least..=most).contains(&idle),
            "{ranks} ranks, {cpus} cores: {idle} bytes"
        );
    }
}

/// Bytes that each rank costs in the end, by ranks on the node.
#[test]
fn memory_grows_only_with_pairs_that_talk() {
    for (ranks, idle_max, ring_max, all_max) in [
        (2u32, 8 << 10, 20 << 10, 44 << 10),
        (32, 4 << 10, 10 << 10, 1 << 20),
        (128, 4 << 10, 6 << 10, 3 << 20),
    ] {
        let config = Config {
            early: 0,
            ..Config::from_settings(ranks, ranks)
        };
        let peers: Vec<Peer> = (0..ranks).map(Peer).collect();
        let mut end = Shm::group(&peers, config).unwrap().swap_remove(0);
        let idle = end.memory().total();
        assert!(
            idle <= idle_max,
            "{ranks} ranks, nobody talks: {idle} bytes"
        );
        assert!(try_send(&mut end, Peer(1), 1, 8));
        let small = end.memory();
        assert!(
            small.rings <= ring_max && small.data == 0,
            "{ranks} ranks: {small:?}"
        );
        assert!(try_send(&mut end, Peer(1), 1, 1000));
        let large = end.memory();
        assert_eq!(large.rings, small.rings);
        assert_eq!(large.data, 16 << 10, "what is used, and no more");
        for peer in &peers[1..] {
            assert!(try_send(&mut end, *peer, 1, 1000));
        }
        let all = end.memory().total();
        assert!(
            all <= all_max,
            "{ranks} ranks, everybody talks: {all} bytes"
        );
        println!(
            "{ranks} ranks: {idle} bytes per rank; {} per peer spoken to, {} with long packets; \
             {all} if all do",
            small.rings,
            small.rings + large.data
        );
    }
}

#[test]
fn header_fields_survive_extremes() {
    let (mut a, mut b) = Shm::tiny_pair();
    let extreme = Header {
        stamp: 0xff,
        kind: 0xff,
        seq: 0xffff,
        context: u32::MAX,
        source: u32::MAX,
        tag: -1,
        len: u64::MAX,
    };
    assert_eq!(a.try_send(Peer(1), extreme, &[][..]), Ok(Posted::Done));
    let mut inbox = Inbox::default();
    b.poll(&mut inbox);
    assert_eq!(
        inbox.packets[0].1,
        Header {
            stamp: 0,
            ..extreme
        }
    );
}

/// A rank of job 10, whose first two peers are its own job, and one of job 11, to which it
/// is peer 3; neither has attached the other's segment. With each, that segment.
fn strangers() -> [(Shm, std::os::fd::OwnedFd); 2] {
    let one = |me, peers: &[Peer]| {
        let fd = create_segment().unwrap();
        let own = fd.try_clone().unwrap();
        (
            Shm::attach_with(own, me, peers, Config::tiny()).unwrap(),
            fd,
        )
    };
    [
        one(1, &[Peer(0), Peer(1)]),
        one(0, &[Peer(0), Peer(1), Peer(2)]),
    ]
}

#[test]
fn guests_wait_until_their_segment_is_attached() {
    let [(mut a, of_a), (mut b, of_b)] = strangers();
    a.attach_other(of_b, (10, 11), &[Peer(2), Peer(3), Peer(4)])
        .unwrap();
    let mut inbox = Inbox::default();
    assert!(try_send(&mut a, Peer(2), 7, 100));
    assert_eq!(b.poll(&mut inbox), 0, "its doorbell is not known yet");
    b.attach_other(of_a, (11, 10), &[Peer(3), Peer(4)]).unwrap();
    assert!(b.is_ready());
    while b.poll(&mut inbox) > 0 {}
    let got = inbox.packets.pop().unwrap();
    assert_eq!(got, (Peer(4), header(7), pattern(7, 100)));
    assert!(!b.is_ready());
}

#[test]
fn a_job_that_parts_is_reached_no_more_and_can_come_back() {
    let [(mut a, of_a), (mut b, of_b)] = strangers();
    let theirs = [Peer(2), Peer(3), Peer(4)];
    for round in 0..3 {
        let of_b = of_b.try_clone().unwrap();
        a.attach_other(of_b, (10, 11 + round), &theirs).unwrap();
        let of_a = of_a.try_clone().unwrap();
        b.attach_other(of_a, (11 + round, 10), &[Peer(3), Peer(4)])
            .unwrap();
        assert!(a.reaches(Peer(2)) && b.reaches(Peer(4)));
        let mut inbox = Inbox::default();
        assert!(try_send(&mut a, Peer(2), 1, 8) && try_send(&mut b, Peer(4), 2, 8));
        assert!(try_send(&mut a, Peer(2), 3, 100) && try_send(&mut b, Peer(4), 4, 100));
        while a.poll(&mut inbox) + b.poll(&mut inbox) > 0 {}
        let mut got: Vec<_> = inbox.packets.drain(..).map(|(_, _, bytes)| bytes).collect();
        got.sort();
        let mut sent = [
            pattern(1, 8),
            pattern(2, 8),
            pattern(3, 100),
            pattern(4, 100),
        ];
        sent.sort();
        assert_eq!(got, sent, "round {round}");
        a.detach_other(11 + round);
        b.detach_other(10);
        assert!(!a.reaches(Peer(2)) && !b.reaches(Peer(4)));
        assert!(a.reaches(Peer(0)) && b.reaches(Peer(2)));
    }
}

#[test]
fn what_nobody_has_laid_out_is_not_attached() {
    let [(mut a, _of_a), (_b, of_b)] = strangers();
    let empty = create_segment().unwrap();
    std::fs::File::from(empty.try_clone().unwrap())
        .set_len(1 << 20)
        .unwrap();
    let refused = a.attach_other(empty, (10, 11), &[Peer(2)]);
    assert!(matches!(refused, Err(ShmError::Foreign)), "{refused:?}");
    // It has three ranks.
    let refused = a.attach_other(of_b, (10, 11), &[Peer(2)]);
    assert!(matches!(refused, Err(ShmError::Foreign)), "{refused:?}");
    assert!(!a.reaches(Peer(2)));
}

#[test]
fn the_launcher_wakes_a_process_that_it_has_told_something() {
    let fd = create_segment().unwrap();
    std::fs::File::from(fd.try_clone().unwrap())
        .set_len(64 << 30)
        .unwrap();
    let launcher = Notifier::open(fd.try_clone().unwrap(), 2).unwrap();
    launcher.notify(1);
    let attach = |me| {
        let fd = fd.try_clone().unwrap();
        Shm::attach_with(fd, me, &[Peer(0), Peer(1)], Config::tiny()).unwrap()
    };
    let (mut a, mut b) = (attach(0), attach(1));
    let mut inbox = Inbox::default();
    assert!(!a.is_ready() && b.is_ready(), "before it was there, too");
    for _ in 0..2 {
        b.poll(&mut inbox);
        b.poll(&mut inbox);
        assert!(!b.is_silent(), "until it is taken");
        assert!(b.take_notice() && !b.take_notice());
        assert!(b.is_silent() && !b.is_ready());
        launcher.notify(1);
        launcher.notify(7);
        assert!(b.is_ready(), "a sleep does not begin");
        assert!(!b.take_notice(), "a poll has not seen it");
    }
    a.poll(&mut inbox);
    assert!(!a.take_notice());
    // New rings are no words of the launcher.
    assert!(try_send(&mut b, Peer(0), 1, 8));
    a.poll(&mut inbox);
    assert!(!a.take_notice());
}
