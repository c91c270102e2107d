//! Rings that are there before anything is sent.

use catena_base::PeerBytes;
use catena_fabric::{Deliver, Header, OpId, Peer, PeerLost, Posted, RmaError, Transport};
use catena_shm::{Config, Geometry, Shm};

/// What has arrived: from whom, with which bytes.
#[derive(Default)]
struct Inbox(Vec<(Peer, Vec<u8>)>);

impl Deliver for Inbox {
    fn deliver(&mut self, from: Peer, _: Header, payload: PeerBytes<'_>) {
        self.0.push((from, payload.to_vec()));
    }

    fn lost(&mut self, lost: PeerLost) {
        panic!("{lost:?}");
    }

    fn completed(&mut self, op: OpId, result: Result<u64, RmaError>) {
        panic!("{op:?} was never started: {result:?}");
    }
}

const PEERS: [Peer; 3] = [Peer(0), Peer(1), Peer(2)];

fn group(early: usize) -> Vec<Shm> {
    let config = Config {
        geometry: Geometry::new(8, 64 << 10, 16 << 10),
        early,
        ..Config::tiny()
    };
    Shm::group(&PEERS, config).expect("a segment")
}

/// Sends packets of several lengths, more than a ring takes, between all.
fn exchange(mut ends: Vec<Shm>) {
    let mut inboxes = [const { Inbox(Vec::new()) }; PEERS.len()];
    for len in [1usize, 40, 5000, 16_000, 16_000, 16_000, 16_000, 3] {
        for (me, end) in ends.iter_mut().enumerate() {
            for peer in PEERS.into_iter().filter(|peer| peer.0 as usize != me) {
                let payload = vec![me as u8; len];
                let header = Header {
                    len: len as u64,
                    ..Header::default()
                };
                let sent = end.try_send(peer, header, &payload[..]);
                assert_eq!(sent.expect("it is there"), Posted::Done);
            }
        }
        for (me, end) in ends.iter_mut().enumerate() {
            while inboxes[me].0.len() < PEERS.len() - 1 {
                end.poll(&mut inboxes[me]);
            }
            for (from, bytes) in inboxes[me].0.drain(..) {
                assert_eq!(bytes, vec![from.0 as u8; len]);
            }
        }
    }
}

#[test]
fn a_few_have_their_rings_before_they_send() {
    let ends = group(16 << 10);
    for end in &ends {
        let memory = end.memory();
        assert!(memory.rings > 0);
        assert_eq!(memory.data, 2 * (16 << 10));
    }
    exchange(ends);
}

#[test]
fn others_have_none_and_send_the_same() {
    let ends = group(0);
    assert!(ends.iter().all(|end| end.memory().rings == 0));
    exchange(ends);
}

#[test]
fn all_of_a_ring_may_be_there() {
    exchange(group(64 << 10));
}

#[test]
fn rings_are_ready_where_few_ranks_have_a_core_each() {
    let early = |ranks, cpus| Config::from_settings(ranks, cpus).early;
    assert!(early(2, 2) > 0 && early(4, 8) > 0);
    assert_eq!((early(2, 1), early(5, 8), early(8, 2)), (0, 0, 0));
}
